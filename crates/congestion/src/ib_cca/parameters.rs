//! The parameters of InfiniBand's congestion control: defaults and checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{About, Build, Rules};
use super::IbCca;
use super::marking::{Marking, VictimMask};
use super::table::{Rule, Shape, Wanted};
use super::throttle::Throttle;
use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, packet_times, shares};
use weir_input::registry::{Entry, Keys};
use weir_input::{Allowance, Buffer, ConfigError, Section, Size, TimeSpan};
use weir_model::{Invalid, LATEST};

/// The congestion control architecture of InfiniBand. A router sets a bit (FECN) in packets that
/// leave by a port for which more waits than a threshold; the destination tells the source (BECN);
/// the source moves up an index into a table of inter-packet delays (IPD) by `ccti_increase`, and
/// down by `recovery_decrease` whenever `recovery_timer` has run out.
///
/// Defaults follow the starting points of Pfister et al., table 2, and what they settled on for 32
/// endpoints (section VI.A): relative to the network where the paper says so. They do what the
/// paper shows on its networks; on others, tune them.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
pub struct Parameters {
    /// Switch threshold of all ports: 0 (no marks), 1 (marks late) to 15 (marks early).
    #[schemars(extend("x-range" = counts(1.0, 15.0)))]
    threshold: u8,
    /// Threshold of ports to endpoints, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = counts(1.0, 15.0)))]
    endpoint_threshold: Option<u8>,
    /// Share of `buffer` queued for the port at threshold 1, more than 0. Threshold t is (16 - t) /
    /// 15 of it. InfiniBand leaves the meaning to the switch; Pfister et al.: 90%.
    #[schemars(extend("x-range" = shares(0.1, 1.0)))]
    threshold_share: f64,
    /// Buffer that `threshold_share` refers to. "auto": the input buffer of one virtual lane at an
    /// endpoint's router port. The backlog is counted in all input buffers and output queues of the
    /// router, on all virtual lanes.
    buffer: Buffer,
    /// Ports at which victims are marked as well: packets that leave by a port without credits for
    /// another longest packet, because the congestion lies behind it.
    victim_mask: VictimMask,
    /// Number of eligible packets that leave a port unmarked between two marked ones.
    #[schemars(extend("x-range" = counts(1.0, 64.0)))]
    marking_rate: u16,
    /// Minimum payload of a marked packet.
    #[schemars(extend("x-range" = Range::Fixed("what may be marked is no question of tuning")))]
    packet_size: Allowance,
    /// Notification of a source.
    becn: Becn,
    /// Length of a separate notification, with `becn = "cn"` only (default: 1 flit).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = Range::Fixed("of the machine, not of the scheme")))]
    cn_size: Option<Size>,
    /// 1: acknowledgements and notifications share the virtual lane of the data, as in the paper.
    /// 2: they have a separate one, which goes first.
    #[schemars(extend("x-range" = Range::Fixed("of the machine, not of the scheme")))]
    virtual_lanes: u8,
    /// Scope of a notification.
    reaction: Reaction,
    /// Congestion control table: growth of delays with the index, or the list of delays.
    table: Shape,
    /// Entries of the table, 2 to 16,384 (default: 128).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = counts(16.0, 1024.0)))]
    entries: Option<u16>,
    /// Last entry, from the tail of a packet to the head of the next; the first delay of a flow
    /// begins with its notification. Default: time in which all other endpoints inject a longest
    /// packet each (21 us on the paper's 32 endpoints).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = packet_times(4.0, 1_000.0)))]
    max_ipd: Option<TimeSpan>,
    /// Amount that a notification adds to the index, 1 or more.
    #[schemars(extend("x-range" = counts(1.0, 128.0)))]
    ccti_increase: u16,
    /// The largest index (default: the last of the table).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = counts(8.0, 127.0)))]
    ccti_limit: Option<u16>,
    /// The smallest index.
    #[schemars(extend("x-range" = Range::Fixed("more than 0 slows who meets no congestion")))]
    ccti_min: u16,
    /// Period after which the index shrinks. Default: half the delay at the largest index (10.5 us
    /// on the paper's 32 endpoints).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = packet_times(1.0, 256.0)))]
    recovery_timer: Option<TimeSpan>,
    /// Amount by which it shrinks each time, 1 or more.
    #[schemars(extend("x-range" = counts(1.0, 16.0)))]
    recovery_decrease: u16,
}

const PRESETS: &[Preset] = &[Preset {
    name: "pfister2005",
    summary: "the paper's for its 32 endpoints (2 KiB at 3 GB/s)",
    values: r#"threshold = 1, threshold_share = 0.9, max_ipd = "21 us", ccti_increase = 5, recovery_timer = "10.5 us""#,
}];

/// Notification of a source that one of its packets was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Becn {
    /// By the acknowledgement of the packet.
    Ack,
    /// By a congestion notification packet, which the destination sends for each marked packet.
    Cn,
}

/// Scope of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Reaction {
    /// The queue pair: what the source sends to that destination.
    QueuePair,
    /// All queue pairs of the service level: all that the source sends.
    ServiceLevel,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            threshold: 1,
            endpoint_threshold: None,
            threshold_share: 0.9,
            buffer: Buffer::Auto,
            victim_mask: VictimMask::None,
            marking_rate: 0,
            packet_size: Allowance(Size::Flits(0)),
            becn: Becn::Ack,
            cn_size: None,
            virtual_lanes: 1,
            reaction: Reaction::QueuePair,
            table: Shape::Rule(Rule::Linear),
            entries: None,
            max_ipd: None,
            ccti_increase: 5,
            ccti_limit: None,
            ccti_min: 0,
            recovery_timer: None,
            recovery_decrease: 1,
        }
    }
}

impl Parameters {
    fn scheme(&self, section: &Section, about: &About) -> Result<IbCca, Invalid> {
        if self.becn == Becn::Ack && !about.acknowledge {
            let what = "sources are told by acknowledgements, and there are none";
            let remedy = "set nic.acknowledge = true, or becn = \"cn\"";
            return Err(Invalid::new("becn", what, remedy));
        }
        if !(1..=2).contains(&self.virtual_lanes) {
            let what = format!("{} virtual lanes cannot be", self.virtual_lanes);
            let remedy = "give 1 (everything shares it) or 2 (acknowledgements have their own)";
            return Err(Invalid::new("virtual_lanes", what, remedy));
        }
        if self.becn == Becn::Ack && self.cn_size.is_some() {
            let what = "it would say nothing: acknowledgements notify";
            let remedy = "leave it out, or set becn = \"cn\"";
            return Err(Invalid::new("cn_size", what, remedy));
        }
        let cn_size = self.cn_size.unwrap_or(Size::Flits(1));
        let cn_flits = cn_size.flits(about.flit, about.max_packet.into());
        if cn_flits > u64::from(about.max_packet) {
            let what = "a notification longer than the longest packet";
            let remedy = "give a size such as \"1 flits\"";
            return Err(Invalid::new("cn_size", what, remedy));
        }
        Ok(IbCca {
            marking: self.marking(about)?,
            throttle: self.throttle(section, about)?,
            cn_flits: (self.becn == Becn::Cn).then_some(cn_flits as u16),
            own_lane: self.virtual_lanes == 2,
            longest_packet: about.link_time(about.max_packet.into()),
        })
    }

    fn marking(&self, about: &About) -> Result<Marking, Invalid> {
        let share = self.threshold_share;
        if !(share > 0.0 && share.is_finite()) {
            let what = "this is not above 0";
            let remedy = "give a share such as 0.9";
            return Err(Invalid::new("threshold_share", what, remedy));
        }
        let longest = u64::from(about.max_packet);
        let buffer = match self.buffer {
            Buffer::Auto => u64::from(about.input_buffer),
            Buffer::Size(size) => size.flits(about.flit, longest),
        };
        let flits = |key: &str, threshold: u8| match threshold {
            0 => Ok(None),
            // A cast from a float saturates at the limits of the type.
            1..=15 => Ok(Some(
                (buffer as f64 * share * f64::from(16 - threshold) / 15.0) as u32,
            )),
            _ => {
                let what = format!("there is no threshold {threshold}");
                let remedy = "give 0 (nothing is marked) to 15 (marks earliest)";
                Err(Invalid::new(key, what, remedy))
            }
        };
        let fabric = flits("threshold", self.threshold)?;
        let endpoint = self.endpoint_threshold.unwrap_or(self.threshold);
        Ok(Marking::new(
            [fabric, flits("endpoint_threshold", endpoint)?],
            self.victim_mask,
            self.marking_rate,
            self.packet_size.0.bits(about.flit, longest),
        ))
    }

    fn throttle(&self, section: &Section, about: &About) -> Result<Throttle, Invalid> {
        let wanted = Wanted {
            shape: &self.table,
            entries: self.entries,
            max_ipd: self.max_ipd,
        };
        let table = wanted.build(section, about)?;
        let last = table.len() as u16 - 1;
        let limit = self.ccti_limit.unwrap_or(last);
        for (key, index, most) in [
            ("ccti_limit", limit, last),
            ("ccti_min", self.ccti_min, limit),
        ] {
            if index > most {
                let what = format!("index {index} is beyond {most}");
                return Err(Invalid::new(key, what, format!("give 0 to {most}")));
            }
        }
        for (key, step) in [
            ("ccti_increase", self.ccti_increase),
            ("recovery_decrease", self.recovery_decrease),
        ] {
            if step == 0 {
                let what = "the index would never move";
                return Err(Invalid::new(key, what, "give 1 or more"));
            }
        }
        let half = || (table[usize::from(limit)] / 2).max(1);
        let given = self.recovery_timer.map(|time| about.time(time));
        let timer = given.unwrap_or_else(half);
        if timer == 0 {
            let what = "the timer has no length";
            let remedy = "give a time such as \"10.5 us\"";
            return Err(Invalid::new("recovery_timer", what, remedy));
        }
        Ok(Throttle {
            table,
            increase: self.ccti_increase,
            limit,
            least: self.ccti_min,
            timer: timer.min(LATEST),
            decrease: self.recovery_decrease,
            whole_nic: self.reaction == Reaction::ServiceLevel,
        })
    }
}

/// Checks a section and builds the scheme.
pub(super) fn build(section: &Section, about: &About) -> Result<IbCca, ConfigError> {
    let parameters: Parameters = section.parse()?;
    parameters
        .scheme(section, about)
        .map_err(|invalid| section.refuse(invalid))
}

pub const ENTRY: Entry<Build> = Entry {
    name: "ib_cca",
    summary: "InfiniBand's congestion control: switches mark, destinations tell, sources leave \
              delays of a table between packets.",
    source: "Pfister et al., HPI-DC 2005, \"Solving hot spot contention using InfiniBand \
             architecture congestion control\", section IV; InfiniBand Architecture Specification \
             1.2, annex A10",
    examples: &[
        "threshold = 15",
        r#"threshold = 15, becn = "cn", virtual_lanes = 2, reaction = "service_level", table = "exponential", victim_mask = "all", marking_rate = 1"#,
    ],
    parameters: Keys::of::<Parameters>(),
    build: |section, about| Ok(build(section, about)?.into_scheme()),
};
