//! `[[criterion]]`, checked: the criteria by which points are ranked, and their score.

use super::axis::check_name;
use super::bound::{BoundFile, quantity};
use super::figure::metric_at;
use super::keys::{CriterionFile, Goal};
use super::needs::Need;
use super::selection::Selection;
use crate::metric::Metric;
use crate::metric::names::{CRITERION, SCORE};
use weir_input::ConfigError;
use weir_input::Given;
use weir_model::Invalid;

/// Minimum distance of `worst` from the best, as a part of the best, if `worst` is not given.
const LEAST_RANGE: f64 = 0.25;

/// Criterion by which points are ranked.
#[derive(Clone, Debug)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    metric: Metric,
    of: Of,
    /// True if more is better.
    rising: bool,
    best: Option<f64>,
    worst: Option<f64>,
    weight: f64,
}

/// Divisor of a metric.
#[derive(Clone, Debug)]
enum Of {
    Nothing,
    Number(f64),
    Metric(Metric),
}

impl Criterion {
    /// The criterion, and its requirements on the results.
    pub(crate) fn read(
        given: &Given,
        jobs: &[String],
    ) -> Result<(Criterion, Vec<Need>), ConfigError> {
        let file: CriterionFile = given.section().parse()?;
        check_name(given, "name", &file.name)?;
        let at = |key: &str| given.get(key).unwrap_or_else(|| given.clone());
        let everywhere = Selection::default();
        let metric = metric_at(&at("metric"), &file.metric, jobs)?;
        let mut needs = vec![Need::metric(&at("metric"), &metric, &everywhere)];
        let of = match &file.of {
            None => Of::Nothing,
            Some(BoundFile::Quantity(text)) if quantity(text).is_none() => {
                let metric = metric_at(&at("of"), text, jobs)?;
                needs.push(Need::metric(&at("of"), &metric, &everywhere));
                Of::Metric(metric)
            }
            Some(bound) => Of::Number(bound.number(&at("of"), metric.unit())?),
        };
        if let Of::Number(0.0) = of {
            return Err(at("of").wrong("nothing can be divided by 0", "give another number"));
        }
        let unit = match of {
            Of::Nothing => metric.unit(),
            _ => "",
        };
        let bound = |key: &str, bound: &Option<BoundFile>| {
            let bound = bound.as_ref().map(|bound| bound.number(&at(key), unit));
            bound.transpose()
        };
        let (best, worst) = (bound("best", &file.best)?, bound("worst", &file.worst)?);
        let rising = rising(given, &file, best.zip(worst))?;
        if !(file.weight > 0.0 && file.weight.is_finite()) {
            let message = "this is no weight";
            return Err(at("weight").wrong(message, "give a number above 0"));
        }
        let criterion = Criterion {
            name: file.name,
            metric,
            of,
            rising,
            best,
            worst,
            weight: file.weight,
        };
        Ok((criterion, needs))
    }

    /// The metrics that it needs from the table.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let of = match &self.of {
            Of::Metric(metric) => Some(metric),
            Of::Nothing | Of::Number(_) => None,
        };
        std::iter::once(&self.metric).chain(of)
    }

    /// Its column.
    pub fn column(&self) -> Metric {
        let unit = match self.of {
            Of::Nothing => self.metric.unit(),
            _ => "",
        };
        Metric::derived(format!("{CRITERION}.{}", self.name), unit)
    }

    /// Its value at a point whose metrics are `values`, in the order of `metrics`.
    fn value(&self, metrics: &[Metric], values: &[Option<f64>]) -> Option<f64> {
        let value = |wanted: &Metric| {
            let at = metrics.iter().position(|own| own.name() == wanted.name())?;
            values.get(at).copied().flatten()
        };
        let own = value(&self.metric)?;
        let value = match &self.of {
            Of::Nothing => own,
            Of::Number(number) => own / number,
            Of::Metric(metric) => own / value(metric)?,
        };
        Some(value).filter(|value| value.is_finite())
    }

    /// Values with the full grade and with none, for points with these values.
    /// None if no point has any.
    fn ends(&self, values: &[Option<f64>]) -> Option<(f64, f64)> {
        let seen = || values.iter().copied().flatten();
        let (least, most) = (seen().reduce(f64::min)?, seen().reduce(f64::max)?);
        let (best, worst) = match self.rising {
            true => (most, least),
            false => (least, most),
        };
        let best = self.best.unwrap_or(best);
        let worst = self.worst.unwrap_or_else(|| {
            // Values that differ by a hair should not weigh as much as values that differ by half.
            let least = LEAST_RANGE * best.abs();
            match self.rising {
                true => worst.min(best - least),
                false => worst.max(best + least),
            }
        });
        Some((best, worst))
    }
}

/// The grade of a value: from 0 at `worst` to 1 at `best`. A missing value has none.
fn grade(value: Option<f64>, ends: Option<(f64, f64)>) -> f64 {
    match (value, ends) {
        (Some(value), Some((best, worst))) if best != worst => {
            ((value - worst) / (best - worst)).clamp(0.0, 1.0)
        }
        // All are alike.
        (Some(_), Some(_)) => 1.0,
        _ => 0.0,
    }
}

/// True if more is better.
fn rising(
    given: &Given,
    file: &CriterionFile,
    ends: Option<(f64, f64)>,
) -> Result<bool, ConfigError> {
    let goal = file.goal.map(|goal| goal == Goal::Max);
    let wrong = |key: &str, message: &str, remedy: &str| {
        Err(given.refuse(Invalid::new(key, message, remedy)))
    };
    match (ends, goal) {
        (Some((best, worst)), _) if best == worst => {
            wrong("best", "this is also the worst", "give two numbers")
        }
        (Some((best, worst)), Some(rising)) if (best > worst) != rising => {
            let message = "the goal goes the other way than from `worst` to `best`";
            wrong("goal", message, "leave it out, or change them")
        }
        (Some((best, worst)), _) => Ok(best > worst),
        (None, Some(rising)) => Ok(rising),
        (None, None) => {
            let message = "the key `goal` is missing";
            let remedy = "say which way is better, \"max\" or \"min\", or give `best` and `worst`";
            wrong("", message, remedy)
        }
    }
}

/// Adds to rows whose values are those of `metrics` the columns of the criteria, and that of the
/// score. Returns the new columns.
pub(crate) fn add_scores(
    criteria: &[Criterion],
    metrics: &[Metric],
    rows: &mut [&mut Vec<Option<f64>>],
) -> Vec<Metric> {
    if criteria.is_empty() {
        return Vec::new();
    }
    let values: Vec<Vec<Option<f64>>> = (criteria.iter())
        .map(|one| rows.iter().map(|row| one.value(metrics, row)).collect())
        .collect();
    let ends: Vec<_> = criteria
        .iter()
        .zip(&values)
        .map(|(one, own)| one.ends(own))
        .collect();
    let weights: f64 = criteria.iter().map(|one| one.weight).sum();
    for (index, row) in rows.iter_mut().enumerate() {
        let own: Vec<Option<f64>> = values.iter().map(|column| column[index]).collect();
        let grades = criteria.iter().zip(&own).zip(&ends);
        let grades = grades.map(|((one, value), ends)| one.weight * grade(*value, *ends));
        let score = grades.sum::<f64>() / weights;
        // A point without a result has no score.
        let known = own.iter().any(Option::is_some);
        row.extend(own);
        row.push(known.then_some(score));
    }
    let columns = criteria.iter().map(Criterion::column);
    columns
        .chain([Metric::derived(SCORE.to_string(), "")])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criteria(text: &str) -> Result<Vec<Criterion>, ConfigError> {
        let given = weir_input::Section::from_toml(text)?.given("criterion");
        let items = given.and_then(|given| given.items()).unwrap_or_default();
        let read = |given: &Given| Ok(Criterion::read(given, &["md".to_string()])?.0);
        items.iter().map(read).collect()
    }

    fn scores(text: &str, columns: [&str; 2], rows: &[[f64; 2]]) -> Vec<Option<f64>> {
        let metrics = columns.map(|name| Metric::parse(name, &["md".into()]).expect(name));
        let row = |values: &[f64; 2]| values.map(|x| Some(x).filter(|x| !x.is_nan())).to_vec();
        let mut rows: Vec<Vec<Option<f64>>> = rows.iter().map(row).collect();
        let mut values: Vec<_> = rows.iter_mut().collect();
        add_scores(&criteria(text).expect("good"), &metrics, &mut values);
        rows.iter()
            .map(|row| *row.last().expect("a score"))
            .collect()
    }

    fn alike(scores: &[Option<f64>], expected: &[Option<f64>]) {
        assert_eq!(scores.len(), expected.len());
        for (score, expected) in scores.iter().zip(expected) {
            let same = match (score, expected) {
                (Some(score), Some(expected)) => (score - expected).abs() < 1e-12,
                (score, expected) => score == expected,
            };
            assert!(same, "{scores:?}");
        }
    }

    const TWO: [&str; 2] = ["jobs.md.finish", "summary.accepted_load"];

    #[test]
    fn the_score_is_the_weighted_mean_of_grades() {
        // Twice the time alone has no grade, 1.5 times a half of it; the load counts three times as
        // much.
        let text = "[[criterion]]\nname = \"md\"\nmetric = \"jobs.md.finish\"\nof = \"100 ns\"\nbest = 1.0\nworst = 2.0\n\
                    [[criterion]]\nname = \"load\"\nmetric = \"summary.accepted_load\"\ngoal = \"max\"\nweight = 3";
        let rows = [
            [150.0, 0.2],
            [100.0, 0.4],
            [900.0, 0.3],
            [f64::NAN, 0.4],
            [f64::NAN, f64::NAN],
        ];
        let expected = [Some(0.125), Some(1.0), Some(0.375), Some(0.75), None];
        alike(&scores(text, TWO, &rows), &expected);
    }

    #[test]
    fn what_hardly_differs_decides_nothing() {
        let text = "[[criterion]]\nname = \"md\"\nmetric = \"jobs.md.finish\"\ngoal = \"min\"\n\
                    [[criterion]]\nname = \"load\"\nmetric = \"summary.accepted_load\"\ngoal = \"max\"";
        // A tenth of a percent of the first, a half of the second.
        let rows = [[1000.0, 0.2], [1001.0, 0.4]];
        alike(&scores(text, TWO, &rows), &[Some(0.5), Some(0.998)]);
    }

    #[test]
    fn one_metric_over_another() {
        let text = "[[criterion]]\nname = \"x\"\nmetric = \"summary.accepted_load\"\nof = \"summary.offered_load\"\nbest = 1.0\nworst = 0.0";
        let columns = ["summary.accepted_load", "summary.offered_load"];
        alike(
            &scores(text, columns, &[[0.3, 0.4], [0.3, 0.0]]),
            &[Some(0.75), None],
        );
    }

    #[test]
    fn what_says_nothing_is_refused() {
        let one = |rest: &str| {
            let text = format!("[[criterion]]\nname = \"md\"\nmetric = \"jobs.md.finish\"\n{rest}");
            criteria(&text).expect_err(rest).message
        };
        for (rest, part) in [
            ("", "`goal` is missing"),
            (
                "best = 1.0\ngoal = \"min\"",
                "1.0 has not the unit of what is measured",
            ),
            ("best = \"1 us\"\nworst = \"1 us\"", "also the worst"),
            (
                "best = \"1 us\"\nworst = \"2 us\"\ngoal = \"max\"",
                "the other way",
            ),
            ("goal = \"min\"\nof = \"0 ns\"", "divided by 0"),
            ("goal = \"min\"\nweight = -1", "no weight"),
            ("goal = \"min\"\nof = \"nothing.at.all\"", "no metric"),
        ] {
            let message = one(rest);
            assert!(message.contains(part), "{rest}: {message}");
        }
    }
}
