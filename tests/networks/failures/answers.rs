//! Control packets that routers send themselves, to the source of a dropped packet: from a router
//! that only a detour or Valiant's routing leads over, they find a way as well.

use crate::support::Experiment;

/// Two endpoints in a graph of these links; routers drop half of the packets of SRP that could be.
fn experiment(links: &str, more: &str) -> Experiment {
    let text = format!(
        "{more}\n[topology]\nkind = \"graph\"\nlinks = \"\"\"\nfrom,to,kind\n{links}\"\"\"\n\
         terminal = {{ bandwidth = \"100 Gbps\", latency = \"5 ns\" }}\n\
         link = {{ bandwidth = \"100 Gbps\", latency = \"20 ns\" }}\n\
         [congestion]\nscheme = \"srp\"\nloss = 0.5\n"
    );
    Experiment::of(text.parse().expect("TOML"))
        .uniform(0.1)
        .message("4 flits")
        .until("20 us")
}

/// Checks that routers sent answers, and that messages went on.
fn check(experiment: &Experiment) {
    for seed in 1..=6 {
        let data = experiment.clone().set("run.seed", seed).run().data;
        let mut counters = data.scheme.counters.iter();
        let answers = counters.find(|(name, _)| name == "packets_nack");
        assert!(
            answers.is_some_and(|(_, count)| *count > 100),
            "{answers:?}"
        );
        let summary = data.summary;
        let open = summary.messages_generated - summary.messages_received;
        assert!(open * 10 < summary.messages_generated, "{open}");
    }
}

/// The detour leads over router 5, which no way of the routing does. Up and then down
/// leads nobody from there.
#[test]
fn from_a_router_that_only_a_detour_leads_over() {
    let links = "e0,r0,terminal\ne1,r1,terminal\nr0,r2,\nr2,r1,\nr0,r3,\nr3,r5,\nr5,r4,\nr4,r1,\n";
    let more = "routing = { algorithm = \"updown\", roots = [2, 5] }\n\
                failure = [{ links = [{ routers = [2, 1] }], down = true }]";
    check(&experiment(links, more));
}

/// The long way round has more links than the short one, and so than virtual channels.
#[test]
fn from_the_middle_of_a_detour_that_is_longer_than_any_way() {
    let chain: Vec<String> = (1..7).map(|at| format!("w{at},w{},\n", at + 1)).collect();
    let links = format!(
        "a,A,terminal\nb,B,terminal\nA,B,\nA,w1,\n{}w7,B,\n",
        chain.concat()
    );
    let more = "routing = { algorithm = \"shortest\" }\n\
                failure = [{ links = [{ routers = [0, 1] }], down = true }]";
    check(&experiment(&links, more));
}

/// From the end of one arm, by way of the end of the other, it would be farther than between any two
/// routers with endpoints.
#[test]
fn from_the_end_of_an_arm_that_a_random_router_lies_at() {
    let links =
        "a,c1,terminal\nb,c2,terminal\nc1,c2,\nc1,u1,\nu1,u2,\nu2,u3,\nc2,w1,\nw1,w2,\nw2,w3,\n";
    for routing in ["valiant", "ugal"] {
        let more = format!(
            "routing = {{ algorithm = \"{routing}\" }}\nnic = {{ control_routes = \"as_data\" }}"
        );
        check(&experiment(links, &more));
    }
}
