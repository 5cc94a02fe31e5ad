//! What the points of a study will take: by those that are done, by their beginnings, or by their files alone.

use super::{Sweep, bad};
use crate::cli::calibrate::calibrated;
use crate::cli::launch::Failure;
use crate::forecast::{ASSUMED_RATE, Forecast};
use crate::report::format::scaled;
use crate::simulation::Plan;
use crate::study::{Point, State};
use crate::trace;

/// So many results are looked at, of many.
const RESULTS: usize = 128;

/// What one point will take.
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

/// What all points will take, and how that is known.
pub struct Outlook {
    /// By point.
    pub points: Vec<Expected>,
    /// Packet-hops per second of one core: those that are expected, over the time that was measured.
    pub rate: f64,
    /// Finished points that it was measured on.
    pub measured: usize,
    /// Points that were begun for it.
    pub calibrated: usize,
}

/// What a finished point has taken, over what was expected of its file alone.
struct Finished<'a> {
    at: &'a [usize],
    hops: f64,
    seconds: f64,
    slower: f64,
    larger: f64,
}

impl Outlook {
    /// Of a sweep. With `calibrate` points that are not done are begun.
    pub fn new(sweep: &Sweep, states: &[State], calibrate: bool) -> Result<Outlook, Failure> {
        let finished = finished(sweep, states);
        let hops: f64 = finished.iter().map(|one| one.hops).sum();
        let seconds: f64 = finished.iter().map(|one| one.seconds).sum();
        let mut outlook = Outlook {
            points: Vec::new(),
            rate: if seconds > 0.0 {
                hops / seconds
            } else {
                ASSUMED_RATE
            },
            measured: finished.len(),
            calibrated: 0,
        };
        for (point, state) in sweep.points.iter().zip(states) {
            let expected = if calibrate && *state != State::Done {
                let plan = Plan::new(&point.experiment, None).map_err(|error| bad(&error))?;
                outlook.calibrated += 1;
                Expected::of(&calibrated(&point.experiment, &plan, true).forecast)
            } else {
                by_others(point, &finished)
            };
            outlook.points.push(expected);
        }
        Ok(outlook)
    }

    /// How it is known, in words.
    pub fn words(&self) -> String {
        let rate = scaled(self.rate);
        match (self.measured, self.calibrated) {
            (0, 0) => format!(
                "{rate} packet-hops/s and shortest ways are assumed: no point is finished; --calibrate of `sweep plan` begins each for a second"
            ),
            (points, 0) => format!("{rate} packet-hops/s, measured on {points} points"),
            (0, begun) => format!("calibrated on the beginning of {begun} points"),
            (points, begun) => {
                format!("measured on {points} points, calibrated on the beginning of {begun}")
            }
        }
    }
}

/// The results that there are; of many some, spread evenly.
fn finished<'a>(sweep: &'a Sweep, states: &[State]) -> Vec<Finished<'a>> {
    let done = || {
        let all = sweep.points.iter().zip(states);
        all.filter(|(_, state)| **state == State::Done)
    };
    let step = done().count().div_ceil(RESULTS).max(1);
    let look = |point: &'a Point| {
        let run = trace::read(&sweep.dir.point(&point.hash).result())
            .ok()?
            .run;
        let assumed = Forecast::assumed(&point.work, ASSUMED_RATE);
        let seconds = run.wall_seconds * f64::from(run.ranks);
        Some(Finished {
            at: &point.at,
            hops: assumed.packet_hops,
            seconds,
            slower: seconds / assumed.seconds.max(f64::MIN_POSITIVE),
            larger: run.peak_memory_bytes as f64 / assumed.bytes,
        })
    };
    let some = done().step_by(step);
    some.filter_map(|(point, _)| look(point)).collect()
}

/// By the finished points that have the most values of axes in common with this one: as they took more than was expected of
/// their files alone, so will it.
fn by_others(point: &Point, finished: &[Finished]) -> Expected {
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
    let assumed = Expected::of(&Forecast::assumed(&point.work, ASSUMED_RATE));
    Expected {
        seconds: assumed.seconds * mean(|one| one.slower),
        bytes: assumed.bytes * mean(|one| one.larger),
        ..assumed
    }
}
