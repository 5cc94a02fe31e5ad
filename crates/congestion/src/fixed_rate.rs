//! `fixed_rate`: every flow is held to the same rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Acts, Build, Capabilities, FlowRate, Rules, Scheme};
use weir_input::registry::range::shares;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{Classes, EndpointId, Invalid, LinkRate, Time};

/// Every flow (what a NIC sends to one destination) is sent at a rate that is given beforehand, by
/// the discipline of the NIC (`nic.discipline`). The rate that would be best is known for simple
/// cases only.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// Rate of a flow as a share of its endpoint's link: more than 0, at most 1.
    #[schemars(extend("x-range" = shares(0.01, 1.0)))]
    share: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { share: 0.25 }
    }
}

/// Number of flits for which the rate is computed: large, so that their time is exact.
const FLITS: u64 = 1 << 20;

/// See [`Parameters`].
#[derive(Clone, Copy, Debug)]
struct FixedRate {
    share: f64,
    acknowledge: bool,
}

impl Rules for FixedRate {
    type State = ();

    fn start(&self, _nics: usize, _outputs: usize) {}

    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            rates: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::of_data(self.acknowledge)
    }

    fn acts(&self) -> Option<Acts> {
        Some(Acts::pacing("share"))
    }

    fn rate(
        &self,
        _: &mut (),
        (_, link): (u32, LinkRate),
        _: EndpointId,
        _: Time,
    ) -> Option<FlowRate> {
        Some(FlowRate {
            flits: FLITS,
            time: (link.time_of(FLITS) as f64 / self.share).round() as Time,
        })
    }

    fn allowed_rate(&self, _: &mut (), _: (u32, LinkRate), _: Time) -> f64 {
        self.share
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "fixed_rate",
    summary: "Every flow is held to a rate that is given.",
    source: "the rates of Birk and Zdornov, section 1.1, where each of four flows gets a quarter \
             of a link",
    examples: &["", "share = 0.5"],
    parameters: Keys::of::<Parameters>(),
    build,
};

fn build(section: &Section, about: &About) -> Result<Box<dyn Scheme>, ConfigError> {
    let Parameters { share } = section.parse()?;
    if !(share > 0.0 && share <= 1.0) {
        return Err(section.refuse(Invalid::new(
            "share",
            format!("{share} is no share of a link"),
            "write a number above 0, at most 1",
        )));
    }
    let acknowledge = about.acknowledge || about.circuits;
    let rules = FixedRate { share, acknowledge };
    Ok(rules.into_scheme())
}

#[cfg(test)]
mod tests {
    use super::super::testing::about;
    use super::*;
    use weir_model::{Bandwidth, FlitSize};

    #[test]
    fn a_quarter_takes_four_times_as_long() {
        let section = Section::from_toml("share = 0.25").expect("TOML");
        let mut scheme = build(&section, &about(24, 0)).expect("a share");
        // Links of 100 and 25 Gb/s.
        for bandwidth in [100, 25] {
            let link = LinkRate::new(Bandwidth(bandwidth * 1_000_000_000), FlitSize(512));
            let rate = scheme.rate((0, link), 1, 0).expect("a rate");
            assert_eq!(rate.time, 4 * link.time_of(rate.flits));
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for share in ["0", "-0.5", "1.01", "nan"] {
            let section = Section::from_toml(&format!("share = {share}")).expect("TOML");
            assert!(build(&section, &about(24, 0)).is_err(), "{share}");
        }
    }
}
