//! Computation times of motifs, given or as work at a rate.

use weir_input::Duration;
use weir_model::{Invalid, Time};

/// Time for some work at a rate, or a given time.
///
/// Errors: a rate that is not more than zero, a time beyond all bounds.
pub(super) fn time(
    given: Option<Duration>,
    work: f64,
    flops: f64,
    key: &str,
) -> Result<Time, Invalid> {
    if let Some(given) = given {
        return Ok(given.0);
    }
    if !(flops > 0.0 && flops.is_finite()) {
        return Err(Invalid::new(
            key,
            format!("{flops} is not a rate"),
            "write a number of operations per second of more than 0, for example 1e9",
        ));
    }
    let time = work / flops * 1e12;
    if !(0.0..1e18).contains(&time) {
        return Err(Invalid::new(
            key,
            format!("the computation of a step would take {time:e} ps"),
            "write a higher rate or less work",
        ));
    }
    Ok(time.round() as Time)
}
