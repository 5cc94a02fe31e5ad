//! A result for tests: small, but with something in every place.

use std::fs;
use std::path::Path;

use super::hdf::put_number;
use super::hdf::seal::{Kind, seal};
use super::*;
use weir_model::table::{Table, Values, Word};
use weir_model::{Histogram, KindName, LinkKind, RouterKind};

/// A histogram of `samples` latencies around `centre` ps.
pub fn histogram(centre: u64, samples: u64) -> Histogram {
    let mut histogram = Histogram::default();
    (0..samples).for_each(|i| histogram.add(centre + (i * 7_919) % centre));
    histogram
}

/// 2,000 messages that took from 1.5 to 3 us, and 500 that are missing and were 2.25 us old.
fn lossy() -> Latency {
    let mut missing = Histogram::default();
    missing.add_many(2_250_000, 500);
    Latency {
        arrived: histogram(1_500_000, 2_000),
        missing,
    }
}

fn rates() -> Rates {
    Rates {
        time_ps: vec![0, 0, 500_000, 500_000, 1_000_000, 1_000_000],
        endpoint: vec![17, 6, 17, 6, 17, 6],
        job: vec![u32::MAX, 1, u32::MAX, 1, u32::MAX, 1],
        task: vec![u32::MAX, 1, u32::MAX, 1, u32::MAX, 1],
        share: vec![1.0, 1.0, 0.5, 0.01, 1.0, 0.25],
    }
}

fn timeline() -> Timeline {
    Timeline {
        numbers: TimelineNumbers {
            from_ps: 1_000,
            to_ps: 90_000_000,
            tasks_left_out: 1,
            tasks_until_ps: 80_000_000,
            links_left_out: 2,
            links_until_ps: 70_000_000,
            routers: 1,
        },
        tasks: TaskIntervals {
            job: vec![0, 0, 1],
            task: vec![0, 0, 2],
            begin_ps: vec![1_000, 2_000, 1_000],
            end_ps: vec![2_000, 5_000, 90_000_000],
            activity: vec![Word(0), Word(1), Word(1)],
            ended_by: vec![Word(2), Word(3), Word(4)],
            peer: vec![-1, 1, -1],
            bytes: vec![0, 4_096, 0],
        },
        task_words: ["compute", "receive", "time", "message", "end"]
            .map(KindName::from)
            .to_vec(),
        links: LinkIntervals {
            router: vec![26, 26],
            port: vec![1, 1],
            begin_ps: vec![3_000, 4_000],
            end_ps: vec![4_000, 9_000],
            activity: vec![Word(0), Word(1)],
            job: vec![-1, 1],
            source: vec![-1, 9],
            destination: vec![-1, 6],
            bytes: vec![0, 512],
        },
        link_words: ["stalled", "data"].map(KindName::from).to_vec(),
    }
}

/// A global link in one direction, and both of a terminal one.
fn failures() -> ChangedLinks {
    ChangedLinks {
        router: vec![3, 5, 5],
        port: vec![6, 0, 0],
        nic: vec![0, 0, 1],
        kind: vec![LinkKind(2), LinkKind(0), LinkKind(0)],
        failure: vec![1, 0, 0],
        bandwidth: vec![25_000_000_000, 100_000_000_000, 100_000_000_000],
        built_bandwidth: vec![100_000_000_000; 3],
        latency_ps: vec![1_100_000, 15_000, 15_000],
        added_latency_ps: vec![1_000_000, 10_000, 10_000],
        bit_error_rate: vec![0.0, 1e-9, 0.0],
        down: vec![0; 3],
        from_ps: vec![0, 0, 500_000],
        until_ps: vec![4_000_000; 3],
        packets_lost: vec![0; 3],
        retries: vec![0, 17, 0],
    }
}

fn job(index: u64, name: &str, first: u32, tasks: u32) -> Job {
    let task = |task: u32| JobTask {
        endpoint: task,
        task_finish_ps: 80_000_000 + u64::from(task),
        task_communication_ps: 70_000_000 + u64::from(task),
        task_communication_at_least_ps: 70_000_000 + u64::from(task),
    };
    Job {
        name: name.to_string(),
        totals: JobTotals {
            index,
            tasks: tasks.into(),
            start_ps: 1_000,
            finish_ps: 90_000_000 + u64::from(first),
            communication_ps: 80_000_000,
            bytes_delivered: 123_456,
            senders: tasks.into(),
            receivers: tasks.into(),
            on_from_ps: 20_000_000,
            on_to_ps: 100_000_000,
            over: Some(true),
            finish_at_least_ps: Some(90_000_000 + u64::from(first)),
            communication_at_least_ps: Some(80_000_000),
            offered_load: 0.4,
            accepted_load: 0.375,
        },
        tasks: (first..first + tasks).map(task).collect(),
    }
}

fn ports(count: usize) -> Ports {
    let numbers = |factor: usize| (0..count).map(|i| (i * factor) as u64).collect::<Vec<_>>();
    Ports {
        router: (0..count).map(|i| (i / 7) as u32).collect(),
        port: (0..count).map(|i| (i % 7) as u16).collect(),
        kind: (0..count).map(|i| LinkKind((i % 3) as u8)).collect(),
        peer_router: (0..count as i32)
            .map(|i| if i % 3 == 0 { -1 } else { i / 7 })
            .collect(),
        peer_port: (0..count as i32)
            .map(|i| if i % 3 == 0 { -1 } else { i % 7 })
            .collect(),
        endpoint: (0..count as i32)
            .map(|i| if i % 3 == 0 { i } else { -1 })
            .collect(),
        bandwidth: vec![100_000_000_000; count],
        latency_ps: numbers(1_000),
        bytes: numbers(100),
        packets: numbers(1),
        busy_ps: numbers(8_000),
        stalled_ps: numbers(3),
        idle_ps: numbers(5),
        peak_occupancy_bytes: numbers(12),
    }
}

/// Groups of two routers.
pub fn routers(count: u32) -> Routers {
    let row = |router| RouterRow {
        router,
        kind: RouterKind(0),
        group: router / 2,
        domain: router / 2,
    };
    (0..count).map(row).collect()
}

fn series(bins: usize, jobs: &[&str]) -> Series {
    let numbers = |factor: usize| (0..bins).map(|i| (i * factor) as u64).collect::<Vec<_>>();
    Series {
        bin_ps: 1_000_000,
        bins,
        jobs: jobs
            .iter()
            .map(|name| {
                let bins = JobSeries {
                    injected_bytes: numbers(10),
                    delivered_bytes: numbers(9),
                    messages: numbers(2),
                    message_latency_ps: numbers(2_000_000),
                    packets: numbers(4),
                    network_latency_ps: numbers(2_400_000),
                };
                (name.to_string(), bins)
            })
            .collect(),
        ejected_flits: vec![("data".into(), numbers(30)), ("control".into(), numbers(3))],
        received: vec![(0, numbers(5)), (1, numbers(3)), (17, numbers(1))],
    }
}

/// A table with other numbers in each column.
fn table<T: Table>(rows: u32) -> T {
    let mut place = 0;
    let table = T::read(|column| {
        place += 1;
        let values = (0..rows).map(|row| row * place);
        Ok::<_, ()>(match column.kind {
            "u32" => Values::U32(values.collect()),
            "u64" => Values::U64(values.map(u64::from).collect()),
            "f64" => Values::F64(values.map(f64::from).collect()),
            other => panic!("a column of {other}"),
        })
    });
    table.expect("a table")
}

/// Everything filled. The jobs' names are not in alphabetical order; `victim` has no samples.
pub fn data() -> Data {
    Data {
        summary: Summary {
            simulated_ps: 100_000_000,
            measured_from_ps: 20_000_000,
            measured_to_ps: 100_000_000,
            packets_injected: 1_234_567,
            packets_delivered: 1_234_000,
            packets_dropped: 60,
            packets_in_flight: 507,
            messages_generated: 308_000,
            messages_received: 307_900,
            inside_messages: Some(70),
            inside_bytes: Some(70_000),
            protocol_messages_generated: Some(8_000),
            protocol_messages_received: Some(7_990),
            packet_hops: 4_567_890,
            bytes_delivered: u64::MAX,
            endpoints: 264,
            endpoint_bandwidth: 100_000_000_000,
            notes: 2,
            offered_load: 0.4,
            accepted_load: 0.398_765_432_1,
        },
        latency: vec![
            ("network".into(), histogram(600_000, 5_000).into()),
            ("message".into(), lossy()),
            (
                "job.stencil.network".into(),
                histogram(600_000, 5_000).into(),
            ),
            ("job.stencil.message".into(), lossy()),
            ("job.aggressor-1.network".into(), Latency::default()),
            ("job.aggressor-1.message".into(), Latency::default()),
        ],
        jobs: vec![job(0, "stencil", 0, 5), job(1, "aggressor-1", 5, 3)],
        link_kinds: ["terminal", "local", "global"].map(KindName::from).to_vec(),
        routers: routers(10_000),
        router_kinds: vec!["router".into()],
        axes: vec![
            (
                "group".into(),
                (0..10_000).map(|router| router / 2).collect(),
            ),
            (
                "index".into(),
                (0..10_000).map(|router| router % 2).collect(),
            ),
        ],
        ports: ports(70_000),
        failures: Some(failures()),
        series: series(100, &["stencil", "aggressor-1"]),
        occupancy: Some(Occupancy {
            time_ps: vec![0, 10, 20],
            routers: 4,
            bytes: (0..12).collect(),
        }),
        rates: Some(rates()),
        timeline: Some(timeline()),
        iterations: Some(Iterations {
            job: vec![0, 0, 1],
            iteration: vec![0, 1, 0],
            begin_ps: vec![1_000, 40_000_000, 2_000],
            end_ps: vec![45_000_000, 70_000_000, 0],
            tasks: vec![5, 5, 3],
            ended: vec![5, 4, 0],
        }),
        attribution: Some(Attribution {
            looks: Looks {
                interval_ps: 250_000,
                bin_ps: 2_000_000,
                sources: false,
            },
            waits: Waits {
                time_ps: vec![0, 2_000_000, 2_000_000],
                router: vec![1, 1, 3],
                port: vec![0, 0, 2],
                nic: vec![0, 0, 1],
                job: vec![0, 1, 1],
                source: vec![u32::MAX; 3],
                destination: vec![u32::MAX; 3],
                full: vec![0.0, 1.5e-3, 0.0],
                queued: vec![2.5e-6, 0.0, 0.0],
                starved: vec![0.0, 0.0, 7.5e-4],
            },
            pressure: Pressure {
                time_ps: vec![2_000_000],
                router: vec![1],
                from_port: vec![2],
                port: vec![0],
                waited: vec![1e-3],
            },
            elsewhere: Elsewhere {
                time_ps: vec![0],
                job: vec![1],
                queued: vec![1e-9],
            },
        }),
        packets: Some(table(1_000)),
        phases: Some(Phases {
            job: vec![0, 0],
            phase: vec![0, 1],
            begin_ps: vec![1_000, 40_000_000],
            end_ps: vec![31_001_000, 70_000_000],
            flows: vec![5, 7],
            optimum_ps: vec![31_000_000, 24_000_000],
            stretch: vec![1.0, 1.25],
            rate_ratio: vec![1.0, 0.5],
            measured_ratio: vec![1.0, 0.25],
            contention: vec![3, 2],
            mean_contention: vec![2.5, 1.5],
        }),
        flows: Some(table(1_000)),
        messages: Some(table(1_000)),
        scheme: Scheme {
            name: "ecn".into(),
            counters: vec![("marks".into(), 17), ("rate_cuts".into(), 5)],
            shares: vec![("ejected_data_share".into(), 0.75)],
            records: vec![SchemeRecord {
                name: "cuts".into(),
                about: "A source has halved its rate.".into(),
                columns: [
                    ("time_ps", "ps", vec![1, 2, 3]),
                    ("endpoint", "1", vec![0, 9, 0]),
                    ("rate_share", "1e-6", vec![500_000, 250_000, 125_000]),
                ]
                .map(|(name, unit, values)| SchemeColumn {
                    name: name.into(),
                    unit: unit.into(),
                    about: format!("of a cut: {name}"),
                    values,
                })
                .into(),
            }],
        },
        cost: Some(Cost {
            buffer_bytes: 12_582_912,
            accesses: 9_135_780,
            area_mm2: 24.96,
            energy_nj: 822_220.2,
        }),
        notes: vec![
            Note {
                kind: "missing".into(),
                job: Some("stencil".into()),
                text: "latencies of stencil are of those that arrived".into(),
                numbers: vec![("messages_missing".into(), 500)],
            },
            Note {
                kind: "drops".into(),
                job: None,
                text: "data packets were dropped".into(),
                numbers: vec![("delivered".into(), 9), ("dropped".into(), 60)],
            },
        ],
    }
}

/// The run of the sample.
pub fn run() -> Run {
    Run {
        wall_seconds: 2.5,
        ranks: 4,
        hosts: vec![
            "node1".into(),
            "node1".into(),
            "node2".into(),
            "node2".into(),
        ],
        started: "2024-05-06T07:08:09Z".into(),
        events: 10_000_000,
        windows: 1_234,
        peak_memory_bytes: 3 << 28,
        state_bytes: 1 << 27,
        packet_bytes: 1 << 26,
        mpi_version: "Open MPI v4.1.4".into(),
        commit: Some("0123456789ab+".into()),
        features: Some("mpi".into()),
        command: Some("weir run sample.toml".into()),
        ..Run::default()
    }
}

/// The sample's experiment.
pub const EXPERIMENT: &str = "[topology]\nkind = \"dragonfly\"\n# 50 µs\n";

/// Makes a result one of another version of the model.
///
/// # Panics
/// If the file cannot be changed.
pub fn of_model(path: &Path, version: u64) {
    let file = hdf5::File::open_rw(path).expect("opens");
    file.delete_attr("model_version").expect("deletes");
    put_number(&file, "model_version", version).expect("writes");
    file.close().expect("closes");
    reseal(path);
}

/// Seals a file that was changed on purpose, as another weir might have written it.
///
/// # Panics
/// If the file cannot be changed.
pub fn reseal(path: &Path) {
    let file = fs::File::options().read(true).write(true).open(path);
    seal(&mut file.expect("opens"), Kind::Result, None).expect("seals");
}
