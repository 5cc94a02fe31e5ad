//! `--watch-packet`: the way of one packet.

use super::busy;
use crate::support::Experiment;

/// Alone in the network it waits nowhere: the time of an idle router is no waiting.
#[test]
fn a_packet_waits_only_where_something_is_in_its_way() {
    let waits = |experiment: &Experiment, name: &str| -> Vec<String> {
        let ran = experiment.cli().arg("--watch-packet").arg(name).succeeds();
        let way = ran.stdout.lines().skip(1);
        let way = way.take_while(|line| !line.starts_with("head at"));
        let last = way.map(|line| line.split_whitespace().last().expect("a cell").to_string());
        last.collect()
    };
    let idle = Experiment::dragonfly(2, 4, 2)
        .until("10 us")
        .job("ping_pong", 2);
    let idle = waits(&idle, "0:0");
    assert!(
        idle.len() > 1 && idle.iter().all(|cell| cell == "-"),
        "{idle:?}"
    );
    let busy = busy().set("output.packets", true);
    let rows = packets(&busy.cli().succeeds().result());
    let late = rows
        .iter()
        .max_by_key(|row| row.delivered_ps - row.injected_ps);
    let cells = waits(&busy, &late.expect("packets").name);
    assert!(cells.iter().any(|cell| cell != "-"), "{cells:?}");
}

/// One row of `/data/packets`.
struct Row {
    name: String,
    routers: usize,
    injected_ps: u64,
    delivered_ps: u64,
}

fn packets(path: &std::path::Path) -> Vec<Row> {
    let table = hdf5::File::open(path)
        .and_then(|file| file.group("data/packets"))
        .expect("packets");
    let column = |name: &str| {
        table
            .dataset(name)
            .and_then(|column| column.read_raw::<u64>())
            .expect("a column")
    };
    let (source, sequence, routers) = (column("source"), column("sequence"), column("routers"));
    let (injected, delivered) = (column("injected_ps"), column("delivered_ps"));
    let row = |at: usize| Row {
        name: format!("{}:{}", source[at], sequence[at]),
        routers: routers[at] as usize,
        injected_ps: injected[at],
        delivered_ps: delivered[at],
    };
    (0..source.len()).map(row).collect()
}

/// Picoseconds from a text in nanoseconds.
fn ps(ns: &str) -> u64 {
    let (whole, part) = ns.split_once('.').expect("three decimals");
    assert_eq!(part.len(), 3);
    format!("{whole}{part}").parse().expect("a number")
}

#[test]
fn a_watched_packet_goes_the_way_that_its_row_tells() {
    let experiment = busy().set("output.packets", true);
    let rows = packets(&experiment.cli().succeeds().result());
    assert!(rows.len() > 1_000);
    for row in rows.iter().step_by(rows.len() / 5) {
        for ranks in [1, 4] {
            let ran = experiment
                .cli()
                .ranks(ranks)
                .arg("--watch-packet")
                .arg(&row.name)
                .succeeds();
            let way: Vec<&str> = ran
                .stdout
                .lines()
                .take_while(|line| !line.is_empty())
                .collect();
            let hops = way
                .iter()
                .filter(|line| line.starts_with("router "))
                .count();
            assert_eq!(hops, row.routers, "{}", ran.stdout);
            let first: Vec<&str> = way[1].split_whitespace().collect();
            assert_eq!(first[0], "endpoint");
            assert_eq!(first[1], row.name.split(':').next().unwrap());
            assert_eq!(ps(first[6]), row.injected_ps, "{}", ran.stdout);
            let last = way.last().expect("the end");
            assert!(last.ends_with("at its endpoint"), "{last}");
            let tail = last
                .split("tail at ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            assert_eq!(
                ps(tail.expect("a time")),
                row.delivered_ps,
                "{}",
                ran.stdout
            );
        }
    }
}

#[test]
fn watching_changes_nothing() {
    let plain = busy().cli().succeeds();
    let watched = busy().cli().arg("--watch-packet").arg("3:1").succeeds();
    assert_eq!(crate::support::difference(&plain, &watched), "");
}

#[test]
fn a_watched_packet_that_never_was_is_no_failure() {
    let ran = busy()
        .cli()
        .arg("--watch-packet")
        .arg("3:4000000")
        .succeeds();
    assert!(ran.stderr.contains("never injected"), "{}", ran.stderr);
}
