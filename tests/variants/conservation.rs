//! Whatever the experiment: it completes, everything that was sent arrives once, and every credit
//! comes home.
//!
//! The program itself counts packets, messages and credits at the end of every run to completion
//! and refuses a result that does not come out. Here it has to do so with random experiments.

use crate::networks::direct::experiment as experiment_on;
use crate::support::Experiment;
use crate::support::attack::Budget;
use proptest::prelude::*;
use weir::model::LinkKind;
use weir::result::Data;

fn network() -> impl Strategy<Value = Experiment> {
    let latency = prop_oneof![Just("10 ns"), Just("37.3 ns"), Just("200 ns")];
    let dragonfly_routing =
        prop_oneof![Just("minimal"), Just("valiant"), Just("ugal"), Just("par")];
    let wiring = prop_oneof![Just("absolute"), Just("relative"), Just("palmtree")];
    let dragonfly = (
        1..4i64,
        1..6i64,
        1..4i64,
        0.0..1.0f64,
        dragonfly_routing,
        wiring,
    )
        .prop_map(|(p, a, h, share, routing, wiring)| {
            let groups = 2 + (share * (a * h) as f64) as i64;
            Experiment::dragonfly(p, a, h)
                .groups(groups.min(a * h + 1))
                .set("topology.arrangement", wiring)
                .routing(routing)
        });
    let tree_routing = prop_oneof![Just("dmodk"), Just("random_up"), Just("adaptive_up")];
    let tree = (2..4i64, 1..4i64, any::<bool>(), tree_routing).prop_map(|(k, n, clos, routing)| {
        let tree = if clos {
            Experiment::clos(2 * k, n.min(5 - k))
        } else {
            Experiment::tree(k, n)
        };
        tree.routing(routing)
    });
    let indirect = (prop_oneof![dragonfly, tree], latency.clone(), latency)
        .prop_map(|(network, local, global)| network.latencies("5 ns", local, global));
    prop_oneof![2 => indirect, 1 => direct()]
}

/// A mesh, a torus, a HyperX or a KNS, under a routing of theirs.
fn direct() -> impl Strategy<Value = Experiment> {
    let kind = prop_oneof![Just("mesh"), Just("torus"), Just("hyperx"), Just("kns")];
    let sizes = proptest::collection::vec(2..5u32, 1..4);
    (
        kind,
        sizes,
        any::<prop::sample::Index>(),
        any::<Option<bool>>(),
    )
        .prop_map(|(kind, sizes, which, at_nic)| {
            let topology = match kind {
                "kns" => format!("kind = \"kns\"\nk = {}\nn = {}", sizes[0], sizes.len()),
                _ => format!("kind = \"{kind}\"\nsizes = {sizes:?}"),
            };
            let own: &[&str] = match kind {
                "mesh" | "torus" => &["dor", "minimal_adaptive"],
                "hyperx" => &["dor", "valiant", "ugal", "dal"],
                _ => &["hybrid_dor"],
            };
            let algorithms = [own, &["oblivious", "source_adaptive"]].concat();
            let algorithm = algorithms[which.index(algorithms.len())];
            let with = experiment_on(&topology, algorithm).until("1 us");
            match (at_nic, algorithm) {
                (Some(true), "oblivious") => with.set("routing.choose_at", "generation"),
                (Some(_), "oblivious" | "source_adaptive") => with.set("routing.choose_at", "nic"),
                _ => with,
            }
        })
}

fn router(experiment: Experiment) -> impl Strategy<Value = Experiment> {
    // Virtual channels that share one buffer cannot keep a routing free of deadlock that relies on
    // them.
    let plan = experiment.clone().uniform(0.1).plan();
    let routing = &plan.network().routing;
    let shareable = routing.vcs(LinkKind(1)).max(routing.vcs(LinkKind(2))) == 1;
    let buffer = prop_oneof![
        Just("auto"),
        Just("1 packets"),
        Just("40 flits"),
        Just("3 packets")
    ];
    let queue = prop_oneof![
        Just("none"),
        Just("1 packets"),
        Just("unlimited"),
        Just("16 packets")
    ];
    let speedup = prop_oneof![
        Just(toml::Value::from(1.0)),
        Just(toml::Value::from(1.3)),
        Just(toml::Value::from(2.0)),
        Just(toml::Value::from("infinite"))
    ];
    let arbitration = prop_oneof![Just("round_robin"), Just("oldest"), Just("first_come")];
    let per = prop_oneof![Just("vc"), Just("port")];
    let delays = (
        prop_oneof![Just("0 ns"), Just("10 ns"), Just("1.7 ns")],
        prop_oneof![Just("0 ns"), Just("30 ns")],
    );
    (
        buffer,
        queue,
        speedup,
        arbitration,
        per,
        prop_oneof![Just("voq_sw"), Just("single")],
        delays,
    )
        .prop_map(
            move |(buffer, queue, speedup, arbitration, per, queueing, (latency, credits))| {
                experiment
                    .clone()
                    .set("router.input_buffer", buffer)
                    .set("router.output_queue", queue)
                    .set("router.speedup", speedup)
                    .set("router.arbitration", arbitration)
                    .set("router.buffer_per", if shareable { per } else { "vc" })
                    .set("queueing.scheme", queueing)
                    .set("router.latency", latency)
                    .set("router.credit_delay", credits)
            },
        )
}

fn nic(experiment: Experiment) -> impl Strategy<Value = Experiment> {
    let packet = prop_oneof![
        Just("1 flits"),
        Just("4 flits"),
        Just("24 flits"),
        Just("37 flits")
    ];
    (packet, any::<bool>(), 1..4i64, 1..1_000_000i64).prop_map(move |(packet, acks, vcs, seed)| {
        experiment
            .clone()
            .set("nic.max_packet", packet)
            .set("nic.acknowledge", acks)
            .set("nic.injection_vcs", vcs)
            .set("run.seed", seed)
    })
}

fn traffic(experiment: Experiment) -> impl Strategy<Value = Experiment> {
    let pattern = prop_oneof![
        Just("uniform"),
        Just("tornado"),
        Just("permutation"),
        Just("worst_case"),
        Just("wc_hot"),
        Just("hotspot"),
        Just("hot_background"),
        Just("fixed_pairs"),
    ];
    let injection = prop_oneof![Just("bernoulli"), Just("poisson"), Just("periodic")];
    let size = prop_oneof![
        Just("1 flits"),
        Just("30 bits"),
        Just("4 flits"),
        Just("333 bytes"),
        Just("2 kB")
    ];
    let load = prop_oneof![0.05..0.5f64, 0.8..1.5f64];
    let stop = prop_oneof![Just("300 ns"), Just("2 us"), Just("5 us")];
    (
        pattern,
        injection,
        proptest::collection::vec(size, 1..3),
        load,
        stop,
    )
        .prop_map(move |(pattern, injection, sizes, load, stop)| {
            let endpoints = experiment
                .clone()
                .uniform(0.1)
                .plan()
                .network()
                .topology
                .endpoints();
            let with = experiment
                .clone()
                .traffic(pattern, load)
                .with("injection", injection);
            let with = match pattern {
                "hotspot" => with
                    .with("pattern.sources", i64::from(endpoints / 2))
                    .with("pattern.destinations", 1),
                "hot_background" => with
                    .with("pattern.hot", 0)
                    .with("pattern.sources", "all")
                    .with("pattern.hot_fraction", 0.3),
                "wc_hot" => with.with("pattern.destinations", 1),
                _ => with,
            };
            let with = match sizes.as_slice() {
                [size] => with.message(size),
                mix => {
                    let part = |size: &&str| {
                        let mut part = toml::Table::new();
                        part.insert("size".into(), (*size).into());
                        part.insert("share".into(), 0.5.into());
                        toml::Value::Table(part)
                    };
                    with.with("message", mix.iter().map(part).collect::<Vec<_>>())
                }
            };
            with.to_completion(stop)
        })
}

/// A small application, alone or beside traffic, with messages of all lengths, eager and not.
fn application(experiment: Experiment) -> impl Strategy<Value = Experiment> {
    let motif = prop_oneof![
        Just("allreduce"),
        Just("alltoall"),
        Just("incast"),
        Just("fixed_pairs"),
        Just("nearest_neighbor"),
        Just("ping_pong"),
    ];
    let bytes = prop_oneof![Just("3 B"), Just("333 B"), Just("2 kB"), Just("20 kB")];
    let eager = prop_oneof![Just("100 B"), Just("1 kB"), Just("1 MB")];
    let completes = prop_oneof![Just("sent"), Just("copied")];
    let placement = prop_oneof![Just("linear"), Just("random")];
    (
        motif,
        bytes,
        1..4i64,
        eager,
        completes,
        placement,
        any::<bool>(),
    )
        .prop_map(
            move |(motif, bytes, iterations, eager, completes, placement, beside)| {
                let plan = experiment.clone().uniform(0.1).plan();
                let endpoints = i64::from(plan.network().topology.endpoints());
                let with = experiment
                    .clone()
                    .job(motif, endpoints.min(8) & !1)
                    .with("motif.bytes", bytes)
                    .with("motif.iterations", iterations)
                    .with("mpi.rendezvous_from", eager)
                    .with("mpi.completes", completes)
                    .with("placement", placement);
                match beside && endpoints > 9 {
                    true => with
                        .uniform(0.5)
                        .with("endpoints", "rest")
                        .to_completion("2 us"),
                    false => with,
                }
            },
        )
}

fn experiment() -> impl Strategy<Value = Experiment> {
    let network = network().prop_flat_map(router).prop_flat_map(nic);
    network.prop_flat_map(|network| prop_oneof![traffic(network.clone()), application(network)])
}

/// A scheme, with parameters under which one that drops packets does so often, and losses at any
/// hop besides.
fn scheme(experiment: Experiment) -> impl Strategy<Value = Experiment> {
    let scheme = prop_oneof![
        Just("ecn"),
        Just("srp"),
        Just("smsrp"),
        Just("lhrp"),
        Just("lhrp_srp"),
        Just("codes_cc"),
        Just("sst_cm")
    ];
    let loss = prop_oneof![Just(0.0), Just(0.02), Just(0.3), Just(0.9)];
    let timeout = prop_oneof![Just("0 ns"), Just("50 ns"), Just("1 us")];
    let threshold = prop_oneof![Just("1 flits"), Just("30 flits"), Just("1000 flits")];
    let control = prop_oneof![Just("minimal"), Just("as_data")];
    let lhrp = (any::<bool>(), 0..4i64);
    (scheme, loss, timeout, threshold, control, lhrp).prop_map(
        move |(scheme, loss, timeout, threshold, control, (fabric_drop, retries))| {
            let with = experiment
                .clone()
                .set("nic.acknowledge", true)
                .set("nic.control_routes", control)
                .set("congestion.scheme", scheme);
            match scheme {
                "ecn" => return with.set("congestion.buffer", threshold),
                "sst_cm" => return with.set("congestion.threshold", threshold),
                "codes_cc" => return with.set("congestion.latency", timeout),
                _ => {}
            }
            // On a KNS control packets of switches can deadlock, of which there is a warning: the
            // last routers alone drop there.
            let is_kns = experiment.text().contains("kind = \"kns\"");
            let (scheme, loss, fabric_drop) = match is_kns {
                true => ("lhrp", 0.0, false),
                false => (scheme, loss, fabric_drop),
            };
            let with = with
                .set("congestion.scheme", scheme)
                .set("congestion.loss", loss)
                .set("congestion.timeout", timeout);
            if !scheme.starts_with("lhrp") {
                return with;
            }
            with.set("congestion.threshold", threshold)
                .set("congestion.fabric_drop", fabric_drop)
                .set("congestion.retries", retries)
        },
    )
}

/// A hundred experiments, as far as their time allows; another number in the environment variable
/// `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 100;
    }
    config.max_shrink_iters = 200;
    // A failing case is shown as the experiment that it is; a file of seeds would say less.
    config.failure_persistence = None;
    config
}

/// The log has each message that was received once. Their payload is the delivered payload, except
/// the bits that a length in whole bytes leaves out.
fn each_message_once(data: &Data) -> Result<(), TestCaseError> {
    let log = data.messages.as_ref().expect("messages are recorded");
    let mut names: Vec<_> = log.source.iter().zip(&log.message).collect();
    names.sort_unstable();
    names.dedup();
    let received = data.summary.messages_received;
    prop_assert_eq!(
        (names.len() as u64, log.bytes.len() as u64),
        (received, received)
    );
    let bytes: u64 = log.bytes.iter().sum();
    let delivered = data.summary.bytes_delivered;
    prop_assert!(
        (bytes..=bytes + received).contains(&delivered),
        "{} {}",
        delivered,
        bytes
    );
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn everything_arrives(experiment in experiment(), logged in any::<bool>()) {
        static BUDGET: Budget = Budget::new();
        if !BUDGET.allows() {
            return Ok(());
        }
        let experiment = experiment.set("output.messages", logged);
        // Not every pattern suits every network (a worst case needs groups that have members): that
        // is bad input.
        let checked = experiment.checked();
        let Ok(plan) = weir::simulation::Plan::new(&checked, None) else {
            return Err(TestCaseError::reject("the pattern does not suit the network"));
        };
        let outcome = match crate::support::run_plan(&plan) {
            Ok(outcome) => outcome,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let summary = &outcome.data.summary;
        prop_assert_eq!(summary.packets_injected, summary.packets_delivered);
        prop_assert_eq!(summary.packets_in_flight, 0);
        prop_assert_eq!(summary.packets_dropped, 0);
        prop_assert_eq!(summary.messages_generated, summary.messages_received);
        for job in &outcome.data.jobs {
            // NaN, if nothing was sent at all.
            let accepted = job.totals.accepted_load;
            prop_assert!(accepted.is_nan() || accepted <= 1.0, "{} accepts {accepted}", job.name);
        }
        let accepted = summary.accepted_load;
        prop_assert!(accepted.is_nan() || accepted <= 1.0, "{accepted}");
        if logged {
            each_message_once(&outcome.data)?;
        }
    }

    #[test]
    fn everything_arrives_once_under_every_scheme(experiment in experiment().prop_flat_map(scheme)) {
        static BUDGET: Budget = Budget::new();
        if !BUDGET.allows() {
            return Ok(());
        }
        let experiment = experiment.set("output.messages", true);
        let checked = experiment.checked();
        let Ok(plan) = weir::simulation::Plan::new(&checked, None) else {
            return Err(TestCaseError::reject("the pattern does not suit the network"));
        };
        let outcome = match crate::support::run_plan(&plan) {
            Ok(outcome) => outcome,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let summary = &outcome.data.summary;
        let count = |name: &str| {
            let counters = &outcome.data.scheme.counters;
            counters.iter().find(|(key, _)| key == name).map_or(0, |(_, value)| *value)
        };
        prop_assert_eq!(
            summary.packets_injected,
            summary.packets_delivered + summary.packets_dropped + count("reservations_absorbed")
        );
        prop_assert_eq!(summary.packets_in_flight, 0);
        prop_assert_eq!(summary.messages_generated, summary.messages_received);
        // The same messages as without a scheme: every program has come to its end.
        let plain = experiment.set("congestion", toml::Table::new()).run().data;
        prop_assert_eq!(summary.messages_generated, plain.summary.messages_generated);
        for (job, plain) in outcome.data.jobs.iter().zip(&plain.jobs) {
            prop_assert_eq!(job.totals.bytes_delivered, plain.totals.bytes_delivered);
        }
        // Every packet that arrives is acknowledged once, and every dropped packet is reported and
        // sent again.
        prop_assert_eq!(count("packets_nack"), summary.packets_dropped);
        prop_assert_eq!(count("packets_ack"), count("packets_data") - summary.packets_dropped);
        each_message_once(&outcome.data)?;
    }
}
