//! Events of a domain and their order.

use weir_engine::EventKey;

/// Kinds of events, in the order in which simultaneous ones happen: resources that become free are
/// given away before arrivals ask for them.
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

impl EventKind {
    /// Number of kinds.
    const COUNT: usize = 8;

    /// By its number; without a table, so that nothing need be done for it.
    #[inline(always)]
    fn of(number: u32) -> EventKind {
        match number % Self::COUNT as u32 {
            0 => EventKind::OutputFree,
            1 => EventKind::InputFree,
            2 => EventKind::Link,
            3 => EventKind::Arrive,
            4 => EventKind::Deliver,
            5 => EventKind::Generate,
            6 => EventKind::Task,
            _ => EventKind::Scheme,
        }
    }
}

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
        EventKind::COUNT << self.bits
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
        (EventKind::of(key >> self.bits), key & self.components)
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
            for i in 0..EventKind::COUNT as u32 {
                let kind = EventKind::of(i);
                assert_eq!(kind as u32, i);
                for component in [0, 1, 77, last].map(|number| number.min(last)) {
                    let key = keys.key(kind, component);
                    assert!((key as usize) < keys.count());
                    assert_eq!(keys.unkey(key), (kind, component));
                    if i > 0 {
                        assert!(key > keys.key(EventKind::of(i - 1), last));
                    }
                }
            }
        }
    }
}
