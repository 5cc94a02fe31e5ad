//! `periodic_aggressor`: a calm application that becomes an incast periodically.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::incast::Incast;
use super::lammps::{Lammps, LammpsParams};
use super::{Build, at_least, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};
use weir_model::Invalid;

/// Periodic aggressor: a step of LAMMPS; then some iterations of an incast from the first tasks to
/// the one after them, which the others skip; then a step of LAMMPS again, without a barrier
/// between. The Fourier transform sends blocking.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Iterations of the incast.
    iterations: u32,
    /// Each of its messages.
    bytes: Size,
    /// Number of senders: tasks 0 to senders - 1, to task `senders`.
    senders: u32,
    /// Rounds of calm and incast (a calm step ends it).
    rounds: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 5,
            bytes: Size::Bits(8 * 1_310_720),
            senders: 99,
            rounds: 1,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "periodic_aggressor",
    summary: "A step of LAMMPS, an incast of some tasks, a step of LAMMPS.",
    source: "SWM (periodic aggressor); McGlohon et al., section IV and figure 3",
    examples: &[r#"senders = 5, iterations = 2, bytes = "10 kB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    if params.senders == 0 {
        let message = "an incast of 0 senders";
        let remedy = "write 1 or more; `lammps` is what is left without an incast";
        return Err(section.refuse(Invalid::new("senders", message, remedy)));
    }
    at_least(section, tasks, params.senders.saturating_add(1))?;
    let round = u64::from(Lammps::PARTS) + u64::from(params.iterations);
    if (u64::from(params.rounds) + 1) * round > u64::from(u32::MAX) {
        let message = format!(
            "{} rounds of {} iterations",
            params.rounds, params.iterations
        );
        let remedy = "write fewer rounds, or fewer iterations in each";
        return Err(section.refuse(Invalid::new("rounds", message, remedy)));
    }
    let calm = LammpsParams {
        blocking_fft: true,
        ..LammpsParams::default()
    };
    Ok(Box::new(PeriodicAggressor {
        calm: Lammps::new(section, &calm, tasks)?,
        rounds: params.rounds,
        storm: Incast {
            iterations: params.iterations,
            bytes: bytes(section, "bytes", params.bytes)?,
            senders: params.senders,
            target: params.senders,
            blocking: false,
            ordered: false,
            compute: 0,
        },
    }))
}

struct PeriodicAggressor {
    calm: Lammps,
    storm: Incast,
    rounds: u32,
}

impl Motif for PeriodicAggressor {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        let round = Lammps::PARTS + self.storm.iterations;
        let at = part % round;
        if part / round > self.rounds || (part / round == self.rounds && at >= Lammps::PARTS) {
            return false;
        }
        match at.checked_sub(Lammps::PARTS) {
            // Always the first step, so that it never exchanges atoms.
            None => self.calm.step_part(0, at, script),
            Some(iteration) => _ = self.storm.part(iteration, script),
        }
        true
    }

    /// An iteration is a calm step, or an iteration of the incast.
    fn begins_iteration(&self, part: u32) -> bool {
        let at = part % (Lammps::PARTS + self.storm.iterations);
        at == 0 || at >= Lammps::PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, words};

    #[test]
    fn calm_storm_calm() {
        let at = |task| words(&ops("periodic_aggressor", "", task, 2_048));
        let step = words(&ops("lammps", "steps = 1\nblocking_fft = true", 7, 2_048));
        let sender = at(7);
        assert_eq!(sender.len(), 2 * step.len() + 10);
        assert_eq!(sender[..step.len()], step);
        assert_eq!(
            sender[step.len()..][..10],
            ["Isend>99=1310720", "Wait*1"].repeat(5)
        );
        assert_eq!(sender[step.len() + 10..], step);
        let receiver = at(99);
        let step = words(&ops("lammps", "steps = 1\nblocking_fft = true", 99, 2_048));
        assert_eq!(receiver.len(), 2 * step.len() + 5 * 100);
        let step = words(&ops("lammps", "steps = 1\nblocking_fft = true", 100, 2_048));
        assert_eq!(at(100), [step.clone(), step].concat());
    }

    #[test]
    fn an_incast_of_nobody_is_refused() {
        let words = refusal("periodic_aggressor", "senders = 0", 8);
        assert!(
            words.contains("senders") && words.contains("1 or more"),
            "{words}"
        );
    }
}
