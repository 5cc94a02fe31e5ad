use weir::config::Experiment;
use weir::engine::*;
use weir::simulation::*;
struct O;
impl Observer for O {
    fn progress(&mut self, _p: Progress, _r: u32) {}
    fn max_wall(&self) -> Option<std::time::Duration> {
        None
    }
}
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let sets: Vec<String> = std::env::args().skip(2).collect();
    let e = match Experiment::load(std::path::Path::new(&path), &sets) {
        Ok(e) => e,
        Err(e) => {
            eprintln!("{}", e.render(false));
            return;
        }
    };
    let plan = match Plan::new(&e, None) {
        Ok(p) => p,
        Err(e) => {
            eprintln!("{}", e.render(false));
            return;
        }
    };
    let mut t: Box<dyn Transport> = if std::env::var("OMPI_COMM_WORLD_SIZE").is_ok() {
        Box::new(Mpi::start().unwrap())
    } else {
        Box::new(Local)
    };
    match run(&plan, &mut *t, &mut O) {
        Ok(Some(o)) => {
            println!("{:#?}", o.data.summary);
            for (n, h) in &o.data.latency {
                println!(
                    "{n} n={} mean={} p99={} max={}",
                    h.samples(),
                    h.mean(),
                    h.quantile(0.99),
                    h.max()
                );
            }
            println!(
                "wall {:.3} events {} hops/s {:.3}M ev/s {:.2}M ev/hop {:.2} state {} pk {} rss {}",
                o.wall_seconds,
                o.facts.events,
                o.data.summary.packet_hops as f64 / o.wall_seconds / 1e6,
                o.facts.events as f64 / o.wall_seconds / 1e6,
                o.facts.events as f64 / o.data.summary.packet_hops as f64,
                o.facts.memory_state,
                o.facts.memory_packets,
                o.facts.peak_memory_bytes
            );
        }
        Ok(None) => {}
        Err(e) => println!("{e}"),
    }
}
