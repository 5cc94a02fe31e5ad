//! A scheme that is saved and loaded into a fresh one continues unchanged; damaged bytes are
//! refused.

mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::testing::{about, section};
use super::{About, REGISTRY, Scheme};
use weir_model::{below, stream};
use world::{NICS, OUTPUTS, World};

/// The manual's page of schemes.
const PAGE: &str = include_str!("../../../../docs/model/schemes.md");

/// Random histories of each scheme.
const SEEDS: u64 = 12;

/// Packets of up to 24 flits, queues of 512, acknowledgements.
fn network() -> About {
    About {
        acknowledge: true,
        ..about(24, 512)
    }
}

/// All schemes with all their examples, before anything has happened.
fn all() -> Vec<(String, Box<dyn Scheme>)> {
    let mut all = Vec::new();
    for entry in REGISTRY {
        for example in entry.examples.iter().chain(&[""]) {
            let lines = example.replace(", ", "\n");
            let scheme = (entry.build)(&section(&lines), &network());
            let scheme = scheme.unwrap_or_else(|error| panic!("{}", error.render(false)));
            let fresh = scheme.start(NICS as usize, OUTPUTS as usize);
            all.push((format!("{} {example}", entry.name), fresh));
        }
    }
    all
}

fn fresh(scheme: &dyn Scheme) -> Box<dyn Scheme> {
    scheme.start(NICS as usize, OUTPUTS as usize)
}

/// A scheme after some steps.
fn after(steps: u32, scheme: &dyn Scheme, seed: u64) -> (Box<dyn Scheme>, World) {
    let (mut scheme, mut world) = (fresh(scheme), World::new(scheme, &network(), seed));
    for _ in 0..steps {
        world.step(scheme.as_mut());
    }
    (scheme, world)
}

#[test]
fn every_scheme_names_its_counts_and_the_parameters_to_look_at() {
    for entry in REGISTRY {
        let scheme = (entry.build)(&section(&entry.examples[0].replace(", ", "\n")), &network());
        let scheme = scheme.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let fresh = scheme.start(NICS as usize, OUTPUTS as usize);
        assert_eq!(
            fresh.counts(0).len(),
            fresh.counters().len(),
            "{}",
            entry.name
        );
        let records = fresh.records().iter().map(|record| record.name);
        for name in fresh.counters().iter().copied().chain(records) {
            let described = PAGE.contains(&format!("`{name}`"));
            assert!(described, "docs/model/schemes.md says nothing of {name}");
        }
        let schema = (entry.parameters.schema)().to_value();
        for act in fresh
            .acts()
            .iter()
            .flat_map(|acts| [acts.notices, acts.responds])
        {
            let known = &schema["properties"][act.parameter];
            assert!(
                known.is_object(),
                "{} has no parameter {}",
                entry.name,
                act.parameter
            );
        }
    }
}

#[test]
fn who_is_loaded_goes_on_as_who_was_saved() {
    for (name, unused) in all() {
        let nothing = unused.save().expect("saved");
        let mut changed = 0;
        for seed in 0..SEEDS {
            let steps = below(&mut stream(seed, &[1]), 1_500);
            let (mut one, mut its) = after(steps, unused.as_ref(), seed);
            // A state that empties itself again is saved while it holds something.
            for _ in 0..500 {
                if one.save().as_ref() != Ok(&nothing) {
                    break;
                }
                its.step(one.as_mut());
            }
            let bytes = one.save().expect("saved");
            changed += u32::from(bytes != nothing);
            let mut other = fresh(unused.as_ref());
            other.load(&bytes).expect("loaded");
            assert_eq!(other.save().as_ref(), Ok(&bytes), "{name}, {seed}");
            let mut others = its.clone();
            for _ in 0..500 {
                its.step(one.as_mut());
                others.step(other.as_mut());
                assert_eq!(its.log.last(), others.log.last(), "{name}, {seed}");
            }
            assert_eq!(its.log, others.log, "{name}, {seed}");
            assert_eq!(one.save(), other.save(), "{name}, {seed}");
            assert_eq!(one.counts(0), other.counts(0), "{name}, {seed}");
        }
        // The numbers of NICs and outputs, and then the state.
        let has_state = nothing.len() > 2;
        assert_eq!(
            changed > SEEDS as u32 / 2,
            has_state,
            "{name}: {changed} of {SEEDS} random histories (world.rs) change its state"
        );
    }
}

#[test]
fn states_of_another_domain_are_refused() {
    for (name, unused) in all() {
        for (nics, outputs) in [(7, 8), (6, 7), (0, 0)] {
            let mut bytes = unused.start(nics, outputs).save().expect("saved");
            let (mut one, mut world) = after(0, unused.as_ref(), 1);
            let before = one.save();
            assert!(one.load(&bytes).is_err(), "{name}");
            assert_eq!(one.save(), before, "{name}");
            // Even with the sizes of this domain in the bytes, no table is too short.
            bytes[..2].copy_from_slice(&[NICS as u8, OUTPUTS as u8]);
            let _ = one.load(&bytes);
            for _ in 0..300 {
                world.step(one.as_mut());
            }
        }
    }
}

#[test]
fn cut_bytes_are_refused() {
    for (name, unused) in all() {
        let mut bytes = after(300, unused.as_ref(), 2).0.save().expect("saved");
        for length in 0..bytes.len() {
            let loaded = fresh(unused.as_ref()).load(&bytes[..length]);
            assert!(loaded.is_err(), "{name}, {length} bytes");
        }
        bytes.push(0);
        assert!(fresh(unused.as_ref()).load(&bytes).is_err(), "{name}");
    }
}

/// Damaged bytes are refused, or are a state without an index or address out of bounds. (A number
/// in it may still be impossible, so that a sum overflows its type.)
#[test]
fn damaged_bytes_lead_nowhere_out_of_bounds() {
    for (name, unused) in all() {
        let mut refused = 0;
        let (one, world) = after(300, unused.as_ref(), 3);
        let bytes = one.save().expect("saved");
        for place in 0..bytes.len() {
            let mut bytes = bytes.clone();
            // The largest number that is a single byte.
            bytes[place] = 250;
            let mut other = fresh(unused.as_ref());
            if other.load(&bytes).is_err() {
                refused += 1;
                continue;
            }
            let mut world = world.clone();
            let went = catch_unwind(AssertUnwindSafe(|| {
                for _ in 0..100 {
                    world.step(other.as_mut());
                }
            }));
            let reason = went
                .err()
                .and_then(|reason| reason.downcast::<String>().ok());
            let reason = reason.unwrap_or_default();
            assert!(
                !reason.contains("out of bounds"),
                "{name}, {place}: {reason}"
            );
        }
        assert!(refused > 0, "{name}");
    }
}
