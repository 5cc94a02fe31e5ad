use super::super::Dispatch;
use super::super::testing::built;
use super::*;

/// Ports of 1,000 flits.
fn scheme() -> CodesCc {
    let AnyScheme::CodesCc(mut scheme) = built(
        ENTRY.build,
        "scheme = \"codes_cc\"\nperiod = \"10 us\"",
        64,
        1_000,
    ) else {
        panic!("another scheme");
    };
    scheme.prepare(4, 2);
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

fn packet(source: EndpointId) -> Passing {
    Passing {
        source,
        destination: 9,
        flits: 64,
    }
}

fn notice(kind: u16, time: Time, port: u16, n: u64) -> Notice {
    Notice {
        time,
        to: 0,
        from: 3,
        port,
        kind,
        spare: 0,
        words: [n, 0],
    }
}

/// What was sent, in order, and the alarm.
fn said(dispatch: &mut Dispatch) -> (Vec<(EndpointId, u16, u64)>, Option<Time>) {
    let notices = std::mem::take(&mut dispatch.notices);
    let mut notices: Vec<_> = notices
        .into_iter()
        .map(|(to, kind, words)| (to, kind, words[0]))
        .collect();
    notices.sort_unstable();
    (notices, dispatch.alarm.take())
}

#[test]
fn a_port_throttles_all_that_fill_it_and_those_that_join_until_it_is_drained() {
    let (mut scheme, mut dispatch) = (scheme(), Dispatch::default());
    // 300 of 1,000 flits are not more than 30%.
    for (source, level) in [(5, 100), (5, 200), (6, 300)] {
        scheme.routed(&mut dispatch, &port(level), &packet(source), 0);
        assert_eq!(said(&mut dispatch), (vec![], None));
    }
    // At 340 the two senders are told: with the destination they are three. Draining to 100 takes 240 flits.
    scheme.routed(&mut dispatch, &port(340), &packet(6), 1_000);
    let drained = 1_000 + 240 * 2_500;
    let both = vec![(5, THROTTLE, 3), (6, THROTTLE, 3)];
    assert_eq!(said(&mut dispatch), (both, Some(drained)));
    // A third one: all are told, and it takes 64 flits more.
    scheme.routed(&mut dispatch, &port(404), &packet(7), 2_000);
    let three = vec![(5, THROTTLE, 4), (6, THROTTLE, 4), (7, THROTTLE, 4)];
    assert_eq!(said(&mut dispatch), (three, None));
    scheme.alarm(&mut dispatch, &port(90), drained);
    let later = drained + 64 * 2_500;
    assert_eq!(said(&mut dispatch), (vec![], Some(later)));
    // An alarm that does not count any more.
    scheme.alarm(&mut dispatch, &port(90), drained + 1);
    assert_eq!(said(&mut dispatch), (vec![], None));
    // The time is over, but 101 flits are left; the next packet that leaves releases.
    scheme.alarm(&mut dispatch, &port(101), later);
    assert_eq!(said(&mut dispatch), (vec![], None));
    scheme.left(&mut dispatch, &port(100), &packet(5), later + 5);
    let all = vec![(5, RELEASE, 0), (6, RELEASE, 0), (7, RELEASE, 0)];
    assert_eq!(said(&mut dispatch), (all, None));
    assert_eq!(scheme.counts()[..2], [1, 1]);
    // Who has packets there is known still: 5 has one left.
    scheme.routed(&mut dispatch, &port(301), &packet(8), later + 10);
    let again = [5, 6, 7, 8].map(|source| (source, THROTTLE, 5));
    assert_eq!(said(&mut dispatch).0, again);
}

#[test]
fn ports_within_the_network_are_left_alone_if_so_wished() {
    let (mut scheme, mut dispatch) = (scheme(), Dispatch::default());
    let inner = Port {
        last_hop: false,
        ..port(900)
    };
    scheme.ports = Ports::LastHop;
    scheme.routed(&mut dispatch, &inner, &packet(5), 0);
    assert_eq!(said(&mut dispatch), (vec![], None));
    scheme.ports = Ports::All;
    scheme.routed(&mut dispatch, &inner, &packet(5), 0);
    assert_eq!(said(&mut dispatch).0, [(5, THROTTLE, 2)]);
}

#[test]
fn a_throttled_source_keeps_to_what_is_delivered_and_to_its_share() {
    let mut scheme = scheme();
    // Five periods of 10 us: a link carries 20,000 flits.
    assert_eq!(scheme.full, 20_000);
    let length = 64 * 2_500;
    let now = 100_000_000;
    scheme.sent(0, 9, now, now + length);
    assert_eq!(
        scheme.ready_at(0, 9, now + length),
        now + length,
        "not throttled"
    );
    // Nothing was delivered lately: 1/20 of the link, to any destination.
    scheme.told(0, &notice(THROTTLE, now, 1, 20));
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
        assert!(scheme.taken_early(0, &notice(DELIVERED, time, Notice::ENDPOINT, flits)));
    }
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 4 * length);
    assert_eq!(scheme.allowed_rate(0, now), 0.25);
    // In the next period 12,000 count: 3/5.
    let next = now + 10_000_000;
    scheme.sent(0, 9, next, next + length);
    assert_eq!(
        scheme.ready_at(0, 9, next + length),
        next + length * 20 / 12
    );
    // A longer wait is looked at again when the period is over.
    let late = next + 9_999_000;
    scheme.sent(0, 9, late, late + length);
    assert_eq!(scheme.ready_at(0, 9, late + 999), next + 10_000_000);
}

#[test]
fn a_source_is_throttled_until_the_last_port_lets_it_go() {
    let mut scheme = scheme();
    let (now, length) = (100_000_000, 64 * 2_500);
    scheme.sent(0, 9, now, now + length);
    scheme.told(0, &notice(THROTTLE, now, 1, 4));
    scheme.told(0, &notice(THROTTLE, now, 2, 7));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 7 * length);
    scheme.told(0, &notice(THROTTLE, now, 2, 5));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 5 * length);
    scheme.told(0, &notice(RELEASE, now + 1, 2, 0));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + 4 * length);
    scheme.told(0, &notice(RELEASE, now + 2_000, 1, 0));
    assert_eq!(scheme.ready_at(0, 9, now + length), now + length);
    assert_eq!(scheme.counts()[2..], [1, 2_000]);
}
