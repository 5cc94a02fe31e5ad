use crate::engine::EventKey;
use crate::model::Time;

/// What happens, in the order in which simultaneous things happen: what becomes free is given away before what
/// arrives asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// An output's side of the crossbar is free.
    OutputFree = 0,
    /// An input's side of the crossbar is free.
    InputFree = 1,
    /// A link is free, a packet is ready for it, or a credit it waits for is back.
    Link = 2,
    /// A head is at the input of a router.
    Arrive = 3,
    /// A tail is at its endpoint.
    Deliver = 4,
    /// An endpoint generates a message.
    Generate = 5,
    /// A time of a task is over.
    Task = 6,
    /// A scheme's alarm at a router's output, or notices for an endpoint at its NIC's output.
    Scheme = 7,
}

/// By number.
const KINDS: [EventKind; 8] = [
    EventKind::OutputFree,
    EventKind::InputFree,
    EventKind::Link,
    EventKind::Arrive,
    EventKind::Deliver,
    EventKind::Generate,
    EventKind::Task,
    EventKind::Scheme,
];

const COMPONENT_BITS: u32 = 28;
const COMPONENT_MASK: u32 = (1 << COMPONENT_BITS) - 1;

/// A mask that depends on the time only.
///
/// Simultaneous events of one kind are ordered by their component's number under this mask: an order that is fixed
/// by what the events are, but that favours no port in the long run. (With a plain order, of two outputs that want
/// the same input at the same time the one with the lower number would win every time.)
#[inline]
fn mask(time: Time) -> u32 {
    (time.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 36) as u32 & COMPONENT_MASK
}

/// The key of an event: its kind and its component.
#[inline]
pub fn key(kind: EventKind, component: u32, time: Time) -> EventKey {
    ((kind as u32) << COMPONENT_BITS) | (component ^ mask(time))
}

/// The inverse of [`key`].
#[inline]
pub fn unkey(key: EventKey, time: Time) -> (EventKind, u32) {
    (
        KINDS[(key >> COMPONENT_BITS) as usize & 7],
        (key & COMPONENT_MASK) ^ mask(time),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_reversible_and_ordered_by_kind() {
        for time in [0, 1_000, 123_456_789] {
            for (i, &kind) in KINDS.iter().enumerate() {
                for component in [0, 1, 77, COMPONENT_MASK] {
                    assert_eq!(unkey(key(kind, component, time), time), (kind, component));
                }
                if i > 0 {
                    assert!(key(kind, 0, time) > key(KINDS[i - 1], COMPONENT_MASK, time));
                }
            }
        }
    }

    #[test]
    fn neither_of_two_ports_always_comes_first() {
        let first = (0..1_000u64).filter(|t| {
            key(EventKind::OutputFree, 4, t * 1_000) < key(EventKind::OutputFree, 5, t * 1_000)
        });
        let count = first.count();
        assert!((400..600).contains(&count), "{count}");
    }
}
