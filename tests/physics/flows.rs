//! Flows: their paths are set up and torn down, their packets stay in order on one path, and their
//! rates are arithmetic. The fluid model of a phase agrees with the counters of the links.

use crate::networks::direct::experiment;
use crate::support::{Experiment, run_on, run_plan};
use weir::result::{Data, Phases};

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// Two switches of four endpoints each, without output queues, with an infinite crossbar; packets
/// of 24 flits of 1 ns.
pub fn two_switches() -> Experiment {
    let mesh = "kind = \"mesh\"\nsizes = [2]\nendpoints_per_router = 4\n\
                terminal = { bandwidth = \"100 Gbps\", latency = \"5 ns\" }\n\
                link = { bandwidth = \"100 Gbps\", latency = \"5 ns\" }\n";
    let mesh: toml::Table = toml::from_str(mesh).expect("TOML");
    Experiment::of(toml::Table::new())
        .set("topology", mesh)
        .set("routing.algorithm", "dor")
        .set("router.speedup", "infinite")
        .set("router.output_queue", "none")
        .set("router.input_buffer", "4 packets")
        .set("nic.acknowledge", false)
        .set("output.flows", true)
        .until("completion")
}

/// A flow of `packets` packets.
fn flow(experiment: Experiment, name: &str, from: i64, to: i64, packets: i64) -> Experiment {
    experiment
        .job("fixed_pairs", 2)
        .with("name", name)
        .with("endpoints", vec![to, from])
        .with("shared", true)
        .with("motif.iterations", 1)
        .with("motif.bytes", format!("{} B", packets * 300))
        .with("mpi.rendezvous_from", "1 GB")
}

/// Figure 1 of Birk and Zdornov: f1 to f4 over the link between the switches, f3 to f6 to one
/// endpoint; 1,000 packets each, 24 us of a link.
fn figure_1(experiment: Experiment) -> Experiment {
    [(0, 6), (1, 6), (2, 7), (3, 7), (4, 7), (5, 7)]
        .into_iter()
        .enumerate()
        .fold(experiment, |all, (number, (from, to))| {
            flow(all, &format!("f{}", number + 1), from, to, 1_000)
        })
}

/// Time when each job's flow had come.
fn ends(data: &Data) -> Vec<u64> {
    data.flows.as_ref().expect("flows").received_ps.clone()
}

fn near(value: u64, expected: u64, within: u64) -> bool {
    value.abs_diff(expected) <= within
}

/// 3 times the length of a flow for f5 and f6, each a third of the link to d2, and 5 times for the
/// others: f1 to f4 get a sixth until then and a quarter from then on.
#[test]
fn congestion_spreads_in_figure_1() {
    let data = figure_1(two_switches()).run().data;
    let ends = ends(&data);
    for (flow, &end) in ends.iter().enumerate() {
        let expected = if flow < 4 { 120 * US } else { 72 * US };
        assert!(near(end, expected, US), "f{}: {end}", flow + 1);
    }
}

/// 4 times, when each is held to a quarter by either means: a fixed rate, or the weights of the
/// links, which cost a round trip of control packets.
#[test]
fn a_quarter_of_the_link_for_each_is_the_optimum_of_figure_1() {
    for discipline in ["ipd", "svc", "ps"] {
        let fixed = figure_1(two_switches())
            .set("congestion.scheme", "fixed_rate")
            .set("congestion.share", 0.25);
        let saa = figure_1(two_switches()).set("congestion.scheme", "saa");
        for experiment in [fixed, saa] {
            let data = experiment.set("nic.discipline", discipline).run().data;
            for end in ends(&data) {
                // The head of the last packet leaves after 999 of 1,000 delays.
                assert!(near(end, 96 * US, 400 * NS), "{discipline}: {end}");
            }
        }
    }
}

/// Flows that begin together know of each other when they begin to send, if they wait: those of
/// the link between the switches send a packet of 24 ns every 96 ns from the first one on.
#[test]
fn flows_that_wait_begin_with_their_last_rates() {
    let gaps_of = |experiment: Experiment| -> Vec<Vec<u64>> {
        let data = experiment.set("output.packets", true).run().data;
        (0..4)
            .map(|source| gaps(&departures(&data, source, None)))
            .collect()
    };
    let saa = figure_1(two_switches()).set("congestion.scheme", "saa");
    let at_once = gaps_of(saa.clone());
    assert!(
        at_once.iter().any(|own| own[0] < 96 * NS),
        "{:?}",
        at_once[0]
    );
    let waited = gaps_of(saa.clone().set("congestion.wait", "2 us"));
    assert_eq!(waited, vec![vec![96 * NS; 999]; 4]);
    // All begin at the same time, whatever their ways: with probes, too.
    let first_of = |experiment: Experiment| -> Vec<u64> {
        let data = experiment.set("output.packets", true).run().data;
        (0..6).map(|one| departures(&data, one, None)[0]).collect()
    };
    let waits = saa.clone().set("congestion.wait", "2 us");
    assert_eq!(first_of(waits.clone()), [2 * US; 6]);
    assert_eq!(
        first_of(waits.set("congestion.period", "3 us")),
        [2 * US; 6]
    );
    // The answers of a flow take longer than 1 ns: it begins with the second one.
    let late = first_of(saa.set("congestion.wait", "1 ns"));
    assert!(
        late.iter().all(|time| (2 * NS..2 * US).contains(time)),
        "{late:?}"
    );
}

fn phases(data: &Data) -> &Phases {
    data.phases.as_ref().expect("phases")
}

/// Endpoint 0 sends 100 packets to 4 and 300 to 5, endpoint 1 sends 400 to 4; the link between the
/// switches is four times as fast as the others. Weights in packet times of 24 ns: the link of
/// endpoint 0 has 400, that to endpoint 4 has 500, that between the switches 200 (equation 4).
fn three_flows() -> Experiment {
    two_switches()
        .set("topology.link.bandwidth", "400 Gbps")
        .job("script", 8)
        .with("name", "app")
        .with("motif", program(&[(0, 4, 100), (0, 5, 300), (1, 4, 400)]))
        .with("mpi.rendezvous_from", "1 GB")
        .set("congestion.scheme", "saa")
        .set("output.packets", true)
}

/// A script by which tasks send the given numbers of packets to others, all at once.
pub fn program(flows: &[(u32, u32, u64)]) -> toml::Table {
    let send = flows.iter().map(|(from, to, packets)| {
        let bytes = packets * 300;
        format!("{{ to = \"{to}\", bytes = \"{bytes} B\", when = \"task == {from}\" }}")
    });
    let receive = flows
        .iter()
        .map(|(from, to, _)| format!("{{ from = \"{from}\", when = \"task == {to}\" }}"));
    let [send, receive] =
        [send.collect(), receive.collect::<Vec<String>>()].map(|l: Vec<String>| l.join(", "));
    let text =
        format!("kind = \"script\"\nphases = [{{ send = [{send}], receive = [{receive}] }}]");
    toml::from_str(&text).expect("TOML")
}

/// Times when the packets of an endpoint left, ps: all of them, or the packets to one endpoint.
fn departures(data: &Data, from: u32, to: Option<u32>) -> Vec<u64> {
    let packets = data.packets.as_ref().expect("packets");
    let rows = (0..packets.source.len()).filter(|&row| {
        packets.source[row] == from && to.is_none_or(|to| packets.destination[row] == to)
    });
    let mut times: Vec<u64> = rows.map(|row| packets.injected_ps[row]).collect();
    times.sort_unstable();
    times
}

fn gaps(times: &[u64]) -> Vec<u64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn weights_and_rates_are_those_of_the_fluid_model() {
    // Separate probe packets take bandwidth that the rates do not leave free: the link to endpoint
    // 4 is full without them.
    for (period, within) in [(None, 0.02), (Some("500 ns"), 0.1)] {
        let mut experiment = three_flows().set("nic.discipline", "ps");
        if let Some(period) = period {
            experiment = experiment.set("congestion.period", period);
        }
        let data = experiment.run().data;
        let flows = data.flows.as_ref().expect("flows");
        let of = |to: u32, from: u32| {
            let mut rows = 0..flows.source.len();
            rows.find(|&row| (flows.source[row], flows.destination[row]) == (from, to))
                .expect("a flow")
        };
        for (from, to, packets, weight, contention) in [
            (0, 4, 100, 500, 3),
            (0, 5, 300, 400, 3),
            (1, 4, 400, 500, 3),
        ] {
            let row = of(to, from);
            assert_eq!(flows.optimum_ps[row], weight * 24 * NS);
            assert_eq!(flows.contention[row], contention);
            let share = packets as f64 / weight as f64;
            assert!(
                (flows.rate[row] - share).abs() < within * share,
                "{}",
                flows.rate[row]
            );
        }
        let phases = phases(&data);
        assert_eq!((phases.flows[0], phases.optimum_ps[0]), (3, 500 * 24 * NS));
        assert_eq!((phases.contention[0], phases.mean_contention[0]), (3, 3.0));
        // The announcements go there and back first: two routers, three links, and flits of 1 ns,
        // twice.
        assert!(
            (1.0..1.0 + within).contains(&phases.stretch[0]),
            "{:?}",
            phases.stretch
        );
        assert!(
            (1.0 - within..=1.001).contains(&phases.rate_ratio[0]),
            "{:?}",
            phases.rate_ratio
        );
    }
}

/// A fifth of the link for the flow to 4 and three quarters for that to 5.
#[test]
fn periodic_selection_sends_at_the_sum_of_the_rates() {
    let data = three_flows().set("nic.discipline", "ps").run().data;
    // 24 ns / (0.2 + 0.75).
    let all = departures(&data, 0, None);
    // Until the last flow begins to run out both have something to send.
    for gap in gaps(&all[..350]) {
        assert!(near(gap, 25_263, 1), "{gap}");
    }
    // Of the 19 packets, 4 are of the one and 15 of the other.
    let to_4 = departures(&data, 0, Some(4));
    let in_19: Vec<usize> = all[..342]
        .chunks(19)
        .map(|chunk| chunk.iter().filter(|time| to_4.contains(time)).count())
        .collect();
    assert!(
        in_19.iter().all(|count| (3..=5).contains(count)),
        "{in_19:?}"
    );
    assert_eq!(in_19.iter().sum::<usize>(), 4 * 18);
}

/// Each flow keeps its own distance, and waits for the other's packet on the link at most.
#[test]
fn inter_packet_delays_are_those_of_each_flow() {
    for discipline in ["ipd", "svc"] {
        let data = three_flows().set("nic.discipline", discipline).run().data;
        for (to, delay) in [(4, 120 * NS), (5, 32 * NS)] {
            // The first packets may leave at other rates, while the announcements come one after
            // the other, and the last ones when other flows are over.
            let gaps = gaps(&departures(&data, 0, Some(to))[10..70]);
            let (least, most) = (gaps.iter().min(), gaps.iter().max());
            assert_eq!(least, Some(&delay), "{discipline} {to}");
            // And for a flit of control.
            assert!(
                most <= Some(&(delay + 26 * NS)),
                "{discipline} {to}: {most:?}"
            );
        }
    }
}

/// A 4-ary 3-tree with horizontal links, by whose routing each flow has one path.
fn enriched_tree() -> Experiment {
    Experiment::tree(4, 3)
        .set("topology.horizontal_width", 2)
        .set("topology.horizontal.bandwidth", "100 Gbps")
        .set("topology.horizontal.latency", "20 ns")
        .routing("adaptive_flow")
        .set("router.speedup", "infinite")
        .set("router.output_queue", "none")
        .set("router.input_buffer", "8 packets")
        .set("nic.flow_from", "1 packets")
        .set("output.flows", true)
}

/// Random permutations of flows of 40 packets on it.
fn permutations(count: i64) -> Experiment {
    enriched_tree()
        .job("permutations", 64)
        .with("name", "app")
        .with("motif.permutations", count)
        .with("motif.bytes", "12 kB")
        .with("mpi.rendezvous_from", "1 GB")
}

fn count(data: &Data, name: &str) -> u64 {
    let mut counters = data.scheme.counters.iter();
    counters
        .find(|(own, _)| own == name)
        .map_or(0, |(_, count)| *count)
}

#[test]
fn flows_are_the_same_bits_on_any_number_of_ranks() {
    for (scheme, discipline) in [("saa", Some("ps")), ("saa", Some("svc")), ("none", None)] {
        let mut experiment = permutations(2)
            .with("motif.phases", 2)
            .set("congestion.scheme", scheme)
            .set("routing.cache", 1);
        if let Some(discipline) = discipline {
            experiment = experiment.set("nic.discipline", discipline);
        }
        let plan = experiment.plan();
        let alone = run_plan(&plan).expect("runs").data;
        // The barrier's messages are no flows.
        assert!((250..=256).contains(&count(&alone, "packets_flow_start")));
        assert_eq!(phases(&alone).phase, [0, 1]);
        for ranks in [2, 3] {
            assert!(
                run_on(ranks, &plan).expect("runs") == alone,
                "{ranks} ranks"
            );
        }
    }
}

/// An input that keeps nothing sends every flow by default ports, as D-mod-k does.
#[test]
fn without_a_cache_flows_go_by_default_ports() {
    let run = |cache: Option<i64>| {
        let mut experiment = permutations(3);
        if let Some(cache) = cache {
            experiment = experiment.set("routing.cache", cache);
        }
        experiment.run().data
    };
    let [none, one, all] = [run(Some(0)), run(Some(1)), run(None)];
    assert_eq!(count(&none, "circuits_kept"), 0);
    assert!(count(&none, "circuits_refused") > 0 && count(&one, "circuits_refused") > 0);
    assert!(count(&all, "circuits_kept") > count(&one, "circuits_kept"));
    assert_eq!(count(&all, "circuits_refused"), 0);
    let dmodk = permutations(3).routing("dmodk").run().data;
    let contention = |data: &Data| (phases(data).contention[0], phases(data).mean_contention[0]);
    assert_eq!(contention(&none), contention(&dmodk));
    assert!(contention(&all).1 < contention(&dmodk).1);
}

#[test]
fn with_explicit_rates_a_phase_takes_its_optimum() {
    let saa = permutations(3)
        .set("congestion.scheme", "saa")
        .set("nic.discipline", "ps")
        .set("nic.acknowledge", false);
    let data = saa.run().data;
    // 40 packets of 24 ns for each flow on the most loaded link, and the first round trip.
    let phases = phases(&data);
    assert_eq!(phases.optimum_ps[0], 40 * 24 * NS * phases.contention[0]);
    assert!(
        (1.0..1.25).contains(&phases.stretch[0]),
        "{:?}",
        phases.stretch
    );
}

/// A packet of 24 flits and one of a flit follow each other on a link of their own: between their
/// heads the link is full.
#[test]
fn the_rate_of_a_flow_is_of_what_lies_between_its_first_and_last_head() {
    let data = flow(two_switches(), "f", 0, 4, 1)
        .with("motif.bytes", "312 B")
        .run()
        .data;
    let rate = data.flows.as_ref().expect("flows").measured_rate[0];
    // 25 flits carry 312 bytes, the first 24 of them 300.
    assert!((rate - 25.0 / 24.0 * 300.0 / 312.0).abs() < 1e-9, "{rate}");
}

/// The optimum counts all flits of each flow on every link of its path, even if the run ends while
/// some are on their way. Rates go by the times when packets were sent, which are a few packet
/// times late at most.
#[test]
fn rates_of_flows_that_do_not_end_are_the_calculated_ones() {
    let saa = permutations(3)
        .with("motif.bytes", "3 MB")
        .set("congestion.scheme", "saa")
        .set("nic.discipline", "ps")
        .set("nic.acknowledge", false)
        .set("run.warmup", "20 us")
        .until("100 us");
    let data = saa.run().data;
    let phases = phases(&data);
    let all = 10_000 * 24 * NS;
    assert_eq!(phases.optimum_ps[0], all * phases.contention[0]);
    let flows = data.flows.as_ref().expect("flows");
    for (&optimum, &contention) in flows.optimum_ps.iter().zip(&flows.contention) {
        assert_eq!(optimum, all * contention);
    }
    assert!(
        (0.995..1.005).contains(&phases.measured_ratio[0]),
        "{:?}",
        phases.measured_ratio
    );
}

/// Two applications on the same endpoints: the links add up the flows of both.
/// So the 200 packets of one and the 300 of the other to one endpoint end together, when its link
/// has carried 500, as if one application had sent all.
#[test]
fn the_flows_of_several_applications_share_their_links() {
    let app = |all: Experiment, name: &str, flows: &[(u32, u32, u64)]| {
        all.job("script", 64)
            .with("name", name)
            .with("shared", true)
            .with("endpoints", (0..64).collect::<Vec<i64>>())
            .with("motif", program(flows))
            .with("mpi.rendezvous_from", "1 GB")
    };
    // From one endpoint to two in other pods, and from another to one of these.
    let (one, other) = ([(0, 20, 100), (1, 41, 200)], [(0, 41, 300)]);
    let saa = || {
        enriched_tree()
            .set("congestion.scheme", "saa")
            .set("nic.discipline", "ps")
            .set("nic.acknowledge", false)
    };
    let both = app(app(saa(), "one", &one), "other", &other).until("completion");
    let plan = both.plan();
    let data = run_plan(&plan).expect("runs").data;
    let flows = data.flows.as_ref().expect("flows");
    // The link to endpoint 41 has 500 packets of 24 ns, which is the most of any link; endpoint 0
    // sends 400.
    for (row, &end) in flows.received_ps.iter().enumerate() {
        let expected = if flows.destination[row] == 41 {
            500
        } else {
            400
        };
        assert!(
            // The path there, and the round trip of the announcement before it.
            near(end, expected * 24 * NS, US),
            "to {}: {end}",
            flows.destination[row]
        );
    }
    let together = app(saa(), "one", &[one[0], one[1], other[0]]).until("completion");
    let mut ends = [ends(&data), ends(&together.run().data)];
    ends.iter_mut().for_each(|ends| ends.sort_unstable());
    assert_eq!(ends[0], ends[1]);
    for ranks in [2, 3] {
        assert!(run_on(ranks, &plan).expect("runs") == data, "{ranks} ranks");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let tree = || permutations(1);
    for (experiment, words) in [
        (tree().set("nic.order", "fifo"), "one at a time"),
        (tree().set("nic.injection_vcs", 2), "overtake"),
        (
            tree().set("nic.control_routes", "as_data"),
            "by control packets",
        ),
        (tree().set("congestion.scheme", "lhrp"), "again"),
        (
            experiment("kind = \"torus\"\nsizes = [4, 4]", "oblivious")
                .set("routing.choose_at", "nic")
                .set("congestion.scheme", "saa")
                .uniform(0.5)
                .until("2 us"),
            "gives different orders",
        ),
        (tree().set("nic.discipline", "ps"), "sets no rates"),
        (
            tree().routing("dmodk").set("output.flows", false),
            "no flows are managed",
        ),
    ] {
        let Err(error) = experiment.try_plan() else {
            panic!("should be refused: {}", experiment.text());
        };
        let text = error.render(false);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{text}");
    }
}
