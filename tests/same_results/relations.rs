//! Exact relations that hold for every network, routing and scheme.
//! The times of a port add up to the time of the run, and numbers counted in several places agree.
//! Idle jobs change nothing, the same messages take the same time in every format, and
//! half the rates take twice the time. The tests here are short; ci/attack runs them at length.

use std::fs;

use tempfile::TempDir;
use toml::{Table, Value};
use weir::catalog::catalog;
use weir::model::{Rng, below, stream};
use weir::result::{Data, Latency};
use weir::workload::replay::{Flow, write_goal, write_vef};

use crate::support::{Experiment, attack};
use crate::variants::catalog::{crowded, first_networks};

fn pick<'a, T>(rng: &mut Rng, list: &'a [T]) -> &'a T {
    &list[below(rng, list.len() as u32) as usize]
}

/// A full network with a random scheme, and routers that take credits here or there.
fn drawn(rng: &mut Rng) -> Experiment {
    let schemes = catalog().schemes.variants;
    // Flows that are sent by rates have a discipline; everything else has none.
    let schemes: Vec<_> = schemes
        .iter()
        .filter(|scheme| scheme.name != "saa")
        .collect();
    let network = crowded(pick(rng, &first_networks()).clone(), "8 us");
    let queue = *pick(rng, &["none", "2 packets", "8 packets"]);
    let credit = match queue {
        "none" => "link",
        _ => *pick(rng, &["link", "crossing"]),
    };
    network
        .applications()
        .until("completion")
        .set("congestion.scheme", pick(rng, &schemes).name)
        .set("router.output_queue", queue)
        .set("router.credit_at", credit)
        .set("router.speedup", *pick(rng, &["1", "2", "infinite"]))
        .set("run.seed", i64::from(below(rng, 1_000)))
}

/// With some of these networks a scheme or a queue cannot be used: those are refused when they are
/// planned.
fn planned(rng: &mut Rng) -> Experiment {
    let mut tries = std::iter::repeat_with(|| drawn(rng)).take(100);
    let found = tries.find(|experiment| experiment.try_plan().is_ok());
    found.expect("most can be run")
}

pub fn for_each_drawn(default: u32, check: impl Fn(&Experiment)) {
    let mut rng = stream(attack::seed(), &[7]);
    for _ in 0..attack::cases(default) {
        let experiment = planned(&mut rng);
        println!("{experiment:?}");
        check(&experiment);
    }
}

/// Every picosecond of a port is busy, stalled or idle, wherever packets take their credit; also
/// when a run is cut off.
#[test]
fn the_time_of_a_port_adds_up() {
    for_each_drawn(5, |experiment| {
        for until in ["completion", "6789 ns"] {
            let data = experiment.clone().until(until).run().data;
            let ports = &data.ports;
            for port in 0..ports.router.len() {
                let sum = ports.busy_ps[port] + ports.stalled_ps[port] + ports.idle_ps[port];
                assert_eq!(sum, data.summary.simulated_ps, "port {port} until {until}");
            }
        }
    });
}

/// A packet that has no credit to cross stalls the port only while its link is free: with one full
/// link for all, the busy share of that link and the stalled share of those before it are
/// arithmetic, wherever credits are taken.
#[test]
fn links_before_a_full_one_are_stalled_for_what_is_left() {
    for credit in ["link", "crossing"] {
        let experiment = Experiment::tree(4, 2)
            .traffic("hotspot", 1.0)
            .with("pattern.source_list", vec![4, 5, 6, 7])
            .with("pattern.destination_list", vec![0])
            .with("endpoints", vec![0, 4, 5, 6, 7])
            .with("injection", "periodic")
            .message("24 flits")
            .set("router.output_queue", "16 packets")
            .set("router.input_buffer", "16 packets")
            .set("router.credit_at", credit)
            .set("nic.acknowledge", false)
            .until("200 us");
        let data = experiment.run().data;
        let ports = &data.ports;
        let time = data.summary.simulated_ps as f64;
        let share = |column: &[u64], port: usize| column[port] as f64 / time;
        let last = (0..ports.router.len()).find(|&port| ports.endpoint[port] == 0);
        let last = last.expect("the port to the hot endpoint");
        let busy = share(&ports.busy_ps, last);
        assert!(busy > 0.98, "{credit}: {busy}");
        // With D-mod-k all of them use one link up and one link down, which carry as much as the
        // last one.
        let before: Vec<usize> = (0..ports.router.len())
            .filter(|&port| port != last && ports.packets[port] > 0 && ports.endpoint[port] < 0)
            .collect();
        assert_eq!(before.len(), 2, "{credit}");
        for port in before {
            let [busy, stalled] = [&ports.busy_ps, &ports.stalled_ps].map(|all| share(all, port));
            assert!(
                busy > 0.98 && busy + stalled <= 1.0,
                "{credit}: {busy} {stalled}"
            );
        }
    }
}

fn class<'a>(data: &'a Data, name: &str) -> &'a Latency {
    let found = data.latency.iter().find(|(own, _)| own == name);
    &found.expect("a class").1
}

/// Messages, packets and bytes of jobs, ports, series and latencies are the same ones.
#[test]
fn what_is_counted_in_several_places_agrees() {
    for_each_drawn(4, |experiment| {
        let data = experiment.run().data;
        let summary = &data.summary;
        let sum = |values: &[u64]| values.iter().sum::<u64>();
        let series = || data.series.jobs.iter();
        let jobs = || data.jobs.iter().map(|job| job.name.as_str());
        assert_eq!(summary.messages_generated, summary.messages_received);
        let messages: u64 = series().map(|job| sum(&job.1.messages)).sum();
        assert_eq!(messages, summary.messages_received);
        for kind in ["message", "network"] {
            let all = class(&data, kind).arrived.samples();
            let each =
                jobs().map(|job| class(&data, &format!("job.{job}.{kind}")).arrived.samples());
            assert_eq!(all, each.sum::<u64>(), "{kind}");
        }
        assert_eq!(class(&data, "message").arrived.samples(), messages);
        let packets: u64 = series().map(|job| sum(&job.1.packets)).sum();
        assert_eq!(class(&data, "network").arrived.samples(), packets);
        let ports = &data.ports;
        assert_eq!(sum(&ports.packets), summary.packet_hops);
        let last = (0..ports.router.len()).filter(|&port| ports.endpoint[port] >= 0);
        let ejected: u64 = last.map(|port| ports.packets[port]).sum();
        assert_eq!(ejected, summary.packets_delivered);
        for (job, own) in data.jobs.iter().zip(series()) {
            // Bins hold whole bytes of counts that may have parts of one.
            let bytes = sum(&own.1.delivered_bytes);
            let bins = own.1.delivered_bytes.len() as u64;
            assert!(
                (bytes..=bytes + bins).contains(&job.totals.bytes_delivered),
                "{}",
                job.name
            );
        }
    });
}

/// The same experiment with other tables of workloads.
fn with_workloads(experiment: &Experiment, change: impl FnOnce(&mut Vec<Value>)) -> Experiment {
    let mut table: Table = toml::from_str(&experiment.text()).expect("TOML");
    let list = table.get_mut("workload").and_then(Value::as_array_mut);
    change(list.expect("workloads"));
    Experiment::of(table)
}

/// Times and destinations of what a job generates depend on the seed and its name alone.
#[test]
fn other_jobs_change_nothing_of_what_a_job_generates() {
    let own = |experiment: Experiment, name: &str| -> Vec<_> {
        let experiment = experiment
            .traffic("permutation", 0.3)
            .with("name", name)
            .with("endpoints", "36..72");
        let data = experiment
            .set("output.messages", true)
            .until("20 us")
            .run()
            .data;
        let job = data.jobs.iter().position(|job| job.name == name);
        let job = job.expect("it runs") as u32;
        let all = data.messages.expect("recorded");
        // Later ones may still be on their way.
        let early = (0..all.source.len()).filter(|&row| all.generated_ps[row] < 15_000_000);
        let early = early.filter(|&row| all.job[row] == job);
        let mut rows: Vec<_> = early
            .map(|row| (all.source[row], all.generated_ps[row], all.destination[row]))
            .collect();
        rows.sort_unstable();
        rows
    };
    let alone = || Experiment::dragonfly(2, 4, 2);
    let before = alone()
        .uniform(0.2)
        .with("name", "before")
        .with("endpoints", "0..36");
    let rows = own(alone(), "own");
    assert!(rows.len() > 1_000, "{} messages", rows.len());
    assert_eq!(own(before, "own"), rows);
    assert_ne!(own(alone(), "other"), rows);
}

/// A job that sends nothing, after all others in the file: everything else is as without it.
#[test]
fn an_idle_job_changes_nothing() {
    let mut rng = stream(attack::seed(), &[9]);
    for _ in 0..attack::cases(4) {
        let schemes = catalog().schemes.variants;
        let schemes: Vec<_> = schemes.iter().filter(|one| one.name != "saa").collect();
        let experiment = Experiment::dragonfly(2, 4, 2)
            .hotspot(7, 1, 0.9)
            .with("endpoints.count", 8)
            .with("endpoints.placement", "random")
            .with("stop", "8 us")
            .applications()
            .set("congestion.scheme", pick(&mut rng, &schemes).name)
            .set("run.seed", i64::from(below(&mut rng, 1_000)));
        let plain = experiment.run().data;
        let text = "name = \"idle\"\ntasks = 1\n\
                    motif = { kind = \"script\", phases = [{ compute = \"1 ns\" }] }";
        let idle: Table = text.parse().expect("TOML");
        let other = with_workloads(&experiment, |list| list.push(idle.into()));
        let other = other.run().data;
        assert_eq!(other.jobs.len(), plain.jobs.len() + 1);
        assert!(other.jobs[..plain.jobs.len()] == plain.jobs[..]);
        assert!(other.ports == plain.ports);
        for (name, latency) in &plain.latency {
            assert!(class(&other, name) == latency, "{name}");
        }
    }
}

/// A few messages at once, given in six formats: each is sent and received at the same picosecond.
#[test]
fn messages_take_the_same_time_in_every_format() {
    const TASKS: u32 = 6;
    let mut rng = stream(attack::seed(), &[8]);
    for _ in 0..attack::cases(6) {
        let network = pick(&mut rng, &first_networks()).clone();
        // One message of each task, all at the beginning: formats differ in the order in which a
        // task posts several.
        let message = |from: u32| {
            let to = (from + 1 + below(&mut rng, TASKS - 1)) % TASKS;
            let bytes = u64::from(1 + below(&mut rng, 8_000));
            let start = 0;
            Flow {
                from,
                to,
                bytes,
                start,
            }
        };
        let flows: Vec<Flow> = (0..TASKS).map(message).collect();
        let all = formats(&network, &flows, TASKS);
        let (name, first) = &all[0];
        assert_eq!(first.len(), flows.len(), "{name}");
        for (other, rows) in &all[1..] {
            assert_eq!(rows, first, "{other} and {name}: {flows:?}");
        }
    }
}

type Row = (u32, u32, u64, u64, u64);

/// The messages of a run that replays them in each format: source, destination, bytes, generated,
/// received.
fn formats(network: &Experiment, flows: &[Flow], tasks: u32) -> Vec<(&'static str, Vec<Row>)> {
    let folder = TempDir::new().expect("a directory");
    let mut files: Vec<(&str, String, &str)> = Vec::new();
    let lines = |line: &dyn Fn(&Flow) -> String| flows.iter().map(line).collect::<String>();
    let csv = lines(&|f| format!("{},{},{},0\n", f.from, f.to, f.bytes));
    files.push((
        "flows",
        format!("source,destination,bytes,start\n{csv}"),
        "tasks = 6",
    ));
    let mut matrix = String::new();
    for from in 0..tasks {
        let cell = |to: u32| {
            let mut own = flows.iter().filter(|f| (f.from, f.to) == (from, to));
            own.next().map_or("0".into(), |f| f.bytes.to_string())
        };
        let row: Vec<String> = (0..tasks).map(cell).collect();
        matrix += &format!("{}\n", row.join(","));
    }
    files.push(("matrix", matrix, ""));
    let connections = flows.iter().zip(1..);
    let connections = connections
        .map(|(f, id)| format!("{}->{} id {id} start 0 size {}\n", f.from, f.to, f.bytes));
    let body: String = connections.collect();
    let head = format!("Nodes {tasks}\nConnections {}\n", flows.len());
    files.push(("connections", head + &body, ""));
    let written = |write: fn(&[Flow], u32, u64, &mut dyn std::io::Write) -> std::io::Result<()>| {
        let mut text = Vec::new();
        write(flows, tasks, 1_000, &mut text).expect("writes");
        String::from_utf8(text).expect("UTF-8")
    };
    files.push(("goal", written(write_goal), ""));
    files.push(("vef", written(write_vef), ""));
    let mut actions = String::new();
    for task in 0..tasks {
        actions += &format!("{task} init\n");
        for f in flows.iter().filter(|f| f.to == task) {
            actions += &format!("{task} irecv {} 0 {}\n", f.from, f.bytes);
        }
        for f in flows.iter().filter(|f| f.from == task) {
            actions += &format!("{task} isend {} 0 {}\n", f.to, f.bytes);
        }
        actions += &format!("{task} waitall\n{task} finalize\n");
    }
    files.push(("simgrid", actions, "flops_per_second = 1e9"));
    let run = |(format, text, keys): (&'static str, String, &str)| {
        let path = folder.path().join(format);
        fs::write(&path, text).expect("a file");
        let mut trace: Table = toml::from_str(keys).expect("TOML");
        trace.insert("format".into(), format.into());
        trace.insert("file".into(), path.display().to_string().into());
        let mut workload = Table::new();
        workload.insert("trace".into(), trace.into());
        let mut table: Table = toml::from_str(&network.text()).expect("TOML");
        table.insert("workload".into(), Value::Array(vec![workload.into()]));
        let experiment = Experiment::of(table).set("output.messages", true);
        let messages = experiment
            .until("completion")
            .run()
            .data
            .messages
            .expect("recorded");
        let mut rows: Vec<Row> = (0..messages.source.len())
            .map(|row| {
                (
                    messages.source[row],
                    messages.destination[row],
                    messages.bytes[row],
                    messages.generated_ps[row],
                    messages.received_ps[row],
                )
            })
            .collect();
        rows.sort_unstable();
        (format, rows)
    };
    files.into_iter().map(run).collect()
}

/// Half the bandwidth and twice every latency: an application that never meets another's packets
/// takes twice the time, to the picosecond. So does the last message of an incast, in any order of
/// the others.
#[test]
fn half_the_rates_take_twice_the_time() {
    let run = |factor: u64| {
        let ns = |time: u64| format!("{} ns", factor * time);
        let rate = format!("{} Gbps", 80 / factor);
        let mut experiment = Experiment::dragonfly(2, 4, 2)
            .latencies(&ns(5), &ns(10), &ns(100))
            .set("router.latency", ns(90))
            .set("router.credit_delay", ns(1))
            .set("router.flit", "100 B")
            .set("nic.max_packet", "1000 B");
        for kind in ["terminal", "local", "global"] {
            experiment = experiment.set(&format!("topology.{kind}.bandwidth"), rate.as_str());
        }
        let experiment = experiment
            .job("ping_pong", 2)
            .with("name", "lone")
            .with("endpoints", vec![0, 70])
            .job("incast", 9)
            .with("name", "incast")
            .with("endpoints", (8..17).collect::<Vec<i64>>())
            .with("motif.iterations", 1)
            .with("motif.bytes", "50 kB");
        let data = experiment.run().data;
        let times = data.jobs.iter().map(|job| (job.name.clone(), job.finish()));
        times.collect::<Vec<_>>()
    };
    let (once, twice) = (run(1), run(2));
    for ((name, one), (_, two)) in once.iter().zip(&twice) {
        assert_eq!(2 * one, *two, "{name}");
    }
}
