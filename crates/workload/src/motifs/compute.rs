//! Computation times of motifs, given or as work at a rate.

use weir_input::{ConfigError, Duration, Section};
use weir_model::{Invalid, Time};

/// Refuses work for each cell or a rate that differs from the usual one beside a given time.
pub(super) fn one_of_both(
    section: &Section,
    given: Option<Duration>,
    own: [f64; 2],
    usual: [f64; 2],
) -> Result<(), ConfigError> {
    let differs = |at: &usize| own[*at] != usual[*at];
    match (0..2).find(differs).filter(|_| given.is_some()) {
        Some(at) => {
            let key = ["flops_per_cell", "flops"][at];
            Err(section.refuse(Invalid::new(
                key,
                "`compute` says how long the computation takes",
                format!("leave out `compute` or `{key}`"),
            )))
        }
        None => Ok(()),
    }
}

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

#[cfg(test)]
mod tests {
    use super::super::testing::{motif, refusal};

    #[test]
    fn a_time_and_a_rate_are_not_both_given() {
        for kind in ["halo3d", "halo3d26", "sweep3d"] {
            for key in ["flops", "flops_per_cell"] {
                let both = format!("{key} = 300\ncompute = \"1 us\"");
                let text = refusal(kind, &both, 8);
                assert!(
                    text.contains(&format!("leave out `compute` or `{key}`")),
                    "{text}"
                );
                motif(kind, &format!("{key} = 300"), 8);
            }
        }
    }
}
