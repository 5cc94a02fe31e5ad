//! The parameters of SST's congestion management: defaults, and sources of the presets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use weir_input::registry::preset::Preset;
use weir_input::registry::range::{Range, counts, factors, packets};
use weir_input::{Buffer, ConfigError, Section, Size};
use weir_model::Invalid;

/// The congestion management of the simulator SST: the last router counts, for each of its
/// endpoints, the data that waits for it and the sources that send to it. When both are too large,
/// it tells each of these N sources to pause, and then to limit its rate to that endpoint (and no
/// other) to 1/N of its link. Signals take the zero-load latency.
///
/// Choices of ours where the paper is silent: a source that joins while control is on pauses as
/// well, by the backlog at that time. A source cannot time out before its pause is over (the pause
/// may be longer than the time-out, and control would end before it has begun). A time-out is
/// checked when it is over, not only when the port sends. `preset = "sst"` follows SST's public
/// code instead. (There a source that is held back blocks all packets behind it in its NIC:
/// `nic.order = "fifo"`.)
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-presets" = PRESETS))]
pub struct Parameters {
    /// Minimum number of active sources that count as an incast.
    #[schemars(extend("x-range" = counts(2.0, 64.0)))]
    pub streams: u32,
    /// Minimum backlog at the last-hop router that counts as an incast.
    #[schemars(extend("x-range" = packets(2.0, 128.0)))]
    pub threshold: Size,
    /// Pause, as a multiple of the time that the backlog takes on the endpoint's link.
    #[schemars(extend("x-range" = factors(0.25, 32.0)))]
    pub pause: f64,
    /// Sources that pause when a source joins while control is on. "joining": that source. "all":
    /// all sources, each time by the whole backlog.
    pub pauses: Pauses,
    /// A source may send at 1/(N + spare) of its link.
    #[schemars(extend("x-range" = counts(1.0, 32.0)))]
    pub spare: u32,
    /// Time without packets after which a source does not count, as a multiple of N times the time
    /// of `mtu` on the link.
    #[schemars(extend("x-range" = factors(0.5, 100.0)))]
    pub timeout: f64,
    /// The same while control is on; as `timeout` by default. If that is less than a round trip for
    /// all sources together, control ends before paused sources are heard of again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-range" = factors(0.5, 100.0)))]
    pub timeout_active: Option<f64>,
    /// Check for timed-out sources. "due": as soon as they are; a source's pauses do not count.
    /// "departures": when the port sends a packet, with N + 1 instead of N; only the first pause
    /// told to a source postpones its time-out, and it may time out during a later one.
    pub expiry: Expiry,
    /// Restart of a source whose limit ends. "at_once": at once. "after_pause": when it might have
    /// sent its next packet under the limit, since nothing wakes its NIC before in SST.
    pub release: Release,
    /// Assumed longest packet of the sources. "auto": nic.max_packet.
    pub mtu: Buffer,
    /// Minimum size of packets that make their sender one of the sources.
    #[schemars(extend("x-range" = Range::Fixed("what counts as data is no question of tuning")))]
    pub smallest: Size,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            streams: 8,
            threshold: Size::Packets(16),
            pause: 4.0,
            pauses: Pauses::Joining,
            spare: 0,
            timeout: 1.5,
            timeout_active: None,
            expiry: Expiry::Due,
            release: Release::AtOnce,
            mtu: Buffer::Auto,
            smallest: Size::Bits(128 * 8),
        }
    }
}

impl Parameters {
    /// Refuses invalid numbers.
    pub fn check(&self, section: &Section) -> Result<(), ConfigError> {
        let refuse = |key, what: &str, remedy| Err(section.refuse(Invalid::new(key, what, remedy)));
        if self.streams == 0 {
            let what = "no sources make no incast";
            return refuse("streams", what, "give a number of 1 or more, such as 8");
        }
        if !(0.0..=1e6).contains(&self.pause) {
            let what = "this is no multiple of a time";
            return refuse("pause", what, "give a number of 0 or more, such as 4.0");
        }
        let active = self.timeout_active.unwrap_or(self.timeout);
        for (key, factor) in [("timeout", self.timeout), ("timeout_active", active)] {
            if !(factor > 0.0 && factor <= 1e6) {
                let what = "this is no multiple of a time";
                return refuse(key, what, "give a number above 0, such as 1.5");
            }
        }
        Ok(())
    }
}

pub const PRESETS: &[Preset] = &[
    Preset {
        name: "mcglohon2021",
        summary: "the paper's, made for packets of 2 KiB",
        values: r#"streams = 8, threshold = "32 KiB", pause = 4.0, timeout = 1.5, smallest = "128 B""#,
    },
    Preset {
        name: "sst",
        summary: "the paper's numbers, and what SST's public code does where the paper is silent",
        values: r#"streams = 8, threshold = "32 KiB", pause = 4.0, timeout = 1.5, smallest = "128 B", pauses = "all", spare = 2, timeout_active = 5.0, expiry = "departures", release = "after_pause""#,
    },
];

/// Sources that pause when a source joins.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pauses {
    /// That source.
    Joining,
    /// All sources, each time by the whole backlog.
    All,
}

/// Check for timed-out sources.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// As soon as they are. A source's pauses do not count.
    Due,
    /// At departures of packets from the port, with N + 1 instead of N. Only the first pause told
    /// to a source postpones its time-out; it may time out during a later one.
    Departures,
}

/// Restart of a source whose limit ends.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// At once.
    AtOnce,
    /// At the time when it might have sent its next packet under the limit: in SST nothing wakes
    /// its NIC before.
    AfterPause,
}
