//! `/data/attribution`: whose data waited where. Its writer and its reader.

pub(super) mod table;

use hdf5::Group;

use crate::columns::ResultFile;
use crate::error::TraceError;
use crate::hdf::{Outcome, Values, group, put_numbers};
use crate::scale::put_table;
use crate::schema;

use table::{Attribution, Elsewhere, Pressure, Waits};

const GROUP: &str = "data/attribution";

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
