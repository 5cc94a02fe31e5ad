//! Failures that no link can have are refused with their place and a remedy.

use super::{dragonfly, failing};
use crate::support::{Cli, Experiment};

/// Checks that a failure is refused with its place and a remedy.
fn refused(failures: &str, at: &str, says: &str) {
    let experiment = failing(&dragonfly().uniform(0.1).until("2 us"), failures);
    let text = experiment.text();
    let ran = Cli::run(&text).go();
    assert_eq!(
        ran.code,
        Some(2),
        "{failures}: {}{}",
        ran.stdout,
        ran.stderr
    );
    let message: Vec<&str> = ran.stderr.split_whitespace().collect();
    let message = message.join(" ");
    for part in [at, says, "help: ", "experiment.toml:"] {
        assert!(message.contains(part), "{part:?} is not in\n{}", ran.stderr);
    }
    assert!(!ran.out().exists());
}

/// Keys of a failure, the one that is refused, and a part of the message.
type Case = (&'static str, &'static str, &'static str);

const DRAWN: &[Case] = &[
    (
        "links = \"golbal\", count = 1",
        "links",
        "did you mean \"global\"",
    ),
    ("links = \"global\"", "links", "count = 1, or share = 0.05"),
    (
        "links = \"global\", count = 1, share = 0.1",
        "share",
        "leave out one",
    ),
    (
        "links = \"global\", count = 37",
        "count",
        "has 36 global links, not 37",
    ),
    (
        "links = \"global\", share = 1.5",
        "share",
        "1.5 is not a share",
    ),
    ("links = \"global\", share = nan", "share", "is not a share"),
    (
        "links = \"global\", count = 1, direction = \"out\"",
        "direction",
        "name the links",
    ),
];

const NAMED: &[Case] = &[
    ("links = []", "links", "the list is empty"),
    (
        "links = [{ router = 99, port = 0 }]",
        "links.0.router",
        "from 0 to 35",
    ),
    (
        "links = [{ router = 3, port = 9 }]",
        "links.0.port",
        "no link is at port 9",
    ),
    (
        "links = [{ router = 3 }]",
        "links.0",
        "{ router = 3, port = 7 }",
    ),
    (
        "links = [{ routers = [0, 9] }]",
        "links.0.routers",
        "router 0 has links to 1, 2, 3, 4",
    ),
    (
        "links = [{ endpoint = 72 }]",
        "links.0.endpoint",
        "from 0 to 71",
    ),
    (
        "links = [{ routers = [0, 4], count = 1 }]",
        "links.0",
        "unknown key `count`",
    ),
    (
        "links = [{ routers = [0, 4] }], count = 1",
        "count",
        "none is drawn",
    ),
    (
        "links = [{ routers = [0, 4] }], share = 0.5",
        "share",
        "none is drawn",
    ),
    (
        "links = [{ routers = [0, 4] }], seed = 5",
        "seed",
        "none is drawn",
    ),
    (
        "links = [{ routers = [0, 4] }, { routers = [4, 0] }]",
        "links.1",
        "named twice",
    ),
];

#[test]
fn links_that_do_not_exist() {
    for (keys, at, says) in [DRAWN, NAMED].concat() {
        let failures = format!("failure = [{{ {keys}, bandwidth = 0.5 }}]");
        refused(&failures, &format!("failure.0.{at}"), says);
    }
}

const LINK: &str = "links = [{ routers = [0, 4] }]";

#[test]
fn changes_that_are_none() {
    for (bandwidth, says) in [
        ("bandwidth = 1.01", "at most 1"),
        ("bandwidth = 0", "more than 0"),
        ("bandwidth = -0.5", "more than 0"),
        (
            "bandwidth = \"101 Gbps\"",
            "more than the 100 Gbps of such a link",
        ),
        ("bandwidth = \"0 Gbps\"", "is zero"),
        ("bandwidth = \"1 kbps\"", "at most 1 s is possible"),
        ("added_latency = \"1000000 s\"", "longer than any run"),
    ] {
        let failures = format!("failure = [{{ {LINK}, {bandwidth} }}]");
        let key = bandwidth.split(' ').next().expect("a key");
        refused(&failures, &format!("failure.0.{key}"), says);
    }
    refused(
        &format!("failure = [{{ {LINK} }}]"),
        "failure.0",
        "this changes nothing",
    );
}

#[test]
fn links_that_are_changed_twice() {
    let twice = format!(
        "failure = [{{ {LINK}, bandwidth = 0.5 }}, {{ links = [{{ routers = [1, 2] }}, \
         {{ routers = [4, 0] }}], bandwidth = 0.1 }}]"
    );
    refused(
        &twice,
        "failure.1.links.1",
        "failure.0 changes this link already",
    );
}

/// Failures of which something is down, or happens at a time.
const DOWN: &[Case] = &[
    ("down = true, bandwidth = 0.5", "bandwidth", "carry nothing"),
    (
        "down = true, direction = \"out\"",
        "direction",
        "both directions",
    ),
    (
        "down = true, at = \"5 us\", until = \"4 us\"",
        "until",
        "not after",
    ),
    (
        "down = true, packets = \"lost\"",
        "packets",
        "during the run",
    ),
    (
        "down = true, rerouted_after = \"1 us\"",
        "rerouted_after",
        "during the run",
    ),
    (
        "bandwidth = 0.5, at = \"1 us\", packets = \"drained\"",
        "packets",
        "down = true",
    ),
    (
        "added_latency = \"1 us\", at = \"1 us\"",
        "added_latency",
        "one length",
    ),
    ("bit_error_rate = 0.1", "bit_error_rate", "from 0 to 0.0001"),
    ("bit_error_rate = nan", "bit_error_rate", "from 0 to 0.0001"),
];

#[test]
fn outages_that_make_no_sense() {
    for (keys, at, says) in DOWN {
        let failures = format!("failure = [{{ {LINK}, {keys} }}]");
        refused(&failures, &format!("failure.0.{at}"), says);
    }
    for (keys, at, says) in [
        ("down = true", "failure.0", "the links are missing"),
        (
            "links = \"all\", count = 1, routers = [3], down = true",
            "failure.0.routers",
            "leave out one",
        ),
        (
            "routers = [], down = true",
            "failure.0.routers",
            "the list is empty",
        ),
        (
            "routers = [36], down = true",
            "failure.0.routers.0",
            "from 0 to 35",
        ),
        (
            "routers = \"leaf\", count = 1, down = true",
            "failure.0.routers",
            "called \"leaf\"",
        ),
        (
            "routers = \"all\", down = true",
            "failure.0.routers",
            "count = 1",
        ),
        (
            "routers = \"all\", count = 37, down = true",
            "failure.0.count",
            "has 36 routers, not 37",
        ),
    ] {
        refused(&format!("failure = [{{ {keys} }}]"), at, says);
    }
}

#[test]
fn errors_in_most_packets() {
    // ln 2 / 10,000 bits.
    let long = dragonfly()
        .set("nic.max_packet", "100 flits")
        .uniform(0.1)
        .until("2 us");
    let errors = format!("failure = [{{ {LINK}, bit_error_rate = 1e-4 }}]");
    let ran = Cli::run(&failing(&long, &errors).text()).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("write at most 7e-5"), "{}", ran.stderr);
}

#[test]
fn routings_that_cannot_go_around() {
    let flows = Experiment::tree(2, 2)
        .set("routing.algorithm", "adaptive_flow")
        .uniform(0.1)
        .until("2 us");
    let dead = failing(
        &flows,
        "failure = [{ links = \"all\", count = 1, down = true }]",
    );
    let ran = Cli::run(&dead.text()).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("keeps paths of flows"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_table_is_no_list() {
    refused(
        "failure = { links = \"global\" }",
        "failure",
        "write [[failure]]",
    );
}
