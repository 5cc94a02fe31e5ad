//! Says when seeds leave open if a claim holds.

use super::judgement::{Judgement, Measured, taken};
use crate::job_file::claim::{Bound, Claim};
use crate::job_file::keys::{Along, SeedsBy};

/// Number of seeds from which on their mean decides, even if single ones disagree with it.
const MANY: usize = 20;

/// Why a claim about a mean over seeds is undecided though the mean holds or does not.
pub(super) struct Doubt {
    /// In words that follow what was measured.
    pub(super) words: &'static str,
    /// The first place that leaves it open.
    pub(super) at: Option<Vec<usize>>,
}

/// The doubt about a claim: fewer than 20 seeds disagree, or the mean is nearer to a bound than its
/// standard error (of a trend: a mean step to the least that is allowed). `each` has what is said
/// of the claim with one seed alone.
pub(super) fn doubt(claim: &Claim, mean: &Judgement, each: &[Judgement]) -> Option<Doubt> {
    let holds = mean.holds?;
    if claim.seeds != SeedsBy::Mean {
        return None;
    }
    let ends = claim.bound.ends();
    let means = claim.bound.compared(&mean.all);
    let other = each.iter().find(|one| one.holds == Some(!holds));
    if let Some(other) = other.filter(|_| each.len() < MANY) {
        let failing = if holds {
            claim.bound.compared(&other.all)
        } else {
            means
        };
        let first = failing.into_iter().find(|one| inside(ends, one) < 0.0);
        return Some(Doubt {
            words: "; seeds disagree",
            at: first.map(|one| one.at),
        });
    }
    let seeds = each.iter().flat_map(|one| claim.bound.compared(&one.all));
    let words = match claim.bound {
        Bound::Range { .. } => "; nearer to the bound than its standard error",
        Bound::Trend(_) => "; a step is within its standard error",
    };
    let near = near(ends, &means, &seeds.collect::<Vec<_>>());
    near.map(|at| Doubt {
        words,
        at: Some(at),
    })
}

/// Distance of a value from the nearer of two ends between which it should be; less than 0 outside.
fn inside([min, max]: [Option<f64>; 2], one: &Measured) -> f64 {
    let above = one.value - min.unwrap_or(f64::NEG_INFINITY);
    above.min(max.unwrap_or(f64::INFINITY) - one.value)
}

/// The first place whose mean is nearer to the least or greatest good value than the standard error
/// of its seeds, if none is further outside.
fn near(ends: [Option<f64>; 2], means: &[Measured], seeds: &[Measured]) -> Option<Vec<usize>> {
    let mut near = None;
    for mean in means {
        let same = seeds.iter().filter(|one| one.at == mean.at);
        let values = same.map(|one| one.value).filter(|own| own.is_finite());
        let error = standard_error(&values.collect::<Vec<f64>>());
        let inside = inside(ends, mean);
        if inside.abs() < error {
            near.get_or_insert_with(|| mean.at.clone());
        } else if inside < 0.0 {
            return None;
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
