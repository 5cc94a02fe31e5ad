use crate::engine::EventKey;

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
    /// A scheme's alarm at a router's output, or signals for an endpoint at its NIC's output.
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

/// The keys of a domain's events.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Bits of a component's number.
    bits: u32,
    /// The part of a key that is the component's number.
    components: EventKey,
}

impl Keys {
    /// For components (ports, sources, tasks) with numbers below `components`, at most 2²⁸.
    pub fn new(components: usize) -> Self {
        let bits = components.next_power_of_two().ilog2().min(28);
        Keys {
            bits,
            components: (1 << bits) - 1,
        }
    }

    /// All keys are below this.
    pub fn count(self) -> usize {
        KINDS.len() << self.bits
    }

    /// The part of a key that is the component's number.
    #[inline]
    pub fn components(self) -> EventKey {
        self.components
    }

    /// The key of an event: its kind and its component.
    #[inline]
    pub fn key(self, kind: EventKind, component: u32) -> EventKey {
        ((kind as u32) << self.bits) | component
    }

    /// The inverse of [`Keys::key`].
    #[inline]
    pub fn unkey(self, key: EventKey) -> (EventKind, u32) {
        let kind = KINDS[(key >> self.bits) as usize & 7];
        (kind, key & self.components)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_reversible_and_ordered_by_kind() {
        for components in [1, 2, 78, 200, 1 << 28] {
            let keys = Keys::new(components);
            let last = components as u32 - 1;
            for (i, &kind) in KINDS.iter().enumerate() {
                for component in [0, 1, 77, last].map(|number| number.min(last)) {
                    let key = keys.key(kind, component);
                    assert!((key as usize) < keys.count());
                    assert_eq!(keys.unkey(key), (kind, component));
                    if i > 0 {
                        assert!(key > keys.key(KINDS[i - 1], last));
                    }
                }
            }
        }
    }
}
