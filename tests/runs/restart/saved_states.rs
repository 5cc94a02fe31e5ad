//! Damaged bytes of a saved state are refused, and never lead out of a list.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::support::Experiment;
use crate::support::attack::cases;
use weir::engine::{Local, Progress, Start, StopReason, Transport};
use weir::fabric::{Fabric, Part, Parts, Watcher};
use weir::model::{below, stream};
use weir::simulation::Plan;

/// Saves all domains at the end of a window.
struct Saver {
    window: u64,
    saved: Vec<Vec<u8>>,
}

impl Watcher for Saver {
    fn stop(&mut self) -> Option<StopReason> {
        None
    }
    fn heed_within(&self) -> Duration {
        Duration::from_secs(60)
    }
    fn observe(
        &mut self,
        parts: &mut dyn Parts,
        _: &mut dyn Transport,
        progress: Progress,
    ) -> bool {
        if progress.window_ended() && progress.at.windows == self.window {
            let state = |part: &&mut dyn Part| {
                let mut bytes = Vec::new();
                part.save(&mut bytes).expect("plain data");
                bytes
            };
            self.saved = parts.parts().iter().map(state).collect();
        }
        true
    }
}

fn built(plan: &Plan) -> Fabric {
    Fabric::new(&plan.blueprint, plan.scheme.as_ref(), &Local, 2)
}

/// The states of all domains in the middle of a run.
fn states(plan: &Plan) -> Vec<Vec<u8>> {
    let mut saver = Saver {
        window: 30,
        saved: Vec::new(),
    };
    let (schedule, start) = (plan.blueprint.schedule, Start::default());
    let ended = built(plan).run(plan.network(), schedule, start, &mut Local, &mut saver);
    ended.expect("a good run");
    assert!(!saver.saved.is_empty(), "the run has fewer windows");
    saver.saved
}

fn crowded(scheme: &str) -> Experiment {
    Experiment::dragonfly(2, 4, 2)
        .routing("par")
        .set("congestion.scheme", scheme)
        .hotspot(7, 1, 0.9)
        .with("endpoints.count", 8)
        .with("endpoints.placement", "random")
        .uniform(0.9)
        .with("endpoints", "rest")
        .applications()
        .until("6 us")
}

#[test]
fn a_state_is_read_by_its_domain_only() {
    let plan = crowded("lhrp").plan();
    let states = states(&plan);
    for (at, bytes) in states.iter().enumerate() {
        let mut fabric = built(&plan);
        let mut parts = fabric.parts();
        parts[at].load(bytes, None).expect("its own state");
        let other = (at + 1) % states.len();
        let error = parts[other].load(bytes, None).expect_err("another's state");
        assert!(error.to_string().contains("domain"), "{error}");
    }
}

#[test]
fn damaged_states_are_refused_or_harmless() {
    let mut rng = stream(7, &[]);
    for scheme in ["none", "lhrp", "ib_cca", "sst_cm"] {
        let plan = crowded(scheme).plan();
        let states = states(&plan);
        let mut refused = 0;
        for _ in 0..cases(60) {
            let at = below(&mut rng, states.len() as u32) as usize;
            let mut bytes = states[at].clone();
            let cut = below(&mut rng, 3) == 0;
            let place = below(&mut rng, bytes.len() as u32) as usize;
            match cut {
                true => bytes.truncate(place),
                false => bytes[place] ^= 1 << below(&mut rng, 8),
            }
            let mut fabric = built(&plan);
            let loaded = catch_unwind(AssertUnwindSafe(|| fabric.parts()[at].load(&bytes, None)));
            let loaded = loaded.expect("no panic");
            assert!(
                !cut || loaded.is_err(),
                "{scheme}: {place} bytes are taken for a state"
            );
            refused += u32::from(!cut && loaded.is_err());
        }
        assert!(refused > 0, "{scheme}: every flipped bit was taken");
    }
}
