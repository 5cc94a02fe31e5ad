//! Says when seeds leave open if a claim holds.

use super::Count;
use super::evaluation::{Evaluation, Measured, Outcome, taken};
use crate::job_file::claim::{Bound, Claim};
use crate::job_file::keys::{Along, SeedsBy};

/// Number of seeds from which on their mean decides, even if single ones disagree.
const MANY: usize = 20;

impl Evaluation<'_> {
    /// The reason why a claim about a mean over seeds is undecided, in words that follow what was
    /// measured: fewer than 20 seeds disagree, or the mean is within its standard error of a bound.
    /// `alone` are the same points with one seed each, `seeds` with how many of them it holds.
    pub(super) fn doubt(
        &self,
        claim: &Claim,
        alone: &[Evaluation],
        seeds: Count,
    ) -> Option<&'static str> {
        if claim.seeds != SeedsBy::Mean {
            return None;
        }
        if 0 < seeds.held && seeds.held < seeds.of && seeds.of < MANY {
            return Some("; seeds disagree");
        }
        self.is_near(claim, alone)
            .then_some("; a standard error or less from the bound")
    }

    /// True if some mean is within its standard error of a bound, and none is further outside.
    fn is_near(&self, claim: &Claim, alone: &[Evaluation]) -> bool {
        let Bound::Range { min, max } = claim.bound else {
            return false;
        };
        let each = alone.iter().map(|one| one.all(claim)).collect();
        let (Ok(all), Ok(each)): (_, Outcome<Vec<Vec<Measured>>>) = (self.all(claim), each) else {
            return false;
        };
        let mut near = false;
        for one in &all {
            let same = each.iter().flatten().filter(|other| other.at == one.at);
            let error = standard_error(&same.map(|other| other.value).collect::<Vec<f64>>());
            // How far inside of the nearer bound.
            let inside = (one.value - min.unwrap_or(f64::NEG_INFINITY))
                .min(max.unwrap_or(f64::INFINITY) - one.value);
            if inside.abs() < error {
                near = true;
            } else if inside < 0.0 {
                return false;
            }
        }
        near
    }
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
