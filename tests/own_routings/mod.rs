//! A topology and routings that weir does not have, each written against the public traits in one file: what a routing may
//! need is there.

mod dimension_order;
mod minimal_adaptive;
mod torus;
mod turns;

use std::sync::Arc;

use crate::support::{Experiment, run_on, run_plan};
use dimension_order::DimensionOrder;
use minimal_adaptive::MinimalAdaptive;
use torus::{Torus, X, Y};
use turns::Turns;
use weir::config::Section;
use weir::model::LinkKind;
use weir::queueing::{self, refined::Refined};
use weir::routing::Routing;
use weir::routing::analysis::{Span, Walker};
use weir::simulation::{Own, Plan, RunError};
use weir::topology::{Peer, Topology};

const SIZES: [(u32, u32); 4] = [(3, 3), (4, 3), (4, 4), (5, 4)];

fn sizes() -> impl Iterator<Item = Torus> {
    let torus = |(columns, rows)| Torus { columns, rows };
    SIZES.into_iter().map(torus)
}

/// Makes a routing for a torus.
type Make = fn(Torus) -> Box<dyn Routing>;

const DIMENSION_ORDER: Make = |torus| {
    Box::new(DimensionOrder {
        torus,
        dateline: true,
    })
};
const WITHOUT_DATELINE: Make = |torus| {
    Box::new(DimensionOrder {
        torus,
        dateline: false,
    })
};
const ADAPTIVE: Make = |torus| {
    Box::new(MinimalAdaptive {
        torus,
        escape: true,
    })
};
const WITHOUT_ESCAPE: Make = |torus| {
    Box::new(MinimalAdaptive {
        torus,
        escape: false,
    })
};
const TURNS: Make = |torus| Box::new(Turns(torus));

const GOOD: [Make; 3] = [DIMENSION_ORDER, ADAPTIVE, TURNS];

#[test]
fn the_torus_is_what_its_formulae_say() {
    for torus in sizes() {
        let count = |kind: LinkKind| {
            let links = torus.links();
            let own = links.iter().filter(|links| links.link.kind == kind);
            own.map(|links| links.count).sum::<u64>()
        };
        let routers = u64::from(torus.routers());
        assert_eq!([LinkKind::TERMINAL, X, Y].map(count), [routers; 3]);
        for router in 0..torus.routers() {
            for port in 0..torus.ports(router) {
                if let Peer::Router(other, there) = torus.peer(router, port) {
                    assert_eq!(torus.peer(other, there), Peer::Router(router, port));
                    assert_eq!(torus.distance(router, other), 1);
                }
            }
        }
        let all = (0..torus.routers()).flat_map(|a| (0..torus.routers()).map(move |b| (a, b)));
        let farthest = all.map(|(a, b)| torus.minimal_routers(a, b)).max();
        assert_eq!(farthest, Some(torus.diameter_routers()));
    }
}

#[test]
fn every_route_is_minimal_and_none_can_deadlock() {
    for torus in sizes() {
        for make in GOOD {
            let routing = make(torus);
            let mut walker = Walker::new(&torus, &*routing);
            walker.walk_all().unwrap_or_else(|fault| panic!("{fault}"));
            for source in 0..torus.endpoints() {
                for destination in 0..torus.endpoints() {
                    let span = walker.walk(source, destination, false).expect("walked");
                    let minimal = torus.minimal_routers(source, destination);
                    let expected = Span {
                        shortest: minimal,
                        longest: minimal,
                    };
                    assert_eq!(span, expected, "{source} to {destination} in {torus:?}");
                }
            }
            assert_eq!(walker.cycle(), None, "{torus:?}");
        }
    }
}

#[test]
fn every_queueing_scheme_keeps_the_escape_free() {
    let torus = Torus {
        columns: 4,
        rows: 3,
    };
    let topology: Arc<dyn Topology> = Arc::new(torus);
    let section = Section::from_toml("").expect("TOML");
    for entry in queueing::REGISTRY {
        let queueing = (entry.build)(&section, &topology).expect("a queueing scheme");
        // Of channels that are divided a ring may not close, with an escape or without.
        let makes = match queueing.queues(X, 3) {
            1 => vec![(ADAPTIVE, true), (WITHOUT_ESCAPE, false)],
            _ => vec![(ADAPTIVE, true)],
        };
        for (make, sound) in makes {
            let routing = make(torus);
            let refined = Refined {
                topology: &torus,
                routing: &*routing,
                queueing: &*queueing,
            };
            let mut walker = Walker::new(&torus, &refined);
            walker.walk_all().unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(walker.cycle().is_none(), sound, "{}", entry.name);
        }
    }
}

#[test]
fn what_is_left_out_is_missed() {
    for torus in sizes() {
        // A ring of three routers has no two links in a row.
        if torus.rows < 4 && torus.columns < 4 {
            continue;
        }
        for (make, vc) in [(WITHOUT_DATELINE, 0), (WITHOUT_ESCAPE, 2)] {
            let routing = make(torus);
            let mut walker = Walker::new(&torus, &*routing);
            walker.walk_all().expect("all routes arrive all the same");
            let cycle = walker.cycle().expect("a ring of waiting packets");
            assert!(cycle.iter().all(|channel| channel.vc == vc), "{cycle:?}");
        }
    }
}

#[test]
fn what_packets_write_at_routers_is_read_by_others() {
    let torus = Torus {
        columns: 3,
        rows: 3,
    };
    let routing = TURNS(torus);
    let mut walker = Walker::new(&torus, &*routing);
    walker.walk_all().expect("all routes arrive");
    let vcs: std::collections::BTreeSet<u8> = walker.channels().iter().map(|c| c.vc).collect();
    assert_eq!(vcs.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

/// Flits of 100 bits on links of 100 Gbps: a flit takes 1 ns. Routers take 50 ns.
fn experiment() -> Experiment {
    Experiment::dragonfly(1, 2, 1)
        .set("router.latency", "50 ns")
        .set("router.flit", "100 bits")
        .set("nic.max_packet", "24 flits")
}

fn plan(experiment: &Experiment, torus: Torus, make: Make) -> Plan {
    experiment.plan_with(Own {
        topology: Some(Arc::new(torus)),
        routing: Some(Box::new(move |_| make(torus))),
        ..Own::default()
    })
}

/// From column 0 of row 0 to column 2 of row 1, and back: two links in x and one in y.
#[test]
fn a_lone_packet_takes_the_time_of_its_way() {
    let torus = Torus {
        columns: 5,
        rows: 4,
    };
    let flow = experiment()
        .traffic("fixed_pairs", 0.1)
        .with("endpoints", vec![0i64, 7])
        .with("injection", "periodic")
        .message("24 flits")
        .set("nic.acknowledge", false)
        .set("output.packets", true)
        .to_completion("10 us");
    let (links, routers, flits) = (2 * 5_000 + 2 * 20_000 + 30_000, 4 * 50_000, 24_000);
    for make in GOOD {
        let outcome = run_plan(&plan(&flow, torus, make)).expect("a good run");
        let packets = outcome.data.packets.as_ref().expect("packets");
        assert!(packets.source.len() > 30);
        for row in 0..packets.source.len() {
            let took = packets.delivered_ps[row] - packets.injected_ps[row];
            assert_eq!(took, links + routers + flits);
            assert_eq!(packets.routers[row], 4);
        }
        let used = |kind: LinkKind| {
            let ports = &outcome.data.ports;
            let rows = (0..ports.router.len()).filter(|&row| ports.kind[row] == kind);
            rows.map(|row| ports.packets[row]).sum::<u64>()
        };
        assert_eq!(used(X), 2 * used(Y));
    }
}

/// More load than the network carries, in buffers of one packet, until everything has arrived.
fn saturated() -> Experiment {
    experiment()
        .smallest_buffers()
        .uniform(1.2)
        .message("24 flits")
        .to_completion("12 us")
}

/// What a router may be like.
fn routers() -> Vec<Experiment> {
    let of = |(queueing, queue, arbitration): (&str, &str, &str)| {
        saturated()
            .set("queueing.scheme", queueing)
            .set("router.output_queue", queue)
            .set("router.arbitration", arbitration)
    };
    let all = [
        ("voq_sw", "none", "round_robin"),
        ("voq_sw", "1 packets", "oldest"),
        ("single", "none", "first_come"),
        ("single", "1 packets", "round_robin"),
    ];
    let divided = of(("dbbm", "none", "round_robin")).set("router.input_buffer", "4 packets");
    all.map(of).into_iter().chain([divided]).collect()
}

#[test]
fn saturated_networks_deliver_everything() {
    for experiment in routers() {
        for torus in [SIZES[1], SIZES[3]].map(|(columns, rows)| Torus { columns, rows }) {
            for make in GOOD {
                let outcome = run_plan(&plan(&experiment, torus, make));
                let outcome = outcome.unwrap_or_else(|e| panic!("{e}\n{}", experiment.text()));
                let summary = outcome.data.summary;
                assert_eq!(summary.packets_delivered, summary.packets_injected);
                assert!(summary.packets_delivered > 500);
            }
        }
    }
}

#[test]
fn without_a_way_out_they_do_not() {
    let torus = Torus {
        columns: 5,
        rows: 4,
    };
    // Of channels that are divided a ring may not close.
    for experiment in routers().into_iter().take(4) {
        for make in [WITHOUT_DATELINE, WITHOUT_ESCAPE] {
            let ended = run_plan(&plan(&experiment, torus, make)).map(|_| ());
            let Err(RunError::Deadlocked { deadlock, .. }) = ended else {
                panic!("{ended:?}\n{}", experiment.text());
            };
            let ring = deadlock
                .cycle
                .iter()
                .zip(deadlock.cycle.iter().cycle().skip(1));
            assert!(ring.into_iter().all(|(wait, next)| wait.needs == next.at));
        }
    }
}

#[test]
fn schemes_that_drop_packets_and_look_at_ports_do_not_mind() {
    let torus = Torus {
        columns: 4,
        rows: 3,
    };
    for scheme in ["lhrp", "smsrp", "sst_cm", "ecn"] {
        for queueing in ["voq_sw", "single"] {
            let experiment = saturated()
                .set("congestion.scheme", scheme)
                .set("queueing.scheme", queueing)
                .set("nic.acknowledge", true);
            let outcome = run_plan(&plan(&experiment, torus, ADAPTIVE));
            let outcome = outcome.unwrap_or_else(|e| panic!("{e}\n{}", experiment.text()));
            let summary = outcome.data.summary;
            assert_eq!(
                summary.messages_received, summary.messages_generated,
                "{scheme}"
            );
        }
    }
}

/// The walker says that each way may be taken; that each is, and that the escape is a way out and no more, a run shows.
#[test]
fn packets_that_have_to_wait_go_another_way() {
    let torus = Torus {
        columns: 4,
        rows: 4,
    };
    let busy = |make| {
        let experiment = experiment().uniform(0.9).message("24 flits").until("30 us");
        let outcome = run_plan(&plan(&experiment, torus, make)).expect("a good run");
        outcome.data.jobs[0].accepted_load
    };
    let (fixed, adaptive) = (busy(DIMENSION_ORDER), busy(ADAPTIVE));
    assert!(adaptive > fixed, "{adaptive} after {fixed}");
}

#[test]
fn the_same_bits_on_any_number_of_ranks() {
    let torus = Torus {
        columns: 4,
        rows: 4,
    };
    for experiment in routers() {
        let experiment = experiment.set("output.packets", true);
        for make in GOOD {
            let plan = plan(&experiment, torus, make);
            let alone = run_plan(&plan).expect("a good run").data;
            for ranks in 1..=3 {
                assert!(
                    run_on(ranks, &plan).expect("a good run") == alone,
                    "{ranks} ranks: {experiment:?}"
                );
            }
        }
    }
}
