//! Tests of the walker on a ring of routers with known routes.

use super::*;
use crate::routing::Here;
use crate::topology::Link;
use weir_model::{Bandwidth, KindName, LinkKind};

/// Routers in a ring with one endpoint each: port 0 to the endpoint, 1 clockwise, 2 back, 3 unused.
pub(in crate::routing) struct Ring(pub u32);

impl Topology for Ring {
    fn endpoints(&self) -> u32 {
        self.0
    }
    fn routers(&self) -> u32 {
        self.0
    }
    fn ports(&self, _: RouterId) -> PortId {
        4
    }
    fn peer(&self, router: RouterId, port: PortId) -> Peer {
        match port {
            0 => Peer::Endpoint(router),
            1 => Peer::Router((router + 1) % self.0, 2),
            2 => Peer::Router((router + self.0 - 1) % self.0, 1),
            _ => Peer::Unused,
        }
    }
    fn link(&self, _: RouterId, port: PortId) -> Link {
        Link {
            kind: if port == 0 {
                LinkKind::TERMINAL
            } else {
                LinkKind(1)
            },
            bandwidth: Bandwidth(1),
            latency: 1,
        }
    }
    fn link_kinds(&self) -> &[KindName] {
        const NAMES: &[KindName] = &[KindName::Borrowed("terminal"), KindName::Borrowed("ring")];
        NAMES
    }
    fn attachment(&self, endpoint: EndpointId) -> (RouterId, PortId) {
        (endpoint, 0)
    }
    fn group_of(&self, _: RouterId) -> u32 {
        0
    }
    fn groups(&self) -> u32 {
        1
    }
    fn minimal_routers(&self, a: EndpointId, b: EndpointId) -> u32 {
        1 + a.abs_diff(b).min(self.0 - a.abs_diff(b))
    }
    fn diameter_routers(&self) -> u32 {
        1 + self.0 / 2
    }
    fn describe(&self) -> String {
        "ring".into()
    }
}

/// Hop of a test routing at a router that is not the destination's.
type Rule = fn(&mut Flight, &mut dyn Here) -> Hop;

struct Test {
    rule: Rule,
    most: u32,
}

impl Routing for Test {
    fn vcs(&self, _: LinkKind) -> u8 {
        2
    }
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        if here.router() == flight.destination {
            return Hop { port: 0, vc: 0 };
        }
        (self.rule)(flight, here)
    }
    fn max_routers(&self) -> u32 {
        self.most
    }
}

fn walk(rule: Rule) -> (Result<Span, Fault>, Option<Vec<Channel>>) {
    let routing = Test { rule, most: 5 };
    let ring = Ring(5);
    let mut walker = Walker::new(&ring, &routing);
    let result = walker.walk_all();
    (result, walker.cycle())
}

#[test]
fn one_virtual_channel_around_a_ring_is_a_cycle() {
    let (result, cycle) = walk(|_, _| Hop { port: 1, vc: 0 });
    let whole = Span {
        shortest: 1,
        longest: 5,
    };
    assert_eq!(result, Ok(whole));
    let cycle = cycle.expect("every channel waits for the next");
    assert_eq!(cycle.len(), 5);
    assert!(
        cycle
            .iter()
            .all(|channel| channel.port == 1 && channel.vc == 0)
    );
}

#[test]
fn a_dateline_breaks_the_cycle() {
    let (result, cycle) = walk(|flight, here| {
        if here.router() == 0 {
            flight.phase = 1;
        }
        Hop {
            port: 1,
            vc: flight.phase,
        }
    });
    assert_eq!(result.map(|span| span.longest), Ok(5));
    assert_eq!(cycle, None);
}

#[test]
fn every_choice_is_taken() {
    // Clockwise or back, and then on in the same direction: the way back is found only through
    // `backlog`.
    let rule: Rule = |flight, here| {
        if flight.phase == 0 {
            flight.phase = if here.backlog(1) > here.backlog(2) {
                2
            } else {
                1
            };
        }
        Hop {
            port: flight.phase.into(),
            vc: here.pick(2) as u8,
        }
    };
    let routing = Test { rule, most: 5 };
    let ring = Ring(5);
    let mut walker = Walker::new(&ring, &routing);
    let span = walker.walk(0, 1, false).expect("both ways arrive");
    let expected = Span {
        shortest: 2,
        longest: 5,
    };
    assert_eq!(span, expected);
    // One hop clockwise, four hops back, two virtual channels each, and the endpoint's link.
    assert_eq!(walker.channels().len(), 2 + 8 + 1);
}

#[test]
fn a_route_without_end_is_a_fault() {
    let (result, _) = walk(|_, here| Hop {
        port: if here.in_port() == 1 { 1 } else { 2 },
        vc: 0,
    });
    let fault = result.expect_err("it bounces between two routers");
    assert!(fault.what.contains("never arrives"), "{fault}");
    assert!(!fault.way.is_empty());
}

#[test]
fn a_route_that_is_too_long_is_a_fault() {
    let routing = Test {
        rule: |_, _| Hop { port: 1, vc: 0 },
        most: 4,
    };
    let fault = Walker::new(&Ring(5), &routing).walk(0, 4, false);
    assert!(fault.expect_err("5 routers").what.contains("5 routers"));
}

#[test]
fn hops_that_are_not_there_are_faults() {
    let cases: [(Rule, &str); 6] = [
        (|_, _| Hop { port: 3, vc: 0 }, "is unused"),
        (|_, _| Hop { port: 4, vc: 0 }, "has no port 4"),
        (|_, _| Hop { port: 1, vc: 2 }, "virtual channel 2"),
        (|_, _| Hop { port: 0, vc: 0 }, "arrives at endpoint"),
        (
            |_, here| Hop {
                port: here.pick(0) as PortId + 1,
                vc: 0,
            },
            "one out of none",
        ),
        (
            |_, here| Hop {
                port: 1,
                vc: u8::from(here.backlog(3) > 0),
            },
            "backlog of port 3",
        ),
    ];
    for (rule, expected) in cases {
        let fault = walk(rule).0.expect_err(expected);
        assert!(fault.what.contains(expected), "{fault}");
        assert_ne!(fault.source_endpoint, fault.destination);
    }
}

/// Clockwise by virtual channel 2, with another way by 0 or 1: before the end of the ring, and
/// behind it (or never beyond).
struct WithEscape {
    escape: Option<fn(RouterId, &Flight) -> u8>,
}

impl Routing for WithEscape {
    fn vcs(&self, _: LinkKind) -> u8 {
        3
    }
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        match here.router() == flight.destination {
            true => Hop { port: 0, vc: 0 },
            false => Hop { port: 1, vc: 2 },
        }
    }
    fn max_routers(&self) -> u32 {
        5
    }
    fn has_alternatives(&self) -> bool {
        true
    }
    fn alternatives(&self, flight: &Flight, first: Hop, here: &mut dyn Here, ways: &mut Vec<Hop>) {
        if let Some(escape) = self.escape
            && first.port == 1
        {
            let vc = escape(here.router(), flight);
            ways.push(Hop { port: 1, vc });
        }
    }
    fn take(&self, flight: &mut Flight, _: RouterId, hop: Hop) {
        flight.steps += u8::from(hop.vc == 2);
    }
}

#[test]
fn an_escape_breaks_the_cycle_if_it_has_none_itself() {
    let walked = |escape| {
        let (ring, routing) = (Ring(5), WithEscape { escape });
        let mut walker = Walker::new(&ring, &routing);
        assert_eq!(walker.walk_all().map(|span| span.longest), Ok(5));
        (walker.channels().len(), walker.cycle())
    };
    let (channels, cycle) = walked(Some(|at, flight| u8::from(flight.destination > at)));
    // Five links of the ring on channel 2; on 0 all but that out of router 0, on 1 all but that
    // into it; five endpoints.
    assert_eq!((channels, cycle), (5 + 4 + 4 + 5, None));
    let (_, cycle) = walked(Some(|_, _| 0));
    assert!(
        cycle
            .expect("the escape goes round")
            .iter()
            .all(|channel| channel.vc == 0)
    );
    let (_, cycle) = walked(None);
    assert!(
        cycle
            .expect("there is none")
            .iter()
            .all(|channel| channel.vc == 2)
    );
    // An escape that is the same channel as the one to escape from.
    let routing = WithEscape {
        escape: Some(|_, _| 2),
    };
    let fault = Walker::new(&Ring(5), &routing).walk_all();
    assert!(fault.expect_err("twice").what.contains("twice"));
}

/// A routing with a word at each router.
struct Keeping {
    rule: Rule,
}

impl Routing for Keeping {
    fn vcs(&self, _: LinkKind) -> u8 {
        2
    }
    fn route(&self, flight: &mut Flight, here: &mut dyn Here) -> Hop {
        match here.router() == flight.destination {
            true => Hop { port: 0, vc: 0 },
            false => (self.rule)(flight, here),
        }
    }
    fn max_routers(&self) -> u32 {
        5
    }
    fn words(&self, _: RouterId) -> u32 {
        1
    }
}

#[test]
fn a_word_has_every_value_that_was_written() {
    // One packet turns the pointer, the next goes the other way round.
    let rule: Rule = |flight, here| {
        if flight.phase == 0 {
            let turn = here.recall(0);
            here.remember(0, 1 - turn);
            assert_eq!(here.recall(0), 1 - turn, "what was written is read");
            flight.phase = 1 + turn as u8;
        }
        let port = flight.phase.into();
        Hop { port, vc: 0 }
    };
    let (ring, routing) = (Ring(5), Keeping { rule });
    let mut walker = Walker::new(&ring, &routing);
    let span = walker.walk(0, 1, false).expect("both ways arrive");
    assert_eq!((span.shortest, span.longest), (2, 5));
    let fault = walk(|_, here| Hop {
        port: here.recall(0) as PortId,
        vc: 0,
    });
    assert!(fault.0.expect_err("no words").what.contains("word 0 of 0"));
    let counts: Rule = |_, here| {
        let count = here.recall(0) + 1;
        here.remember(0, count);
        Hop { port: 1, vc: 0 }
    };
    let fault = Walker::new(&ring, &Keeping { rule: counts }).walk_all();
    assert!(fault.expect_err("without end").what.contains("values"));
}

#[test]
fn packets_of_other_sources_may_go_other_ways() {
    let rule: Rule = |flight, here| {
        // Distinguished at the second router only.
        let back = flight.steps == 1 && here.source() == 3;
        flight.steps += 1;
        Hop {
            port: 1,
            vc: u8::from(back),
        }
    };
    let (ring, routing) = (Ring(5), Test { rule, most: 5 });
    let mut walker = Walker::new(&ring, &routing);
    walker.walk_all().expect("all arrive");
    let second = |channel: &Channel| channel.vc == 1;
    let found: Vec<Channel> = walker.channels().into_iter().filter(second).collect();
    let only = Channel {
        router: 4,
        port: 1,
        vc: 1,
    };
    assert_eq!(found, [only]);
}

#[test]
fn a_load_that_is_not_there_is_a_fault() {
    let fault = walk(|_, here| Hop {
        port: 1,
        vc: u8::from(here.load(Hop { port: 3, vc: 0 }).free > 0),
    });
    assert!(fault.0.expect_err("unused").what.contains("load of port 3"));
}
