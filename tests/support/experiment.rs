//! Experiments in one sentence:
//! `Experiment::dragonfly(2, 4, 2).routing("par").uniform(0.4).until("20 us").run()`.

use std::num::NonZeroUsize;
use std::path::Path;

use toml::{Table, Value};
use weir::catalog::catalog;
use weir::config::{Catalog, ConfigError};
use weir::engine::{Local, Progress, StopReason, Threads};
use weir::registry::{Entry, Keys};
use weir::result::Data;
use weir::routing;
use weir::simulation::{self, Means, Observer, Outcome, Plan, RunError};
use weir::{congestion, queueing, topology};

use super::cli::Cli;

/// An experiment file in the making.
/// Unset keys have weir's defaults; the network's links are short, so that a test passes through
/// many windows in little time.
#[derive(Clone)]
pub struct Experiment {
    table: Table,
    catalog: Catalog,
}

impl Experiment {
    /// A dragonfly of p endpoints at each router, a routers in each group and h global links of
    /// each; as many groups as it can have. Minimal routing until told otherwise.
    pub fn dragonfly(p: i64, a: i64, h: i64) -> Experiment {
        Experiment::on("dragonfly", "minimal")
            .set("topology.endpoints_per_router", p)
            .set("topology.routers_per_group", a)
            .set("topology.global_links_per_router", h)
            .set("topology.groups", a * h + 1)
            .latencies("5 ns", "20 ns", "100 ns")
    }

    /// A folded Clos of routers with `radix` ports on some levels.
    pub fn clos(radix: i64, levels: i64) -> Experiment {
        Experiment::on("folded_clos", "dmodk")
            .set("topology.radix", radix)
            .set("topology.levels", levels)
            .latencies("5 ns", "20 ns", "50 ns")
    }

    /// A k-ary n-tree.
    pub fn tree(k: i64, n: i64) -> Experiment {
        Experiment::on("kary_ntree", "dmodk")
            .set("topology.k", k)
            .set("topology.n", n)
            .latencies("5 ns", "20 ns", "50 ns")
    }

    /// A whole experiment file.
    pub fn of(table: Table) -> Experiment {
        let catalog = catalog();
        Experiment { table, catalog }
    }

    fn on(topology: &str, routing: &str) -> Experiment {
        Experiment::of(Table::new())
            .set("topology.kind", topology)
            .routing(routing)
            .set("run.until", "20 us")
    }

    /// Fewer groups than there could be.
    pub fn groups(self, groups: i64) -> Experiment {
        self.set("topology.groups", groups)
    }

    /// Latencies of terminal, local and global links.
    pub fn latencies(self, terminal: &str, local: &str, global: &str) -> Experiment {
        let links = [("terminal", terminal), ("local", local), ("global", global)];
        links.into_iter().fold(self, |experiment, (kind, latency)| {
            experiment
                .set(&format!("topology.{kind}.bandwidth"), "100 Gbps")
                .set(&format!("topology.{kind}.latency"), latency)
        })
    }

    /// The routing algorithm.
    pub fn routing(self, name: &str) -> Experiment {
        self.set("routing.algorithm", name)
    }

    /// Any key: `set("queueing.scheme", "single")`.
    pub fn set(mut self, path: &str, value: impl Into<Value>) -> Experiment {
        put(&mut self.table, path, value.into());
        self
    }

    /// The end: a time, or "completion".
    pub fn until(self, end: &str) -> Experiment {
        self.set("run.until", end)
    }

    /// Another workload, of this pattern and load, all endpoints and messages of four flits.
    pub fn traffic(mut self, pattern: &str, load: f64) -> Experiment {
        let mut workload = Table::new();
        put(&mut workload, "pattern.kind", pattern.into());
        put(&mut workload, "load", load.into());
        put(&mut workload, "message", "4 flits".into());
        let list = self.table.entry("workload").or_insert(Value::Array(vec![]));
        let list = list.as_array_mut().expect("workloads are a list");
        list.push(workload.into());
        self
    }

    /// An application of `tasks` tasks, on the first free endpoints.
    pub fn job(mut self, motif: &str, tasks: i64) -> Experiment {
        let mut workload = Table::new();
        put(&mut workload, "motif.kind", motif.into());
        put(&mut workload, "tasks", tasks.into());
        let list = self.table.entry("workload").or_insert(Value::Array(vec![]));
        let list = list.as_array_mut().expect("workloads are a list");
        list.push(workload.into());
        self.until("completion")
    }

    /// Four applications of 47 tasks together that send short and long messages, with computation
    /// and without.
    pub fn applications(self) -> Experiment {
        self.job("halo3d26", 18)
            .with("name", "halo")
            .with("motif.cells", vec![6, 6, 6])
            .with("motif.iterations", 3)
            .with("motif.compute", "1 us")
            .with("placement", "random")
            .job("incast", 9)
            .with("name", "incast")
            .with("motif.bytes", "20 kB")
            .with("motif.iterations", 3)
            .with("start", "2 us")
            .with("placement", "random")
            .job("lammps", 12)
            .with("name", "md")
            .with("motif.steps", 1)
            .with("motif.mesh", vec![12, 16, 15])
            .with("motif.replicas", vec![1, 1, 1])
            .with("placement", "random_groups")
            .job("fixed_pairs", 8)
            .with("name", "pairs")
            .with("motif.bytes", "30 kB")
            .with("mpi.preset", "codes")
    }

    /// Uniform traffic.
    pub fn uniform(self, load: f64) -> Experiment {
        self.traffic("uniform", load)
    }

    /// A hot spot of some sources and destinations.
    pub fn hotspot(self, sources: i64, destinations: i64, load: f64) -> Experiment {
        self.traffic("hotspot", load)
            .with("pattern.sources", sources)
            .with("pattern.destinations", destinations)
    }

    /// Any key of the last workload: `with("stop", "20 us")`.
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Experiment {
        let list = self.table.get_mut("workload").and_then(Value::as_array_mut);
        let last = list.and_then(|list| list.last_mut());
        let last = last.and_then(Value::as_table_mut).expect("a workload");
        put(last, path, value.into());
        self
    }

    /// The size of the last workload's messages.
    pub fn message(self, size: &str) -> Experiment {
        self.with("message", size)
    }

    /// The last workload sends until then, and the run continues until everything has arrived.
    #[allow(clippy::wrong_self_convention)] // a builder: it makes nothing else of the experiment
    pub fn to_completion(self, stop: &str) -> Experiment {
        self.with("stop", stop).until("completion")
    }

    /// The smallest buffers there can be: one packet in every buffer, no output queues.
    pub fn smallest_buffers(self) -> Experiment {
        self.set("router.input_buffer", "1 packets")
            .set("router.output_queue", "none")
    }

    /// The experiment file.
    pub fn text(&self) -> String {
        toml::to_string(&self.table).expect("TOML")
    }

    fn check(&self) -> Result<weir::config::Experiment, ConfigError> {
        let (text, folder) = (self.text(), Path::new(""));
        weir::config::Experiment::from_text("test.toml", &text, folder, &[], &self.catalog)
    }

    /// Checked, as the program does it.
    pub fn checked(&self) -> weir::config::Experiment {
        self.check()
            .unwrap_or_else(|error| panic!("{}\n{}", error.render(false), self.text()))
    }

    /// Ready to run, or the error in it.
    pub fn try_plan(&self) -> Result<Plan, ConfigError> {
        Plan::new(&self.check()?, None)
    }

    /// Ready to run.
    pub fn plan(&self) -> Plan {
        Plan::new(&self.checked(), None)
            .unwrap_or_else(|error| panic!("{}\n{}", error.render(false), self.text()))
    }

    /// Runs in this process. A failure shows the experiment.
    pub fn run(&self) -> Outcome {
        self.try_run()
            .unwrap_or_else(|error| panic!("{error}\n{}", self.text()))
    }

    /// Runs in this process.
    pub fn try_run(&self) -> Result<Outcome, RunError> {
        run_plan(&self.plan())
    }

    /// Runs in this process with another routing than any that weir offers.
    pub fn try_run_by(&self, routing: routing::Build) -> Result<Outcome, RunError> {
        self.clone().own_routing(routing).try_run()
    }

    /// With a topology that weir does not have.
    pub fn own_topology(mut self, build: topology::Build) -> Self {
        let added = self.catalog.topologies.add(own(build));
        added.expect("no other is called so");
        self.choose("topology", "kind")
    }

    /// With a routing that weir does not have.
    pub fn own_routing(mut self, build: routing::Build) -> Self {
        let added = self.catalog.routings.add(own(build));
        added.expect("no other is called so");
        self.choose("routing", "algorithm")
    }

    /// With a queueing scheme that weir does not have.
    pub fn own_queueing(mut self, build: queueing::Build) -> Self {
        let added = self.catalog.queueing.add(own(build));
        added.expect("no other is called so");
        self.choose("queueing", "scheme")
    }

    /// With a congestion-control scheme that weir does not have.
    pub fn own_scheme(mut self, build: congestion::Build) -> Self {
        let added = self.catalog.schemes.add(own(build));
        added.expect("no other is called so");
        self.choose("congestion", "scheme")
    }

    /// A section that chooses a part of one's own.
    fn choose(mut self, section: &str, key: &str) -> Self {
        self.table.remove(section);
        put(&mut self.table, &format!("{section}.{key}"), OWN.into());
        self
    }

    /// Through the program itself.
    pub fn cli(&self) -> Cli {
        Cli::run(&self.text())
    }
}

/// The name of parts of one's own.
const OWN: &str = "own";

/// The entry of a part of one's own, without parameters.
fn own<F>(build: F) -> Entry<F> {
    #[derive(Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct NoParameters {}
    Entry {
        name: OWN,
        summary: "A part of this test.",
        source: "This test.",
        examples: &[""],
        parameters: Keys::of::<NoParameters>(),
        build,
    }
}

/// As the file that shows it again.
impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.text())
    }
}

/// Sets `a.b.c`, making tables as needed.
fn put(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_string(), value);
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert(Value::Table(Table::new()));
            put(inner.as_table_mut().expect("a table"), rest, value);
        }
    }
}

/// Runs a plan in this process.
pub fn run_plan(plan: &Plan) -> Result<Outcome, RunError> {
    let outcome = simulation::run(plan, &mut Local, &mut Nobody)?;
    Ok(outcome.expect("the only rank has the outcome"))
}

/// Does the same on some ranks, which are threads here. Returns the data of the result, and the
/// other output of each rank.
pub fn on_ranks<R: Send>(
    ranks: u32,
    run: impl Fn(&mut Threads) -> Result<(Option<Outcome>, R), RunError> + Sync,
) -> Result<(Data, Vec<R>), RunError> {
    std::thread::scope(|scope| {
        let ranks = Threads::ranks(ranks).into_iter();
        let run = &run;
        let threads: Vec<_> = ranks
            .map(|mut rank| scope.spawn(move || run(&mut rank)))
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        let ends: Vec<_> = ends.map(|end| end.expect("no rank panics")).collect();
        let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (mut outcomes, rest): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let first = outcomes.swap_remove(0);
        Ok((first.expect("rank 0 has the outcome").data, rest))
    })
}

/// True if two runs gave the same numbers. (A number that is missing is NaN in both.)
pub fn same(one: &Data, other: &Data) -> bool {
    one == other || format!("{one:?}") == format!("{other:?}")
}

/// Fails, with the first number that differs, unless two runs gave the same ones. `what`: the run
/// that should be as expected, as in "two ranks differ from one".
pub fn assert_same(got: &Data, expected: &Data, what: &str) {
    if same(got, expected) {
        return;
    }
    let [got, expected] = [got, expected].map(|data| format!("{data:#?}"));
    let mut field = "";
    for (got, expected) in got.lines().zip(expected.lines()) {
        if got.starts_with("    ") && !got.starts_with("     ") {
            field = got.trim();
        }
        if got != expected {
            let [got, expected] = [got, expected].map(str::trim);
            panic!(
                "in {field} {got} instead of {expected} (state outside of a variant's `State`, a \
                 hash map in its own order, other random numbers?): {what}"
            );
        }
    }
    panic!("more rows in {field}: {what}");
}

/// Ranks of a run, and threads of each.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    pub ranks: u32,
    pub threads: usize,
}

/// Ranks of one thread.
impl From<u32> for Split {
    fn from(ranks: u32) -> Split {
        Split { ranks, threads: 1 }
    }
}

impl From<(u32, usize)> for Split {
    fn from((ranks, threads): (u32, usize)) -> Split {
        Split { ranks, threads }
    }
}

impl Split {
    /// Means of a run of these threads.
    pub fn means(self) -> Means<'static> {
        Means {
            threads: NonZeroUsize::new(self.threads),
            ..Means::default()
        }
    }
}

/// Runs a plan on some ranks, and threads of each; the data of the result.
pub fn run_on(split: impl Into<Split>, plan: &Plan) -> Result<Data, RunError> {
    let split = split.into();
    let run = |rank: &mut Threads| {
        let outcome = simulation::run_with(plan, split.means(), rank, &mut Nobody)?;
        Ok((outcome, ()))
    };
    on_ranks(split.ranks, run).map(|(data, _)| data)
}

/// No observer of the progress.
pub struct Nobody;

impl Observer for Nobody {
    fn progress(&mut self, _: Progress, _: u32) {}
    fn stop(&mut self) -> Option<StopReason> {
        None
    }
}
