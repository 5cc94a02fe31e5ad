//! Says when seeds leave open if a claim holds.

use super::judgement::{Judgement, Measured, taken};
use crate::job_file::claim::{Bound, Claim};
use crate::job_file::keys::{Along, SeedsBy};

/// Number of seeds from which on their mean decides, even if single ones disagree with it.
const MANY: usize = 20;

/// The reason why a claim about a mean over seeds is undecided though the mean holds or does not,
/// in words that follow what was measured: fewer than 20 seeds disagree, or the mean is nearer to a
/// bound than its standard error (of a trend: a mean step to the least that is allowed). `each` has
/// what is said of the claim with one seed alone.
pub(super) fn doubt(claim: &Claim, mean: &Judgement, each: &[Judgement]) -> Option<&'static str> {
    let holds = mean.holds?;
    if claim.seeds != SeedsBy::Mean {
        return None;
    }
    if each.len() < MANY && each.iter().any(|one| one.holds == Some(!holds)) {
        return Some("; seeds disagree");
    }
    let seeds = each.iter().flat_map(|one| claim.bound.compared(&one.all));
    let means = claim.bound.compared(&mean.all);
    let words = match claim.bound {
        Bound::Range { .. } => "; nearer to the bound than its standard error",
        Bound::Trend(_) => "; a step is within its standard error",
    };
    is_near(claim.bound.ends(), &means, &seeds.collect::<Vec<_>>()).then_some(words)
}

/// True if some mean is nearer to the least or greatest good value than the standard error of its
/// seeds, and none is further outside.
fn is_near([min, max]: [Option<f64>; 2], means: &[Measured], seeds: &[Measured]) -> bool {
    let mut near = false;
    for mean in means {
        let same = seeds.iter().filter(|one| one.at == mean.at);
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
