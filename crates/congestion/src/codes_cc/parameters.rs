//! Parameters of `codes_cc` and its presets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ejection::Clock;
use crate::About;
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packet_times, shares};
use weir_input::{Buffer, ConfigError, Duration, Section, TimeSpan};
use weir_model::Invalid;

/// The congestion control of the simulator CODES, after HPE Cray's patents: a router whose port
/// holds too much throttles all endpoints that have packets there, until the port has drained. A
/// throttled endpoint injects at the rate at which the network has lately delivered its packets,
/// but at least at a minimum share of its link. That share depends on the number of endpoints that
/// the port throttles. All signals (throttling, release, deliveries) go out of band.
///
/// Choices of ours where the paper is silent: when a port throttles another endpoint, all that it
/// throttles are told the new number; an endpoint that several ports throttle keeps the largest;
/// orders are counted by port, not by router.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
pub(super) struct Parameters {
    /// Share of `buffer` queued for a port beyond which it is congested.
    #[schemars(extend("x-range" = shares(0.05, 0.9)))]
    pub threshold: f64,
    /// Share of `buffer` at which the port stops being congested, once the time to drain to it is
    /// over. Adaptive routing that allows a minimal path a longer queue than this (PAR's `bias`: 4
    /// packets) keeps ports congested that it could relieve.
    #[schemars(extend("x-range" = shares(0.0, 0.05)))]
    pub release: f64,
    /// Buffer that the two refer to. "auto": all output queues of the port.
    pub buffer: Buffer,
    /// Limit of a throttled endpoint.
    pub limit: Limit,
    /// Endpoints counted for the least share.
    pub cardinality: Cardinality,
    /// Least share as a constant, independent of the number of endpoints; 0.01 in the authors'
    /// public code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = factors(0.001, 0.1)))]
    pub minimum: Option<f64>,
    /// Fraction of that by which a throttled endpoint sends less, so that the backlog in the
    /// network drains. The paper has none.
    #[schemars(extend("x-range" = shares(0.0, 0.8)))]
    pub headroom: f64,
    /// Length of the periods over which endpoints count what is delivered of theirs; 3,000 packet
    /// times by default. All periods together should see many packets even at the least share. A
    /// share rounded to whole packets, and at least the least share, is above it on average, and
    /// the queue grows. (The paper gives no length. With 10 µs, as in the authors' public code, 5
    /// periods see 3 packets of 4 KiB at 1/100 of 25 GB/s, and 99 sources send 1.2 times what one
    /// endpoint takes.)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = packet_times(100.0, 10_000.0)))]
    pub period: Option<TimeSpan>,
    /// Number of periods whose mean is the rate; 5 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = counts(1.0, 20.0)))]
    pub periods: Option<u32>,
    /// Instead of periods: number of the endpoint's last packets that give the rate, over the time
    /// in which any were under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = counts(4.0, 256.0)))]
    pub packets: Option<u32>,
    /// Delay of all signals. Less than the minimum latency between domains (groups, pods) is exact
    /// on one rank, and refused on several.
    #[schemars(extend("x-range" = Range::Fixed("of the machine, not of the scheme")))]
    pub latency: Duration,
    /// Watched ports: "all" ports of routers, or those of the "last_hop", which endpoints are
    /// attached to.
    pub ports: Ports,
    /// Unit in which the backlog of a port is counted.
    pub count: Count,
}

/// The period by default, packet times: at 1/100 of its link an endpoint sends 30 packets in it.
const PERIOD: TimeSpan = TimeSpan::PacketTimes(3_000_000_000);

const PRESETS: &[Preset] = &[
    Preset {
        name: "mcglohon2021",
        summary: "the paper's shares; the length of periods is ours for its network (4 KiB at 25 \
                  GB/s), the paper has none",
        values: r#"threshold = 0.3, release = 0.1, period = "500 us", periods = 5"#,
    },
    Preset {
        name: "mcglohon2021-least",
        summary: "the paper's shares, but a throttled endpoint has the least share of its link \
                  whatever is ejected",
        values: r#"threshold = 0.3, release = 0.1, limit = "minimum""#,
    },
];

/// Limit of a throttled endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Limit {
    /// The rate at which its packets are ejected, or the least share if that is more (the paper's).
    /// Sources that recently got more than others keep it while the others have the least share.
    /// Together they send all that their destination takes or more, and the backlog hardly drains,
    /// least where rates are measured over short periods.
    Ejection,
    /// The least share, whatever is ejected. The destination takes a little more than the sources
    /// send, and the backlog drains.
    Minimum,
}

/// Number of endpoints that the least share is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cardinality {
    /// The sources that the port throttles and the endpoint that they send to: 99 senders go down
    /// to one-hundredth, as in the paper.
    Participants,
    /// The sources alone: together they send all that their destination takes.
    Sources,
}

impl Cardinality {
    /// Endpoints counted besides the sources.
    pub fn others(self) -> u64 {
        match self {
            Cardinality::Participants => 1,
            Cardinality::Sources => 0,
        }
    }
}

/// Watched ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ports {
    /// All ports of routers.
    All,
    /// Ports that endpoints are attached to.
    LastHop,
}

/// Unit in which the backlog of a port is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Count {
    /// The flits that wait there.
    Flits,
    /// Packets, each as one of the longest, as in the authors' public code (where a packet is one
    /// chunk). The requests of many rendezvous messages to one endpoint can make its port
    /// congested then, and their senders are throttled before the data begins.
    Packets,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            threshold: 0.3,
            release: 0.1,
            buffer: Buffer::Auto,
            limit: Limit::Ejection,
            cardinality: Cardinality::Participants,
            minimum: None,
            headroom: 0.0,
            period: None,
            periods: None,
            packets: None,
            latency: Duration(0),
            ports: Ports::All,
            count: Count::Flits,
        }
    }
}

/// Window over which the rate of ejection is measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum Measure {
    /// This number of packets.
    Packets(u32),
    /// Periods.
    Periods(Clock),
}

impl Parameters {
    /// The parameters of a section, checked.
    pub fn read(section: &Section, about: &About) -> Result<Parameters, ConfigError> {
        let parameters: Parameters = section.parse()?;
        let refuse =
            |key, what: &str, remedy: &str| Err(section.refuse(Invalid::new(key, what, remedy)));
        let Parameters {
            threshold, release, ..
        } = parameters;
        if !(threshold > 0.0 && threshold.is_finite()) {
            let what = "the threshold is not above 0";
            return refuse("threshold", what, "give a share such as 0.3");
        }
        if !(0.0..=threshold).contains(&release) {
            let what = "a port is released at no more than the threshold at which it is congested";
            let remedy = format!(
                "set `release` (0.1 unless it is given) to {} or less",
                threshold / 2.0
            );
            return refuse("release", what, &remedy);
        }
        if !(0.0..=0.999).contains(&parameters.headroom) {
            let what = "a throttled endpoint would hardly send, or more than its limit";
            return refuse(
                "headroom",
                what,
                "give a share from 0 to 0.999, such as 0.1",
            );
        }
        if let Some(minimum) = parameters.minimum {
            if !(1e-6..=1.0).contains(&minimum) {
                let what = "this is no share of a link, or less than a millionth";
                return refuse("minimum", what, "give a share such as 0.01");
            }
            if parameters.cardinality != Cardinality::Participants {
                let what = "the least share is given, and does not depend on how many are counted";
                return refuse("cardinality", what, "remove it, or `minimum`");
            }
        }
        // Half of the maximum or more stands for an unlimited queue.
        if parameters.buffer == Buffer::Auto
            && about.output_queue.is_none_or(|flits| flits >= u32::MAX / 2)
        {
            let what =
                "the routers' output queues are what the shares are of, and they have no size";
            return refuse("buffer", what, "give a size such as \"64 KiB\"");
        }
        Ok(parameters)
    }

    /// Measurement of the rate of ejection.
    pub fn measure(&self, section: &Section, about: &About) -> Result<Measure, ConfigError> {
        let refuse =
            |key, what: &str, remedy: &str| Err(section.refuse(Invalid::new(key, what, remedy)));
        let counts = |key, number: u32| match number {
            0 | 1_001.. => {
                let what = "this many cannot be averaged";
                let remedy = "give a number from 1 to 1000";
                Err(section.refuse(Invalid::new(key, what, remedy)))
            }
            _ => Ok(number),
        };
        let given = [
            ("period", self.period.is_some()),
            ("periods", self.periods.is_some()),
            ("packets", self.packets.is_some()),
        ];
        if self.limit == Limit::Minimum
            && let Some((key, _)) = given.into_iter().find(|(_, given)| *given)
        {
            let what = "the rate of ejection counts for nothing where the limit is the least share";
            return refuse(key, what, "remove it, or write limit = \"ejection\"");
        }
        if let Some(packets) = self.packets {
            let other = match (self.period, self.periods) {
                (Some(_), _) => "period",
                (None, Some(_)) => "periods",
                (None, None) => return Ok(Measure::Packets(counts("packets", packets)?)),
            };
            let what = "the rate is measured over packets, not over periods";
            return refuse(other, what, "remove it, or `packets`");
        }
        let period = about.time(self.period.unwrap_or(PERIOD));
        if period == 0 {
            let what = "a period has to have a length";
            return refuse("period", what, "give a time such as \"500 us\"");
        }
        let periods = counts("periods", self.periods.unwrap_or(5))?;
        if self.latency.0 / period > 10_000 {
            let what = "signals are under way for more than 10,000 periods";
            return refuse(
                "latency",
                what,
                "give a shorter latency or a longer `period`",
            );
        }
        let span = u128::from(period) * u128::from(periods);
        // 60 bits and 10, times 64.
        let bits = span.saturating_mul(u128::from(about.bandwidth.0)) / 1_000_000_000_000;
        Ok(Measure::Periods(Clock {
            period,
            periods,
            latency: self.latency.0,
            full: u64::try_from(bits / u128::from(about.flit.0))
                .map_or(u64::MAX, |full| full.max(1)),
        }))
    }
}
