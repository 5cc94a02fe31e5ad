//! Forecast of the cost of a run, by its beginning: its first second, or some more.

use std::time::{Duration, Instant};

use weir_report::format::{percent, scaled};
use weir_simulation::config::Experiment;
use weir_simulation::forecast::{ASSUMED_RATE, Basis, Forecast, Work};
use weir_simulation::{Plan, Sample, Trial, trial};

/// Processor time of the beginning of a run that is simulated, s.
const LENGTH: f64 = 1.0;

/// Maximum of that time, s, if the run has not reached its steady state by then
/// ([`Work::settles`]).
const LONGER: f64 = 4.0;

/// Maximum wall-clock time, as a multiple of that, if others have the processor most of the time.
const PATIENCE: f64 = 5.0;

/// Time between two checks of it.
const STEP: Duration = Duration::from_millis(20);

/// A network of more bytes than these is not built in a part of that.
const LARGEST: u64 = 400 << 20;

/// Part of a run below which not much can be told.
const LITTLE: f64 = 0.01;

/// Operations of the programs of its applications that are examined.
const EFFORT: u64 = 1_000_000;

/// A forecast, and its basis in words.
pub struct Calibrated {
    /// Expected cost of the run.
    pub forecast: Forecast,
    /// Its beginning, if it was begun.
    pub trial: Option<Trial>,
    /// As the end of a sentence: `calibrated on its first 12 %`.
    pub words: String,
}

/// Expected cost of an experiment.
/// With `calibrate` it is started in this process, and dropped after a second or a few.
pub fn calibrated(experiment: &Experiment, plan: &Plan, calibrate: bool) -> Calibrated {
    let work = Work::of(experiment, plan, EFFORT);
    let assumed = |why: &str| Calibrated {
        forecast: Forecast::assumed(&work, ASSUMED_RATE),
        trial: None,
        words: format!(
            "{} packet-hops/s and shortest ways are assumed: {why}",
            scaled(ASSUMED_RATE)
        ),
    };
    if !calibrate {
        return assumed("it was not begun");
    }
    if work.state > LARGEST {
        return assumed("so large a network is not begun");
    }
    let begun = Instant::now();
    let settles = work.settles();
    let mut enough = |sample: &Sample| {
        let length = match (sample.until as f64) < settles {
            true => LONGER,
            false => LENGTH,
        };
        sample.seconds >= length || begun.elapsed().as_secs_f64() >= PATIENCE * length
    };
    let trial = match trial(plan, STEP, &mut enough) {
        Ok(trial) => trial,
        Err(error) => return assumed(&format!("it ends with an error, {error}")),
    };
    let forecast = Forecast::of(&work, &trial);
    let words = match forecast.basis {
        Basis::Whole => "it was run to its end for that".to_string(),
        Basis::Part(part) if part < LITTLE => format!(
            "calibrated on its first {}: congestion that comes later may take more",
            percent(part)
        ),
        Basis::Part(part) => format!("calibrated on its first {}", percent(part)),
        Basis::Assumed(_) => return assumed("nothing was sent in its beginning"),
    };
    Calibrated {
        forecast,
        trial: Some(trial),
        words,
    }
}
