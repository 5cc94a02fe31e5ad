//! Operations of a trace, and the part of them that is simulated.

use std::borrow::Cow;
use std::fmt;

use weir_input::Duration;
use weir_model::Time;

/// A number of operations of a kind, their bytes and their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Operations.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Simulated time of computations, ps.
    pub time: Time,
}

/// The operations of one kind in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of the kind: `sends`.
    pub name: Cow<'static, str>,
    /// All operations.
    pub seen: Amount,
    /// Operations that have no effect on the run.
    pub ignored: Amount,
    /// Reasons for ignoring them, with the number for each reason.
    pub why: Vec<(Cow<'static, str>, u64)>,
}

impl Amount {
    fn add(&mut self, count: u64, bytes: u64, time: Time) {
        self.count = self.count.saturating_add(count);
        self.bytes = self.bytes.saturating_add(bytes);
        self.time = self.time.saturating_add(time);
    }
}

/// Operations of a trace; all are simulated except the ignored ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By kind, in order of first appearance.
    pub rows: Vec<Row>,
}

impl Coverage {
    /// Adds simulated operations.
    pub fn simulated(&mut self, name: impl Into<Cow<'static, str>>, count: u64, bytes: u64) {
        self.row(name.into()).seen.add(count, bytes, 0);
    }

    /// Adds simulated operations that take this time together.
    pub fn timed(&mut self, name: impl Into<Cow<'static, str>>, count: u64, time: Time) {
        self.row(name.into()).seen.add(count, 0, time);
    }

    /// Adds ignored operations, with the reason.
    pub fn ignored(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        count: u64,
        bytes: u64,
        why: impl Into<Cow<'static, str>>,
    ) {
        let why = why.into();
        let row = self.row(name.into());
        row.seen.add(count, bytes, 0);
        row.ignored.add(count, bytes, 0);
        match row.why.iter_mut().find(|(one, _)| *one == why) {
            Some((_, of_it)) => *of_it = of_it.saturating_add(count),
            None => row.why.push((why, count)),
        }
    }

    /// Tells that simulated operations, which were added before, are ignored after all.
    pub fn dropped(&mut self, name: &'static str, count: u64, bytes: u64, why: &'static str) {
        let seen = self.row(name.into()).seen;
        self.ignored(name, count, bytes, why);
        self.row(name.into()).seen = seen;
    }

    fn row(&mut self, name: Cow<'static, str>) -> &mut Row {
        let at = self.rows.iter().position(|row| row.name == name);
        let at = at.unwrap_or_else(|| {
            self.rows.push(Row {
                name,
                seen: Amount::default(),
                ignored: Amount::default(),
                why: Vec::new(),
            });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// As named numbers: `sends`, `sends_bytes`, `computations_ps`, and `sends_ignored`,
    /// `sends_ignored_bytes` if some are.
    pub fn numbers(&self) -> Vec<(String, u64)> {
        let mut numbers: Vec<(String, u64)> = Vec::new();
        // Names of kinds from a file may differ only in a space.
        let mut put = |name: String, number: u64| {
            if numbers.iter().all(|(one, _)| *one != name) {
                numbers.push((name, number));
            }
        };
        let mut add = |name: &str, amount: Amount| {
            put(name.to_string(), amount.count);
            if amount.bytes > 0 {
                put(format!("{name}_bytes"), amount.bytes);
            }
            if amount.time > 0 {
                put(format!("{name}_ps"), amount.time);
            }
        };
        for row in self.rows.iter().filter(|row| row.seen.count > 0) {
            let name = row.name.replace(' ', "_");
            add(&name, row.seen);
            if row.ignored.count > 0 {
                add(&format!("{name}_ignored"), row.ignored);
            }
        }
        numbers
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut rows = self.rows.iter().filter(|row| row.seen.count > 0).peekable();
        if rows.peek().is_none() {
            return write!(f, "no operations");
        }
        for (at, row) in rows.enumerate() {
            if at > 0 {
                write!(f, ", ")?;
            }
            write!(f, "{} {}", row.seen.count, row.name)?;
            let all = if row.seen.count > 1 { " in all" } else { "" };
            if row.seen.bytes > 0 {
                write!(f, " of {} bytes{all}", row.seen.bytes)?;
            }
            if row.seen.time > 0 {
                write!(f, " of {}{all}", Duration(row.seen.time))?;
            }
            let why = row.why.iter().filter(|(_, count)| *count > 0);
            match why.collect::<Vec<_>>().as_slice() {
                [] => {}
                [(why, count)] if *count == row.seen.count => write!(f, " (ignored: {why})")?,
                reasons => {
                    for (at, (why, count)) in reasons.iter().enumerate() {
                        let lead = if at == 0 { " (" } else { "; " };
                        write!(f, "{lead}{count} ignored: {why}")?;
                    }
                    write!(f, ")")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;

    #[test]
    fn each_reason_is_said_with_its_number() {
        let mut coverage = Coverage::default();
        coverage.simulated("sends", 4, 40);
        coverage.ignored("sends", 2, 20, "one reason");
        coverage.ignored("sends", 1, 5, "another");
        coverage.ignored("waits", 3, 0, "nothing is open");
        coverage.timed("computations", 2, 1_500_000);
        assert_eq!(
            coverage.to_string(),
            "7 sends of 65 bytes in all (2 ignored: one reason; 1 ignored: another), \
             3 waits (ignored: nothing is open), 2 computations of 1.5 us in all"
        );
        let numbers = coverage.numbers();
        let ignored = |name: &str| numbers.iter().find(|(own, _)| own == name).map(|one| one.1);
        assert_eq!(ignored("sends_ignored"), Some(3));
        assert_eq!(ignored("sends_ignored_bytes"), Some(25));
        assert_eq!(ignored("computations_ps"), Some(1_500_000));
    }

    #[test]
    fn amounts_do_not_wrap() {
        let mut coverage = Coverage::default();
        coverage.ignored("sends", u64::MAX, u64::MAX, "many");
        coverage.ignored("sends", 1, 1, "one more");
        assert_eq!(coverage.rows[0].seen.count, u64::MAX);
        assert_eq!(coverage.rows[0].ignored.bytes, u64::MAX);
    }
}
