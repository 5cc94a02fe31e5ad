//! Verdicts on the claims of a study, given its table.

mod doubt;
mod evaluation;
mod judgement;
mod points;

use std::{fmt, io};

use super::cell::cell;
use crate::dir::SweepDir;
use crate::dir::write;
use crate::job_file::Study;
use weir_input::Duration;
use weir_model::Time;

/// Verdict on a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The claim's name.
    pub id: String,
    /// Its words.
    pub says: String,
    /// Measured value, in words; or the reason why there is none.
    pub measured: String,
    /// Bound that it should meet.
    pub bound: String,
    /// True if it is. None if that is undecided: a value is missing, fewer than 20 seeds disagree
    /// with their mean, or the mean (along a slope: a step of it) is nearer to a bound than its
    /// standard error.
    pub holds: Option<bool>,
    /// Number of seeds with which it holds alone, if the study has several.
    pub seeds: Option<Count>,
    /// Simulated times of the points it is about: the shortest and the longest, ns.
    pub simulated: Option<[f64; 2]>,
    /// Number of these points that had settled, if that can be told of any.
    pub settled: Option<Count>,
}

/// Number of things of which something is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Those of which it is true.
    pub held: usize,
    /// All of them.
    pub of: usize,
}

impl Verdict {
    /// The same as a word in tables.
    pub fn word(&self) -> &'static str {
        match self.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        }
    }

    /// Simulated times for tables, to three digits: empty, "500 us", "60 us to 500 us".
    pub fn length(&self) -> String {
        let time = |ns: f64| {
            let ps = ns * 1e3;
            let unit = 10f64.powi((ps.max(1.0).log10() as i32 - 2).max(0));
            Duration(((ps / unit).round() * unit) as Time).to_string()
        };
        match self.simulated.map(|ends| ends.map(time)) {
            None => String::new(),
            Some([short, long]) if short == long => long,
            Some([short, long]) => format!("{short} to {long}"),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.held, self.of)
    }
}

impl Study {
    /// The claims as CSV: `id,says,measured,bound,holds,seeds,simulated,settled,scale,command`.
    ///
    /// # Errors
    /// None that depends on the content.
    pub fn claims_csv(&self, verdicts: &[Verdict], command: &str) -> io::Result<Vec<u8>> {
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record([
            "id",
            "says",
            "measured",
            "bound",
            "holds",
            "seeds",
            "simulated",
            "settled",
            "scale",
            "command",
        ])?;
        for verdict in verdicts {
            let text =
                |count: Option<Count>| count.map_or(String::new(), |count| count.to_string());
            let cells = [
                &verdict.id,
                &verdict.says,
                &verdict.measured,
                &verdict.bound,
                verdict.word(),
                &text(verdict.seeds),
                &verdict.length(),
                &text(verdict.settled),
                self.scale().name(),
                command,
            ];
            out.write_record(cells.map(|text| cell(text).into_owned()))?;
        }
        out.into_inner().map_err(|error| error.into_error())
    }

    /// Writes `claims.csv`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_claims(
        &self,
        verdicts: &[Verdict],
        command: &str,
        dir: &SweepDir,
    ) -> io::Result<()> {
        write(&dir.claims(), &self.claims_csv(verdicts, command)?)
    }
}
