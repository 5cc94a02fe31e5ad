//! Random experiments over the whole catalog.
//! Every variant in a registry is drawn, with parameters from its schema. Refused experiments are
//! drawn again, so that the rest can be run.

use std::sync::Arc;

use schemars::schema_for;
use toml::{Table, Value};
use weir::catalog::catalog;
use weir::config::Catalog;
use weir::config::{NicConfig, OutputConfig, RouterConfig};
use weir::registry::Variant;
use weir::simulation::Plan;
use weir::topology::Topology;
use weir::workload::tasks::Mpi;

use super::draw::{Draw, FEW, MORE};
use crate::support::{self, Experiment};

/// Most endpoints: a case takes seconds.
const ENDPOINTS: u32 = 72;

/// An experiment in the making.
struct Making {
    seed: u64,
    draw: Draw,
    catalog: Catalog,
    table: Table,
    workloads: Vec<Table>,
}

/// The experiment of a seed.
pub fn experiment(seed: u64) -> Experiment {
    let mut making = Making {
        seed,
        draw: Draw::new(seed),
        catalog: catalog(),
        table: Table::new(),
        workloads: vec![any_traffic()],
    };
    making.network();
    making.failures();
    making.section("router", &schema_for!(RouterConfig).to_value());
    making.section("nic", &schema_for!(NicConfig).to_value());
    making.queueing();
    making.scheme();
    making.workloads();
    making.section("output", &schema_for!(OutputConfig).to_value());
    making.run();
    making.experiment()
}

/// Traffic for as long as there is nothing else.
fn any_traffic() -> Table {
    let uniform = toml::toml! {
        pattern = { kind = "uniform" }
        load = 0.3
        message = "100 B"
    };
    uniform
}

/// The parameters of a variant with its name.
fn named<F>(draw: &mut Draw, key: &str, variant: &Variant<F>, percent: usize) -> Option<Table> {
    let schema = (variant.parameters.schema)().to_value();
    let mut table = draw.table(&schema, percent)?;
    table.insert(key.into(), variant.name.into());
    Some(table)
}

/// Every topology with every routing that is made for it.
pub fn pairs(catalog: &Catalog) -> Vec<(Variant, Variant)> {
    let topologies = catalog.topologies.variants.iter();
    let with_routings = |topology: Variant| {
        let routings = catalog.routings_of(topology.name);
        routings.map(move |routing| (topology, routing.described()))
    };
    let topologies = topologies.map(Variant::described);
    topologies.flat_map(with_routings).collect()
}

impl Making {
    fn experiment(&self) -> Experiment {
        let mut table = self.table.clone();
        let workloads = self.workloads.iter().cloned().map(Value::Table);
        table.insert("workload".into(), workloads.collect::<Vec<_>>().into());
        if !table.contains_key("run") {
            table.insert("run".into(), self.until("1 us").into());
        }
        Experiment::of(table)
    }

    /// Plan of the experiment so far, or None if the program refuses it. The program never panics.
    fn plan(&self) -> Option<Plan> {
        self.experiment().try_plan().ok()
    }

    /// Every topology with each of its routings in turn.
    fn network(&mut self) {
        // Domains are distributed over ranks.
        let least = self.draw.one(&[1, 3, 3, 5, 5]);
        let pairs = pairs(&self.catalog);
        let (topology, routing) = pairs[self.seed as usize % pairs.len()];
        self.draw.integers(FEW);
        let fits = |network: Arc<dyn Topology>| {
            (2..=ENDPOINTS).contains(&network.endpoints()) && network.domains() >= least
        };
        for _ in 0..100_000 {
            let Some(table) = named(&mut self.draw, "kind", &topology, 40) else {
                continue;
            };
            // Routes through a large network take long to find.
            let fits = support::topology(&table.to_string()).is_ok_and(fits);
            self.table.insert("topology".into(), table.into());
            let Some(table) = named(&mut self.draw, "algorithm", &routing, 40) else {
                continue;
            };
            self.table.insert("routing".into(), table.into());
            if fits && self.plan().is_some() {
                self.draw.integers(MORE);
                return;
            }
        }
        panic!(
            "no good network in 100,000 draws; the last:\n{}",
            self.experiment().text()
        );
    }

    /// Links that differ from their kind, in a third of the cases.
    fn failures(&mut self) {
        if !self.draw.percent(33) {
            return;
        }
        let mut failure = Table::new();
        failure.insert("links".into(), self.draw.one(&["all", "fabric"]).into());
        failure.insert("share".into(), self.draw.one(&[0.1, 0.5, 1.0]).into());
        let share = self.draw.one(&[0.01, 0.3, 1.0]);
        failure.insert("bandwidth".into(), share.into());
        let added = self.draw.one(&["0 ns", "1 ps", "333 ns", "5 us"]);
        failure.insert("added_latency".into(), added.into());
        self.table.insert("failure".into(), vec![failure].into());
        if self.plan().is_none() {
            self.table.remove("failure");
        }
    }

    /// A section of which every key may be left out; as it is by default if nothing that is drawn
    /// is good.
    fn section(&mut self, name: &str, schema: &serde_json::Value) {
        for percent in [50, 50, 30, 30, 20, 10, 10] {
            let Some(table) = self.draw.table(schema, percent) else {
                continue;
            };
            self.table.insert(name.into(), table.into());
            if self.plan().is_some() {
                return;
            }
        }
        self.table.remove(name);
    }

    /// Any queueing scheme; the usual one if nothing that is drawn is good.
    fn queueing(&mut self) {
        let all = self.catalog.queueing.variants.clone();
        for percent in [50, 50, 30, 10, 0] {
            let one = self.draw.one(&all);
            let Some(table) = named(&mut self.draw, "scheme", &one, percent) else {
                continue;
            };
            self.table.insert("queueing".into(), table.into());
            if self.plan().is_some() {
                return;
            }
        }
        self.table.remove("queueing");
    }

    /// Every scheme in turn.
    fn scheme(&mut self) {
        let schemes = self.catalog.schemes.variants.clone();
        let scheme = schemes[self.seed as usize % schemes.len()];
        for percent in [50, 50, 30, 30, 20, 10, 0] {
            let Some(table) = named(&mut self.draw, "scheme", &scheme, percent) else {
                continue;
            };
            self.table.insert("congestion".into(), table.into());
            if self.plan().is_some() {
                return;
            }
            // Most schemes need acknowledgements, and some no shared buffers.
            if percent == 20 {
                self.table.remove("nic");
                self.table.remove("router");
            }
        }
        self.table.remove("congestion");
    }

    /// One to three workloads, the first with every pattern and motif in turn.
    fn workloads(&mut self) {
        let patterns = self.catalog.patterns.variants.clone();
        let motifs = self.catalog.motifs.variants.clone();
        self.workloads.clear();
        let first = self.seed as usize % (patterns.len() + motifs.len());
        for number in 0..1 + self.draw.below(3) {
            let turn = match number {
                0 => first,
                _ => self.draw.below(patterns.len() + motifs.len()),
            };
            for attempt in 0..60 {
                let percent = if attempt < 20 { 50 } else { 10 };
                let workload = match turn.checked_sub(patterns.len()) {
                    None => self.traffic(&patterns[turn], percent),
                    Some(motif) => self.application(&motifs[motif], percent),
                };
                self.workloads.extend(workload);
                if self.workloads.len() > number && self.plan().is_some() {
                    break;
                }
                self.workloads.truncate(number);
            }
            if self.workloads.len() == number {
                break;
            }
        }
        if self.workloads.is_empty() {
            self.workloads.push(any_traffic());
        }
    }

    /// The common keys of all workloads.
    fn common(&mut self, workload: &mut Table) {
        if self.draw.percent(20) {
            workload.insert(
                "start".into(),
                self.draw.one(&["1 ns", "333 ns", "1 us"]).into(),
            );
        }
        if self.draw.percent(8) {
            workload.insert("enabled".into(), false.into());
        }
        if self.draw.percent(15) {
            workload.insert("copies".into(), 2.into());
        }
        if self.draw.percent(10) {
            workload.insert("shared".into(), true.into());
        }
    }

    fn traffic<F>(&mut self, pattern: &Variant<F>, percent: usize) -> Option<Table> {
        let mut workload = Table::new();
        let table = named(&mut self.draw, "kind", pattern, percent)?;
        workload.insert("pattern".into(), table.into());
        workload.insert("load".into(), self.draw.one(&[0.1, 0.4, 0.8, 1.3]).into());
        let sizes = [
            "4 flits", "24 flits", "30 B", "64 B", "333 B", "2 kB", "20 kB",
        ];
        workload.insert("message".into(), self.draw.one(&sizes).into());
        let injection = self.draw.one(&["bernoulli", "poisson", "periodic"]);
        workload.insert("injection".into(), injection.into());
        if self.draw.percent(60) {
            workload.insert(
                "stop".into(),
                self.draw.one(&["800 ns", "2 us", "4 us"]).into(),
            );
        }
        let endpoints = match self.draw.below(3) {
            0 => "all".into(),
            1 => "rest".into(),
            _ => {
                let count = self.draw.one(&[2i64, 4, 8, 9, 16, 24, 32]);
                let placement = self.placement();
                let table = [
                    ("count", Value::from(count)),
                    ("placement", placement.into()),
                ];
                Value::Table(
                    table
                        .map(|(key, value)| (key.into(), value))
                        .into_iter()
                        .collect(),
                )
            }
        };
        workload.insert("endpoints".into(), endpoints);
        self.common(&mut workload);
        Some(workload)
    }

    fn placement(&mut self) -> &'static str {
        self.draw
            .one(&["linear", "random", "random_groups", "random_routers"])
    }

    fn application<F>(&mut self, motif: &Variant<F>, percent: usize) -> Option<Table> {
        let mut workload = Table::new();
        let table = named(&mut self.draw, "kind", motif, percent)?;
        workload.insert("motif".into(), table.into());
        let tasks = self
            .draw
            .one(&[1i64, 2, 3, 4, 6, 7, 8, 9, 12, 16, 18, 27, 32]);
        workload.insert("tasks".into(), tasks.into());
        if self.draw.percent(50) {
            workload.insert("placement".into(), self.placement().into());
        }
        if self.draw.percent(50) {
            let schema = schemars::schema_for!(Mpi).to_value();
            workload.insert("mpi".into(), self.draw.table(&schema, 30)?.into());
        }
        if self.draw.percent(20) {
            workload.insert("repetitions".into(), 2.into());
        }
        self.common(&mut workload);
        Some(workload)
    }

    /// With the seed from the beginning: placements and patterns depend on it, and whether they
    /// suit each other.
    fn until(&self, end: &str) -> Table {
        let mut run = Table::new();
        run.insert("until".into(), end.into());
        run.insert("seed".into(), (self.seed as u32).into());
        run
    }

    /// To completion if all workloads stop by themselves soon; a motif's own length may be
    /// anything.
    fn run(&mut self) {
        let stops = |workload: &Table| workload.contains_key("stop");
        let end = match self.workloads.iter().all(stops) && self.draw.percent(60) {
            true => "completion",
            false => self.draw.one(&["2 us", "5 us", "9 us"]),
        };
        let mut run = self.until(end);
        self.table.insert("run".into(), run.clone().into());
        if self.draw.percent(15) {
            run.insert("warmup".into(), self.draw.one(&["1 ns", "500 ns"]).into());
        }
        if self.draw.percent(15) {
            run.insert(
                "measure".into(),
                self.draw.one(&["100 ns", "600 ns"]).into(),
            );
        }
        let plain = self.table.insert("run".into(), run.into());
        if self.plan().is_none() {
            self.table.extend(plain.map(|run| ("run".to_string(), run)));
        }
    }
}
