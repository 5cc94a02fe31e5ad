//! Orders of dimensions that are chosen in the NIC, and queues of virtual networks.

use toml::Value;

use super::{KNS, chosen};
use crate::networks::direct::{experiment, used};
use crate::support::{Experiment, run_on, run_plan};
use weir::result::Packets;

fn packets(experiment: &Experiment) -> Packets {
    let outcome = experiment.clone().set("output.packets", true).run();
    outcome.data.packets.expect("packets are recorded")
}

/// Numbers of packets that node 0 sends by x and by y.
fn ways(experiment: &Experiment) -> [u64; 2] {
    let outcome = experiment.run();
    [1, 2].map(|kind| used(&outcome.data, 0, kind))
}

#[test]
fn a_nic_chooses_orders_in_turn_or_by_what_waits() {
    let flow = |algorithm: &str, load: f64| {
        chosen(algorithm)
            .traffic("fixed_pairs", load)
            .with("endpoints", vec![0, 5])
            .with("injection", "periodic")
            .message("24 flits")
            .until("20 us")
    };
    let [x_first, y_first] = ways(&flow("oblivious", 0.5));
    assert!(
        x_first > 150 && x_first.abs_diff(y_first) <= 1,
        "{x_first} {y_first}"
    );
    // Nothing waits: of equal ones the first in turn.
    let [x_first, y_first] = ways(&flow("source_adaptive", 0.5));
    assert!(
        x_first > 150 && x_first.abs_diff(y_first) <= 1,
        "{x_first} {y_first}"
    );
    // Endpoints 1 to 3 share the link from line x0 down to node 1 with a flow from 0 by x: that
    // flow uses y then.
    let crowded = |algorithm: &str| {
        flow(algorithm, 0.5)
            .traffic("hotspot", 1.0)
            .with("endpoints", vec![2, 3, 9, 13, 1])
            .with("pattern.source_list", vec![2, 3, 9, 13])
            .with("pattern.destination_list", vec![1])
            .with("injection", "periodic")
            .message("24 flits")
    };
    let arrived = |algorithm: &str| {
        let packets = packets(&crowded(algorithm));
        packets.source.iter().filter(|&&source| source == 0).count()
    };
    let (turn, least) = (arrived("oblivious"), arrived("source_adaptive"));
    assert!(
        least > turn + turn / 10,
        "{least} of the flow arrive, {turn} in turn"
    );
}

#[test]
fn what_is_given_its_order_when_it_is_generated_waits_for_that_one() {
    // Node 0 sends to 5 and to 10, whose packets are in other queues.
    let two_flows = |choose_at: &str, message: &str| {
        chosen("oblivious")
            .set("routing.choose_at", choose_at)
            .traffic("hotspot", 0.9)
            .with("endpoints", vec![0, 5, 10])
            .with("pattern.source_list", vec![0])
            .with("pattern.destination_list", vec![5, 10])
            .with("injection", "periodic")
            .message(message)
            .until("60 us")
    };
    for message in ["24 flits", "48 flits"] {
        // Packets of a message go one by x and one by y; of messages of one packet every other one.
        let [x_first, y_first] = ways(&two_flows("generation", message));
        assert!(
            x_first > 900 && x_first.abs_diff(y_first) <= 2,
            "{x_first} {y_first}"
        );
    }
    // Endpoints 2, 3 and 13 fill the path by x to node 1, and with it the queue of packets to 5 by
    // x; by y its path is free, and so are both paths to 10.
    let arrived = |choose_at: &str| {
        let crowded = two_flows(choose_at, "24 flits")
            .traffic("hotspot", 1.0)
            .with("endpoints", vec![2, 3, 13, 1])
            .with("pattern.source_list", vec![2, 3, 13])
            .with("pattern.destination_list", vec![1])
            .with("injection", "periodic")
            .message("24 flits");
        let packets = packets(&crowded);
        [5, 10].map(|to| {
            let own = packets.source.iter().zip(&packets.destination);
            own.filter(|pair| *pair == (&0, &to)).count()
        })
    };
    let [held, free] = arrived("generation");
    assert!(5 * held < 4 * free && free > 900, "{held} {free}");
    let [held, free] = arrived("nic");
    assert!(20 * held > 19 * free && free > 900, "{held} {free}");
    // A packet to 5 that waits keeps those to 10 waiting, whose ways are free: no more of them come
    // than are sent to 5, of which some are still in the crowded queues.
    let [held, free] = arrived("strict");
    assert!(
        held > 10 && free > held && free < held + 60,
        "{held} {free}"
    );
}

#[test]
fn an_order_by_what_waits_is_chosen_when_a_packet_is_sent() {
    for (choose_at, words) in [("generation", "in no queue yet"), ("strict", "in turn")] {
        let early = chosen("source_adaptive").set("routing.choose_at", choose_at);
        let error = early.uniform(0.1).until("1 us").try_plan().err().unwrap();
        let text = error.render(false);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn more_channels_than_a_byte_counts_are_refused() {
    let many = |vcs: i64| {
        let one = chosen("oblivious").set("nic.injection_vcs", vcs);
        one.uniform(0.1).until("1 us")
    };
    let error = many(128).try_plan().err().unwrap().render(false);
    assert!(error.contains("write at most 127"), "{error}");
    many(127).plan();
}

#[test]
fn queues_and_networks_chosen_in_the_nic_are_the_same_on_several_ranks() {
    let torus = "kind = \"torus\"\nsizes = [4, 6]";
    for (topology, algorithm, choose_at, voq) in [
        (KNS, "source_adaptive", "nic", true),
        (torus, "oblivious", "nic", false),
        (KNS, "oblivious", "generation", true),
        (torus, "oblivious", "strict", true),
    ] {
        let experiment = experiment(topology, algorithm)
            .set("routing.choose_at", choose_at)
            .set(
                "queueing",
                Value::Table(
                    format!("scheme = \"dbbq\"\nvoq_sw = {voq}")
                        .parse()
                        .unwrap(),
                ),
            )
            .set("router.buffer_per", "divided")
            .set("router.input_buffer", "1000 flits")
            .set("router.output_queue", "none")
            .set("nic.injection_vcs", 2)
            .hotspot(4, 1, 0.9)
            .with("endpoints.count", 5)
            .with("endpoints.placement", "random")
            .with("stop", "2 us")
            .uniform(0.9)
            .with("endpoints", "rest")
            .to_completion("2 us");
        let plan = experiment.plan();
        let alone = run_plan(&plan)
            .unwrap_or_else(|error| panic!("{error}"))
            .data;
        assert!(alone.summary.messages_received > 1_000);
        for ranks in [2, 3] {
            let shared = run_on(ranks, &plan).unwrap_or_else(|error| panic!("{error}"));
            assert!(shared == alone, "{ranks} ranks differ");
        }
    }
}

#[test]
fn a_nic_with_many_queue_pairs_that_wait_sends_those_that_may_go() {
    // More queue pairs than a NIC passes one by one: most waiting ones are for a crowded band.
    let experiment = experiment("kind = \"kns\"\nk = 11\nn = 2", "oblivious")
        .set("routing.choose_at", "generation")
        .set("queueing.scheme", "dbbq")
        .set("router.buffer_per", "divided")
        .set("router.input_buffer", "200 flits")
        .set("router.output_queue", "none")
        .hotspot(30, 1, 1.0)
        .with("endpoints.count", 31)
        .with("endpoints.placement", "random")
        .message("24 flits")
        .with("stop", "20 us")
        .uniform(1.0)
        .with("endpoints", "rest")
        .message("24 flits")
        .to_completion("20 us");
    let plan = experiment.plan();
    let alone = run_plan(&plan)
        .unwrap_or_else(|error| panic!("{error}"))
        .data;
    let summary = &alone.summary;
    assert_eq!(summary.messages_generated, summary.messages_received);
    let shared = run_on(2, &plan).unwrap_or_else(|error| panic!("{error}"));
    assert!(shared == alone);
}
