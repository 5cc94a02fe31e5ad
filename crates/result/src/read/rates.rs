//! Rows of `/data/rates`.

use std::collections::HashMap;

use super::columns::{MOST_ROWS, ResultFile};
use crate::error::TraceError;
use crate::hdf::get_table;
use crate::schema::Rates;
use weir_model::table::Table;

/// Selection of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Rates of all that were chosen.
    All,
    /// Rates of an endpoint.
    Endpoint(u32),
    /// Rates of a task of a job.
    Task(String, u32),
}

impl Whose {
    /// An endpoint's number, or the name of a job, a dot, and a task; nothing for all.
    pub fn parse(text: &str) -> Option<Whose> {
        if text.is_empty() {
            return Some(Whose::All);
        }
        match text.split_once('.') {
            None => text.parse().ok().map(Whose::Endpoint),
            Some((job, task)) => Some(Whose::Task(job.to_string(), task.parse().ok()?)),
        }
    }
}

/// Rates over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatesOverTime {
    /// Times, ps.
    pub time_ps: Vec<u64>,
    /// The share of the link's bandwidth at each.
    pub share: Vec<f64>,
}

impl ResultFile {
    fn rate_rows(&self) -> Result<Option<Rates>, TraceError> {
        self.within("data/rates", |at| get_table(at, MOST_ROWS).map(Some))
    }

    /// The selected allowed rates over time. None if they were not recorded.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn rates(&self, whose: &Whose) -> Result<Option<RatesOverTime>, TraceError> {
        let index = match whose {
            Whose::Task(job, _) => self.number(&format!("data/jobs/{job}"), "index")?,
            Whose::All | Whose::Endpoint(_) => None,
        };
        let Some(rates) = self.rate_rows()? else {
            return Ok(None);
        };
        let own = |row: &usize| match whose {
            Whose::All => true,
            Whose::Endpoint(number) => rates.endpoint[*row] == *number,
            Whose::Task(_, task) => {
                index == Some(rates.job[*row].into()) && rates.task[*row] == *task
            }
        };
        let rows = (0..rates.rows()).filter(own);
        let (time_ps, share): (Vec<_>, Vec<_>) = rows
            .map(|row| (rates.time_ps[row], rates.share[row]))
            .unzip();
        Ok((!share.is_empty()).then_some(RatesOverTime { time_ps, share }))
    }

    /// All rates that were recorded, in the order in which they were chosen, with the name of their
    /// owner: `storm.0`, `17`. Empty if there are none.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn all_rates(&self) -> Result<Vec<(String, RatesOverTime)>, TraceError> {
        let Some(rates) = self.rate_rows()? else {
            return Ok(Vec::new());
        };
        let mut jobs = HashMap::new();
        for name in self.groups("data/jobs")? {
            let index = self.number(&format!("data/jobs/{name}"), "index")?;
            jobs.extend(index.map(|index| (index as u32, name)));
        }
        // All of them have a row at each time, in the same order.
        let first = rates.time_ps.first();
        let count = rates
            .time_ps
            .iter()
            .take_while(|own| Some(*own) == first)
            .count();
        let all = (0..count).map(|place| {
            let name = match jobs.get(&rates.job[place]) {
                Some(name) => format!("{name}.{}", rates.task[place]),
                None => rates.endpoint[place].to_string(),
            };
            let rows = rates.time_ps.iter().zip(&rates.share);
            let rows = rows.skip(place).step_by(count);
            let (time_ps, share) = rows.map(|(time, share)| (*time, *share)).unzip();
            (name, RatesOverTime { time_ps, share })
        });
        Ok(all.collect())
    }
}
