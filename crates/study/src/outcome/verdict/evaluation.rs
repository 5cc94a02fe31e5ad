//! Judges claims by the table of a study, over all seeds and with each alone.

use std::collections::{BTreeSet, HashMap};

use super::doubt::{Doubt, doubt};
use super::judgement::{Judgement, Measured, taken};
use super::{Count, Verdict};
use crate::job_file::Study;
use crate::job_file::axis::Axis;
use crate::job_file::claim::{Bound, Claim, Condition, Of, Reduce, ReduceHow, Reference};
use crate::job_file::keys::{Along, SeedsBy};
use crate::job_file::trend::Trend;
use crate::metric::Metric;
use crate::outcome::table::{Row, Table};

type Outcome<T> = Result<T, String>;

impl Study {
    /// Verdicts on all claims.
    pub fn verdicts(&self, table: &Table) -> Vec<Verdict> {
        let evaluation = |seed: Option<u64>| {
            let mut rows: HashMap<&[usize], Vec<&Row>> = HashMap::new();
            let chosen = |row: &&Row| seed.is_none_or(|seed| row.seed == seed);
            for row in table.rows.iter().filter(chosen) {
                rows.entry(&row.at).or_default().push(row);
            }
            Evaluation {
                study: self,
                table,
                rows,
            }
        };
        let seeds: BTreeSet<u64> = table.rows.iter().map(|row| row.seed).collect();
        let alone: Vec<Evaluation> = match seeds.len() {
            0 | 1 => Vec::new(),
            _ => seeds
                .into_iter()
                .map(|seed| evaluation(Some(seed)))
                .collect(),
        };
        let all = evaluation(None);
        let verdict = |claim| all.verdict(claim, &alone);
        self.claims.iter().map(verdict).collect()
    }
}

pub(super) struct Evaluation<'a> {
    study: &'a Study,
    pub(super) table: &'a Table,
    /// The points at each place: one for each seed.
    pub(super) rows: HashMap<&'a [usize], Vec<&'a Row>>,
}

impl Evaluation<'_> {
    fn axes(&self) -> &[Axis] {
        &self.study.axes
    }

    /// `alone` are the same with one seed each.
    fn verdict(&self, claim: &Claim, alone: &[Evaluation]) -> Verdict {
        let unit = claim.unit(self.axes());
        let mean = self.judge(claim, &unit);
        // Seeds without any point of the claim say nothing.
        let alone = alone.iter().filter(|one| one.has_points(claim));
        let mut each: Vec<Judgement> = alone.map(|one| one.judge(claim, &unit)).collect();
        if each.len() == 1 {
            each.clear();
        }
        let doubt = doubt(claim, &mean, &each);
        let mut measured = mean.measured.clone();
        let values: Vec<f64> = each.iter().filter_map(Judgement::value).collect();
        if mean.value().is_some() && !values.is_empty() {
            let (low, high) = (taken(Along::Min, &values), taken(Along::Max, &values));
            measured.push_str(&format!(" (seeds: {})", between(low, high, &unit)));
        }
        if let Some(Doubt { words, at }) = &doubt {
            measured.push_str(words);
            if let Some(at) = at.as_ref().filter(|_| mean.all.len() > 1) {
                measured.push_str(&format!(" at {}", self.place(at)));
            }
        }
        let points = self.points(claim);
        Verdict {
            id: claim.id.clone(),
            says: claim.says.clone(),
            measured,
            bound: self.bound_in_words(claim, &unit),
            holds: mean.holds.filter(|_| doubt.is_none()),
            seeds: (!each.is_empty()).then(|| Count {
                held: each.iter().filter(|one| one.holds == Some(true)).count(),
                of: each.len(),
            }),
            simulated: self.simulated(&points),
            settled: self.settled(&points),
        }
    }

    fn judge(&self, claim: &Claim, unit: &str) -> Judgement {
        let all = match self.all(claim) {
            Ok(all) => all,
            Err(why) => {
                return Judgement {
                    measured: format!("not measured: {why}"),
                    holds: None,
                    all: Vec::new(),
                };
            }
        };
        let (measured, holds) = match &claim.bound {
            Bound::Range { min, max } => {
                let (text, holds) = self.range(&all, *min, *max, unit);
                (text, Some(holds))
            }
            Bound::Trend(trend) => self.trend(&all, trend, unit),
        };
        Judgement {
            measured,
            holds,
            all,
        }
    }

    /// Measured values at each place that the claim is about.
    fn all(&self, claim: &Claim) -> Outcome<Vec<Measured>> {
        let mut places: Vec<Vec<usize>> = Vec::new();
        for row in &self.table.rows {
            let mut at = row.at.clone();
            if let Some(reduce) = &claim.reduce {
                at[reduce.axis] = 0;
            }
            if claim.selection.has(&row.at) && !places.contains(&at) {
                places.push(at);
            }
        }
        if places.is_empty() {
            return Err("no point is selected".into());
        }
        let one = |at: Vec<usize>| {
            let (value, words) = self.compared(claim, &at)?;
            Ok(Measured { at, value, words })
        };
        places.into_iter().map(one).collect()
    }

    /// The measure at a place, compared with the reference if there is one; and words before it.
    fn compared(&self, claim: &Claim, at: &[usize]) -> Outcome<(f64, &'static str)> {
        let own = self.measure(claim, &claim.metric, at, claim.reduce.as_ref())?;
        let Some(reference) = &claim.reference else {
            return Ok((own, ""));
        };
        let Reference {
            ratio,
            metric,
            at: places,
        } = reference;
        let there = reference.place(at);
        // A reference at one place of the axis is the number there.
        let fixed = |reduce: &&Reduce| !places.iter().any(|(axis, _)| *axis == reduce.axis);
        let reduce = claim.reduce.as_ref().filter(fixed);
        let other = self.measure(claim, metric, &there, reduce)?;
        let result = |own: f64, other: f64| if *ratio { own / other } else { own - other };
        // Nowhere is no number, but beyond the last place.
        let nowhere = |value: f64| value == f64::INFINITY;
        let (value, words) = match (nowhere(own), nowhere(other)) {
            (false, false) => (result(own, other), ""),
            (true, false) if other > 0.0 || !ratio => {
                (result(self.last(claim, at), other), "at least ")
            }
            (false, true) if own >= 0.0 || !ratio => {
                (result(own, self.last(claim, &there)), "at most ")
            }
            _ => (f64::NAN, ""),
        };
        let numbers = format!("{} and {}", number(own), number(other));
        match value.is_finite() {
            false => Err(format!("{numbers} cannot be compared")),
            true if words.is_empty() || decides(&claim.bound, value, words) => Ok((value, words)),
            true => {
                let end = number(value);
                Err(format!("{numbers}: {words}{end} does not decide"))
            }
        }
    }

    /// The last place on the axis along which a condition is looked for; NaN if there is none, or
    /// if it is not more than 0.
    fn last(&self, claim: &Claim, at: &[usize]) -> f64 {
        let Some(Reduce {
            axis,
            how: ReduceHow::First(_),
        }) = claim.reduce
        else {
            return f64::NAN;
        };
        let places = self.along(claim, at, axis);
        let numbers = places.iter().map(|place| self.number_on(axis, place));
        let last = numbers.fold(f64::NAN, f64::max);
        if last > 0.0 { last } else { f64::NAN }
    }

    /// The places with points along an axis that a claim is about.
    fn along(&self, claim: &Claim, at: &[usize], axis: usize) -> Vec<Vec<usize>> {
        let wanted = claim.selection.on(axis);
        let places = (0..self.axes()[axis].values.len()).map(|value| {
            let mut place = at.to_vec();
            place[axis] = value;
            place
        });
        let there = places.filter(|place| {
            wanted.is_none_or(|wanted| wanted.contains(&place[axis]))
                && self.rows.contains_key(place.as_slice())
        });
        there.collect()
    }

    /// The number of a place on an axis; NaN if it is none.
    fn number_on(&self, axis: usize, at: &[usize]) -> f64 {
        let value = &self.axes()[axis].values[at[axis]];
        value.number.unwrap_or(f64::NAN)
    }

    /// The metric at a place, or one number of those along an axis.
    fn measure(
        &self,
        claim: &Claim,
        metric: &Metric,
        at: &[usize],
        reduce: Option<&Reduce>,
    ) -> Outcome<f64> {
        let Some(Reduce { axis, how }) = reduce else {
            return self.value(metric, at, claim.seeds);
        };
        let places = self.along(claim, at, *axis);
        if places.is_empty() {
            return Err(format!("there is no point at {}", self.place(at)));
        }
        match how {
            ReduceHow::Take(take) => {
                let values = places.iter().map(|at| self.value(metric, at, claim.seeds));
                Ok(taken(*take, &values.collect::<Outcome<Vec<f64>>>()?))
            }
            ReduceHow::First(condition) => {
                self.first(metric, *axis, places, condition, claim.seeds)
            }
        }
    }

    /// Place on an axis where a condition first holds: by linear interpolation between the last
    /// place where it does not and the first where it does; infinity if nowhere.
    fn first(
        &self,
        metric: &Metric,
        axis: usize,
        mut places: Vec<Vec<usize>>,
        condition: &Condition,
        seeds: SeedsBy,
    ) -> Outcome<f64> {
        let x = |at: &Vec<usize>| self.number_on(axis, at);
        places.sort_by(|a, b| x(a).total_cmp(&x(b)));
        let start = self.value(metric, &places[0], seeds)?;
        let mut before: Option<(f64, f64)> = None;
        for at in &places {
            let own = self.value(metric, at, seeds)?;
            let of = match &condition.of {
                Of::Nothing => 1.0,
                Of::Start => start,
                Of::Metric(metric) => self.value(metric, at, seeds)?,
            };
            let sign = if condition.above { 1.0 } else { -1.0 };
            // More than 0 if the condition holds.
            let beyond = sign * (own - condition.times * of);
            let here = x(at);
            if beyond > 0.0 {
                return Ok(match before {
                    Some((x, short)) => x + (here - x) * -short / (beyond - short),
                    None => here,
                });
            }
            before = Some((here, beyond));
        }
        Ok(f64::INFINITY)
    }

    /// The metric at a place, over its seeds.
    fn value(&self, metric: &Metric, at: &[usize], seeds: SeedsBy) -> Outcome<f64> {
        let rows = self
            .rows
            .get(at)
            .ok_or_else(|| format!("there is no point at {}", self.place(at)))?;
        let column = self
            .table
            .column(metric)
            .ok_or_else(|| format!("{} is not in the table", metric.name()))?;
        let one = |row: &&Row| {
            row.values[column].ok_or_else(|| match row.state.as_str() {
                "done" => format!("{} is missing at {}", metric.name(), self.place(at)),
                state => format!("the point {} ({}) is {state}", row.point, self.place(at)),
            })
        };
        let values = rows.iter().map(one).collect::<Outcome<Vec<f64>>>()?;
        Ok(match seeds {
            SeedsBy::Mean => taken(Along::Mean, &values),
            SeedsBy::Min => taken(Along::Min, &values),
            SeedsBy::Max => taken(Along::Max, &values),
        })
    }

    fn range(
        &self,
        all: &[Measured],
        min: Option<f64>,
        max: Option<f64>,
        unit: &str,
    ) -> (String, bool) {
        let good = |one: &&Measured| {
            min.is_none_or(|min| one.value >= min) && max.is_none_or(|max| one.value <= max)
        };
        let beyond = |one: &Measured| {
            let below = min.map_or(f64::NEG_INFINITY, |min| min - one.value);
            below.max(max.map_or(f64::NEG_INFINITY, |max| one.value - max))
        };
        let bad = all.iter().filter(|one| !good(one));
        // The first of several.
        let worst = bad
            .rev()
            .max_by(|one, other| beyond(one).total_cmp(&beyond(other)));
        let holds = worst.is_none();
        let values = || all.iter().map(|one| one.value);
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let text = match all {
            [one] => format!("{}{}", one.words, with_unit(one.value, unit)),
            _ => {
                // Of two places one name tells which is which.
                let named = worst.or(all.first().filter(|_| all.len() == 2 && low < high));
                let named = named.map_or(String::new(), |one| {
                    let (value, place) = (with_unit(one.value, unit), self.place(&one.at));
                    format!("; {value} at {place}")
                });
                format!("{} ({} places{named})", between(low, high, unit), all.len())
            }
        };
        (text, holds)
    }

    /// True if the measure goes in the right direction along an axis, for all places on the other
    /// axes; None if it does not go in the wrong one, and a place of an order is missing.
    fn trend(&self, all: &[Measured], trend: &Trend, unit: &str) -> (String, Option<bool>) {
        let rows = trend.rows(all);
        let (mut shown, mut missing) = (None, None);
        for (rest, row) in &rows {
            let right = |pair: &[&Measured]| {
                let step = trend.step(pair[0], pair[1]);
                step > 0.0 || (!trend.strict && step == 0.0)
            };
            let text = row.iter().map(|one| {
                let label = &self.axes()[trend.axis].values[one.at[trend.axis]].label;
                format!("{label}: {}", with_unit(one.value, unit))
            });
            let text = text.collect::<Vec<_>>().join(", ");
            if !row.windows(2).all(right) {
                return (text, Some(false));
            }
            let is_there = |value: &usize| row.iter().any(|one| one.at[trend.axis] == *value);
            let absent = trend.values.iter().find(|value| !is_there(value));
            if let Some(value) = absent.filter(|_| trend.strict || row.len() < 2) {
                let mut place = rest.clone();
                place[trend.axis] = *value;
                missing.get_or_insert(place);
            }
            shown.get_or_insert(text);
        }
        if let Some(place) = missing {
            let place = self.place(&place);
            return (format!("not measured: there is no point at {place}"), None);
        }
        let more = match rows.len() {
            1 => String::new(),
            count => format!(" (and so for all {count})"),
        };
        (shown.unwrap_or_default() + &more, Some(!rows.is_empty()))
    }

    fn bound_in_words(&self, claim: &Claim, unit: &str) -> String {
        match &claim.bound {
            Bound::Range {
                min: Some(min),
                max: Some(max),
            } => between(*min, *max, unit),
            Bound::Range { min: Some(min), .. } => format!("at least {}", with_unit(*min, unit)),
            Bound::Range { max, .. } => {
                format!("at most {}", with_unit(max.unwrap_or(f64::INFINITY), unit))
            }
            Bound::Trend(Trend {
                axis,
                values,
                rising,
                slack,
                strict,
            }) => {
                let axis = &self.axes()[*axis];
                let text = match strict {
                    true => {
                        let labels = values
                            .iter()
                            .map(|value| axis.values[*value].label.as_str());
                        labels.collect::<Vec<_>>().join(" < ")
                    }
                    false if *rising => format!("rising along {}", axis.name),
                    false => format!("falling along {}", axis.name),
                };
                match *slack > 0.0 {
                    true => format!("{text} (within {})", number(*slack)),
                    false => text,
                }
            }
        }
    }

    fn place(&self, at: &[usize]) -> String {
        let words = self.axes().iter().zip(at);
        let words =
            words.map(|(axis, &value)| format!("{}={}", axis.name, axis.values[value].label));
        let words: Vec<String> = words.collect();
        match words.is_empty() {
            true => "the only place".to_string(),
            false => words.join(" "),
        }
    }
}

/// True if one end of what a value may be, with "at least " or "at most " before it, tells on which
/// side of a bound it is.
fn decides(bound: &Bound, end: f64, words: &str) -> bool {
    let Bound::Range { min, max } = bound else {
        return false;
    };
    match words {
        "at least " => max.map_or(min.is_some_and(|min| end >= min), |max| end > max),
        _ => min.map_or(max.is_some_and(|max| end <= max), |min| end < min),
    }
}

/// Four digits, as people write them.
fn number(value: f64) -> String {
    if value.is_infinite() {
        return "nowhere".to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn with_unit(value: f64, unit: &str) -> String {
    let (per, unit) = suited(value, unit);
    match unit {
        "" => number(value),
        _ if value.is_infinite() => number(value),
        unit => format!("{} {unit}", number(value / per)),
    }
}

/// Two ends in one unit, which suits the second.
fn between(low: f64, high: f64, unit: &str) -> String {
    let (per, _) = suited(high, unit);
    format!("{} to {}", number(low / per), with_unit(high, unit))
}

/// The unit in which people write such a value, and how many of the given unit it is.
fn suited(value: f64, unit: &str) -> (f64, &str) {
    match value.abs() {
        _ if unit != "ns" => (1.0, unit),
        f64::INFINITY => (1.0, unit),
        ms if ms >= 1e6 => (1e6, "ms"),
        us if us >= 1e4 => (1e3, "us"),
        _ => (1.0, unit),
    }
}
