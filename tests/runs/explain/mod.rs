//! Congestion is traced to its roots: placed incasts, hot links and slow links on three networks
//! are found, and nothing else is blamed. Without the blamed jobs the victims are as if they were
//! alone.

mod critical_path;
mod everywhere;

use tempfile::TempDir;
use toml::Value;
use weir::explain::{Explanation, Root, explain};
use weir::result::{self, Data, ResultFile, Run};

use crate::support::{Cli, Experiment, run_on};

/// Setting of an experiment in which packets need a credit to cross.
const CROSSING: &str = "credit_at = \"crossing\"";

/// A network of 100 Gbps, packets of 4 ns.
fn dragonfly() -> Experiment {
    Experiment::dragonfly(2, 4, 2)
}

/// 64 endpoints, 4 at each of 16 leaf routers, of which 4 are a pod with 4 routers above them: 0 to
/// 3 and 4 to 7 of the first one.
fn tree() -> Experiment {
    Experiment::clos(8, 3).set("topology.pods", 4)
}

/// Rings of 6 in x and of 4 in y, 2 endpoints at each router.
fn torus() -> Experiment {
    crate::networks::direct::experiment(
        "kind = \"torus\"\nsizes = [6, 4]\nendpoints_per_router = 2",
        "dor",
    )
    .set("router.latency", "10 ns")
}

impl Experiment {
    /// A job that runs all the time, on these endpoints.
    fn on_endpoints(self, name: &str, pattern: &str, endpoints: &[i64], load: f64) -> Experiment {
        self.traffic(pattern, load)
            .with("name", name)
            .with("endpoints", endpoints.to_vec())
    }

    /// Endpoints send to others, one by one.
    fn pairs(self, name: &str, from: &[i64], to: &[i64], load: f64) -> Experiment {
        self.on_endpoints(name, "fixed_pairs", &[from, to].concat(), load)
    }

    /// Endpoints send to one other.
    fn incast(self, from: &[i64], to: i64, load: f64) -> Experiment {
        self.on_endpoints("hot", "hotspot", &[from, &[to]].concat(), load)
            .with("pattern.source_list", from.to_vec())
            .with("pattern.destination_list", vec![to])
    }

    /// All other endpoints, at a low load: bystanders that are in the way.
    fn bystanders(self, load: f64) -> Experiment {
        self.traffic("uniform", load)
            .with("name", "bystanders")
            .with("endpoints", "rest")
    }

    /// Without these jobs, whose endpoints stay theirs.
    fn without(&self, names: &[&str]) -> Experiment {
        let mut table: toml::Table = self.text().parse().expect("TOML");
        let workloads = table["workload"].as_array_mut().expect("workloads");
        for workload in workloads.iter_mut().filter_map(Value::as_table_mut) {
            let name = workload["name"].as_str().expect("a name");
            if names.contains(&name) {
                workload.insert("enabled".into(), false.into());
            }
        }
        Experiment::of(table)
    }
}

/// A result as a file, and the directory that it lives in.
fn stored(data: &Data) -> (TempDir, ResultFile) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("result.h5");
    result::write(&path, data, &Run::default(), "", 1).expect("written");
    let result = ResultFile::open(&path).expect("opens");
    (dir, result)
}

fn explained(data: &Data) -> Explanation {
    let (_dir, result) = stored(data);
    explain(&result).expect("reads").expect("it was recorded")
}

/// Mean latency of the victims' messages, ps; messages that did not arrive count with their age.
fn latency(data: &Data) -> f64 {
    let class = "job.victims.message";
    let found = data.latency.iter().find(|(name, _)| name == class);
    let (_, latency) = found.expect("the victims");
    latency.at_least().mean()
}

/// A link by its end: an endpoint, or from a router to another.
#[derive(Debug)]
enum Link {
    To(u32),
    Between(u32, u32),
}

/// One full link holds the victims up, it is this one, and `hot` feeds it.
fn only_root<'a>(found: &'a Explanation, link: &Link, crossing: bool) -> &'a Root {
    let [root] = &found.roots[..] else {
        panic!("{} roots: {:#?}", found.roots.len(), found.roots);
    };
    match *link {
        Link::To(endpoint) => assert_eq!(root.endpoint, Some(endpoint), "{root:#?}"),
        Link::Between(from, to) => {
            let peer = root.peer.map(|(router, _)| router);
            assert_eq!((root.router, peer), (from, Some(to)), "{root:#?}");
        }
    }
    assert!(root.busy > 0.95, "{root:#?}");
    // If packets need a credit to cross, they lack it while the packets before them have it and
    // wait for the link.
    assert!(root.stalled < 0.02 || crossing, "{root:#?}");
    assert_eq!(root.fed_by[0].job, "hot", "{root:#?}");
    assert!(root.fed_by[0].share > 0.75, "{root:#?}");
    let held = root.held_up.iter().find(|held| held.job == "victims");
    let held = held.unwrap_or_else(|| panic!("the victims are not held up: {root:#?}"));
    assert!(held.share > 0.7, "{held:?}");
    root
}

/// An experiment with the jobs `hot`, `victims` and `bystanders`: `link` is found, and without the
/// blamed part (`cured`) the victims are as if they were alone.
fn check(experiment: &Experiment, link: Link, cured: &Experiment) {
    let experiment = experiment.clone().set("run.warmup", "10 us").until("40 us");
    let cured = cured.clone().set("run.warmup", "10 us").until("40 us");
    let data = experiment.run().data;
    let found = explained(&data);
    only_root(&found, &link, experiment.text().contains(CROSSING));
    let [with, without] = [&data, &cured.run().data].map(latency);
    let alone = cured.without(&["hot", "bystanders"]).run().data;
    let alone = latency(&alone);
    assert!(with > 1.3 * alone, "{with} ps with it, {alone} ps alone");
    assert!(
        (without / alone - 1.0).abs() < 0.1,
        "{link:?}: {without} ps without it, {alone} ps alone"
    );
    let quiet = explained(&cured.run().data);
    assert!(quiet.roots.is_empty(), "{:#?}", quiet.roots);
}

/// The same if the blame is on a job.
fn check_job(experiment: &Experiment, link: Link) {
    check(experiment, link, &experiment.without(&["hot"]));
}

/// Six send to endpoint 70.
fn incast_on(dragonfly: Experiment) {
    let jobs = dragonfly
        .incast(&[9, 12, 20, 31, 44, 57], 70, 0.4)
        .pairs("victims", &[8, 13, 45], &[71, 69, 67], 0.2)
        .bystanders(0.1);
    check_job(&jobs, Link::To(70));
}

/// All of group 0 wants the link to group 1, at router 0; the victims come by the local links
/// there, and stay in the group.
fn hot_link_on(dragonfly: Experiment) {
    let jobs = dragonfly
        .pairs("hot", &[0, 2, 4, 6], &[8, 10, 12, 14], 0.5)
        .pairs("victims", &[3], &[1], 0.3)
        .bystanders(0.1);
    check_job(&jobs, Link::Between(0, 4));
}

#[test]
fn an_incast_on_a_dragonfly() {
    incast_on(dragonfly());
}

#[test]
fn an_incast_on_a_tree() {
    let jobs = tree()
        .routing("adaptive_up")
        .incast(&[1, 6, 17, 22, 33, 38, 50, 55], 62, 0.3)
        .pairs("victims", &[2, 18, 34], &[61, 63, 60], 0.2)
        .bystanders(0.1);
    check_job(&jobs, Link::To(62));
}

#[test]
fn an_incast_on_a_torus() {
    // Over each link into router 15, at x = 3 and y = 2, come no more than it carries.
    let jobs = torus()
        .incast(&[28, 32, 6, 18, 38, 44], 30, 0.4)
        .pairs("victims", &[29, 7], &[31, 19], 0.2)
        .bystanders(0.05);
    check_job(&jobs, Link::To(30));
}

#[test]
fn a_hot_link_of_a_dragonfly() {
    hot_link_on(dragonfly());
}

#[test]
fn a_hot_link_of_a_tree() {
    // Three leaves of a pod, by one and the same path up; the victim shares the first link and
    // takes another path from there.
    let jobs = tree()
        .pairs("hot", &[0, 4, 8], &[16, 32, 48], 0.5)
        .pairs("victims", &[1], &[20], 0.2)
        .bystanders(0.05);
    check_job(&jobs, Link::Between(4, 32));
}

#[test]
fn a_hot_link_of_a_torus() {
    let jobs = torus()
        .pairs("hot", &[0, 2], &[4, 6], 0.6)
        .pairs("victims", &[1], &[3], 0.3)
        .bystanders(0.02);
    check_job(&jobs, Link::Between(1, 2));
}

#[test]
fn where_packets_need_a_credit_to_cross() {
    let network = dragonfly().set("router.credit_at", "crossing");
    assert!(network.text().contains(CROSSING));
    incast_on(network.clone());
    hot_link_on(network);
}

/// `key` is set to the rate of all other links.
fn check_slow(experiment: &Experiment, key: &str, link: Link) {
    let slow = experiment.clone().set(key, "20 Gbps");
    check(&slow, link, experiment);
}

/// One link of many has a fifth of its rate.
#[test]
fn a_failure_is_found() {
    let jobs = dragonfly()
        .pairs("hot", &[0, 2], &[8, 10], 0.15)
        .pairs("victims", &[3, 5], &[1, 9], 0.05)
        .bystanders(0.02);
    let failure: toml::Table = "links = [{ routers = [0, 4] }]\nbandwidth = \"20 Gbps\""
        .parse()
        .expect("TOML");
    let slow = jobs.clone().set("failure", vec![failure]);
    check(&slow, Link::Between(0, 4), &jobs);
    let found = explained(&slow.until("40 us").run().data);
    assert_eq!(found.roots[0].bandwidth_left, Some(0.2));
    let text = weir::report::explanation::text("slow", &found);
    assert!(
        text.contains("(degraded to 20 % of its bandwidth)"),
        "{text}"
    );
}

#[test]
fn a_slow_link_of_a_dragonfly() {
    // Over eight seeds `hot` feeds 0.69 to 0.81 of it, 0.75 on average.
    let jobs = Experiment::dragonfly(2, 4, 1)
        .set("run.seed", 2)
        .pairs("hot", &[0, 2], &[8, 10], 0.15)
        .pairs("victims", &[3, 5], &[1, 9], 0.05)
        .bystanders(0.02);
    check_slow(&jobs, "topology.global.bandwidth", Link::Between(0, 4));
}

#[test]
fn a_slow_link_of_a_tree() {
    let jobs = tree()
        .pairs("hot", &[0, 4], &[16, 32], 0.15)
        .pairs("victims", &[1], &[20], 0.1)
        .bystanders(0.02);
    check_slow(&jobs, "topology.global.bandwidth", Link::Between(4, 32));
}

#[test]
fn a_slow_link_of_a_torus() {
    // In y from router 4 on, which those from router 0 also take; the victim leaves at router 4.
    let jobs = torus()
        .set("topology.sizes", vec![4, 6])
        .set("topology.y.latency", "20 ns")
        .set("topology.y.bandwidth", "100 Gbps")
        .pairs("hot", &[0, 8], &[16, 24], 0.12)
        .pairs("victims", &[1], &[9], 0.05)
        .bystanders(0.01);
    check_slow(&jobs, "topology.y.bandwidth", Link::Between(4, 8));
}

#[test]
fn without_congestion_nobody_is_blamed() {
    for network in [dragonfly(), tree(), torus()] {
        let found = explained(&network.uniform(0.3).until("10 us").run().data);
        assert!(found.roots.is_empty(), "{:#?}", found.roots);
        assert!(found.lesser.is_empty(), "{:#?}", found.lesser);
        let ordinary = found.jobs[0].ordinary;
        assert!((ordinary - 1.0).abs() < 1e-9, "{ordinary}");
    }
}

/// Charges add up, and sources and receivers are the placed ones. By job alone they are the same.
#[test]
fn senders_and_receivers_are_named() {
    let by = |whom: &str, buffer: &str| {
        let jobs = dragonfly()
            .incast(&[9, 12, 20, 31, 44, 57], 70, 0.4)
            .pairs("victims", &[8, 13], &[71, 69], 0.2)
            .set("router.input_buffer", buffer);
        explained(&jobs.set("output.attribution", whom).run().data)
    };
    let found = by("sources", "auto");
    let fed = &only_root(&found, &Link::To(70), false).fed_by[0];
    assert_eq!(fed.sender_count, 6);
    let mut senders: Vec<u32> = fed.senders.iter().map(|sender| sender.endpoint).collect();
    senders.sort_unstable();
    assert_eq!(senders, [9, 12, 20, 31, 44, 57]);
    let receivers: Vec<u32> = fed.receivers.iter().map(|one| one.endpoint).collect();
    assert_eq!((receivers, fed.receiver_count), (vec![70], 1));
    let [senders, jobs] = ["sources", "jobs"].map(|whom| by(whom, "64 KiB"));
    for (job, alone) in senders.jobs.iter().zip(&jobs.jobs) {
        let all = job.behind_roots + job.behind_lesser + job.ordinary;
        assert!((all - 1.0).abs() < 1e-6, "{job:?}");
        let ratio = job.mean_wait_ps / alone.mean_wait_ps;
        assert!((ratio - 1.0).abs() < 1e-3, "{job:?} {alone:?}");
    }
}

/// By Little's law: the amount of data, times its waiting time in routers, is its latency above
/// that of the same packets alone.
#[test]
fn what_waits_is_what_latency_grows_by() {
    let jobs = dragonfly()
        .incast(&[9, 12, 20, 31, 44, 57], 70, 0.4)
        .pairs("victims", &[8, 13, 45], &[71, 69, 67], 0.2)
        .until("60 us");
    let network = |data: &Data| {
        let class = data
            .latency
            .iter()
            .find(|(name, _)| name == "job.victims.network");
        class.expect("the victims").1.arrived.mean()
    };
    let data = jobs.run().data;
    let alone = jobs.without(&["hot"]).with("load", 0.01).run().data;
    let attribution = data.attribution.as_ref().expect("recorded");
    let waits = &attribution.waits;
    let rows = (0..waits.job.len()).filter(|&row| waits.job[row] == 1 && waits.nic[row] == 0);
    let waited: f64 = rows
        .map(|row| waits.full[row] + waits.queued[row] + waits.starved[row])
        .sum();
    let elsewhere = &attribution.elsewhere;
    let rest = (0..elsewhere.job.len()).filter(|&row| elsewhere.job[row] == 1);
    let waited = waited + rest.map(|row| elsewhere.queued[row]).sum::<f64>();
    let mean = waited / data.jobs[1].totals.bytes_delivered as f64 * 1e12;
    let grown = network(&data) - network(&alone);
    assert!(grown > 20_000.0, "{grown} ps");
    assert!(
        (mean / grown - 1.0).abs() < 0.1,
        "waits {mean} ps, grows by {grown} ps"
    );
}

#[test]
fn the_same_on_any_number_of_ranks() {
    let jobs = dragonfly()
        .routing("par")
        .incast(&[9, 12, 20, 31, 44, 57], 70, 0.5)
        .bystanders(0.3)
        .set("output.attribution", "sources");
    let plan = jobs.plan();
    let [one, three] = [1, 3].map(|ranks| run_on(ranks, &plan).expect("runs").attribution);
    let rows = one.as_ref().expect("recorded").waits.time_ps.len();
    assert!(rows > 500, "{rows}");
    assert!(one == three);
}

/// Recording changes nothing, and nothing is examined without being asked for.
#[test]
fn looking_changes_nothing_else() {
    for scheme in ["none", "lhrp"] {
        let jobs = dragonfly()
            .set("congestion.scheme", scheme)
            .incast(&[9, 12, 20, 31, 44, 57], 70, 0.5)
            .bystanders(0.2)
            .until("10 us");
        let with = |level: &str| jobs.clone().set("output.attribution", level).run().data;
        let (mut looked, blind) = (with("sources"), with("none"));
        assert!(
            looked
                .attribution
                .take()
                .is_some_and(|own| !own.waits.job.is_empty())
        );
        assert!(looked == blind, "{scheme}");
    }
}

#[test]
fn a_result_that_does_not_say_is_refused() {
    let quiet = dragonfly().uniform(0.1).set("output.attribution", "none");
    let ran = quiet.cli().succeeds();
    let path = ran.result();
    let refused = Cli::weir("", &["explain", path.to_str().expect("UTF-8")]).go();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("output.attribution"),
        "{}",
        refused.stderr
    );
}

/// The fat tree of the tutorial: eight stalled links lead to the leaf router whose link to one
/// endpoint is busy and never stalled.
#[test]
fn the_checkpoint_of_the_tutorial_is_named() {
    let tutorial = include_str!("../../../docs/tutorial.md");
    let (_, file) = tutorial
        .split_once("```toml tree.toml\n")
        .expect("the file");
    let (file, _) = file.split_once("```").expect("its end");
    let ran = Cli::run(file).succeeds();
    let path = ran.result();
    let path = path.to_str().expect("UTF-8");
    let text = Cli::weir("", &["explain", path]).succeeds().stdout;
    for words in [
        "one full link holds others up",
        "Router 5 port 7, the link to endpoint 47",
        "never stalled",
        "of checkpoint (100 %)",
        "holds up solver",
    ] {
        assert!(text.replace('\n', " ").contains(words), "{words}: {text}");
    }
    let json = Cli::weir("", &["explain", path, "--json"])
        .succeeds()
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["roots"][0]["endpoint"], 47);
    assert_eq!(json["jobs"][0]["name"], "solver");
}

/// Standard output and error of a command that succeeds in a folder.
fn weir_in(folder: &std::path::Path, arguments: &[&str]) -> (String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_weir"));
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (String::from_utf8(output.stdout).expect("UTF-8"), said)
}

/// An allreduce beside an incast to one endpoint, on a tree whose links up they share: without the
/// incast it takes the same time as alone.
#[test]
fn what_is_blamed_is_verified_by_running_without_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let experiment = Experiment::tree(4, 3)
        .job("allreduce", 16)
        .with("name", "victim")
        .with("placement", "random")
        .with("motif.iterations", 6)
        .with("motif.bytes", "16 KiB")
        .job("incast", 17)
        .with("name", "storm")
        .with("placement", "random")
        .with("motif.iterations", 2)
        .with("motif.bytes", "128 KiB")
        .with("background", true);
    std::fs::write(folder.path().join("e.toml"), experiment.text()).expect("a file");
    let weir = |arguments: &[&str]| weir_in(folder.path(), arguments);
    weir(&["run", "e.toml", "--out", "o", "--quiet"]);
    let (plain, _) = weir(&["explain", "o"]);
    assert!(
        plain.contains("not of the time that an application loses"),
        "{plain}"
    );
    let (text, said) = weir(&["explain", "o", "--verify", "--json"]);
    assert!(said.contains("verify: run"), "{said}");
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let verified = all["verified"].as_array().expect("a list");
    let victim = verified.iter().find(|one| one["job"] == "victim");
    let victim = victim.unwrap_or_else(|| panic!("{all}"));
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (here, alone) = (number(&victim["here_ps"]), number(&victim["alone_ps"]));
    assert!(here > 1.1 * alone, "{victim}");
    let storm = &victim["without"][0];
    assert_eq!(storm["job"], "storm");
    // There is no other job: without this one the victim is alone.
    assert_eq!(number(&storm["time_ps"]), alone);
    assert_eq!(number(&storm["gives_back"]), 1.0);
    let attributed = number(&storm["attributed"]);
    assert!(attributed > 0.0 && attributed <= 1.0, "{storm}");
    // The run that was verified is as it was.
    let (again, _) = weir(&["explain", "o"]);
    assert_eq!(again, plain);
}
