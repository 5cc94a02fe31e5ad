//! The speed at which tasks compute.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Peer;
use crate::open::draw;
use crate::open::logarithm::ln;
use weir_model::{Invalid, LATEST, Time, stream, unit};

/// Purposes of random streams: "noise" and "slow".
const NOISE: u64 = 0x6E_6F69_7365;
const SLOW: u64 = 0x736C_6F77;

/// Speeds outside of this are taken for a wrong unit.
const SPEEDS: [f64; 2] = [1e-6, 1e6];

/// `compute = { … }` of a job: the speed at which its tasks compute.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Compute {
    /// Computations take the time that their program says, divided by this.
    pub speed: f64,
    /// Mean extra time of a computation, as a fraction of its time. It is drawn for each one from
    /// an exponential distribution.
    pub noise: f64,
    /// Number of slow nodes, drawn from those of the job. All its tasks there are slow.
    pub stragglers: u32,
    /// Speed of slow nodes, as a fraction of `speed`.
    pub straggler_speed: f64,
}

impl Default for Compute {
    fn default() -> Self {
        Compute {
            speed: 1.0,
            noise: 0.0,
            stragglers: 0,
            straggler_speed: 0.5,
        }
    }
}

/// The speed at which each task of a job computes.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// By task; empty if each takes the time of its program.
    speeds: Box<[f64]>,
    noise: f64,
    seed: u64,
}

impl Compute {
    /// The pace of tasks on these nodes, in task order.
    ///
    /// # Errors
    /// If a number is out of its range, or there are fewer nodes than slow ones.
    pub fn pace(&self, nodes: &[u32], seed: u64) -> Result<Pace, Invalid> {
        let [least, most] = SPEEDS;
        for (key, speed) in [
            ("speed", self.speed),
            ("straggler_speed", self.straggler_speed),
        ] {
            if !(least..=most).contains(&speed) {
                let remedy = format!("write a number from {least:e} to {most:e}");
                return Err(Invalid::new(key, format!("is {speed:?}"), remedy));
            }
        }
        if !(0.0..=most).contains(&self.noise) {
            let remedy = format!("write a fraction of the time, from 0 to {most:e}");
            return Err(Invalid::new(
                "noise",
                format!("is {:?}", self.noise),
                remedy,
            ));
        }
        let mut all: Vec<u32> = BTreeSet::from_iter(nodes.iter().copied())
            .into_iter()
            .collect();
        if self.stragglers as usize > all.len() {
            let message = format!("{} of {} nodes", self.stragglers, all.len());
            let remedy = "write at most the number of nodes on which the job runs";
            return Err(Invalid::new("stragglers", message, remedy));
        }
        if (self.speed, self.noise, self.stragglers) == (1.0, 0.0, 0) {
            return Ok(Pace::default());
        }
        let slow = draw::take(
            &mut all,
            self.stragglers as usize,
            &mut stream(seed, &[SLOW]),
        );
        let slow = BTreeSet::from_iter(slow);
        let speed = |node| match slow.contains(node) {
            true => self.speed * self.straggler_speed,
            false => self.speed,
        };
        Ok(Pace {
            speeds: nodes.iter().map(speed).collect(),
            noise: self.noise,
            seed,
        })
    }
}

impl Pace {
    /// The time that a computation of `time` ps takes a task that begins it at `now`, ps, on one of
    /// its processors.
    pub fn time(&self, (task, cpu): (Peer, u8), now: Time, time: Time) -> Time {
        let Some(speed) = self.speeds.get(task as usize) else {
            return time;
        };
        let mut taken = time as f64 / speed;
        if self.noise > 0.0 {
            // Drawn from a stream named by the computation itself: others do not change it.
            let name = [NOISE, task.into(), now, cpu.into()];
            // The first processor's name has no number.
            let length = if cpu == 0 { 3 } else { 4 };
            let drawn = unit(&mut stream(self.seed, &name[..length]));
            taken *= 1.0 - self.noise * ln(1.0 - drawn);
        }
        // A cast from a float saturates.
        (taken as Time).min(LATEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(compute: Compute) -> Pace {
        let nodes: Vec<u32> = (0..40).map(|task| task / 4).collect();
        compute.pace(&nodes, 7).expect("it is valid")
    }

    #[test]
    fn all_tasks_of_a_slow_node_are_slow() {
        let pace = pace(Compute {
            speed: 2.0,
            stragglers: 3,
            straggler_speed: 0.25,
            ..Compute::default()
        });
        let times: Vec<Time> = (0..40).map(|task| pace.time((task, 0), 0, 1_000)).collect();
        let nodes: Vec<&[Time]> = times.chunks(4).collect();
        let slow = nodes.iter().filter(|node| **node == [2_000; 4]).count();
        let others = nodes.iter().filter(|node| **node == [500; 4]).count();
        assert_eq!((slow, others), (3, 7));
    }

    #[test]
    fn noise_adds_its_mean() {
        let pace = pace(Compute {
            noise: 0.1,
            ..Compute::default()
        });
        let count = 100_000_u32;
        let extra =
            |number: u32| pace.time((number % 40, 0), Time::from(number), 1_000_000) - 1_000_000;
        let mean = (0..count).map(extra).sum::<Time>() as f64 / f64::from(count);
        // An exponential distribution: the deviation is the mean. Five of its mean.
        let bound = 5.0 * 100_000.0 / f64::from(count).sqrt();
        assert!((mean - 100_000.0).abs() < bound, "{mean}");
    }

    #[test]
    fn processors_of_a_task_have_noise_of_their_own() {
        let pace = pace(Compute {
            noise: 1.0,
            ..Compute::default()
        });
        let times: Vec<Time> = (0..3)
            .map(|cpu| pace.time((5, cpu), 7, 1_000_000))
            .collect();
        assert!(times[0] != times[1] && times[1] != times[2] && times[0] != times[2]);
    }

    #[test]
    fn without_any_of_it_the_time_is_the_programs() {
        assert_eq!(pace(Compute::default()).time((3, 0), 5, 123), 123);
        assert_eq!(Pace::default().time((3, 0), 5, 123), 123);
    }
}
