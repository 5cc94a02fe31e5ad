use super::super::testing::{Seen, about, at, last_timer, section};
use super::*;

/// Ports of 1,000 flits.
fn scheme() -> CodesCc {
    let text = "scheme = \"codes_cc\"\nperiod = \"10 us\"";
    let mut scheme = CodesCc::new(&section(text), &about(64, 1_000)).expect("good");
    scheme.start(4, 2);
    scheme
}

fn port(level: u32) -> Port {
    Port {
        output: 1,
        last_hop: true,
        level,
        capacity: 1_000,
    }
}

fn packet(source: EndpointId) -> PacketView {
    PacketView {
        source,
        destination: 9,
        flits: 64,
        payload_bits: 0,
    }
}

fn signal(kind: u16, time: Time, port: u16, n: u64) -> Signal {
    Signal {
        time,
        to: 0,
        from: 3,
        port,
        kind,
        spare: 0,
        words: [n, 0],
    }
}

/// NIC 0 sends a packet to endpoint 9.
fn send(scheme: &mut CodesCc, head: Time, tail: Time) {
    let to = super::super::testing::packet(9);
    scheme.on_sent(&mut Seen::at(head), &to, tail);
}

/// What was sent, in order, and the alarm.
fn said(actions: &mut Actions) -> (Vec<(EndpointId, u16, u64)>, Option<Time>) {
    let signals = std::mem::take(&mut actions.signals);
    let mut signals: Vec<_> = signals
        .into_iter()
        .map(|(to, kind, words)| (to, kind, words[0]))
        .collect();
    signals.sort_unstable();
    (signals, last_timer(actions))
}

#[test]
fn a_port_throttles_all_that_fill_it_and_those_that_join_until_it_is_drained() {
    let (mut scheme, mut actions) = (scheme(), Actions::default());
    // 300 of 1,000 flits are not more than 30%.
    for (source, level) in [(5, 100), (5, 200), (6, 300)] {
        scheme.on_route(&mut at(&mut actions, port(level), 0), &packet(source));
        assert_eq!(said(&mut actions), (vec![], None));
    }
    // At 340 the two senders are told: with the destination they are three. Draining to 100 takes 240 flits.
    scheme.on_route(&mut at(&mut actions, port(340), 1_000), &packet(6));
    let drained = 1_000 + 240 * 2_500;
    let both = vec![(5, THROTTLE, 3), (6, THROTTLE, 3)];
    assert_eq!(said(&mut actions), (both, Some(drained)));
    // A third one: all are told, and it takes 64 flits more.
    scheme.on_route(&mut at(&mut actions, port(404), 2_000), &packet(7));
    let three = vec![(5, THROTTLE, 4), (6, THROTTLE, 4), (7, THROTTLE, 4)];
    assert_eq!(said(&mut actions), (three, None));
    scheme.on_port_timer(&mut at(&mut actions, port(90), drained));
    let later = drained + 64 * 2_500;
    assert_eq!(said(&mut actions), (vec![], Some(later)));
    // An alarm that does not count any more.
    scheme.on_port_timer(&mut at(&mut actions, port(90), drained + 1));
    assert_eq!(said(&mut actions), (vec![], None));
    // The time is over, but 101 flits are left; the next packet that leaves releases.
    scheme.on_port_timer(&mut at(&mut actions, port(101), later));
    assert_eq!(said(&mut actions), (vec![], None));
    scheme.on_departure(&mut at(&mut actions, port(100), later + 5), &packet(5));
    let all = vec![(5, RELEASE, 0), (6, RELEASE, 0), (7, RELEASE, 0)];
    assert_eq!(said(&mut actions), (all, None));
    assert_eq!(scheme.counts()[..2], [1, 1]);
    // Who has packets there is known still: 5 has one left.
    scheme.on_route(&mut at(&mut actions, port(301), later + 10), &packet(8));
    let again = [5, 6, 7, 8].map(|source| (source, THROTTLE, 5));
    assert_eq!(said(&mut actions).0, again);
}

#[test]
fn ports_within_the_network_are_left_alone_if_so_wished() {
    let (mut scheme, mut actions) = (scheme(), Actions::default());
    let inner = Port {
        last_hop: false,
        ..port(900)
    };
    scheme.ports = Ports::LastHop;
    scheme.on_route(&mut at(&mut actions, inner, 0), &packet(5));
    assert_eq!(said(&mut actions), (vec![], None));
    scheme.ports = Ports::All;
    scheme.on_route(&mut at(&mut actions, inner, 0), &packet(5));
    assert_eq!(said(&mut actions).0, [(5, THROTTLE, 2)]);
}

#[test]
fn a_throttled_source_keeps_to_what_is_delivered_and_to_its_share() {
    let mut scheme = scheme();
    // Five periods of 10 us: a link carries 20,000 flits.
    assert_eq!(scheme.full, 20_000);
    let length = 64 * 2_500;
    let now = 100_000_000;
    send(&mut scheme, now, now + length);
    assert_eq!(
        scheme.ready_at(0, 9, now + length),
        now + length,
        "not throttled"
    );
    // Nothing was delivered lately: 1/20 of the link, to any destination.
    scheme.on_signal(0, &signal(THROTTLE, now, 1, 20));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 20 * length);
    assert_eq!(scheme.ready_at(0, 8, now + length), now + 20 * length);
    assert_eq!(scheme.allowed_rate(0, now), 0.05);
    assert_eq!(scheme.allowed_rate(1, now), 1.0);
    assert_eq!(
        scheme.ready_at(1, 9, now + length),
        now + length,
        "another NIC"
    );
    // 5,000 flits within the five periods before this one: a quarter. This period and older ones do not count.
    for (time, flits) in [
        (49_999_999, 9_000),
        (50_000_000, 2_000),
        (99_999_999, 3_000),
        (now, 9_000),
    ] {
        assert!(scheme.absorb_signal(0, &signal(DELIVERED, time, Signal::ENDPOINT, flits)));
    }
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 4 * length);
    assert_eq!(scheme.allowed_rate(0, now), 0.25);
    // In the next period 12,000 count: 3/5.
    let next = now + 10_000_000;
    send(&mut scheme, next, next + length);
    assert_eq!(
        scheme.ready_at(0, 9, next + length),
        next + length * 20 / 12
    );
    // A longer wait is looked at again when the period is over.
    let late = next + 9_999_000;
    send(&mut scheme, late, late + length);
    assert_eq!(scheme.ready_at(0, 9, late + 999), next + 10_000_000);
}

#[test]
fn a_source_is_throttled_until_the_last_port_lets_it_go() {
    let mut scheme = scheme();
    let (now, length) = (100_000_000, 64 * 2_500);
    send(&mut scheme, now, now + length);
    scheme.on_signal(0, &signal(THROTTLE, now, 1, 4));
    scheme.on_signal(0, &signal(THROTTLE, now, 2, 7));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 7 * length);
    scheme.on_signal(0, &signal(THROTTLE, now, 2, 5));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 5 * length);
    scheme.on_signal(0, &signal(RELEASE, now + 1, 2, 0));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 4 * length);
    scheme.on_signal(0, &signal(RELEASE, now + 2_000, 1, 0));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + length);
    assert_eq!(scheme.counts()[2..], [1, 2_000]);
}
