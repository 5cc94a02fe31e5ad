//! Links and routers that are down, slow for a while, or make errors: times and losses by
//! arithmetic.

use weir::result::Packets;

use super::{NS, US, dragonfly, latency, routers, with};
use crate::networks::direct;
use crate::physics::rates::{flow, measured, rate, run};
use crate::support::{Cli, Experiment};

/// Endpoint 2 sends 24 flits every 48 ns by the link between routers 0 and 4, to endpoint 10. A
/// head is at router 0 after 35 ns, on that link after 45, and the tail is behind it after 45 + 24
/// + 100.
fn stream() -> Experiment {
    flow(measured(dragonfly()), 2, 10, 0.5).until("21 us")
}

/// The times at which the packets of endpoint 2 that arrived were sent, ns, ascending. Those
/// of the last microsecond are left out: packets that take another way may arrive after the end.
fn sent(packets: &Packets) -> Vec<u64> {
    let rows = 0..packets.source.len();
    let own = rows.filter(|&row| packets.source[row] == 2);
    let times = own.map(|row| packets.injected_ps[row] / NS);
    let mut times: Vec<u64> = times.filter(|&time| time < 20_000).collect();
    times.sort_unstable();
    times
}

/// Checks that exactly the packets sent in a stretch of time, ns, were lost.
fn check_lost(experiment: &Experiment, lost: std::ops::Range<u64>) {
    let data = experiment.run().data;
    let found = sent(data.packets.as_ref().expect("packets"));
    let expected: Vec<u64> = (0..)
        .map(|number| found[0] + 48 * number)
        .take_while(|time| *time <= found[found.len() - 1])
        .filter(|time| !lost.contains(time))
        .collect();
    assert_eq!(found, expected, "{}", experiment.text());
    let count = lost
        .filter(|time| (time - found[0]).is_multiple_of(48))
        .count() as u64;
    let table = data.failures.expect("links that are down");
    let ours = (0..table.router.len()).filter(|&row| (table.router[row], table.nic[row]) == (0, 0));
    assert_eq!(ours.map(|row| table.packets_lost[row]).sum::<u64>(), count);
    assert!(data.summary.packets_dropped >= count);
}

const LINK: &str = "links = [{ routers = [0, 4] }], down = true";

#[test]
fn packets_on_a_link_that_goes_down_are_lost_until_routers_know() {
    // Their tails are not behind the link when it goes down.
    let from = 10_000 - 169;
    let down = |keys: &str| with(&stream(), &format!("{{ {LINK}, at = \"10 us\", {keys} }}"));
    // All routers know at once: router 0 sends no more by the link.
    check_lost(&down("until = \"18 us\""), from..10_000 - 35);
    check_lost(&down("rerouted_after = \"0 s\""), from..10_000 - 35);
    // They know after 2 us.
    check_lost(&down("rerouted_after = \"2 us\""), from..12_000 - 35);
    let several = down("rerouted_after = \"2 us\"").set("queueing.scheme", "vcs");
    check_lost(&several, from..12_000 - 35);
    // Only router 0 knows: adaptive routing goes another way there.
    let late = down("rerouted_after = \"1 ms\"");
    check_lost(&late.set("routing.algorithm", "par"), from..10_000 - 35);
    // It works again from 14 us on: what is on it then was sent onto it later.
    check_lost(
        &down("until = \"14 us\", rerouted_after = \"1 ms\""),
        from..14_000 - 45,
    );
    // An operator drains it.
    let drained = down("packets = \"drained\", rerouted_after = \"2 us\"");
    let data = drained.run().data;
    assert_eq!(data.summary.packets_dropped, 0);
    let summary = data.summary;
    assert_eq!(
        summary.packets_injected,
        summary.packets_delivered + summary.packets_in_flight
    );
}

/// The link goes down when the run ends: what is on it then is under way.
#[test]
fn nothing_is_lost_by_an_outage_after_the_end() {
    let built = stream().run().data;
    assert!(built.summary.packets_in_flight > 2);
    for at in ["21 us", "21.05 us", "30 us"] {
        let data = with(&stream(), &format!("{{ {LINK}, at = \"{at}\" }}"))
            .run()
            .data;
        let table = data.failures.as_ref().expect("links that are down");
        assert_eq!(table.packets_lost, [0, 0], "{at}");
        assert!(
            table
                .from_ps
                .iter()
                .zip(&table.until_ps)
                .all(|(from, until)| from <= until)
        );
        assert_eq!(data.summary.packets_dropped, 0, "{at}");
        assert_eq!(
            data.summary.packets_in_flight,
            built.summary.packets_in_flight
        );
        let kinds: Vec<&str> = data.notes.iter().map(|note| &*note.kind).collect();
        assert_eq!(kinds, ["fails_nothing"], "{at}");
    }
    let data = with(&stream(), &format!("{{ {LINK}, at = \"20.99 us\" }}"))
        .run()
        .data;
    assert!(data.summary.packets_dropped > 0);
}

#[test]
fn a_dead_link_leaves_the_time_of_the_way_around() {
    // By way of another group: two more global links of 100 ns, a router, and up to two more local
    // hops of 20 ns and a router each.
    let around = with(&dragonfly(), &format!("{{ {LINK} }}"));
    for routing in ["minimal", "valiant", "ugal", "par"] {
        let around = around.clone().set("routing.algorithm", routing);
        let found = latency(&around, 2, 10);
        let [least, most] = [2 * 105 - 5, 2 * 105 + 4 * 30 + 20].map(|time| time + 24);
        assert!((least..=most + 100).contains(&found), "{routing}: {found}");
        assert!(found > 190 + 24, "{routing}: {found}");
    }
    // The same ways up and down are as long as others.
    let tree = Experiment::tree(2, 3);
    for routing in ["dmodk", "random_up", "adaptive_up"] {
        let tree = tree.clone().set("routing.algorithm", routing);
        let dead = with(
            &tree,
            "{ links = \"global\", count = 1, seed = 3, down = true }",
        );
        for (source, destination) in [(0, 4), (1, 5), (2, 7), (6, 3)] {
            let (built, now) = (
                latency(&tree, source, destination),
                latency(&dead, source, destination),
            );
            assert_eq!(built, now, "{routing}");
        }
    }
}

/// Routers 1 and 4 of a mesh lose their link. Router 1 has other ways for most packets, and begins
/// a detour for the rest before the others know of it: nothing comes back to the link.
#[test]
fn a_detour_keeps_to_the_state_that_its_first_router_saw() {
    let lost = |after: &str| {
        let mesh = direct::experiment("kind = \"mesh\"\nsizes = [3, 2]", "minimal_adaptive");
        let failure = format!(
            "{{ links = [{{ routers = [1, 4] }}], down = true, at = \"5 us\", \
             rerouted_after = \"{after}\" }}"
        );
        let data = with(
            &mesh.uniform(0.1).message("4 flits").until("20 us"),
            &failure,
        )
        .run();
        data.data.summary.packets_dropped
    };
    let at_once = lost("0 s");
    assert!(at_once < 10, "{at_once}");
    assert_eq!([lost("1 us"), lost("10 us")], [at_once; 2]);
}

#[test]
fn no_way_at_all_is_a_loss() {
    // Every topology, with a router that is cut off: to it nothing leads, not even in an estimate.
    for topology in [
        "kind = \"torus\"\nsizes = [4, 3]",
        "kind = \"mesh\"\nsizes = [4, 3]",
        "kind = \"hyperx\"\nsizes = [4, 3]",
    ] {
        let network = crate::networks::direct::experiment(topology, "dor").until("5 us");
        let network = network.uniform(0.1).set("nic.acknowledge", false);
        let dead = with(&network, "{ routers = [5], down = true }");
        let summary = dead.run().data.summary;
        let share = summary.packets_dropped as f64 / summary.packets_injected as f64;
        // Of twelve routers: to it and from it.
        assert!((share - 2.0 / 12.0).abs() < 0.03, "{topology}: {share}");
    }
}

#[test]
fn a_ring_is_gone_round_the_other_way() {
    // Six routers in a ring. From 1 to 0 it is one link of 20 ns and two routers of 50 ns; the
    // other way round five links and six routers.
    let ring =
        crate::networks::direct::experiment("kind = \"torus\"\nsizes = [6]", "dor").until("20 us");
    let built = latency(&ring, 1, 0);
    let dead = with(&ring, "{ links = [{ routers = [1, 0] }], down = true }");
    assert_eq!(latency(&dead, 1, 0), built + 4 * (20 + 50));
    let slow = with(&ring, "{ routers = [3], bandwidth = 0.5 }");
    assert_eq!(latency(&slow, 1, 0), built);
    // Through router 3, whose links carry half.
    assert_eq!(latency(&slow, 2, 4), built + 70 + 24);
}

#[test]
fn a_link_is_slow_for_a_while() {
    let quarter = "{ links = [{ routers = [0, 4] }], bandwidth = 0.25, at = \"30 us\", \
                   until = \"70 us\" }";
    for network in routers(&measured(dragonfly())) {
        let packets = run(&flow(with(&network, quarter), 2, 10, 1.0));
        // 24 us: a whole number of packets of 96 ns, and of 24 ns.
        let at = |from: u64| rate(&packets, Some(2), from * US, (from + 24) * US);
        let found = [at(5), at(40), at(80)];
        assert_eq!(found, [1.0, 0.25, 1.0], "{}", network.text());
    }
}

#[test]
fn errors_cost_the_time_of_the_retries_and_no_packets() {
    // A packet of 2,400 bits has an error with probability 1 - (1 - e)^2400 = 0.2; a retry takes
    // the packet and the round trip of the link, 24 + 200 ns.
    let rate_of_errors = 1.0 - 0.8_f64.powf(1.0 / 2_400.0);
    let failure =
        format!("{{ links = [{{ routers = [0, 4] }}], bit_error_rate = {rate_of_errors:e} }}");
    for network in routers(&measured(dragonfly())) {
        check_errors(&flow(with(&network, &failure), 2, 10, 1.0));
    }
}

/// Checks the rate and the retries of a stream of 24 flits by a link with errors in a fifth of
/// them.
fn check_errors(experiment: &Experiment) {
    let data = experiment.run().data;
    let packets = data.packets.as_ref().expect("packets");
    let found = rate(packets, Some(2), 10 * US, 106 * US);
    let expected = 24.0 / (24.0 + 0.25 * 224.0);
    // Some 1,200 packets with as many trials: three standard deviations are less than 8%.
    let text = experiment.text();
    assert!(
        (found / expected - 1.0).abs() < 0.08,
        "{found} {expected} {text}"
    );
    assert_eq!(data.summary.packets_dropped, 0);
    let table = data.failures.expect("links with errors");
    let row = (0..2).find(|&row| table.router[row] == 0).expect("a row");
    let ports = &data.ports;
    let port = (0..ports.router.len())
        .find(|&at| (ports.router[at], ports.peer_router[at]) == (0, 4))
        .expect("the port");
    // Of the times that a packet was sent.
    let trials = table.retries[row] + ports.packets[port];
    let share = table.retries[row] as f64 / trials as f64;
    assert!((share - 0.2).abs() < 0.04, "{share}");
    assert!(ports.packets[port] > 1_000);
}

#[test]
fn check_and_run_name_what_is_cut_off() {
    let network = dragonfly()
        .uniform(0.1)
        .until("5 us")
        .set("nic.acknowledge", false);
    let dead = with(&network, "{ routers = [5], down = true }");
    let cut = "cut 2 of 72 endpoints off from the others: 10, 11;";
    let checked = Cli::check(&dead.text()).go();
    assert!(
        checked
            .stdout
            .contains("# down       2 terminal, 3 local, 2 global links")
    );
    let said: Vec<&str> = checked.stderr.split_whitespace().collect();
    assert!(said.join(" ").contains(cut), "{}", checked.stderr);
    let data = dead.run().data;
    let note = data.notes.iter().find(|note| note.kind == "lost_packets");
    let note = note.expect("a note about lost packets");
    assert_eq!(
        note.numbers.iter().map(|(_, count)| count).sum::<u64>(),
        data.summary.packets_dropped
    );
    // One seventy-second of the traffic goes to each endpoint, and comes from each.
    let summary = &data.summary;
    let share = summary.packets_dropped as f64 / summary.packets_injected as f64;
    assert!((share - 4.0 / 72.0).abs() < 0.01, "{share}");
    // Nothing is cut off where a global link is down.
    let around = with(&network, "{ links = [{ routers = [0, 4] }], down = true }");
    assert!(!Cli::check(&around.text()).go().stderr.contains("cut"));
}

/// Short messages to many endpoints, of which most ways are congested, until 30 us. All that counts
/// at a port has left it then, also what went by another port than it was routed to, or was lost on
/// a link that was down.
#[test]
fn ports_that_lose_packets_are_released_when_all_is_over() {
    let torus =
        crate::networks::direct::experiment("kind = \"torus\"\nsizes = [4, 4]", "minimal_adaptive");
    let cut = format!("{{ {LINK}, at = \"5 us\", until = \"20 us\", rerouted_after = \"1 ms\" }}");
    for (network, unit) in [
        (torus.clone(), "flits"),
        (torus, "packets"),
        (with(&dragonfly(), &cut), "flits"),
        (with(&dragonfly(), &cut), "packets"),
    ] {
        let data = network
            .set("congestion.scheme", "codes_cc")
            .set("congestion.buffer", "96 flits")
            .set("congestion.period", "2 us")
            .set("congestion.count", unit)
            .uniform(0.9)
            .message("20 flits")
            .to_completion("30 us")
            .run()
            .data;
        let counter = |name: &str| {
            let mut counters = data.scheme.counters.iter();
            counters.find(|(own, _)| own == name).expect("a counter").1
        };
        let [congested, released] = ["ports_congested", "ports_released"].map(counter);
        assert!(congested > 20, "{unit}: {congested}");
        assert_eq!(congested, released, "{unit}");
    }
}
