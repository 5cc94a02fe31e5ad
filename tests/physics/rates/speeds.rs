//! Endpoints whose links differ in speed: rates and schedules are those of the own link.

use crate::support::Experiment;
use weir::model::Time;

/// Links of 25 Gb/s for endpoint 0 and 100 Gb/s for the other eight, at one router.
fn star(scheme: &str) -> Experiment {
    let ends = (0..9).map(|end| {
        let speed = if end == 0 { 25 } else { 100 };
        format!("e{end},r0,terminal,{speed} Gbps\n")
    });
    let text = format!(
        "topology = {{ kind = \"graph\", links = '''\nfrom,to,kind,bandwidth\n{}''', \
         terminal = {{ bandwidth = \"100 Gbps\", latency = \"50 ns\" }}, \
         link = {{ bandwidth = \"100 Gbps\", latency = \"50 ns\" }} }}\n\
         routing.algorithm = \"shortest\"\ncongestion.scheme = \"{scheme}\"",
        ends.collect::<String>()
    );
    let experiment = Experiment::of(text.parse().expect("TOML"));
    match scheme {
        "saa" => experiment.set("nic.discipline", "ps"),
        "fixed_rate" => experiment.set("congestion.share", 1.0),
        _ => experiment,
    }
}

/// Time in which an endpoint sends a megabyte to another one, ps.
fn megabyte(scheme: &str, ends: [i64; 2]) -> Time {
    let motif = "kind = \"script\"\nrounds = 1\nphases = [\
                 { when = \"task == 0\", send = [{ to = \"1\", bytes = \"1 MB\" }] }, \
                 { when = \"task == 1\", receive = [{ from = \"0\" }] }]";
    let motif: toml::Table = motif.parse().expect("TOML");
    let data = star(scheme)
        .job("script", 2)
        .with("motif", motif)
        .with("mpi.rendezvous_from", "1 GB")
        .with("endpoints", ends.to_vec())
        .run()
        .data;
    data.jobs[0].finish()
}

#[test]
fn a_lone_flow_goes_at_the_rate_of_its_link() {
    for scheme in [
        "none",
        "fixed_rate",
        "saa",
        "srp",
        "smsrp",
        "lhrp",
        "window",
    ] {
        // 80 us at 100 Gb/s, and 320 us at 25; SRP books a twentieth more.
        for (ends, ideal) in [
            ([2, 1], 80_000_000),
            ([2, 0], 320_000_000),
            ([0, 2], 320_000_000),
        ] {
            let time = megabyte(scheme, ends);
            let (least, most) = (ideal, ideal * 11 / 10);
            assert!(
                (least..=most).contains(&time),
                "{scheme}, {ends:?}: {time} ps"
            );
        }
    }
}

/// Eight fast sources, and a destination whose link takes a quarter of one of theirs.
#[test]
fn schedules_book_what_the_link_of_the_destination_takes() {
    let latency = |scheme: &str| {
        let text = "kind = \"hotspot\"\nsource_list = [1, 2, 3, 4, 5, 6, 7, 8]\n\
                    destination_list = [0]";
        let pattern: toml::Table = text.parse().expect("TOML");
        let experiment = star(scheme)
            .traffic("hotspot", 1.0)
            .with("pattern", pattern);
        let data = experiment.message("1200 B").until("200 us").run().data;
        assert!(data.summary.accepted_load > 0.0, "{scheme}");
        let network = &data.latency.iter().find(|(name, _)| name == "network");
        network.expect("of all packets").1.arrived.mean()
    };
    let none = latency("none");
    for scheme in ["srp", "lhrp", "lhrp_srp"] {
        let own = latency(scheme);
        assert!(
            own < none / 2.0,
            "{scheme}: {own} ps, and {none} ps without control"
        );
    }
}
