//! The numbers of all points: one row each, in the order of the study.

use std::collections::HashSet;
use std::io;

use super::cell::cell;
use crate::dir::{Reading, Stamp, State, SweepDir, Values};
use crate::job_file::Study;
use crate::job_file::criterion::add_scores;
use crate::metric::{Metric, Ran, SETTLED};
use crate::points::expand::Points;
use crate::points::{Point, Role};
use weir_result::{Frame, ResultFile, TraceError, replace};
use weir_simulation::config::{Catalog, Experiment};

/// The table of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns after those of the axes: metrics.
    pub metrics: Vec<Metric>,
    /// One per point.
    pub rows: Vec<Row>,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its place in the study.
    pub point: usize,
    /// Its directory.
    pub hash: String,
    /// The index of its value on each axis.
    pub at: Vec<usize>,
    /// Its seed.
    pub seed: u64,
    /// True if it is done.
    pub state: String,
    /// The value of each metric; None if it is not known.
    pub values: Vec<Option<f64>>,
    /// True if a latency among them is of few messages ([`Metric::is_of_few`]).
    pub few: bool,
}

impl Table {
    /// Reads all results that there are.
    ///
    /// # Errors
    /// If a result is damaged.
    pub fn collect(
        study: &Study,
        catalog: &Catalog,
        points: &Points,
        dir: &SweepDir,
    ) -> Result<Table, TraceError> {
        let mut results = Results {
            study,
            catalog,
            points,
            dir,
            states: dir.states(points),
            known: Values::of(dir),
            places: Vec::new(),
        };
        // Criteria are made of the other columns.
        let mut metrics = study.metrics();
        metrics.retain(|metric| !metric.is_derived());
        let asked = metrics.len();
        for name in usual(points) {
            if !metrics.iter().any(|metric| metric.name() == name)
                && let Ok(metric) = Metric::parse(&name, &points.jobs())
            {
                metrics.push(metric);
            }
        }
        let places = metrics
            .iter()
            .map(|metric| results.known.place(metric.name()));
        results.places = places.collect();
        let rows = points.iter().filter(|point| point.is_own());
        let rows = rows.map(|point| results.row(point, &metrics));
        let mut rows = rows.collect::<Result<Vec<Row>, TraceError>>()?;
        results.known.keep();
        leave_out_absent(asked, &mut metrics, &mut rows);
        let mut values: Vec<_> = rows.iter_mut().map(|row| &mut row.values).collect();
        let scores = add_scores(&study.criteria, &metrics, &mut values);
        metrics.extend(scores);
        Ok(Table { rows, metrics })
    }

    /// The column of a metric.
    pub fn column(&self, metric: &Metric) -> Option<usize> {
        self.metrics
            .iter()
            .position(|own| own.name() == metric.name())
    }

    /// As CSV: `point`, `hash`, `state`, the axes, `seed`, the metrics with their units.
    pub fn csv(&self, study: &Study) -> io::Result<Vec<u8>> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let axes = study.axes.iter().map(|axis| axis.name.clone());
        let head = ["point", "hash", "state"].map(str::to_string);
        let metrics = self.metrics.iter().map(Metric::header);
        let header = head.into_iter().chain(axes);
        let header = header.chain(["seed".to_string()]).chain(metrics);
        out.write_record(header.map(|text| cell(&text).into_owned()))?;
        for row in &self.rows {
            let head = [row.point.to_string(), row.hash.clone(), row.state.clone()];
            let labels = study.axes.iter().zip(&row.at);
            let labels = labels.map(|(axis, &value)| axis.values[value].label.clone());
            let values = row.values.iter().map(|value| shown(*value));
            let cells = head.into_iter().chain(labels);
            let cells = cells.chain([row.seed.to_string()]).chain(values);
            out.write_record(cells.map(|text| cell(&text).into_owned()))?;
        }
        out.into_inner().map_err(|error| error.into_error())
    }

    /// Writes `table.csv` and `table.h5`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, study: &Study, dir: &SweepDir) -> Result<(), TraceError> {
        let text = self.csv(study);
        let path = dir.table();
        text.and_then(|text| replace(&path, &text))
            .map_err(|error| TraceError::Write {
                path,
                cause: error.to_string(),
            })?;
        let mut frame = Frame::new(self.rows.len());
        let rows = || self.rows.iter();
        frame.whole(
            "point",
            "",
            "place in the study",
            rows().map(|row| row.point as u64),
        );
        frame.texts(
            "hash",
            "",
            "directory of the point",
            rows().map(|row| row.hash.clone()),
        );
        frame.texts(
            "state",
            "",
            "whether the point is done",
            rows().map(|row| row.state.clone()),
        );
        for (index, axis) in study.axes.iter().enumerate() {
            let values = rows().map(|row| &axis.values[row.at[index]]);
            match axis.numeric() {
                true => frame.numbers(
                    &axis.name,
                    &axis.unit,
                    &axis.label,
                    values.map(|value| value.number.unwrap_or(f64::NAN)),
                ),
                false => frame.texts(
                    &axis.name,
                    "",
                    &axis.label,
                    values.map(|value| value.label.clone()),
                ),
            }
        }
        frame.whole("seed", "", "seed of the run", rows().map(|row| row.seed));
        for (index, metric) in self.metrics.iter().enumerate() {
            let values = rows().map(|row| row.values[index].unwrap_or(f64::NAN));
            frame.numbers(metric.name(), metric.unit(), metric.name(), values);
        }
        weir_result::write_frame(&dir.table_h5(), &frame)
    }
}

impl Study {
    /// Metrics of a table that people are shown: asked for by the study, otherwise throughput,
    /// latency and the communication times of applications.
    pub fn shown_metrics(&self, all: &[Metric]) -> Vec<Metric> {
        const USUAL: [&str; 4] = [
            "summary.offered_load",
            "summary.accepted_load",
            "latency.message.mean",
            "latency.message.p99",
        ];
        let asked = self.metrics();
        match asked.is_empty() {
            true => {
                let usual = USUAL
                    .iter()
                    .filter_map(|name| Metric::parse(name, &[]).ok());
                let times = all.iter().filter(|metric| {
                    let job = metric.name().strip_prefix("jobs.");
                    job.is_some_and(|job| job.ends_with(".communication"))
                });
                usual.chain(times.cloned()).collect()
            }
            false => asked,
        }
    }
}

/// The results of a study.
struct Results<'a> {
    study: &'a Study,
    catalog: &'a Catalog,
    points: &'a Points,
    dir: &'a SweepDir,
    states: Vec<State>,
    known: Values,
    /// The place of each metric among the known values.
    places: Vec<usize>,
}

/// A result with its experiment.
struct Done {
    result: ResultFile,
    experiment: Experiment,
}

impl Done {
    fn ran(&self) -> Ran<'_> {
        Ran {
            result: &self.result,
            experiment: &self.experiment,
        }
    }
}

impl Results<'_> {
    fn done(&self, index: usize) -> bool {
        self.states[index] == State::Done
    }

    fn open(&self, index: usize) -> Result<ResultFile, TraceError> {
        ResultFile::open(&self.dir.point(&self.points[index].hash).result())
    }

    fn row(&mut self, point: &Point, metrics: &[Metric]) -> Result<Row, TraceError> {
        let readings = match self.done(point.index) {
            true => self.readings(point, metrics)?,
            false => vec![Reading::default(); metrics.len()],
        };
        Ok(Row {
            point: point.index,
            hash: point.hash.clone(),
            at: point.at.clone(),
            seed: point.seed,
            // A running point is not done yet, whoever looks and when.
            state: match self.states[point.index] {
                State::Running => "waiting".into(),
                ref state => state.name().into(),
            },
            values: readings.iter().map(|reading| reading.value).collect(),
            few: readings.iter().any(|reading| reading.few),
        })
    }

    /// The values of a point. Its result is opened if some are not known.
    fn readings(&mut self, point: &Point, metrics: &[Metric]) -> Result<Vec<Reading>, TraceError> {
        let path = self.dir.point(&point.hash).result();
        let stamp = Stamp::of(&path);
        let known = |place: &usize| self.known.get(&point.hash, stamp?, *place);
        let known: Vec<_> = self.places.iter().map(known).collect();
        // A slowdown compares it with other results, which may be missing now.
        let slowdown = |at: &usize| metrics[*at].slowdown().is_some();
        let (slowdowns, unread): (Vec<usize>, Vec<usize>) = (0..metrics.len())
            .filter(|&at| known[at].is_none())
            .partition(slowdown);
        let mut readings: Vec<_> = known.into_iter().map(Option::unwrap_or_default).collect();
        if unread.is_empty() && slowdowns.is_empty() {
            return Ok(readings);
        }
        let result = ResultFile::open(&path)?;
        for at in unread {
            readings[at] = Reading {
                value: metrics[at].read(&result)?,
                few: metrics[at].is_of_few(&result)?,
            };
            if let Some(stamp) = stamp {
                let place = self.places[at];
                self.known.set(&point.hash, stamp, place, readings[at]);
            }
        }
        if !slowdowns.is_empty() {
            self.add_slowdowns(point, result, metrics, &mut readings)?;
        }
        Ok(readings)
    }

    /// Fills in what compares a result with those of its jobs alone.
    fn add_slowdowns(
        &self,
        point: &Point,
        result: ResultFile,
        metrics: &[Metric],
        readings: &mut [Reading],
    ) -> Result<(), TraceError> {
        let beside = Done {
            result,
            experiment: self.experiment(point)?,
        };
        let alone = self.alone(point)?;
        let alone = alone.iter();
        let alone: Vec<(&str, Option<Ran>)> = alone
            .map(|(job, run)| (*job, run.as_ref().map(Done::ran)))
            .collect();
        for (metric, reading) in metrics.iter().zip(readings) {
            if metric.slowdown().is_some() {
                reading.value = metric.compared(beside.ran(), &alone)?;
            }
        }
        Ok(())
    }

    fn experiment(&self, point: &Point) -> Result<Experiment, TraceError> {
        let experiment = self.study.experiment(point, self.catalog);
        experiment.map_err(|error| TraceError::Read {
            path: self.study.path.clone(),
            cause: error.to_string(),
        })
    }

    /// The jobs of a point alone; None if a run is not there yet.
    fn alone<'p>(&self, point: &'p Point) -> Result<Vec<(&'p str, Option<Done>)>, TraceError> {
        let Role::Own { alone } = &point.role else {
            return Ok(Vec::new());
        };
        let all = alone.iter().map(|(job, run)| {
            let run = self.done(*run).then(|| {
                Ok(Done {
                    result: self.open(*run)?,
                    experiment: self.experiment(&self.points[*run])?,
                })
            });
            Ok((job.as_str(), run.transpose()?))
        });
        all.collect()
    }
}

/// Content of every table, whether it is asked for or not: totals, the communication time of
/// applications, and the latencies of all classes.
fn usual(points: &Points) -> Vec<String> {
    let mut classes: Vec<String> = ["network", "message"].map(str::to_string).to_vec();
    // With one job its classes equal those of the whole network.
    let jobs = points.jobs();
    if jobs.len() > 1 {
        for job in &jobs {
            classes.extend(["network", "message"].map(|kind| format!("job.{job}.{kind}")));
        }
    }
    let summary = SUMMARY.iter().map(|name| format!("summary.{name}"));
    let settled = [SETTLED.to_string()];
    let spent = points.applications();
    let spent = spent.map(|job| format!("jobs.{job}.communication"));
    let latency = classes.iter().flat_map(|class| {
        LATENCY
            .iter()
            .map(move |stat| format!("latency.{class}.{stat}"))
    });
    summary.chain(settled).chain(spent).chain(latency).collect()
}

/// Takes out the latencies that no result has, unless they were asked for: the first `asked`. If no
/// result has any, or there is no result yet, all stay. `settled` goes if no result has it.
fn leave_out_absent(asked: usize, metrics: &mut Vec<Metric>, rows: &mut [Row]) {
    let known = |at: usize| rows.iter().any(|row| row.values[at].is_some());
    let there: HashSet<&str> = (metrics.iter().enumerate())
        .filter(|(at, _)| known(*at))
        .filter_map(|(_, metric)| class_of(metric.name()))
        .collect();
    let stays = |(at, metric): (usize, &Metric)| {
        let absent = match class_of(metric.name()) {
            Some(class) => !there.is_empty() && !there.contains(class),
            None => metric.name() == SETTLED && !known(at),
        };
        at < asked || !absent
    };
    let stay: Vec<bool> = metrics.iter().enumerate().map(stays).collect();
    let mut stays = stay.iter();
    metrics.retain(|_| stays.next() == Some(&true));
    for row in rows {
        let mut stays = stay.iter();
        row.values.retain(|_| stays.next() == Some(&true));
    }
}

/// The class of a latency.
fn class_of(name: &str) -> Option<&str> {
    Some(name.strip_prefix("latency.")?.rsplit_once('.')?.0)
}

/// A number in a form that is read back exactly; nothing for an unknown one.
fn shown(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

const SUMMARY: [&str; 7] = [
    "offered_load",
    "accepted_load",
    "packets_injected",
    "packets_delivered",
    "packets_dropped",
    "messages_received",
    "simulated",
];
const LATENCY: [&str; 7] = ["samples", "mean", "p50", "p90", "p99", "p999", "max"];
