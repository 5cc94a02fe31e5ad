//! A small network from start to end, with the number of packet-hops as the measure: what one hop costs where all of
//! the state fits in the cache.

use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use weir::catalog::catalog;
use weir::config::Experiment;
use weir::engine::{Local, Progress, StopReason};
use weir::simulation::{Observer, Plan, run};

struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: Progress, _: u32) {}

    fn stop(&mut self) -> Option<StopReason> {
        None
    }
}

fn plan(load: f64, routing: &str, acknowledge: bool) -> Plan {
    let text = format!(
        "[topology]\n\
         file = \"dragonfly-72\"\n\
         [routing]\n\
         algorithm = \"{routing}\"\n\
         [nic]\n\
         acknowledge = {acknowledge}\n\
         [[workload]]\n\
         pattern = {{ kind = \"uniform\" }}\n\
         load = {load}\n\
         message = \"4 flits\"\n\
         [run]\n\
         until = \"10 us\"\n"
    );
    let experiment = Experiment::from_text("benchmark", &text, Path::new(""), &[], &catalog());
    let plan = experiment.and_then(|experiment| Plan::new(&experiment, None));
    plan.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Runs a plan and returns its packet-hops.
fn hops(plan: &Plan) -> u64 {
    match run(plan, &mut Local, &mut Silent) {
        Ok(Some(outcome)) => outcome.data.summary.packet_hops,
        Ok(None) => unreachable!("rank 0 has the outcome"),
        Err(error) => panic!("{error}"),
    }
}

fn router_hop(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("router_hop");
    group.sample_size(20);
    for (name, load, routing, acknowledge) in [
        ("idle", 0.05, "minimal", false),
        ("loaded", 0.8, "minimal", false),
        ("acknowledged", 0.4, "minimal", true),
        ("adaptive", 0.4, "par", false),
    ] {
        let plan = plan(load, routing, acknowledge);
        group.throughput(Throughput::Elements(hops(&plan)));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| hops(&plan));
        });
    }
    group.finish();
}

criterion_group!(benches, router_hop);
criterion_main!(benches);
