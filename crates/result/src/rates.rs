//! Rows of `/data/rates`.

use std::collections::HashMap;

use super::columns::ResultFile;
use super::error::TraceError;

const RATES: &str = "data/rates";

/// Whose rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Of all that were chosen.
    All,
    /// Of an endpoint.
    Endpoint(u32),
    /// Of a task of a job.
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
    /// The allowed rates of somebody over time. None if they were not recorded.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn rates(&self, whose: &Whose) -> Result<Option<RatesOverTime>, TraceError> {
        let wanted = match whose {
            Whose::All => None,
            Whose::Endpoint(number) => Some(vec![("endpoint", u64::from(*number))]),
            Whose::Task(job, task) => {
                let Some(index) = self.number(&format!("data/jobs/{job}"), "index")? else {
                    return Ok(None);
                };
                Some(vec![("job", index as u64), ("task", u64::from(*task))])
            }
        };
        let (Some(time_ps), Some(share)) = (
            self.column(RATES, "time_ps")?,
            self.fractions(RATES, "share")?,
        ) else {
            return Ok(None);
        };
        let mut own = vec![true; time_ps.len()];
        for (column, value) in wanted.into_iter().flatten() {
            let column = self.column(RATES, column)?.unwrap_or_default();
            for (own, found) in own.iter_mut().zip(column) {
                *own &= found == value;
            }
        }
        if !own.contains(&true) {
            return Ok(None);
        }
        let rows = time_ps.into_iter().zip(share).zip(own);
        let rows = rows.filter(|(_, own)| *own).map(|(row, _)| row);
        let (time_ps, share) = rows.unzip();
        Ok(Some(RatesOverTime { time_ps, share }))
    }

    /// All rates that were recorded, in the order in which they were chosen, with what to call whose they are: `storm.0`,
    /// `17`. Empty if there are none.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn all_rates(&self) -> Result<Vec<(String, RatesOverTime)>, TraceError> {
        let columns = ["time_ps", "endpoint", "job", "task"];
        let (Some([time, endpoint, job, task]), Some(share)) =
            (self.table(RATES, columns)?, self.fractions(RATES, "share")?)
        else {
            return Ok(Vec::new());
        };
        let mut jobs = HashMap::new();
        for name in self.groups("data/jobs")? {
            let index = self.number(&format!("data/jobs/{name}"), "index")?;
            jobs.extend(index.map(|index| (index as u64, name)));
        }
        // All of them have a row at each time, in the same order.
        let at_first = time.iter().take_while(|own| Some(*own) == time.first());
        let count = at_first.count();
        let chosen = endpoint.iter().zip(&job).zip(&task).take(count);
        let all = chosen.enumerate().map(|(place, ((endpoint, job), task))| {
            let name = match jobs.get(job) {
                Some(name) => format!("{name}.{task}"),
                None => endpoint.to_string(),
            };
            let rows = time.iter().zip(&share).skip(place).step_by(count);
            let (time_ps, share) = rows.map(|(time, share)| (*time, *share)).unzip();
            (name, RatesOverTime { time_ps, share })
        });
        Ok(all.collect())
    }
}
