//! Measurements of a run, merged over all domains and ready to be written: the content of `/data`
//! and `/run`. Their summary is in `stats`.

pub(crate) mod stats;

use super::attribution::table::Attribution;
use super::schema::{
    ChangedLinks, Cost, Flows, JobSeries, JobTasks, JobTotals, Phases, Ports, Rates, Routers,
    TimelineNumbers,
};
use weir_model::table::{Iterations, LinkIntervals, Messages, Packets, Summary, TaskIntervals};
use weir_model::{Histogram, KindName, Time};

/// Everything under `/data`. Bit-identical for any number of ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Attributes of `/data/summary`.
    pub summary: Summary,
    /// `/data/latency/<class>`, in order.
    pub latency: Vec<(String, Latency)>,
    /// `/data/jobs/<name>`, in the order of the experiment file.
    pub jobs: Vec<Job>,
    /// `/data/ports`, by router, then port.
    pub ports: Ports,
    /// Names of the kinds of links.
    pub link_kinds: Vec<KindName>,
    /// `/data/failures`, if links differ from their kind.
    pub failures: Option<ChangedLinks>,
    /// `/data/routers`.
    pub routers: Routers,
    /// Names of the kinds of routers.
    pub router_kinds: Vec<KindName>,
    /// Names of the network's axes, each with the coordinates of all routers.
    pub axes: Vec<(KindName, Vec<u32>)>,
    /// `/data/series`.
    pub series: Series,
    /// `/data/occupancy`, if asked for.
    pub occupancy: Option<Occupancy>,
    /// `/data/rates`, if asked for.
    pub rates: Option<Rates>,
    /// `/data/iterations`, if asked for.
    pub iterations: Option<Iterations>,
    /// `/data/packets`, if asked for.
    pub packets: Option<Packets>,
    /// `/data/phases`, if asked for.
    pub phases: Option<Phases>,
    /// `/data/flows`, if asked for.
    pub flows: Option<Flows>,
    /// `/data/messages`, if asked for.
    pub messages: Option<Messages>,
    /// `/data/timeline`, if asked for.
    pub timeline: Option<Timeline>,
    /// `/data/scheme`: counters and records of the congestion control scheme.
    pub scheme: Scheme,
    /// `/data/attribution`, unless it is switched off.
    pub attribution: Option<Attribution>,
    /// `/data/cost`, if the experiment gives the cost of memory.
    pub cost: Option<Cost>,
    /// `/data/notes`: remarkable facts about the run, such as a job that came to a standstill.
    pub notes: Vec<Note>,
}

/// The intervals of tasks and links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Attributes of `/data/timeline`.
    pub numbers: TimelineNumbers,
    /// `/data/timeline/tasks`, by job, task and time.
    pub tasks: TaskIntervals,
    /// Words for their activities and ends.
    pub task_words: Vec<KindName>,
    /// `/data/timeline/links`, by router, port and time.
    pub links: LinkIntervals,
    /// Words for their activities.
    pub link_words: Vec<KindName>,
}

/// One latency class: the samples that arrived, and the samples that had not arrived when the run
/// ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Latencies of the samples that arrived.
    pub arrived: Histogram,
    /// Ages at the end of what had not arrived, which are lower bounds of the latencies.
    pub missing: Histogram,
}

impl From<Histogram> for Latency {
    /// Nothing is missing.
    fn from(arrived: Histogram) -> Self {
        let missing = Histogram::default();
        Latency { arrived, missing }
    }
}

impl Latency {
    /// All samples, each as short as it can be: a missing one counts with its age.
    pub fn at_least(&self) -> Histogram {
        let mut all = self.arrived.clone();
        all.merge(&self.missing);
        all
    }
}

/// Something remarkable that a run shows, which its other numbers may hide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Kind of note, for programs.
    pub kind: String,
    /// The job that it is about; None: the whole run.
    pub job: Option<String>,
    /// A sentence that names the job, without a full stop.
    pub text: String,
    /// The numbers that it is about, by name.
    pub numbers: Vec<(String, u64)>,
}

/// One workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Its name in the experiment file.
    pub name: String,
    /// Attributes of its group.
    pub totals: JobTotals,
    /// One row per task, in task order.
    pub tasks: JobTasks,
}

impl Job {
    /// True if the run cut the job off: its finish and communication time are lower bounds.
    pub fn is_cut_off(&self) -> bool {
        self.totals.over == Some(false)
    }

    /// End of its last task, ps, or a lower bound. Results of weir 0.1.0 do not say which.
    pub fn finish(&self) -> Time {
        let totals = &self.totals;
        totals.finish_at_least_ps.unwrap_or(totals.finish_ps)
    }

    /// The largest communication time of its tasks, ps, or a lower bound.
    pub fn communication(&self) -> Time {
        let totals = &self.totals;
        (totals.communication_at_least_ps).unwrap_or(totals.communication_ps)
    }
}

/// `/data/series`: equal time bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Width of a bin, ps.
    pub bin_ps: Time,
    /// Number of bins.
    pub bins: usize,
    /// The name and the bins of each job, in the order of the experiment file.
    pub jobs: Vec<(String, JobSeries)>,
    /// One per traffic class: name and ejected flits per bin.
    pub ejected_flits: Vec<(String, Vec<u64>)>,
    /// One per endpoint of which it is recorded, ascending: its number and the payload delivered to
    /// it per bin, bytes.
    pub received: Vec<(u32, Vec<u64>)>,
}

/// `/data/occupancy`: contents of all routers at chosen times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// Times, ps.
    pub time_ps: Vec<Time>,
    /// Number of routers: the length of a row.
    pub routers: usize,
    /// Bytes held, row by row (time × router).
    pub bytes: Vec<u64>,
}

/// `/data/scheme`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheme {
    /// The scheme's name.
    pub name: String,
    /// Counters: name, value.
    pub counters: Vec<(String, u64)>,
    /// Fractions: name, value.
    pub shares: Vec<(String, f64)>,
    /// `/data/scheme/<record>`: tables that the scheme wrote, if asked for.
    pub records: Vec<SchemeRecord>,
}

/// `/data/scheme/<record>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemeRecord {
    /// Its name.
    pub name: String,
    /// Meaning of a row.
    pub about: String,
    /// All of equal length. The first is the time.
    pub columns: Vec<SchemeColumn>,
}

/// A column of a [`SchemeRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemeColumn {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Meaning of the value.
    pub about: String,
    /// Row by row.
    pub values: Vec<u64>,
}
