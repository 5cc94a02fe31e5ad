use super::Tag;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EnvelopeKind {
    /// A short message with its content.
    Eager = 1,
    /// Asks for leave to send a long message.
    Request = 2,
    /// Gives leave to send it.
    Clear = 3,
    /// The content of a long message.
    Data = 4,
}

impl EnvelopeKind {
    /// From its number.
    pub fn from_u8(number: u8) -> Option<EnvelopeKind> {
        match number {
            1 => Some(EnvelopeKind::Eager),
            2 => Some(EnvelopeKind::Request),
            3 => Some(EnvelopeKind::Clear),
            4 => Some(EnvelopeKind::Data),
            _ => None,
        }
    }
}

/// What travels with a message between tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What the message is for.
    pub kind: EnvelopeKind,
    /// Its tag. Of `Eager` and `Request`.
    pub tag: Tag,
    /// The number of the message among those from its sender to its receiver, from 0, wrapping; of `Clear` and `Data`:
    /// the number of the request.
    pub number: u32,
}
