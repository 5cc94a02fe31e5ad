//! `hotspot`: some members send to a few others, and the rest are idle.

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use crate::open::draw;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, below, stream};

/// Hot-spot traffic: each source sends each message to one of the destinations, drawn at random.
/// Members that are neither source nor destination are idle.
///
/// With `m` sources at load `l` and `n` destinations, each destination is offered `l · m / n` of
/// its link.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of sources, drawn at random among the members (default: 60). Not together with
    /// `source_list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<u32>,
    /// Number of destinations, drawn at random among the members (default: 4). Not together with
    /// `destination_list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    destinations: Option<u32>,
    /// The sources by name: numbers of endpoints that are members (default: drawn at random).
    #[serde(skip_serializing_if = "Option::is_none")]
    source_list: Option<Vec<EndpointId>>,
    /// The destinations by name: numbers of endpoints that are members and not sources (default:
    /// drawn at random).
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_list: Option<Vec<EndpointId>>,
}

/// Default number of sources (Jiang et al., SC15, section 5.1: 60:4).
const SOURCES: u32 = 60;
/// Default number of destinations.
const DESTINATIONS: u32 = 4;

pub const ENTRY: Entry<Build> = Entry {
    name: "hotspot",
    summary: "A number of sources send to a few destinations, drawn at random or named; the other \
              members are idle.",
    source: "Jiang et al., SC15, section 5.1 (60:4 hot-spot)",
    examples: &[r#"sources = 20, destinations = 2"#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let tasks = Tasks::new(members.endpoints);
    let chosen = Chooser {
        section,
        tasks: &tasks,
    };
    let sources = chosen.side("source", params.sources, params.source_list, SOURCES)?;
    let destinations = chosen.side(
        "destination",
        params.destinations,
        params.destination_list,
        DESTINATIONS,
    )?;

    let named: FxHashSet<EndpointId> = sources.named().iter().copied().collect();
    if let Some(both) = destinations
        .named()
        .iter()
        .find(|endpoint| named.contains(endpoint))
    {
        return Err(section.refuse(Invalid::new(
            "destination_list",
            format!("endpoint {both} is a source as well as a destination"),
            "name it in one of the two lists",
        )));
    }
    let taken: FxHashSet<EndpointId> = [sources.named(), destinations.named()]
        .concat()
        .into_iter()
        .collect();
    let mut pool: Vec<EndpointId> = members
        .endpoints
        .iter()
        .copied()
        .filter(|endpoint| !taken.contains(endpoint))
        .collect();
    let wanted = sources.drawn() + destinations.drawn();
    if wanted > pool.len() as u64 {
        let key = if section.has("sources") {
            "sources"
        } else {
            "destinations"
        };
        return Err(section.refuse(Invalid::new(
            key,
            format!(
                "{} sources and {} destinations are to be drawn from {} endpoints of this workload",
                sources.drawn(),
                destinations.drawn(),
                pool.len()
            ),
            "lower `sources` or `destinations`, or let more endpoints take part",
        )));
    }
    // Destinations first: another number of sources then keeps the same hot spots.
    let mut rng = stream(members.seed, &[]);
    let destinations = destinations.resolve(&mut pool, &mut rng);
    let sources = sources.resolve(&mut pool, &mut rng);
    Ok(Box::new(Hotspot {
        sources: sources.into_iter().collect(),
        destinations: destinations.into(),
    }))
}

/// One side of the hot spot as the experiment gives it.
enum Side {
    Named(Vec<EndpointId>),
    Drawn(u32),
}

impl Side {
    fn named(&self) -> &[EndpointId] {
        match self {
            Side::Named(list) => list,
            Side::Drawn(_) => &[],
        }
    }

    fn drawn(&self) -> u64 {
        match self {
            Side::Named(_) => 0,
            Side::Drawn(count) => u64::from(*count),
        }
    }

    fn resolve(self, pool: &mut Vec<EndpointId>, rng: &mut Rng) -> Vec<EndpointId> {
        match self {
            Side::Named(list) => list,
            Side::Drawn(count) => draw::take(pool, count as usize, rng),
        }
    }
}

/// Reads both sides in the same way.
struct Chooser<'a> {
    section: &'a Section,
    tasks: &'a Tasks,
}

impl Chooser<'_> {
    /// The sources (`what` = "source") or the destinations.
    fn side(
        &self,
        what: &str,
        count: Option<u32>,
        list: Option<Vec<EndpointId>>,
        default: u32,
    ) -> Result<Side, ConfigError> {
        let refuse = |key: String, message: String, remedy: &str| {
            Err(self.section.refuse(Invalid::new(key, message, remedy)))
        };
        let (counted, listed) = (format!("{what}s"), format!("{what}_list"));
        match (count, list) {
            (Some(_), Some(_)) => {
                let message = format!("`{counted}` and `{listed}` are both given");
                refuse(counted, message, "keep one of the two")
            }
            (Some(0), None) => refuse(counted, format!("0 {what}s"), "give 1 or more"),
            (count, None) => Ok(Side::Drawn(count.unwrap_or(default))),
            (None, Some(list)) if list.is_empty() => refuse(
                listed,
                "the list is empty".into(),
                "name 1 endpoint or more",
            ),
            (None, Some(list)) => {
                if let Some(stranger) = list.iter().find(|&&one| self.tasks.task(one).is_none()) {
                    let message =
                        format!("endpoint {stranger} does not take part in this workload");
                    return refuse(listed, message, "name endpoints of this workload only");
                }
                let mut seen = FxHashSet::default();
                if let Some(twice) = list.iter().find(|&&one| !seen.insert(one)) {
                    let message = format!("endpoint {twice} is named twice");
                    return refuse(listed, message, "name each endpoint once");
                }
                Ok(Side::Named(list))
            }
        }
    }
}

struct Hotspot {
    sources: FxHashSet<EndpointId>,
    destinations: Box<[EndpointId]>,
}

impl Pattern for Hotspot {
    fn sends(&self, source: EndpointId) -> bool {
        self.sources.contains(&source)
    }

    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        if !self.sends(source) {
            return None;
        }
        Some(self.destinations[below(rng, self.destinations.len() as u32) as usize])
    }

    fn receivers(&self) -> Option<Vec<EndpointId>> {
        Some(self.destinations.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, build, flat, plausible, refusal, tally};
    use weir_model::stream;

    #[test]
    fn sixty_send_to_four_and_the_rest_are_idle() {
        let pattern = flat("hotspot", "sources = 60\ndestinations = 4", 1_056, 5);
        let sources: Vec<u32> = (0..1_056).filter(|&one| pattern.sends(one)).collect();
        let receivers = pattern.receivers().unwrap();
        assert_eq!((sources.len(), receivers.len()), (60, 4));
        assert!(receivers.iter().all(|&one| !pattern.sends(one)));
        for &source in &sources {
            let counts = tally(&*pattern, source, 1_056, 400, 0);
            let there: u32 = receivers.iter().map(|&one| counts[one as usize]).sum();
            assert_eq!(there, 400);
            assert!(
                receivers
                    .iter()
                    .all(|&one| plausible(counts[one as usize], 400, 0.25))
            );
        }
        let mut rng = stream(1, &[]);
        assert_eq!(pattern.destination(receivers[0], 0, &mut rng), None);
        // The defaults are those of the paper.
        assert_eq!(
            flat("hotspot", "", 1_056, 5).receivers(),
            pattern.receivers()
        );
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        let pattern = flat(
            "hotspot",
            "source_list = [3, 1]\ndestination_list = [2]",
            8,
            5,
        );
        let sources: Vec<u32> = (0..8).filter(|&one| pattern.sends(one)).collect();
        assert_eq!(sources, [1, 3]);
        assert_eq!(tally(&*pattern, 3, 8, 10, 0), [0, 0, 10, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_drawn_side_avoids_the_named_one() {
        for seed in 0..50 {
            let pattern = flat("hotspot", "sources = 3\ndestination_list = [0]", 4, seed);
            assert!(!pattern.sends(0) && (1..4).all(|one| pattern.sends(one)));
        }
    }

    #[test]
    fn another_seed_draws_others_and_the_same_seed_the_same() {
        let drawn = |seed| flat("hotspot", "", 1_056, seed).receivers();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let more = flat("hotspot", "sources = 100", 1_056, 1).receivers();
        assert_eq!(drawn(1), more, "more sources keep the hot spots");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let topology = Grouped::network(1, 16, 1);
        let members: Vec<u32> = (0..8).collect();
        for (parameters, words) in [
            (
                "sources = 7\ndestinations = 2",
                "7 sources and 2 destinations",
            ),
            ("sources = 0", "0 sources"),
            ("destinations = 0", "0 destinations"),
            ("sources = 2\nsource_list = [1]", "both given"),
            ("source_list = []", "empty"),
            ("source_list = [1, 9]", "endpoint 9 does not take part"),
            ("source_list = [1, 1]", "endpoint 1 is named twice"),
            (
                "source_list = [1]\ndestination_list = [2, 1]",
                "endpoint 1 is a source as well",
            ),
        ] {
            let refusal = refusal("hotspot", parameters, &members, &topology);
            assert!(refusal.contains(words), "{parameters}: {refusal}");
        }
        assert!(
            build(
                "hotspot",
                "sources = 7\ndestinations = 1",
                &members,
                &topology,
                1
            )
            .is_ok()
        );
    }
}
