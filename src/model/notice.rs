use super::{EndpointId, Time};

/// What a scheme tells an endpoint out of band: it takes no bandwidth and waits in no queue.
///
/// Notices that take effect at the same time are taken in by what they say, so the fields are in the order in which they
/// are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Notice {
    /// When it takes effect, ps.
    pub time: Time,
    /// Whom it is for.
    pub to: EndpointId,
    /// Who sends it: a router, or with [`Notice::ENDPOINT`] as port an endpoint.
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

impl Notice {
    /// In place of a port: the sender is an endpoint.
    pub const ENDPOINT: u16 = u16::MAX;
}
