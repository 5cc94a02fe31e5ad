//! `[[claims]]`, checked. Their measurement is in `outcome::verdict`.

use super::axis::{Axis, check_name};
use super::bound::BoundFile;
use super::figure::metric_at;
use super::keys::{
    Along, ClaimFile, FirstFile, MonotoneFile, OrderFile, ReferenceFile, Scale, SeedsBy, Slope,
};
use super::needs::Need;
use super::selection::{Selection, axis_named};
use super::trend::Trend;
use crate::metric::Metric;
use weir_input::ConfigError;
use weir_input::Given;
use weir_model::Invalid;

/// A statement about the table.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The words.
    pub says: String,
    /// Metric that is measured.
    pub metric: Metric,
    /// The points.
    pub selection: Selection,
    /// Scale at which it is checked; None: at both.
    pub scale: Option<Scale>,
    pub(crate) seeds: SeedsBy,
    pub(crate) reduce: Option<Reduce>,
    pub(crate) reference: Option<Reference>,
    pub(crate) bound: Bound,
}

/// One number of those along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Reduce {
    pub axis: usize,
    pub how: ReduceHow,
}

#[derive(Clone, Debug)]
pub(crate) enum ReduceHow {
    Take(Along),
    First(Condition),
}

/// The metric is above (or below) `times` of something.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub above: bool,
    pub times: f64,
    pub of: Of,
}

#[derive(Clone, Debug)]
pub(crate) enum Of {
    Nothing,
    Start,
    Metric(Metric),
}

/// Reference to compare with.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub ratio: bool,
    pub metric: Metric,
    /// Index of an axis and of the value that replaces the point's own.
    pub at: Vec<(usize, usize)>,
}

impl Reference {
    /// The place that is compared with the one at `at`.
    pub fn place(&self, at: &[usize]) -> Vec<usize> {
        let mut there = at.to_vec();
        for (axis, value) in &self.at {
            there[*axis] = *value;
        }
        there
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// Between these two.
    Range { min: Option<f64>, max: Option<f64> },
    /// Never going in the wrong direction along some values of an axis.
    Trend(Trend),
}

impl Claim {
    /// The claim, and its requirements on the results.
    pub(crate) fn read(
        given: &Given,
        axes: &[Axis],
        jobs: &[String],
    ) -> Result<(Claim, Vec<Need>), ConfigError> {
        let file: ClaimFile = given.section().parse()?;
        check_name(given, "id", &file.id)?;
        let reader = Reader { given, axes, jobs };
        let metric = reader.metric("metric", &file.metric)?;
        let reduce = reader.reduce(&file, &metric)?;
        let reference = reader.reference(&file, &metric, reduce.as_ref())?;
        let unit = unit(&metric, &reduce, &reference, axes);
        let selection = Selection::of(given, "where", axes)?;
        let mut needs = vec![Need::metric(&reader.at("metric"), &metric, &selection)];
        if let Some(of) = other(&reduce) {
            needs.push(Need::metric(&reader.at("first.of"), of, &selection));
        }
        if let Some(reference) = &reference {
            let key = if reference.ratio {
                "ratio"
            } else {
                "difference"
            };
            let at = reader.at(&format!("{key}.metric"));
            needs.push(Need::metric(&at, &reference.metric, &Selection::default()));
        }
        let bound = reader.bound(&file, &reference, &reduce, &unit)?;
        if let Bound::Trend(trend) = &bound {
            trend.check(given, axes, &selection)?;
        }
        let claim = Claim {
            bound,
            selection,
            id: file.id,
            says: file.says,
            metric,
            scale: file.scale,
            seeds: file.seeds,
            reduce,
            reference,
        };
        Ok((claim, needs))
    }

    /// The unit of its measure.
    pub fn unit(&self, axes: &[Axis]) -> String {
        unit(&self.metric, &self.reduce, &self.reference, axes)
    }

    /// The metrics that it needs from the table.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let of = other(&self.reduce);
        let reference = self.reference.as_ref().map(|reference| &reference.metric);
        std::iter::once(&self.metric).chain(of).chain(reference)
    }
}

/// The metric that the place on an axis is looked for with, besides the claim's own.
fn other(reduce: &Option<Reduce>) -> Option<&Metric> {
    match &reduce.as_ref()?.how {
        ReduceHow::First(Condition {
            of: Of::Metric(metric),
            ..
        }) => Some(metric),
        _ => None,
    }
}

/// A ratio has no unit, a place on an axis has that of the axis.
fn unit(
    metric: &Metric,
    reduce: &Option<Reduce>,
    reference: &Option<Reference>,
    axes: &[Axis],
) -> String {
    match (reduce, reference) {
        (_, Some(Reference { ratio: true, .. })) => String::new(),
        (
            Some(Reduce {
                axis,
                how: ReduceHow::First(_),
            }),
            _,
        ) => axes[*axis].unit.clone(),
        _ => metric.unit().to_string(),
    }
}

struct Reader<'a> {
    given: &'a Given,
    axes: &'a [Axis],
    jobs: &'a [String],
}

impl Reader<'_> {
    /// Place of a key, or of the whole claim.
    fn at(&self, path: &str) -> Given {
        let mut at = self.given.clone();
        for key in path.split('.') {
            match at.get(key) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        at
    }

    fn metric(&self, path: &str, name: &str) -> Result<Metric, ConfigError> {
        metric_at(&self.at(path), name, self.jobs)
    }

    fn axis(&self, path: &str, name: &str) -> Result<usize, ConfigError> {
        axis_named(&self.at(path), self.axes, name)
    }

    fn refuse(&self, key: &str, message: &str, remedy: &str) -> ConfigError {
        self.given.refuse(Invalid::new(key, message, remedy))
    }

    fn reduce(&self, file: &ClaimFile, metric: &Metric) -> Result<Option<Reduce>, ConfigError> {
        let (name, how) = match (&file.along, file.take, &file.first) {
            (None, None, None) => return Ok(None),
            (Some(name), Some(take), None) => (name, ReduceHow::Take(take)),
            (Some(name), None, Some(first)) => {
                (name, ReduceHow::First(self.condition(first, metric)?))
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(self.refuse(
                    "first",
                    "`take` and `first` are both given",
                    "remove one of the two",
                ));
            }
            (Some(_), None, None) => {
                return Err(self.refuse(
                    "along",
                    "nothing is done along this axis",
                    "add `take` or `first`",
                ));
            }
            (None, ..) => {
                return Err(self.refuse(
                    "",
                    "the key `along` is missing",
                    "name the axis for `take` or `first`",
                ));
            }
        };
        let axis = self.axis("along", name)?;
        if matches!(how, ReduceHow::First(_)) && !self.axes[axis].numeric() {
            let message = format!("the values of the axis `{name}` are not numbers of one unit");
            return Err(self.refuse("along", &message, "`first` needs an axis of numbers"));
        }
        Ok(Some(Reduce { axis, how }))
    }

    fn condition(&self, first: &FirstFile, metric: &Metric) -> Result<Condition, ConfigError> {
        let (above, key, bound) = match (&first.above, &first.below) {
            (Some(bound), None) => (true, "first.above", bound),
            (None, Some(bound)) => (false, "first.below", bound),
            _ => {
                return Err(self.refuse(
                    "first",
                    "one of `above` and `below` has to be given",
                    "write { above = … } or { below = … }",
                ));
            }
        };
        let of = match first.of.as_deref() {
            None => Of::Nothing,
            Some("start") => Of::Start,
            Some(name) => {
                let other = self.metric("first.of", name)?;
                self.same_unit("first.of", metric, &other)?;
                Of::Metric(other)
            }
        };
        let unit = match of {
            Of::Nothing => metric.unit(),
            _ => "",
        };
        Ok(Condition {
            above,
            times: bound.number(&self.at(key), unit)?,
            of,
        })
    }

    fn same_unit(&self, path: &str, one: &Metric, other: &Metric) -> Result<(), ConfigError> {
        if one.unit() == other.unit() {
            return Ok(());
        }
        let units = [one, other].map(|metric| match metric.unit() {
            "" => "no unit".to_string(),
            unit => format!("{unit:?}"),
        });
        Err(self.at(path).wrong(
            format!(
                "{} has {}, {} has {}",
                one.name(),
                units[0],
                other.name(),
                units[1]
            ),
            "compare metrics of the same unit",
        ))
    }

    fn reference(
        &self,
        file: &ClaimFile,
        own: &Metric,
        reduce: Option<&Reduce>,
    ) -> Result<Option<Reference>, ConfigError> {
        let (key, ratio, reference) = match (&file.ratio, &file.difference) {
            (None, None) => return Ok(None),
            (Some(reference), None) => ("ratio", true, reference),
            (None, Some(reference)) => ("difference", false, reference),
            (Some(_), Some(_)) => {
                return Err(self.refuse(
                    "difference",
                    "`ratio` and `difference` are both given",
                    "remove one of the two",
                ));
            }
        };
        let ReferenceFile { metric, .. } = reference;
        let metric = match metric {
            Some(name) => {
                let path = format!("{key}.metric");
                let metric = self.metric(&path, name)?;
                if !ratio {
                    self.same_unit(&path, own, &metric)?;
                }
                metric
            }
            None => own.clone(),
        };
        let at = self.at(key);
        let places = Selection::elsewhere(&at, self.axes)?;
        let first = reduce.filter(|one| matches!(one.how, ReduceHow::First(_)));
        if let Some(first) = first
            && places.iter().any(|(axis, _)| *axis == first.axis)
        {
            return Err(self.refuse(
                &format!("{key}.where"),
                "this is a place on the axis along which `first` looks, and no measure of it",
                "name places of other axes",
            ));
        }
        if places.is_empty() && metric == *own {
            return Err(self.refuse(
                key,
                "this compares every point with itself",
                "name another point (`where`) or another metric",
            ));
        }
        Ok(Some(Reference {
            ratio,
            metric,
            at: places,
        }))
    }

    fn bound(
        &self,
        file: &ClaimFile,
        reference: &Option<Reference>,
        reduce: &Option<Reduce>,
        unit: &str,
    ) -> Result<Bound, ConfigError> {
        let range = file.min.is_some() || file.max.is_some();
        let given = [
            range,
            file.within.is_some(),
            file.order.is_some(),
            file.monotone.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(self.refuse(
                "",
                "a claim has one bound",
                "give `min`, `max` or both of them, or `within`, or `order`, or `monotone`",
            ));
        }
        if let Some(within) = file.within {
            let of_ratio = reference.as_ref().is_some_and(|reference| reference.ratio);
            if !of_ratio || !within.is_finite() || within <= 0.0 {
                return Err(self.refuse(
                    "within",
                    "this is no tolerance of a ratio",
                    "give `ratio` too, and a fraction such as 0.05; else `min` and `max`",
                ));
            }
            return Ok(Bound::Range {
                min: Some(1.0 - within),
                max: Some(1.0 + within),
            });
        }
        if range {
            return self.range(file, unit);
        }
        let trend = self.trend(file)?;
        if reduce
            .as_ref()
            .is_some_and(|reduce| trend.axis == reduce.axis)
        {
            return Err(self.refuse(
                "along",
                "one number is taken along the axis of the order",
                "name another axis",
            ));
        }
        Ok(Bound::Trend(trend))
    }

    fn range(&self, file: &ClaimFile, unit: &str) -> Result<Bound, ConfigError> {
        let read = |key: &str, bound: &Option<BoundFile>| {
            let bound = bound
                .as_ref()
                .map(|bound| bound.number(&self.at(key), unit));
            bound.transpose()
        };
        let (min, max) = (read("min", &file.min)?, read("max", &file.max)?);
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(self.refuse("min", "`min` is more than `max`", "exchange the two"));
        }
        Ok(Bound::Range { min, max })
    }

    fn trend(&self, file: &ClaimFile) -> Result<Trend, ConfigError> {
        let slack_of = |key: &str, slack: f64| match (0.0..1.0).contains(&slack) {
            true => Ok(slack),
            false => Err(self.refuse(
                key,
                "the slack is a fraction",
                "write a number from 0 to less than 1",
            )),
        };
        if let Some(OrderFile { axis, slack, .. }) = &file.order {
            let axis = self.axis("order.axis", axis)?;
            let at = self.at("order.values");
            let items = at.items().unwrap_or_default();
            let values = items.iter().map(|value| self.axes[axis].find(value));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if values.len() < 2 {
                return Err(at.wrong(
                    "an order needs two values",
                    "write a list of values of the axis",
                ));
            }
            return Ok(Trend {
                axis,
                values,
                rising: true,
                strict: true,
                slack: slack_of("order.slack", *slack)?,
            });
        }
        let Some(MonotoneFile {
            axis,
            direction,
            slack,
        }) = &file.monotone
        else {
            return Err(self.refuse("", "a claim has one bound", "give `min` or `max`"));
        };
        let axis = self.axis("monotone.axis", axis)?;
        let own = &self.axes[axis].values;
        let mut values: Vec<usize> = (0..own.len()).collect();
        // Texts stay in the order in which they are written.
        let number = |&at: &usize| own[at].number.unwrap_or_default();
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        Ok(Trend {
            values,
            axis,
            rising: *direction == Slope::Rising,
            strict: false,
            slack: slack_of("monotone.slack", *slack)?,
        })
    }
}
