//! Expected cost of the points of a study: by finished points, by their beginnings, or by their
//! files alone.

use std::collections::BTreeMap;

use super::view::{LISTED, View};
use super::{Sweep, bad};
use crate::cli::experiment::calibrate::calibrated;
use crate::cli::process::failure::Failure;
use weir_report::format::scaled;
use weir_simulation::Plan;
use weir_simulation::forecast::{ASSUMED_RATE, Forecast};
use weir_study::{Brief, Checked, Point, State};

/// Most results that are examined.
const RESULTS: usize = 128;

/// Expected cost of one point.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Packet-hops.
    pub packet_hops: f64,
    /// On one core, s.
    pub seconds: f64,
    /// Memory, bytes.
    pub bytes: f64,
}

impl Expected {
    fn of(forecast: &Forecast) -> Expected {
        Expected {
            packet_hops: forecast.packet_hops,
            seconds: forecast.seconds,
            bytes: forecast.bytes,
        }
    }
}

/// Expected cost of points, and its basis.
pub struct Outlook {
    /// The points that were examined, by their place in the view.
    pub points: BTreeMap<usize, (Brief, Expected)>,
    /// Checks and warnings of them.
    pub checked: Checked,
    /// Packet-hops per second of one core: the expected hops over the measured time.
    pub rate: f64,
    /// Finished points that it was measured on.
    pub measured: usize,
    /// Points that were begun for it.
    pub calibrated: usize,
}

/// Actual cost of a finished point, relative to the estimate from its file alone.
struct Finished<'a> {
    at: &'a [usize],
    hops: f64,
    seconds: f64,
    slower: f64,
    larger: f64,
}

impl Outlook {
    /// Outlook of a view of a sweep.
    /// With `calibrate` its points that are not done are begun. Unless `everything` is asked for,
    /// some points of a large study stand for all.
    pub fn new(
        sweep: &Sweep,
        view: &View,
        calibrate: bool,
        everything: bool,
    ) -> Result<Outlook, Failure> {
        let looked = looked(view, everything);
        let points: Vec<&Point> = looked.iter().map(|&at| &view.points[at]).collect();
        let checked = sweep.check(&points)?;
        let briefs: BTreeMap<usize, Brief> = looked
            .into_iter()
            .zip(checked.briefs.iter().copied())
            .collect();
        let finished = finished(sweep, view, &briefs);
        let hops: f64 = finished.iter().map(|one| one.hops).sum();
        let seconds: f64 = finished.iter().map(|one| one.seconds).sum();
        let mut outlook = Outlook {
            points: BTreeMap::new(),
            checked,
            rate: if seconds > 0.0 {
                hops / seconds
            } else {
                ASSUMED_RATE
            },
            measured: finished.len(),
            calibrated: 0,
        };
        for (at, brief) in briefs {
            let point = &view.points[at];
            let expected = if calibrate && view.states[at] != State::Done {
                outlook.calibrated += 1;
                begun(sweep, point)?
            } else {
                by_others(point, &brief, &finished)
            };
            outlook.points.insert(at, (brief, expected));
        }
        Ok(outlook)
    }

    /// Time that the points without a result will take on one core, s.
    pub fn seconds_left(&self, view: &View) -> f64 {
        let done = view.count(State::Done.name());
        self.seconds(view, view.all - done, &|state| *state != State::Done)
    }

    /// The same without the points that have failed.
    pub fn seconds_open(&self, view: &View) -> f64 {
        let open = [State::Waiting, State::Running];
        let count = open.iter().map(|state| view.count(state.name())).sum();
        self.seconds(view, count, &|state| open.contains(state))
    }

    /// Time that `count` points in such states will take, as if all were like the examined ones.
    fn seconds(&self, view: &View, count: usize, wanted: &dyn Fn(&State) -> bool) -> f64 {
        let some = self.points.iter();
        let some = some.filter(|(at, _)| wanted(&view.states[**at]));
        let some: Vec<f64> = some.map(|(_, (_, expected))| expected.seconds).collect();
        let sum: f64 = some.iter().sum();
        match some.len() {
            0 => 0.0,
            all if all == count => sum,
            some => sum / some as f64 * count as f64,
        }
    }

    /// Basis of the outlook, in words.
    pub fn words(&self) -> String {
        let rate = scaled(self.rate);
        match (self.measured, self.calibrated) {
            (0, 0) => format!(
                "{rate} packet-hops/s and shortest ways are assumed: no point is finished; \
                 --calibrate of `sweep plan` begins each for a second"
            ),
            (points, 0) => format!("{rate} packet-hops/s, measured on {points} points"),
            (0, begun) => format!("calibrated on the beginning of {begun} points"),
            (points, begun) => {
                format!("measured on {points} points, calibrated on the beginning of {begun}")
            }
        }
    }
}

/// The places of points that are examined: some of very many done ones, and some of very many
/// others.
fn looked(view: &View, everything: bool) -> Vec<usize> {
    let some = |most: usize, wanted: &dyn Fn(&State) -> bool| {
        let all = view.states.iter().enumerate();
        let all: Vec<usize> = all
            .filter(|(_, state)| wanted(state))
            .map(|(at, _)| at)
            .collect();
        let step = match everything || view.points.len() <= 2 * LISTED {
            true => 1,
            false => all.len().div_ceil(most).max(1),
        };
        all.into_iter().step_by(step)
    };
    let done = some(RESULTS, &|state| *state == State::Done);
    let mut places: Vec<usize> = done
        .chain(some(LISTED, &|state| *state != State::Done))
        .collect();
    places.sort_unstable();
    places
}

/// Expected cost of a point by its beginning.
fn begun(sweep: &Sweep, point: &Point) -> Result<Expected, Failure> {
    let experiment = sweep.study.experiment(point, &sweep.catalog);
    let experiment = experiment.map_err(|error| bad(&error))?;
    let plan = Plan::new(&experiment, None).map_err(|error| bad(&error))?;
    Ok(Expected::of(&calibrated(&experiment, &plan, true).forecast))
}

/// The results that there are; of many some, spread evenly.
fn finished<'a>(
    sweep: &Sweep,
    view: &'a View,
    briefs: &BTreeMap<usize, Brief>,
) -> Vec<Finished<'a>> {
    let done = briefs.iter();
    let done: Vec<_> = done
        .filter(|(at, _)| view.states[**at] == State::Done)
        .collect();
    let step = done.len().div_ceil(RESULTS).max(1);
    let look = |(at, brief): (&usize, &Brief)| {
        let point = &view.points[*at];
        let run = weir_result::read(&sweep.dir.point(&point.hash).result())
            .ok()?
            .run;
        let threads = run.threads.unwrap_or(1) as f64;
        let seconds = run.wall_seconds * f64::from(run.ranks) * threads;
        Some(Finished {
            at: &point.at,
            hops: brief.packet_hops,
            seconds,
            slower: seconds / brief.seconds.max(f64::MIN_POSITIVE),
            larger: run.peak_memory_bytes as f64 / brief.bytes,
        })
    };
    done.into_iter().step_by(step).filter_map(look).collect()
}

/// By the finished points that have the most values of axes in common with this one: as they took
/// more than was expected of their files alone, so will it.
fn by_others(point: &Point, brief: &Brief, finished: &[Finished]) -> Expected {
    let common = |one: &Finished| {
        let pairs = one.at.iter().zip(&point.at);
        pairs.filter(|(a, b)| a == b).count()
    };
    let most = finished.iter().map(common).max().unwrap_or(0);
    let near: Vec<&Finished> = (finished.iter())
        .filter(|one| common(one) == most)
        .collect();
    let mean = |of: fn(&Finished) -> f64| match near.len() {
        0 => 1.0,
        // The geometric mean, since these are ratios.
        count => (near.iter().map(|one| of(one).ln()).sum::<f64>() / count as f64).exp(),
    };
    Expected {
        packet_hops: brief.packet_hops,
        seconds: brief.seconds * mean(|one| one.slower),
        bytes: brief.bytes * mean(|one| one.larger),
    }
}
