//! `/data/attribution`: whose data waited where. Its types, its writer and its reader.

use hdf5::Group;

use super::columns::ResultFile;
use super::error::TraceError;
use super::hdf::{Outcome, Values, group, put_numbers};
use super::scale::put_table;
use super::schema;
use crate::model::Time;

const GROUP: &str = "data/attribution";

/// `/data/attribution`: whose data waited where and for what. In bytes times seconds: so much data for so long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribution {
    /// Time between two looks at the ports, ps.
    pub interval_ps: Time,
    /// Width of a time bin, ps.
    pub bin_ps: Time,
    /// Whether sources and destinations are told apart.
    pub sources: bool,
    /// `/data/attribution/waits`.
    pub waits: Waits,
    /// `/data/attribution/pressure`.
    pub pressure: Pressure,
    /// `/data/attribution/elsewhere`.
    pub elsewhere: Elsewhere,
}

/// `/data/attribution/waits`: one row per time bin, port and job (or job, source and destination).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Router.
    pub router: Vec<u32>,
    /// Port of that router.
    pub port: Vec<u16>,
    /// 1: what waited in the NIC at that port to go to the router; 0: what waited in the router to leave by it.
    pub nic: Vec<u16>,
    /// Job, in the order of the experiment file.
    pub job: Vec<u32>,
    /// Sender; `u32::MAX` if that is not told apart.
    pub source: Vec<u32>,
    /// Receiver; `u32::MAX` if that is not told apart.
    pub destination: Vec<u32>,
    /// What waited for a link that was full, B s.
    pub full: Vec<f64>,
    /// What waited for its turn at a link that was not full, B s.
    pub queued: Vec<f64>,
    /// What waited for room in the buffer behind the link, B s.
    pub starved: Vec<f64>,
}

/// `/data/attribution/pressure`: one row per time bin, input and output of a router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Router.
    pub router: Vec<u32>,
    /// The port behind which it waited.
    pub from_port: Vec<u16>,
    /// The port that it waited for.
    pub port: Vec<u16>,
    /// What waited while the buffer was filling up, B s.
    pub waited: Vec<f64>,
}

/// `/data/attribution/elsewhere`: one row per time bin and job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// Start of the bin, ps.
    pub time_ps: Vec<Time>,
    /// Job, in the order of the experiment file.
    pub job: Vec<u32>,
    /// What waited for its turn at ports that have no rows, B s.
    pub queued: Vec<f64>,
}

pub(super) fn write_attribution(at: &Group, own: &Attribution) -> Outcome<()> {
    let numbers = [own.interval_ps, own.bin_ps, u64::from(own.sources)];
    put_numbers(at, &schema::ATTRIBUTION_NUMBERS, numbers)?;
    let waits = &own.waits;
    put_table(
        &group(at, "waits")?,
        &schema::WAITS,
        waits.time_ps.len(),
        [
            Values::U64(&waits.time_ps),
            Values::U32(&waits.router),
            Values::U16(&waits.port),
            Values::U16(&waits.nic),
            Values::U32(&waits.job),
            Values::U32(&waits.source),
            Values::U32(&waits.destination),
            Values::F64(&waits.full),
            Values::F64(&waits.queued),
            Values::F64(&waits.starved),
        ],
    )?;
    let pressure = &own.pressure;
    put_table(
        &group(at, "pressure")?,
        &schema::PRESSURE,
        pressure.time_ps.len(),
        [
            Values::U64(&pressure.time_ps),
            Values::U32(&pressure.router),
            Values::U16(&pressure.from_port),
            Values::U16(&pressure.port),
            Values::F64(&pressure.waited),
        ],
    )?;
    let elsewhere = &own.elsewhere;
    put_table(
        &group(at, "elsewhere")?,
        &schema::ELSEWHERE,
        elsewhere.time_ps.len(),
        [
            Values::U64(&elsewhere.time_ps),
            Values::U32(&elsewhere.job),
            Values::F64(&elsewhere.queued),
        ],
    )
}

impl ResultFile {
    /// Whose data waited where. None if it was not recorded.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn attribution(&self) -> Result<Option<Attribution>, TraceError> {
        let mut numbers = [0; 3];
        for (own, attribute) in numbers.iter_mut().zip(&schema::ATTRIBUTION_NUMBERS) {
            match self.number(GROUP, attribute.name)? {
                Some(number) => *own = number as u64,
                None => return Ok(None),
            }
        }
        let [interval_ps, bin_ps, sources] = numbers;
        let sub = |name: &str| format!("{GROUP}/{name}");
        let [time, router, port, nic, job, source, destination] = self.whole(
            &sub("waits"),
            [
                "time_ps",
                "router",
                "port",
                "nic",
                "job",
                "source",
                "destination",
            ],
        )?;
        let rows = time.len();
        let [full, queued, starved] =
            self.shares(&sub("waits"), ["full", "queued", "starved"], rows)?;
        let waits = Waits {
            time_ps: time,
            router: narrow(router),
            port: narrow(port),
            nic: narrow(nic),
            job: narrow(job),
            source: narrow(source),
            destination: narrow(destination),
            full,
            queued,
            starved,
        };
        let [time, router, from, port] =
            self.whole(&sub("pressure"), ["time_ps", "router", "from_port", "port"])?;
        let [waited] = self.shares(&sub("pressure"), ["waited"], time.len())?;
        let pressure = Pressure {
            time_ps: time,
            router: narrow(router),
            from_port: narrow(from),
            port: narrow(port),
            waited,
        };
        let [time, job] = self.whole(&sub("elsewhere"), ["time_ps", "job"])?;
        let [queued] = self.shares(&sub("elsewhere"), ["queued"], time.len())?;
        let elsewhere = Elsewhere {
            time_ps: time,
            job: narrow(job),
            queued,
        };
        Ok(Some(Attribution {
            interval_ps,
            bin_ps,
            sources: sources > 0,
            waits,
            pressure,
            elsewhere,
        }))
    }

    /// Columns of whole numbers that have to be there.
    fn whole<const N: usize>(
        &self,
        group: &str,
        names: [&str; N],
    ) -> Result<[Vec<u64>; N], TraceError> {
        let table = self.table(group, names)?;
        table.ok_or_else(|| self.lacks(group, names[0]))
    }

    /// Columns of fractions that have to be there, each of so many rows.
    fn shares<const N: usize>(
        &self,
        group: &str,
        names: [&str; N],
        rows: usize,
    ) -> Result<[Vec<f64>; N], TraceError> {
        let mut table = [const { Vec::new() }; N];
        for (own, name) in table.iter_mut().zip(names) {
            let column = self.fractions(group, name)?;
            *own = column.ok_or_else(|| self.lacks(group, name))?;
            if own.len() != rows {
                return Err(self.uneven(group, name, own.len(), rows));
            }
        }
        Ok(table)
    }
}

/// Numbers in the type that they were written in.
fn narrow<T: TryFrom<u64> + Default>(column: Vec<u64>) -> Vec<T> {
    let narrow = |value| T::try_from(value).unwrap_or_default();
    column.into_iter().map(narrow).collect()
}
