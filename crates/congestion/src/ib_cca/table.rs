//! The congestion control table: the delay between packets for each index.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::About;
use weir_input::{Duration, Section, TimeSpan};
use weir_model::{Invalid, LATEST, Time};

/// Default number of entries: an InfiniBand block has 64, and the paper tries increases of up
/// to 128.
const ENTRIES: u16 = 128;
/// Maximum number of entries: an index has 14 bits.
const MOST: usize = 1 << 14;
/// First delay of an exponential table, as a fraction of the time of a longest packet. Our choice:
/// the sources give none.
const FIRST: f64 = 0.1;

/// Growth of delays with the index, or a list of delays.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected \"linear\", \"exponential\" or a list of times such as [\"0 ns\", \"1 \
                 us\"]"
)]
pub enum Shape {
    /// By a rule.
    Rule(Rule),
    /// As given, from index 0 on.
    Given(Vec<Duration>),
}

/// Growth of delays with the index, from none at index 0 to `max_ipd` at the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// By the same time at each step.
    Linear,
    /// By the same factor at each step, from a tenth of the time of a longest packet at index 1.
    Exponential,
}

/// Inputs for a table.
pub struct Wanted<'a> {
    pub shape: &'a Shape,
    pub entries: Option<u16>,
    pub max_ipd: Option<TimeSpan>,
}

impl Wanted<'_> {
    /// The longest delay: the time in which all other endpoints inject a longest packet each
    /// (Pfister et al., table 2 b).
    fn longest(&self, about: &About) -> Time {
        let others = u64::from(about.endpoints.saturating_sub(1).max(1));
        let fair = || about.link_time(others.saturating_mul(u64::from(about.max_packet)));
        let given = self.max_ipd.map(|given| about.time(given));
        given.unwrap_or_else(fair).min(LATEST)
    }

    /// The delays by index, ps: two or more, none longer than [`LATEST`].
    pub fn build(&self, section: &Section, about: &About) -> Result<Vec<Time>, Invalid> {
        let entries = usize::from(self.entries.unwrap_or(ENTRIES));
        let (key, entries) = match self.shape {
            Shape::Given(list) => {
                for key in ["entries", "max_ipd"] {
                    if section.has(key) {
                        let what = "the table is given, so this would say nothing";
                        return Err(Invalid::new(key, what, "leave it out"));
                    }
                }
                ("table", list.len())
            }
            Shape::Rule(_) => ("entries", entries),
        };
        if !(2..=MOST).contains(&entries) {
            let what = format!("a table of {entries} entries");
            return Err(Invalid::new(key, what, format!("give 2 to {MOST}")));
        }
        let (longest, last) = (self.longest(about), entries - 1);
        if longest == 0 {
            let what = "no source would ever be slowed";
            return Err(Invalid::new(
                "max_ipd",
                what,
                "give a time such as \"21 us\"",
            ));
        }
        Ok(match self.shape {
            Shape::Given(list) => list.iter().map(|delay| delay.0.min(LATEST)).collect(),
            Shape::Rule(Rule::Linear) => (0..entries)
                .map(|index| (u128::from(longest) * index as u128 / last as u128) as Time)
                .collect(),
            Shape::Rule(Rule::Exponential) => {
                let first = FIRST * about.link_time(about.max_packet.into()) as f64;
                let ratio = longest as f64 / first.min(longest as f64);
                let power = |index: usize| (index as f64 - 1.0) / (last as f64 - 1.0).max(1.0);
                let delay = |index| longest as f64 / ratio * ratio.powf(power(index));
                let inner = (1..last).map(|index| delay(index) as Time);
                std::iter::once(0).chain(inner).chain([longest]).collect()
            }
        })
    }
}
