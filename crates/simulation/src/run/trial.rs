//! The beginning of a run, to forecast the cost of the whole.

use std::time::{Duration, Instant};

use crate::error::RunError;
use crate::machine::CpuClock;
use crate::plan::Plan;
use weir_engine::{End, Local, Progress, Start, StopReason, Transport};
use weir_fabric::{Fabric, Part, Parts, Watcher};
use weir_model::Time;

/// Progress of a run, and its cost until then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Processor time since its first window began, s.
    pub seconds: f64,
    /// Simulated time, ps.
    pub until: Time,
    /// Packet-hops.
    pub packet_hops: u64,
    /// Payload that has arrived, by job, bits.
    pub delivered_bits: Vec<u64>,
    /// Packets in the network.
    pub in_flight: u64,
    /// Messages of which something waits in a NIC.
    pub waiting: u64,
    /// Bytes of the counts by time bin; of the last sample only.
    pub series: u64,
    /// Bytes of the other counts of workloads; of the last sample only.
    pub counts: u64,
    /// Bytes that the state of all domains holds.
    pub state: u64,
    /// Bytes for packets in flight.
    pub packets: u64,
}

/// Samples of a run that was begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Processor time until the network was built, s.
    pub build: f64,
    /// In order of time; the first is that of the beginning, the last that of the end.
    pub samples: Vec<Sample>,
    /// Packet-hops of all domains, divided by those of the domain with the most in each window.
    pub balance: f64,
    /// Windows that it took.
    pub windows: u64,
    /// True if the run came to its own end.
    pub ended: bool,
}

/// A sample may take up to one part in this number of the time: a domain that holds very many
/// messages takes a while to examine.
const SELDOM: u32 = 20;

/// Begins a run in this process, and takes a sample whenever `step` has passed on the clock, or a
/// multiple of the time that the previous sample took if that is longer. Without a `step` a sample
/// is taken after each window. `enough` is asked after each.
///
/// # Errors
/// The error that would end the run itself.
pub fn trial(
    plan: &Plan,
    step: Duration,
    enough: &mut dyn FnMut(&Sample) -> bool,
) -> Result<Trial, RunError> {
    let clock = CpuClock::start();
    let mut fabric = Fabric::new(&plan.blueprint, plan.scheme.as_ref(), &Local, 1);
    let build = clock.seconds();
    let first = sample(&fabric.parts(), 0, 0.0);
    let mut sampler = Sampler {
        clock: CpuClock::start(),
        samples: vec![first],
        looked: Instant::now(),
        looking: 0.0,
        pause: step,
        until: 0,
        windows: 0,
        balance: 1.0,
        stop: false,
        step,
        enough,
    };
    let schedule = plan.blueprint.schedule;
    let start = Start::default();
    let ended = fabric.run(plan.network(), schedule, start, &mut Local, &mut sampler);
    let (end, _) = ended.map_err(|halt| RunError::of(halt, None))?;
    let until = match end {
        End::Asked(until, _) | End::Finished(until) => until,
        End::Idle if plan.completes => sampler.until,
        End::Time | End::Idle => schedule.end,
    };
    let seconds = sampler.clock.seconds() - sampler.looking;
    let (windows, balance) = (sampler.windows, sampler.balance);
    let mut samples = sampler.samples;
    let parts = fabric.parts();
    let mut last = sample(&parts, until, seconds);
    for part in &parts {
        let [series, counts] = part.stats().memory_bytes();
        last.series += series as u64;
        last.counts += counts as u64;
    }
    samples.push(last);
    Ok(Trial {
        build,
        samples,
        balance,
        windows,
        ended: !matches!(end, End::Asked(..)),
    })
}

struct Sampler<'a> {
    clock: CpuClock,
    samples: Vec<Sample>,
    looked: Instant,
    /// Processor time that samples have taken, s: it is none of the run's.
    looking: f64,
    /// From one to the next.
    pause: Duration,
    until: Time,
    windows: u64,
    balance: f64,
    stop: bool,
    step: Duration,
    enough: &'a mut dyn FnMut(&Sample) -> bool,
}

impl Watcher for Sampler<'_> {
    fn stop(&mut self) -> Option<StopReason> {
        self.stop.then_some(StopReason::MaxWall)
    }

    /// Longer pieces keep a domain in the cache, as in a whole run.
    /// If others have the processor most of the time, pieces of 100 ms have made a packet-hop twice
    /// as expensive.
    fn heed_within(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn observe(
        &mut self,
        parts: &mut dyn Parts,
        _: &mut dyn Transport,
        progress: Progress,
    ) -> bool {
        self.until = progress.at.until;
        self.windows = progress.at.windows;
        self.balance = progress.balance();
        if self.looked.elapsed() >= self.pause {
            let begun = Instant::now();
            let seconds = self.clock.seconds() - self.looking;
            let now = sample(&parts.parts(), progress.at.until, seconds);
            self.stop = (self.enough)(&now);
            self.samples.push(now);
            self.looking = self.clock.seconds() - seconds;
            self.looked = Instant::now();
            if !self.step.is_zero() {
                self.pause = self.step.max(SELDOM * begun.elapsed());
            }
        }
        true
    }
}

/// Sum of the samples of all domains.
fn sample(parts: &[&mut dyn Part], until: Time, seconds: f64) -> Sample {
    let mut all = Sample {
        seconds,
        until,
        ..Sample::default()
    };
    for part in parts {
        let stats = part.stats();
        all.delivered_bits.resize(stats.jobs.len(), 0);
        for (sum, job) in all.delivered_bits.iter_mut().zip(&stats.jobs) {
            *sum += job.delivered_bits;
        }
        all.packet_hops += part.moved();
        all.in_flight += part.packets_in_flight();
        all.waiting += part.messages_waiting() as u64;
        let (state, packets) = part.memory_bytes();
        all.state += state as u64;
        all.packets += packets as u64;
    }
    all
}
