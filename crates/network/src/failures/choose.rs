//! The links that failures change: by name, and drawn at random.

use super::check::check;
use super::draw::{Ends, drawn_links, drawn_routers};
use super::named::{links_of, named};
use super::{
    Changed, Direction, Down, FailedLinks, FailedRouters, FailureConfig, Failures, Stranded,
};
use crate::topology::Topology;
use weir_model::{Invalid, Rng, purpose, stream};

/// The links that differ from their kind. The same wherever it is asked: it depends on the
/// failures, the network and the seed alone.
///
/// # Errors
/// The first thing that is wrong, with its key: `failure.0.links`.
pub fn choose(
    list: &[FailureConfig],
    topology: &dyn Topology,
    seed: u64,
) -> Result<Failures, Invalid> {
    let mut failures = Failures::default();
    for (number, own) in list.iter().enumerate() {
        check(own).map_err(|invalid| within(number, invalid))?;
    }
    // Links are drawn among the others.
    for (number, own) in list.iter().enumerate() {
        add_named(&mut failures, topology, (number, own))
            .map_err(|invalid| within(number, invalid))?;
    }
    for (number, own) in list.iter().enumerate() {
        let mut rng = match own.seed {
            Some(seed) => stream(seed, &[purpose::FAILURE]),
            None => stream(seed, &[purpose::FAILURE, number as u64]),
        };
        add_drawn(&mut failures, topology, (number, own), &mut rng)
            .map_err(|invalid| within(number, invalid))?;
    }
    Ok(failures)
}

/// The same error with a key before its own.
fn beside(path: &str, invalid: Invalid) -> Invalid {
    let key = match invalid.key.as_str() {
        "" => path.to_string(),
        key => format!("{path}.{key}"),
    };
    Invalid { key, ..invalid }
}

fn within(number: usize, invalid: Invalid) -> Invalid {
    beside(&format!("failure.{number}"), invalid)
}

/// Adds the links of a failure that are named, themselves or by their routers.
fn add_named(
    failures: &mut Failures,
    topology: &dyn Topology,
    own: (usize, &FailureConfig),
) -> Result<(), Invalid> {
    if let Some(FailedLinks::Named(names)) = &own.1.links {
        for (at, name) in names.iter().enumerate() {
            let refuse = |invalid| beside(&format!("links.{at}"), invalid);
            for ends in named(name, topology).map_err(refuse)? {
                let added = add(failures, topology, own, ends);
                added.map_err(|invalid| match invalid.key.as_str() {
                    "" => refuse(invalid),
                    _ => invalid,
                })?;
            }
        }
    }
    if let Some(FailedRouters::Named(routers)) = &own.1.routers {
        for (at, &router) in routers.iter().enumerate() {
            let links = links_of(router, topology);
            let links = links.map_err(|invalid| beside(&format!("routers.{at}"), invalid))?;
            add_of_router(failures, topology, own, &links)?;
        }
    }
    Ok(())
}

/// Adds the links of a failure that are drawn, themselves or by their routers.
fn add_drawn(
    failures: &mut Failures,
    topology: &dyn Topology,
    own: (usize, &FailureConfig),
    rng: &mut Rng,
) -> Result<(), Invalid> {
    if let Some(FailedLinks::Kind(kind)) = &own.1.links {
        for ends in drawn_links(own.1, kind, topology, failures, rng)? {
            add(failures, topology, own, ends)?;
        }
    }
    if let Some(FailedRouters::Kind(kind)) = &own.1.routers {
        for router in drawn_routers(own.1, kind, topology, rng)? {
            let links = links_of(router, topology)?;
            add_of_router(failures, topology, own, &links)?;
        }
    }
    Ok(())
}

/// Adds the links of a router. Two routers that fail may share one.
fn add_of_router(
    failures: &mut Failures,
    topology: &dyn Topology,
    own: (usize, &FailureConfig),
    links: &[Ends],
) -> Result<(), Invalid> {
    for &ends in links {
        let shared = match own.1.down {
            true => failures
                .down_at(ends[0])
                .iter()
                .any(|down| down.failure == own.0),
            false => failures
                .get(ends[0])
                .is_some_and(|changed| changed.failure == own.0),
        };
        if !shared {
            add(failures, topology, own, ends)?;
        }
    }
    Ok(())
}

/// Adds a link to a failure. An error without a key is about the link.
fn add(
    failures: &mut Failures,
    topology: &dyn Topology,
    (number, own): (usize, &FailureConfig),
    ends: Ends,
) -> Result<(), Invalid> {
    let twice = |failure: usize| {
        let message = match failure == number {
            true => "this link is named twice".to_string(),
            false => format!("failure.{failure} changes this link already"),
        };
        Err(Invalid::new("", message, "name each link once"))
    };
    if own.down {
        let before = failures.down_at(ends[0]);
        if before.iter().any(|down| down.failure == number) {
            return twice(number);
        }
        let down = Down {
            failure: number,
            span: own.span(),
            rerouted_after: own.rerouted_after.map_or(0, |after| after.0),
            loses: own.packets != Some(Stranded::Drained),
        };
        failures.take_down(topology, ends, down);
        return Ok(());
    }
    let directions = match own.direction {
        Direction::Both => &ends[..],
        Direction::Out => &ends[..1],
    };
    for &from in directions {
        if let Some(other) = failures.get(from) {
            return twice(other.failure);
        }
        let changed = Changed {
            link: own.changed(topology.link_from(from))?,
            bit_error_rate: own.bit_error_rate.unwrap_or(0.0),
            failure: number,
            span: own.span(),
        };
        failures.change(topology, from, changed);
    }
    Ok(())
}
