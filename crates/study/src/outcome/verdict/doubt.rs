//! Says when seeds leave open if a claim holds.

use super::judgement::{Judgement, Measured, taken};
use crate::job_file::claim::{Bound, Claim};
use crate::job_file::keys::{Along, SeedsBy};

/// Number of seeds from which on their mean decides, even if single ones disagree with it.
const MANY: usize = 20;

/// The reason why a claim about a mean over seeds is undecided though the mean holds or does not,
/// in words that follow what was measured: fewer than 20 seeds disagree, or the mean is nearer to a
/// bound than its standard error. `each` has what is said of the claim with one seed alone.
pub(super) fn doubt(claim: &Claim, mean: &Judgement, each: &[Judgement]) -> Option<&'static str> {
    let holds = mean.holds?;
    if claim.seeds != SeedsBy::Mean {
        return None;
    }
    if each.len() < MANY && each.iter().any(|one| one.holds == Some(!holds)) {
        return Some("; seeds disagree");
    }
    is_near(&claim.bound, &mean.all, each)
        .then_some("; nearer to the bound than its standard error")
}

/// True if some mean is nearer to a bound than its standard error, and none is further outside.
fn is_near(bound: &Bound, means: &[Measured], each: &[Judgement]) -> bool {
    let Bound::Range { min, max } = bound else {
        return false;
    };
    let mut near = false;
    for mean in means {
        let same = each
            .iter()
            .flat_map(|one| &one.all)
            .filter(|one| one.at == mean.at);
        let values = same.map(|one| one.value).filter(|own| own.is_finite());
        let error = standard_error(&values.collect::<Vec<f64>>());
        // How far inside of the nearer bound.
        let inside = (mean.value - min.unwrap_or(f64::NEG_INFINITY))
            .min(max.unwrap_or(f64::INFINITY) - mean.value);
        if inside.abs() < error {
            near = true;
        } else if inside < 0.0 {
            return false;
        }
    }
    near
}

/// Standard error of the mean of some values; 0 of fewer than two.
fn standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let (mean, count) = (taken(Along::Mean, values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}
