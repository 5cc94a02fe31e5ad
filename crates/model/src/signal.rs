use super::{EndpointId, Time};
use serde::{Deserialize, Serialize};

/// What a scheme tells an endpoint out of band: it takes no bandwidth and waits in no queue.
///
/// Signals that take effect at the same time are handled in the order of their content, so that it does not depend on
/// who is simulated first: the fields are in the order in which they are compared.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    bytemuck::Pod,
    bytemuck::Zeroable,
    Serialize,
    Deserialize,
)]
#[repr(C)]
pub struct Signal {
    /// When it takes effect, ps.
    pub time: Time,
    /// The receiver.
    pub to: EndpointId,
    /// The sender: a router, or with [`Signal::ENDPOINT`] as port an endpoint.
    pub from: u32,
    /// The router's port that it is about.
    pub port: u16,
    /// What it says: the scheme's own business.
    pub kind: u16,
    /// Zero.
    pub spare: u32,
    /// The scheme's own business.
    pub words: [u64; 2],
}

impl Signal {
    /// In place of a port: the sender is an endpoint.
    pub const ENDPOINT: u16 = u16::MAX;
}
