//! Verdicts on the claims of a study, given its table.

mod evaluation;

use std::{fmt, io};

use super::cell::cell;
use crate::dir::SweepDir;
use crate::dir::write;
use crate::job_file::Study;

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
    /// True if it is. None if that is undecided, because a value is missing.
    pub holds: Option<bool>,
    /// Number of seeds with which it holds alone, if the study has several.
    pub seeds: Option<Seeds>,
}

/// Verdicts on a claim with each seed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// In how many it holds.
    pub held: usize,
    /// Number of seeds.
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
}

impl fmt::Display for Seeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.held, self.of)
    }
}

impl Study {
    /// The claims as CSV: `id,says,measured,bound,holds,seeds,scale,command`.
    ///
    /// # Errors
    /// None that depends on the content.
    pub fn claims_csv(&self, verdicts: &[Verdict], command: &str) -> io::Result<Vec<u8>> {
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record([
            "id", "says", "measured", "bound", "holds", "seeds", "scale", "command",
        ])?;
        for verdict in verdicts {
            let seeds = verdict
                .seeds
                .map_or(String::new(), |seeds| seeds.to_string());
            let cells = [
                &verdict.id,
                &verdict.says,
                &verdict.measured,
                &verdict.bound,
                verdict.word(),
                &seeds,
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
