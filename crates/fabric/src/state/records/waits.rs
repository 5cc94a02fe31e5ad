//! Report of a domain on the backlog at its ports ([`super`]).

use serde::{Deserialize, Serialize};

use weir_model::{EndpointId, Origin, PortId, RouterId, Time};

/// Reason why data waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// For a link that is full.
    Full = 0,
    /// For a link that carries others just now, or for its turn.
    Queued = 1,
    /// For room in the buffer behind the link.
    Starved = 2,
}

impl Kind {
    /// Number of reasons.
    pub const COUNT: usize = 3;
}

/// Owner of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Who {
    /// The workload.
    pub job: u16,
    /// Its source; [`Who::ANY`] if sources are not told apart.
    pub source: EndpointId,
    /// Its destination; [`Who::ANY`] if destinations are not told apart.
    pub destination: EndpointId,
}

impl Who {
    /// Any endpoint.
    pub const ANY: EndpointId = EndpointId::MAX;

    /// The owner of a packet; `apart`: sources and destinations are told apart.
    #[inline]
    pub fn of(origin: &Origin, destination: EndpointId, apart: bool) -> Who {
        match apart {
            true => Who {
                job: origin.job,
                source: origin.source,
                destination,
            },
            false => Who {
                job: origin.job,
                source: Who::ANY,
                destination: Who::ANY,
            },
        }
    }
}

/// Backlog at a port in a time bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Number of the bin.
    pub bin: Time,
    /// The router of the port.
    pub router: RouterId,
    /// The port.
    pub port: PortId,
    /// True if it waited in the NIC of the endpoint at that port to go to the router.
    pub nic: bool,
    /// The owner.
    pub who: Who,
    /// Flits times samples, by [`Kind`].
    pub flits: [u64; Kind::COUNT],
}

/// Backlog in the buffer of an input that was filling up, for an output of the same router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Number of the bin.
    pub bin: Time,
    /// The router.
    pub router: RouterId,
    /// The port that it came by.
    pub from: PortId,
    /// The port that it waited for.
    pub to: PortId,
    /// Flits times samples.
    pub flits: u64,
}

/// All that a domain has recorded of its backlog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsReport {
    /// Time between samples, ps; 0 if nothing was recorded.
    pub interval: Time,
    /// Width of the bins, ps.
    pub bin_width: Time,
    pub waits: Vec<Wait>,
    pub pressure: Vec<Pressure>,
    /// Backlog at places where it is not worth a row: bin, job, flits times samples.
    pub elsewhere: Vec<(Time, u16, u64)>,
}

/// Puts entries of the same key together, in the order of the keys.
pub fn merge<K: Ord, V>(rows: &mut Vec<(K, V)>, add: impl Fn(&mut V, &V)) {
    rows.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    rows.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            add(&mut kept.1, &next.1);
        }
        same
    });
}
