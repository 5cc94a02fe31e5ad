//! Signals and throttling of `codes_cc`, by hand.

use super::*;
use crate::Scheme;
use crate::rules::Applied;
use crate::testing::{Seen, about, at, last_timer, nic, section};

/// Ports of 1,000 flits.
fn scheme() -> Applied<CodesCc> {
    with("period = \"10 us\"")
}

fn with(parameters: &str) -> Applied<CodesCc> {
    let text = format!("scheme = \"codes_cc\"\n{parameters}");
    let rules = CodesCc::new(&section(&text), &about(64, 1_000)).expect("good");
    Applied::new(rules.into(), 4, 2)
}

fn port(level: u32) -> Port {
    Port {
        output: 1,
        last_hop: true,
        level,
        capacity: 1_000,
        rate: nic(0).1,
    }
}

fn packet(source: EndpointId) -> PacketView {
    PacketView {
        source,
        destination: 9,
        flits: 64,
        payload_bits: 0,
        marked: false,
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
fn send(scheme: &mut Applied<CodesCc>, head: Time, tail: Time) {
    let packet = PacketView {
        flits: ((tail - head) / 2_500) as u16,
        ..packet(9)
    };
    scheme.on_sent(&mut Seen::at(head), &packet, tail);
}

/// The signals sent, in order, and the alarm.
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
    // 300 of 1,000 flits do not exceed 30%.
    for (source, level) in [(5, 100), (5, 200), (6, 300)] {
        scheme.on_route(&mut at(&mut actions, port(level), 0), &packet(source));
        assert_eq!(said(&mut actions), (vec![], None));
    }
    // At 340 the two senders are told; with the destination there are three participants. Draining
    // to 100 takes 240 flits.
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
    // An alarm that is no longer valid.
    scheme.on_port_timer(&mut at(&mut actions, port(90), drained + 1));
    assert_eq!(said(&mut actions), (vec![], None));
    // The period is over, but 101 flits are left; the next packet that leaves releases.
    scheme.on_port_timer(&mut at(&mut actions, port(101), later));
    assert_eq!(said(&mut actions), (vec![], None));
    scheme.on_departure(&mut at(&mut actions, port(100), later + 5), &packet(5));
    let all = vec![(5, RELEASE, 0), (6, RELEASE, 0), (7, RELEASE, 0)];
    assert_eq!(said(&mut actions), (all, None));
    assert_eq!(scheme.counts(0)[..2], [1, 1]);
    // Senders with packets at the port are still known: 5 has one left.
    scheme.on_route(&mut at(&mut actions, port(301), later + 10), &packet(8));
    let again = [5, 6, 7, 8].map(|source| (source, THROTTLE, 5));
    assert_eq!(said(&mut actions).0, again);
}

/// Acknowledgements for the endpoint hold its port above the level of release.
#[test]
fn a_port_without_data_is_released_though_control_packets_fill_it() {
    let (mut scheme, mut actions) = (scheme(), Actions::default());
    scheme.on_route(&mut at(&mut actions, port(310), 0), &packet(5));
    let drained = said(&mut actions).1.expect("an alarm");
    // The last data packet leaves before the alarm.
    scheme.on_departure(&mut at(&mut actions, port(200), 1_000), &packet(5));
    assert_eq!(said(&mut actions), (vec![], None));
    scheme.on_port_timer(&mut at(&mut actions, port(200), drained));
    assert_eq!(said(&mut actions), (vec![(5, RELEASE, 0)], None));
    // The same after the alarm.
    scheme.on_route(&mut at(&mut actions, port(310), drained), &packet(5));
    let again = said(&mut actions).1.expect("an alarm");
    scheme.on_port_timer(&mut at(&mut actions, port(250), again));
    assert_eq!(said(&mut actions), (vec![], None));
    scheme.on_departure(&mut at(&mut actions, port(200), again + 1_000), &packet(5));
    assert_eq!(said(&mut actions), (vec![(5, RELEASE, 0)], None));
}

/// Requests of one flit: five of them count as 320 flits of 1,000, and 220 less are 100. With two
/// left (128 flits) the port stays congested, with one it does not.
#[test]
fn short_packets_count_as_whole_ones_if_so_wished() {
    let (mut scheme, mut actions) = (with("count = \"packets\""), Actions::default());
    let request = |source| PacketView {
        flits: 1,
        ..packet(source)
    };
    for (number, source) in (1..).zip([1, 2, 3, 4]) {
        scheme.on_route(&mut at(&mut actions, port(number), 0), &request(source));
        assert_eq!(said(&mut actions), (vec![], None));
    }
    scheme.on_route(&mut at(&mut actions, port(5), 1_000), &request(5));
    let drained = 1_000 + 220 * 2_500;
    let all = [1, 2, 3, 4, 5].map(|source| (source, THROTTLE, 6));
    assert_eq!(said(&mut actions), (all.to_vec(), Some(drained)));
    for source in [1, 2, 3] {
        let mut context = at(&mut actions, port(2), drained);
        scheme.on_departure(&mut context, &request(source));
        assert_eq!(said(&mut actions), (vec![], None));
    }
    scheme.on_departure(&mut at(&mut actions, port(1), drained), &request(4));
    let all = [1, 2, 3, 4, 5].map(|source| (source, RELEASE, 0));
    assert_eq!(said(&mut actions), (all.to_vec(), None));
    // A packet that comes while the port is congested takes the time of a whole one.
    let mut scheme = with("count = \"packets\"\nthreshold = 0.05\nrelease = 0.01");
    scheme.on_route(&mut at(&mut actions, port(1), 0), &request(1));
    let first = said(&mut actions).1.expect("an alarm");
    scheme.on_route(&mut at(&mut actions, port(2), 0), &request(1));
    scheme.on_port_timer(&mut at(&mut actions, port(2), first));
    assert_eq!(said(&mut actions).1, Some(first + 64 * 2_500));
}

#[test]
fn ports_within_the_network_are_left_alone_if_so_wished() {
    let mut actions = Actions::default();
    let inner = Port {
        last_hop: false,
        ..port(900)
    };
    let mut scheme = with("ports = \"last_hop\"");
    scheme.on_route(&mut at(&mut actions, inner, 0), &packet(5));
    assert_eq!(said(&mut actions), (vec![], None));
    let mut scheme = with("ports = \"all\"");
    scheme.on_route(&mut at(&mut actions, inner, 0), &packet(5));
    assert_eq!(said(&mut actions).0, [(5, THROTTLE, 2)]);
}

#[test]
fn a_throttled_source_keeps_to_what_is_delivered_and_to_its_share() {
    let mut scheme = scheme();
    // Five periods of 10 us: a link carries 20,000 flits.
    assert!(matches!(scheme.rules.measure, Measure::Periods(clock) if clock.full == 20_000));
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
    assert_eq!(scheme.allowed_rate(nic(0), now), 0.05);
    assert_eq!(scheme.allowed_rate(nic(1), now), 1.0);
    assert_eq!(
        scheme.ready_at(1, 9, now + length),
        now + length,
        "another NIC"
    );
    // 5,000 flits within the five periods before this one: a quarter. This period and older ones do
    // not count.
    for (time, flits) in [
        (49_999_999, 9_000),
        (50_000_000, 2_000),
        (99_999_999, 3_000),
        (now, 9_000),
    ] {
        assert!(scheme.absorb_signal(0, &signal(DELIVERED, time, Signal::ENDPOINT, flits)));
    }
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 4 * length);
    assert_eq!(scheme.allowed_rate(nic(0), now), 0.25);
    // In the next period 12,000 count: 3/5.
    let next = now + 10_000_000;
    send(&mut scheme, next, next + length);
    assert_eq!(
        scheme.ready_at(0, 9, next + length),
        next + length * 20 / 12
    );
    // A longer wait is checked again at the end of the period.
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
    // Also while it goes on.
    assert_eq!(scheme.counts(now + 500)[2..], [1, 500]);
    scheme.on_signal(0, &signal(RELEASE, now + 2_000, 1, 0));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + length);
    assert_eq!(scheme.counts(now + 9_000)[2..], [1, 2_000]);
}

/// The time of a packet of 64 flits.
const LENGTH: Time = 64 * 2_500;

/// A packet of NIC 0 is ejected.
fn eject(scheme: &mut Applied<CodesCc>, time: Time) {
    scheme.on_signal(0, &signal(DELIVERED, time, Signal::ENDPOINT, 64));
}

#[test]
fn the_rate_of_the_last_packets_is_known_from_the_second_one_on() {
    let mut scheme = with("packets = 4");
    for packet in 0..4 {
        send(&mut scheme, packet * LENGTH, (packet + 1) * LENGTH);
    }
    scheme.on_signal(0, &signal(THROTTLE, 4 * LENGTH, 1, 10));
    // One-tenth while nothing is known, and while one packet is: as long as no other arrives its
    // rate falls with time.
    assert_eq!(scheme.ready_at(0, 9, 4 * LENGTH), 13 * LENGTH);
    eject(&mut scheme, 10 * LENGTH);
    assert_eq!(scheme.ready_at(0, 9, 10 * LENGTH), 13 * LENGTH);
    // Two packets in 12 of their times: the next may leave 6 after the last one, which was at 3.
    eject(&mut scheme, 12 * LENGTH);
    assert_eq!(scheme.ready_at(0, 9, 12 * LENGTH), 12 * LENGTH);
    send(&mut scheme, 12 * LENGTH, 13 * LENGTH);
    // The third, at 14: if no more come, 18 is 6 after the last one and 3 packets in 18 times are a
    // sixth.
    eject(&mut scheme, 14 * LENGTH);
    assert_eq!(scheme.allowed_rate(nic(0), 14 * LENGTH), 3.0 / 14.0);
    assert_eq!(scheme.ready_at(0, 9, 14 * LENGTH), 18 * LENGTH);
    assert_eq!(scheme.allowed_rate(nic(0), 18 * LENGTH), 1.0 / 6.0);
    assert_eq!(scheme.ready_at(0, 9, 18 * LENGTH), 18 * LENGTH);
    // The fifth: the rate is that of the last four, since the first, at 10.
    eject(&mut scheme, 16 * LENGTH);
    eject(&mut scheme, 20 * LENGTH);
    assert_eq!(scheme.allowed_rate(nic(0), 20 * LENGTH), 0.4);
    // Nothing is under way until 50: that time does not count. 4 packets in 10 times, and in 3⅓
    // more, make 0.3.
    assert_eq!(scheme.allowed_rate(nic(0), 50 * LENGTH), 0.4);
    send(&mut scheme, 50 * LENGTH, 51 * LENGTH);
    let ready = 50 * LENGTH + (10 * LENGTH).div_ceil(3);
    assert_eq!(scheme.ready_at(0, 9, 51 * LENGTH), ready);
    assert_eq!(scheme.ready_at(0, 9, ready), ready);
}

#[test]
fn the_least_share_may_be_given_and_headroom_is_left_of_every_limit() {
    let throttled = |parameters: &str| {
        let mut scheme = with(parameters);
        send(&mut scheme, 0, LENGTH);
        scheme.on_signal(0, &signal(THROTTLE, LENGTH, 1, 10));
        scheme
    };
    for (parameters, share) in [
        ("", 0.1),
        ("minimum = 0.01", 0.01),
        ("headroom = 0.5", 0.05),
        ("minimum = 0.125\nheadroom = 0.75", 0.03125),
    ] {
        let mut scheme = throttled(parameters);
        let rate = scheme.allowed_rate(nic(0), LENGTH);
        assert!((rate / share - 1.0).abs() < 1e-6, "{parameters}: {rate}");
        let ready = scheme.ready_at(0, 9, LENGTH) as f64;
        assert!(
            (ready * share / LENGTH as f64 - 1.0).abs() < 1e-6,
            "{parameters}: {ready}"
        );
    }
    // Half a link is ejected; half of that is used, or nothing of it counts.
    let measured = |parameters: &str| {
        let mut scheme = throttled(parameters);
        eject(&mut scheme, 2 * LENGTH);
        (
            scheme.allowed_rate(nic(0), 3 * LENGTH),
            scheme.ready_at(0, 9, 3 * LENGTH),
        )
    };
    assert_eq!(measured("packets = 160"), (0.5, 3 * LENGTH));
    assert_eq!(
        measured("packets = 160\nheadroom = 0.5"),
        (0.25, 4 * LENGTH)
    );
    assert_eq!(measured("limit = \"minimum\""), (0.1, 10 * LENGTH));
}

#[test]
fn the_destination_is_counted_or_not() {
    for (parameters, participants) in [("", 3), ("cardinality = \"sources\"", 2)] {
        let (mut scheme, mut actions) = (with(parameters), Actions::default());
        for (source, level) in [(5, 100), (6, 900)] {
            scheme.on_route(&mut at(&mut actions, port(level), 0), &packet(source));
        }
        let told = [5, 6].map(|source| (source, THROTTLE, participants));
        assert_eq!(said(&mut actions).0, told, "{parameters}");
    }
}

#[test]
fn parameters_that_have_no_effect_are_refused() {
    for (parameters, words) in [
        (
            "packets = 3\nperiods = 3",
            "measured over packets, not over periods",
        ),
        (
            "packets = 3\nperiod = \"1 us\"",
            "measured over packets, not over periods",
        ),
        ("packets = 0", "cannot be averaged"),
        ("packets = 3\nlimit = \"minimum\"", "counts for nothing"),
        ("period = \"1 us\"\nperiods = 1001", "cannot be averaged"),
        ("minimum = 0.0", "no share of a link"),
        (
            "minimum = 0.1\ncardinality = \"sources\"",
            "does not depend",
        ),
        ("headroom = 1.0", "hardly send"),
    ] {
        let text = format!("scheme = \"codes_cc\"\n{parameters}");
        let error = CodesCc::new(&section(&text), &about(64, 1_000)).expect_err(parameters);
        assert!(error.to_string().contains(words), "{parameters}: {error}");
    }
}
