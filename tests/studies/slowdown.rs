//! `slowdown` compares a job with itself alone.
//! The sweep runs it alone without being asked, once for all points that differ in other jobs only.
//! It uses the same endpoints and random streams as if the other workloads were told not to run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// An application on random endpoints beside an incast of two strengths, with two schemes.
const JOB: &str = r#"
metrics = ["slowdown.md", "slowdown.jobs.hot.accepted_load"]

[topology]
kind = "dragonfly"
endpoints_per_router = 2
routers_per_group = 4
global_links_per_router = 2
groups = 3
terminal = { bandwidth = "100 Gbps", latency = "5 ns" }
local = { bandwidth = "100 Gbps", latency = "10 ns" }
global = { bandwidth = "100 Gbps", latency = "100 ns" }

[routing]
algorithm = "minimal"

[nic]
acknowledge = true

[[workload]]
name = "hot"
endpoints = { count = 8, placement = "random" }
pattern = { kind = "hotspot", sources = 7, destinations = 1 }
load = 0.5
message = "24 flits"

[[workload]]
name = "md"
endpoints = { count = 6, placement = "random" }
motif = { kind = "allreduce", bytes = "4 kB", iterations = 2 }
start = "1 us"

[run]
until = "60 us"

[[axis]]
name = "scheme"
key = "congestion.scheme"
values = ["none", "ecn"]

[[axis]]
name = "load"
key = "workload.hot.load"
values = [0.1, 0.6]

[[claims]]
id = "suffers"
says = "The incast slows the application down."
metric = "slowdown.md"
where = { scheme = "none", load = 0.6 }
min = 1.05
"#;

fn weir(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    let output = command.args(words).current_dir(folder).output();
    let output = output.expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&weir(folder, words)).expect("JSON")
}

/// Times when an application began and was done, ps.
fn times(result: &Path, job: &str) -> (u64, u64) {
    let stored = weir::result::read(result).expect("a result");
    let found = stored.digest.jobs.iter().find(|one| one.name == job);
    let found = found.expect("the job");
    (found.totals.start_ps, found.finish())
}

/// The cells of a column of the table.
fn column(folder: &Path, name: &str) -> Vec<String> {
    let table = fs::read_to_string(folder.join("out/table.csv")).expect("a table");
    let mut lines = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let at = head.iter().position(|own| *own == name).expect(name);
    lines.map(|cells| cells[at].to_string()).collect()
}

#[test]
fn the_sweep_runs_a_job_alone_by_itself_and_compares() {
    let folder = TempDir::new().expect("a directory");
    let folder = folder.path();
    fs::write(folder.join("job.toml"), JOB).expect("a file");
    let sweep = |what: &str, more: &[&str]| {
        weir(
            folder,
            &[&["sweep", what, "job.toml", "--out", "out"], more].concat(),
        )
    };
    let plan = json(
        folder,
        &["sweep", "plan", "job.toml", "--out", "out", "--json"],
    );
    let points = plan["points"].as_array().expect("points");
    let alone: Vec<(&str, &Value)> = points
        .iter()
        .filter_map(|point| Some((point["alone"].as_str()?, &point["axes"])))
        .collect();
    // md sees the scheme alone; hot, whose own load is varied, both axes.
    let of = |job: &str| alone.iter().filter(|(own, _)| *own == job).count();
    assert_eq!((points.len(), of("md"), of("hot")), (4 + 2 + 4, 2, 4));
    let (_, axes) = alone.iter().find(|(own, _)| *own == "md").expect("one");
    assert!(axes["load"].is_null() && axes["scheme"] == "none", "{axes}");
    assert!(sweep("plan", &[]).contains("4 points and 6 runs of a job alone"));
    let dry = sweep("submit", &["--dry-run", "--dependency", "afterok:7"]);
    assert!(dry.contains("--array=0-9"), "{dry}");
    // The submitted lines: points after the user's condition, table and report after the points.
    let lines: Vec<&str> = dry
        .lines()
        .filter(|line| line.starts_with("# sbatch"))
        .collect();
    assert!(lines[0].contains("--dependency=afterok:7 ") && lines[0].ends_with("array-1.sbatch"));
    assert!(
        lines[1].contains("--dependency=afterany:<array-1> ")
            && lines[1].ends_with("collect.sbatch")
    );
    assert!(dry.contains(" report "), "{dry}");

    assert!(sweep("run", &["--quiet"]).contains("1 of 1 claims hold"));
    let slowdowns = column(folder, "slowdown.md");
    assert_eq!(slowdowns.len(), 4, "runs alone are no rows");
    // The same experiment with the incast told not to run.
    let own = folder
        .join("out/points")
        .join(points[1]["hash"].as_str().expect("a hash"));
    let experiment = own.join("experiment.toml");
    let set = "workload.hot.enabled=false";
    let file = experiment.display().to_string();
    weir(folder, &["run", &file, "--set", set, "--out", "by-hand"]);
    let time = |(start, finish): (u64, u64)| (finish - start) as f64;
    let free = times(&folder.join("by-hand/result.h5"), "md");
    let expected = time(times(&own.join("result.h5"), "md")) / time(free);
    assert_eq!(slowdowns[1], expected.to_string());
    assert!(expected > 1.05, "{expected}");
    // The incast accepts the load of its one link in both runs: the application costs it little.
    let hot = column(folder, "slowdown.jobs.hot.accepted_load");
    let hot: Vec<f64> = hot
        .iter()
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    assert!(hot.iter().all(|own| (0.95..1.2).contains(own)), "{hot:?}");

    // A run alone that is not there leaves its points without a number, and is run again by itself.
    let table = fs::read(folder.join("out/table.csv")).expect("a table");
    let md = points
        .iter()
        .find(|point| point["alone"] == "md")
        .expect("one");
    let lost = folder
        .join("out/points")
        .join(md["hash"].as_str().expect("a hash"));
    fs::remove_dir_all(&lost).expect("removed");
    let status = json(
        folder,
        &["sweep", "status", "job.toml", "--out", "out", "--json"],
    );
    assert_eq!(
        (&status["waiting"], &status["done"]),
        (&1.into(), &9.into())
    );
    sweep("collect", &[]);
    let now = column(folder, "slowdown.md");
    let gone = now.iter().filter(|cell| cell.is_empty()).count();
    assert_eq!((gone, &now[2..]), (2, &slowdowns[2..]), "{now:?}");
    sweep("run", &["--quiet"]);
    assert!(lost.join("result.h5").exists());
    assert_eq!(
        fs::read(folder.join("out/table.csv")).expect("a table"),
        table
    );
}
