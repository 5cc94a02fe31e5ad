//! Progress of a run, on standard error: a bar on a terminal, a line now and then elsewhere,
//! nothing if asked for quiet.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;

use weir_model::Time;
use weir_report::format::{scaled, simulated, wall};

/// First line after the start, and the least time between lines, if there is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// Lines become rarer as a run grows longer: one per twentieth of the time so far.
const SHARE: u32 = 20;

/// Refresh rate of the bar, per second: it costs a system call.
const REFRESH: u8 = 5;

/// Least time between two texts of the bar.
const BREATH: Duration = Duration::from_millis(100);

/// Knowledge about the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It ends at this simulated time, ps.
    Until(Time),
    /// It ends when everything has arrived.
    Completion,
}

/// The display. Only rank 0 has one.
pub struct Progress {
    kind: Kind,
    display: Display,
}

enum Display {
    Quiet,
    Bar {
        bar: ProgressBar,
        next: Duration,
        /// Columns of the terminal.
        width: usize,
    },
    Lines(Lines<std::io::Stderr>),
}

impl Progress {
    /// A display on standard error, or none with `quiet`.
    pub fn new(kind: Kind, quiet: bool) -> Progress {
        let target = ProgressDrawTarget::stderr_with_hz(REFRESH);
        let display = if quiet {
            Display::Quiet
        } else if target.is_hidden() {
            // Standard error is a file, a pipe, or a terminal that cannot go back in a line.
            Display::Lines(Lines::new(std::io::stderr()))
        } else {
            Display::bar(kind, target, columns())
        };
        Progress { kind, display }
    }

    /// Takes the state of the run: simulated time, packet-hops so far over all ranks, wall-clock
    /// time since the start. Cheap enough to be called after every window.
    pub fn update(&mut self, simulated_ps: Time, packet_hops: u64, elapsed: Duration) {
        match &mut self.display {
            Display::Quiet => {}
            Display::Bar { bar, next, width } => {
                if elapsed >= *next {
                    *next = elapsed + BREATH;
                    let parts = parts(self.kind, simulated_ps, packet_hops, elapsed);
                    bar.set_message(fitted(&parts, *width));
                    bar.set_position(simulated_ps);
                }
            }
            Display::Lines(lines) => lines.update(self.kind, simulated_ps, packet_hops, elapsed),
        }
    }

    /// Removes the bar; lines stay. Dropping does the same.
    pub fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar { bar, .. } = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Display {
    fn bar(kind: Kind, target: ProgressDrawTarget, width: usize) -> Display {
        let (length, template) = match kind {
            // The bar has the rest of the line beside the message.
            Kind::Until(end) => (Some(end), "{msg} {wide_bar}"),
            Kind::Completion => (None, "{spinner} {msg}"),
        };
        let bar = ProgressBar::with_draw_target(length, target);
        // The templates are constants of this file; if one were wrong the built-in style would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Display::Bar {
            bar,
            next: Duration::ZERO,
            width,
        }
    }
}

/// Columns of the terminal that standard error is.
fn columns() -> usize {
    /// Columns of a terminal that does not say.
    const USUAL: u16 = 80;
    let size = tcgetwinsize(std::io::stderr());
    let columns = size
        .map(|size| size.ws_col)
        .ok()
        .filter(|columns| *columns > 0);
    usize::from(columns.unwrap_or(USUAL))
}

/// The first parts that fit into a line of a terminal; none is cut.
fn fitted(parts: &[String], width: usize) -> String {
    /// The spinner before the parts, or a space after them.
    const BESIDE: usize = 2;
    let room = width.saturating_sub(BESIDE);
    let mut line = String::new();
    for part in parts {
        let separator = if line.is_empty() { "" } else { ", " };
        let longer = format!("{line}{separator}{part}");
        if longer.chars().count() > room {
            break;
        }
        line = longer;
    }
    line
}

/// `42 %, 12.3 s left, 42.0 us of 100 us simulated, 8.1 M packet-hops/s`.
pub(super) fn state(kind: Kind, simulated_ps: Time, packet_hops: u64, elapsed: Duration) -> String {
    parts(kind, simulated_ps, packet_hops, elapsed).join(", ")
}

/// The same in parts, the most important first.
fn parts(kind: Kind, simulated_ps: Time, packet_hops: u64, elapsed: Duration) -> Vec<String> {
    let seconds = elapsed.as_secs_f64();
    let rate = match seconds > 0.0 {
        true => packet_hops as f64 / seconds,
        false => 0.0,
    };
    let rate = format!("{} packet-hops/s", scaled(rate));
    match kind {
        Kind::Completion => vec![
            format!("{} simulated", simulated(simulated_ps)),
            format!("{} so far", wall(seconds)),
            rate,
        ],
        Kind::Until(end) => {
            let done = simulated_ps.min(end);
            let part = match end {
                0 => 1.0,
                _ => done as f64 / end as f64,
            };
            let left = match done {
                0 => "? left".to_string(),
                _ => format!("{} left", wall(seconds * (1.0 - part) / part)),
            };
            vec![
                // 100 % is for the end only.
                format!("{:.0} %", (part * 100.0).floor()),
                left,
                format!("{} of {} simulated", simulated(done), simulated(end)),
                rate,
            ]
        }
    }
}

/// Plain lines for log files.
struct Lines<W> {
    out: W,
    next: Duration,
}

impl<W: Write> Lines<W> {
    fn new(out: W) -> Self {
        Lines { out, next: PAUSE }
    }

    fn update(&mut self, kind: Kind, simulated_ps: Time, packet_hops: u64, elapsed: Duration) {
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + PAUSE.max(elapsed / SHARE);
        // A closed standard error must not end a simulation.
        let _ = writeln!(
            self.out,
            "{}",
            state(kind, simulated_ps, packet_hops, elapsed)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io::Result as IoResult;
    use std::sync::{Arc, Mutex};

    const END: Kind = Kind::Until(100_000_000);

    fn lines(kind: Kind, calls: &[(Time, u64, f64)]) -> Vec<String> {
        let mut lines = Lines::new(Vec::new());
        for &(ps, hops, seconds) in calls {
            lines.update(kind, ps, hops, Duration::from_secs_f64(seconds));
        }
        let text = String::from_utf8(lines.out).expect("plain text");
        text.lines().map(str::to_string).collect()
    }

    #[test]
    fn a_line_tells_share_time_speed_and_rest() {
        assert_eq!(
            lines(END, &[(25_000_000, 40_000_000, 5.0)]),
            ["25 %, 15.0 s left, 25.0 us of 100 us simulated, 8.00 M packet-hops/s"]
        );
        assert_eq!(
            lines(Kind::Completion, &[(25_000_000, 40_000_000, 5.0)]),
            ["25.0 us simulated, 5.0 s so far, 8.00 M packet-hops/s"]
        );
    }

    #[test]
    fn lines_wait_five_seconds_and_then_a_twentieth_of_the_time() {
        let every_100_ms = |seconds: u32| {
            let calls: Vec<_> = (1..=seconds * 10)
                .map(|i| (1, 1, f64::from(i) / 10.0))
                .collect();
            lines(END, &calls).len()
        };
        assert_eq!(every_100_ms(4), 0);
        assert_eq!(every_100_ms(5), 1);
        assert_eq!(every_100_ms(9), 1);
        assert_eq!(every_100_ms(60), 12);
        // Twenty times 5 s, then every twentieth: an hour makes fewer than a hundred lines.
        let hour = every_100_ms(3_600);
        assert!((80..100).contains(&hour), "{hour}");
    }

    #[test]
    fn odd_moments_make_no_odd_numbers() {
        for (kind, ps, hops, seconds) in [
            (END, 0, 0, 0.0),
            (Kind::Until(0), 0, 0, 1.0),
            (END, Time::MAX, u64::MAX, 1e9),
            (Kind::Completion, 0, 0, 0.0),
        ] {
            let text = state(kind, ps, hops, Duration::from_secs_f64(seconds));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        assert!(state(END, 99_999_999, 1, PAUSE).starts_with("99 %"));
        assert!(state(END, 100_000_000, 1, PAUSE).starts_with("100 %"));
    }

    /// A terminal of one line that shows the text last written to it.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>, u16);

    impl Screen {
        fn shown(&self) -> String {
            self.0
                .lock()
                .expect("no other thread")
                .trim_end()
                .to_string()
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            self.1
        }
        fn move_cursor_up(&self, _: usize) -> IoResult<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> IoResult<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> IoResult<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> IoResult<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> IoResult<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> IoResult<()> {
            self.0.lock().expect("no other thread").push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> IoResult<()> {
            self.0.lock().expect("no other thread").clear();
            Ok(())
        }
        fn flush(&self) -> IoResult<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_gets_a_bar_that_goes_away() {
        let whole = [
            "50 %",
            "1.0 s left",
            "50.0 us of 100 us simulated",
            "1.00 M packet-hops/s",
        ];
        let open = ["50.0 us simulated", "1.0 s so far", "1.00 M packet-hops/s"];
        for (kind, parts, columns, fit) in [
            (END, &whole[..], 120, 4),
            (END, &whole, 80, 4),
            (END, &whole, 60, 3),
            (END, &whole, 40, 2),
            (END, &whole, 10, 1),
            (Kind::Completion, &open, 60, 3),
            (Kind::Completion, &open, 40, 2),
        ] {
            let screen = Screen(Arc::default(), columns);
            let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
            let mut progress = Progress {
                kind,
                display: Display::bar(kind, target, usize::from(columns)),
            };
            progress.update(50_000_000, 1_000_000, Duration::from_secs(1));
            if let Display::Bar { bar, .. } = &progress.display {
                bar.force_draw();
            }
            let shown = screen.shown();
            // Parts are shown whole or not at all.
            assert!(
                shown.contains(&parts[..fit].join(", ")),
                "{columns}: {shown}"
            );
            assert!(
                !parts[fit..].iter().any(|part| shown.contains(&part[..6])),
                "{columns}: {shown}"
            );
            assert_eq!(
                shown.contains("====="),
                kind == END && columns >= 40,
                "{columns}: {shown}"
            );
            assert!(
                shown.chars().count() <= usize::from(columns),
                "{columns}: {shown}"
            );
            progress.finish();
            assert_eq!(screen.shown(), "");
        }
    }

    #[test]
    fn quiet_is_quiet() {
        let mut progress = Progress::new(END, true);
        progress.update(1, 1, Duration::from_secs(100));
        assert!(matches!(progress.display, Display::Quiet));
    }
}
