//! Says when seeds leave open if a claim holds.

use super::evaluation::{Evaluation, taken};
use crate::job_file::claim::{Bound, Claim};
use crate::job_file::keys::{Along, SeedsBy};

/// Number of seeds from which on their mean decides, even if single ones disagree with it.
const MANY: usize = 20;

impl Evaluation<'_> {
    /// The reason why a claim about a mean over seeds is undecided though the mean `holds` or does
    /// not, in words that follow what was measured: fewer than 20 seeds disagree, or the mean is
    /// nearer to a bound than its standard error. `alone` are the same points with one seed each,
    /// and what is said of the claim then.
    pub(super) fn doubt(
        &self,
        claim: &Claim,
        alone: &[(&Evaluation, Option<bool>)],
        holds: bool,
    ) -> Option<&'static str> {
        if claim.seeds != SeedsBy::Mean {
            return None;
        }
        if alone.len() < MANY && alone.iter().any(|(_, own)| *own == Some(!holds)) {
            return Some("; seeds disagree");
        }
        self.is_near(claim, alone)
            .then_some("; nearer to the bound than its standard error")
    }

    /// True if some mean is nearer to a bound than its standard error, and none is further outside.
    fn is_near(&self, claim: &Claim, alone: &[(&Evaluation, Option<bool>)]) -> bool {
        let (Bound::Range { min, max }, Ok(all)) = (&claim.bound, self.all(claim)) else {
            return false;
        };
        let each: Vec<_> = alone
            .iter()
            .filter_map(|(one, _)| one.all(claim).ok())
            .collect();
        let mut near = false;
        for one in &all {
            let same = each.iter().flatten().filter(|other| other.at == one.at);
            let values = same.map(|other| other.value).filter(|own| own.is_finite());
            let error = standard_error(&values.collect::<Vec<f64>>());
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
