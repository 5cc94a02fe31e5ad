//! Packets of several lengths, and links of several speeds.

use crate::support::Experiment;

/// Three senders of all that their links carry, to one endpoint of their switch: one of packets of
/// `short` flits, two of 24. Their shares of what comes in.
fn shares(arbitration: &str, queue: &str, short: u32) -> Vec<f64> {
    shares_if(false, arbitration, queue, short)
}

fn shares_if(overtaking: bool, arbitration: &str, queue: &str, short: u32) -> Vec<f64> {
    let mut network = Experiment::clos(8, 1)
        .set("router.overtaking", overtaking)
        .set("router.arbitration", arbitration)
        .set("router.output_queue", queue)
        .set("nic.acknowledge", false)
        .set("run.warmup", "40 us")
        .until("200 us");
    for (sender, flits) in [(0, short), (1, 24), (2, 24)] {
        network = network
            .traffic("fixed_pairs", 1.0)
            .with("endpoints", vec![sender, 7])
            .with("shared", true)
            .message(&format!("{flits} flits"));
    }
    let jobs = network.run().data.jobs;
    let loads: Vec<f64> = jobs.iter().map(|job| job.totals.accepted_load).collect();
    let all: f64 = loads.iter().sum();
    // A queue of one packet is empty whenever a long one crosses, and so is the link for a while.
    assert!(
        all > if queue == "1 packets" { 0.8 } else { 0.99 },
        "{queue}: {all}"
    );
    loads.iter().map(|load| load / all).collect()
}

/// A packet of each in turn: shares go with lengths, whatever room there is behind the crossbar.
#[test]
fn long_packets_have_their_turn_beside_short_ones() {
    for queue in ["16 packets", "2 packets", "1 packets", "none"] {
        for short in [1, 6, 24] {
            let got = shares("round_robin", queue, short);
            let all = f64::from(short + 24 + 24);
            for (got, flits) in got.iter().zip([short, 24, 24]) {
                let expected = f64::from(flits) / all;
                assert!(
                    (got - expected).abs() < 0.005,
                    "{queue}, {short} flits: {got}, not {expected}"
                );
            }
        }
        // With overtaking short ones take what long ones wait for, where a queue limits them.
        for overtaking in [false, true] {
            let got = shares_if(overtaking, "round_robin", queue, 6);
            let limited = overtaking && queue != "none";
            let expected = if limited { 0.0..0.4 } else { 0.44..0.45 };
            let least = got[1].min(got[2]);
            assert!(expected.contains(&least), "{queue}, {overtaking}: {got:?}");
        }
        // By injection or arrival equal senders get about the same, and none is left out.
        for arbitration in ["oldest", "first_come"] {
            let got = shares(arbitration, queue, 6);
            assert!(
                got[1] > 0.25 && got[2] > 0.25,
                "{arbitration}, {queue}: {got:?}"
            );
        }
    }
}

/// A load is a share of the sender's link.
#[test]
fn every_sender_offers_the_load_of_its_own_link() {
    let links = "from,to,kind,bandwidth\nh0,r0,terminal,100 Gbps\nh1,r0,terminal,25 Gbps\n\
                 h2,r0,terminal,25 Gbps\n";
    let network = |load: f64, injection: &str| {
        let text = format!(
            "topology = {{ kind = \"graph\", links = {links:?}, terminal = {{ bandwidth = \
             \"100 Gbps\", latency = \"5 ns\" }} }}\nrouting = {{ algorithm = \"shortest\" }}"
        );
        Experiment::of(text.parse().expect("TOML"))
            .traffic("permutation", load)
            .with("pattern.list", vec![1, 2, 0])
            .with("injection", injection)
            .message("250 B")
            .set("output.messages", true)
            .until("100 us")
    };
    for injection in ["periodic", "poisson", "bernoulli"] {
        let data = network(0.2, injection).run().data;
        let messages = data.messages.expect("recorded");
        for (sender, gbps) in [(0, 100.0), (1, 25.0), (2, 25.0)] {
            let own = messages.source.iter().filter(|&&source| source == sender);
            let expected = 0.2 * gbps * 1e9 * 100e-6 / 2_000.0;
            let got = own.count() as f64;
            assert!(
                (got / expected - 1.0).abs() < 0.15,
                "{injection}, {sender}: {got}, {expected}"
            );
        }
        let job = &data.jobs[0].totals;
        assert!(
            (job.offered_load / 0.2 - 1.0).abs() < 0.05,
            "{}",
            job.offered_load
        );
        assert_eq!(data.summary.endpoint_bandwidth, 50_000_000_000);
    }
    // What comes in is at most what the links carry.
    let job = &network(4.0, "periodic").run().data.jobs[0].totals;
    assert!(job.accepted_load <= 1.0, "{}", job.accepted_load);
}
