//! Data that travels with a message between tasks.

use serde::{Deserialize, Serialize};

use crate::tasks::Tag;
use crate::tasks::program::op::COLLECTIVE_TAG;
use weir_model::Stamp;

/// Purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[repr(u8)]
pub enum EnvelopeKind {
    /// A short message with its content.
    Eager = 1,
    /// Requests to send a long message.
    Request = 2,
    /// Grants such a request.
    Clear = 3,
    /// The content of a long message.
    Data = 4,
    /// Confirms the arrival of the content.
    Received = 5,
}

impl EnvelopeKind {
    /// True if such a message carries content, and not only protocol data.
    pub fn has_content(self) -> bool {
        matches!(self, EnvelopeKind::Eager | EnvelopeKind::Data)
    }

    /// The kind with this number.
    pub fn from_u8(number: u8) -> Option<EnvelopeKind> {
        match number {
            1 => Some(EnvelopeKind::Eager),
            2 => Some(EnvelopeKind::Request),
            3 => Some(EnvelopeKind::Clear),
            4 => Some(EnvelopeKind::Data),
            5 => Some(EnvelopeKind::Received),
            _ => None,
        }
    }
}

/// Data that travels with a message between tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Envelope {
    /// Purpose of the message.
    pub kind: EnvelopeKind,
    /// Its tag. For `Clear`, `Data` and `Received`: the tag of the request.
    pub tag: Tag,
    /// The number of the message among those from its sender to its receiver, from 0, with
    /// [`Envelope::BITS`] bits. For `Clear`, `Data` and `Received`: the number of the request.
    pub number: u32,
}

impl Envelope {
    /// Bits of a number, which wraps around.
    pub const BITS: u32 = 20;
    /// Maximum number of places by which a message may overtake others from the same task. More
    /// ends the run, long before numbers could be confused: overtaking messages come nearly in
    /// order.
    pub const MOST_AHEAD: u32 = 1 << (Envelope::BITS - 1);
    const TAG_BITS: u32 = COLLECTIVE_TAG.ilog2() + 1;
    /// Numbers in stamps of parts, after those of [`EnvelopeKind`].
    const PART_OF_EAGER: u8 = 6;
    const PART_OF_DATA: u8 = 7;

    /// The number after another.
    pub fn next(number: u32) -> u32 {
        (number + 1) & ((1 << Envelope::BITS) - 1)
    }

    /// Distance of a number from `expected`, modulo the wrap-around.
    pub fn ahead(number: u32, expected: u32) -> u32 {
        number.wrapping_sub(expected) & ((1 << Envelope::BITS) - 1)
    }

    /// True if the message carries content from one task to another. Requests do not, and steps of
    /// collective operations only if they are long enough to need one.
    pub fn is_content(self) -> bool {
        match self.kind {
            EnvelopeKind::Eager => self.tag < COLLECTIVE_TAG,
            EnvelopeKind::Data => true,
            EnvelopeKind::Request | EnvelopeKind::Clear | EnvelopeKind::Received => false,
        }
    }

    /// The envelope as a stamp that is not [`Stamp::NONE`].
    pub fn to_stamp(self) -> Stamp {
        let above_tag = u64::from(self.kind as u8) << Envelope::BITS | u64::from(self.number);
        Stamp::new(above_tag << Envelope::TAG_BITS | u64::from(self.tag))
    }

    /// The same for a part of a message with content that several NICs carry.
    pub fn to_stamp_of_part(self) -> Stamp {
        let kind = match self.kind {
            EnvelopeKind::Data => Envelope::PART_OF_DATA,
            _ => Envelope::PART_OF_EAGER,
        };
        let below_kind = Envelope::TAG_BITS + Envelope::BITS;
        let rest = self.to_stamp().word() & ((1 << below_kind) - 1);
        Stamp::new(u64::from(kind) << below_kind | rest)
    }

    /// Number of the kind in a stamp: of [`EnvelopeKind`], or of a part.
    fn kind_number(stamp: Stamp) -> u8 {
        (stamp.word() >> (Envelope::TAG_BITS + Envelope::BITS)) as u8
    }

    /// True for the stamp of a part of a message.
    pub fn is_part(stamp: Stamp) -> bool {
        Envelope::kind_number(stamp) >= Envelope::PART_OF_EAGER
    }

    /// True for the stamp of a message that grants a request.
    pub fn is_clear(stamp: Stamp) -> bool {
        Envelope::kind_number(stamp) == EnvelopeKind::Clear as u8
    }

    /// The inverse of [`Envelope::to_stamp`] and [`Envelope::to_stamp_of_part`]; None for
    /// [`Stamp::NONE`] and other invalid stamps.
    pub fn from_stamp(stamp: Stamp) -> Option<Envelope> {
        let word = stamp.word();
        let kind = match Envelope::kind_number(stamp) {
            Envelope::PART_OF_EAGER => EnvelopeKind::Eager,
            Envelope::PART_OF_DATA => EnvelopeKind::Data,
            kind => EnvelopeKind::from_u8(kind)?,
        };
        Some(Envelope {
            kind,
            tag: word as u32 & ((1 << Envelope::TAG_BITS) - 1),
            number: (word >> Envelope::TAG_BITS) as u32 & ((1 << Envelope::BITS) - 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_a_stamp() {
        for kind in [
            EnvelopeKind::Eager,
            EnvelopeKind::Request,
            EnvelopeKind::Clear,
            EnvelopeKind::Data,
            EnvelopeKind::Received,
        ] {
            for (tag, number) in [(0, 0), (65_535, 7), (COLLECTIVE_TAG, (1 << 20) - 1)] {
                let envelope = Envelope { kind, tag, number };
                assert_eq!(Envelope::from_stamp(envelope.to_stamp()), Some(envelope));
                assert!(!Envelope::is_part(envelope.to_stamp()));
                let clear = kind == EnvelopeKind::Clear;
                assert_eq!(Envelope::is_clear(envelope.to_stamp()), clear);
                let short_step = tag == COLLECTIVE_TAG && kind == EnvelopeKind::Eager;
                assert_eq!(envelope.is_content(), kind.has_content() && !short_step);
                if kind.has_content() {
                    let part = envelope.to_stamp_of_part();
                    assert_eq!(Envelope::from_stamp(part), Some(envelope));
                    assert!(Envelope::is_part(part) && part != envelope.to_stamp());
                }
            }
        }
        assert_eq!(Envelope::from_stamp(Stamp::NONE), None);
        assert_eq!(Envelope::next((1 << 20) - 1), 0);
    }
}
