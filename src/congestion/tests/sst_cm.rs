use super::super::testing::built;
use super::*;

/// Packets of 32 flits (2 KiB): 80 ns.
fn scheme() -> SstCm {
    let AnyScheme::SstCm(mut scheme) = built(ENTRY.build, "scheme = \"sst_cm\"", 32, 512) else {
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
        capacity: 512,
    }
}

fn packet(source: EndpointId, flits: u16) -> Passing {
    Passing {
        source,
        destination: 9,
        flits,
    }
}

/// What was sent: to whom, N, pause; and the alarm.
fn said(dispatch: &mut Dispatch) -> (Vec<(EndpointId, u64, Time)>, Option<Time>) {
    let notices = std::mem::take(&mut dispatch.notices);
    let mut notices: Vec<_> = notices
        .into_iter()
        .map(|(to, _, [word, pause])| {
            assert_eq!(word as u32, 9, "the endpoint that it is about");
            (to, word >> 32, pause)
        })
        .collect();
    notices.sort_unstable();
    (notices, dispatch.alarm.take())
}

/// Eight sources, a packet each at 0, 1, … 7 ns; control begins with the last one if so much waits.
fn incast(level: u32) -> (SstCm, Dispatch) {
    let (mut scheme, mut dispatch) = (scheme(), Dispatch::default());
    for source in 0..7 {
        let now = 1_000 * Time::from(source);
        scheme.routed(&mut dispatch, &port(600), &packet(source, 32), now);
    }
    assert_eq!(said(&mut dispatch), (vec![], None), "seven are no incast");
    scheme.routed(&mut dispatch, &port(level), &packet(7, 32), 7_000);
    (scheme, dispatch)
}

#[test]
fn an_incast_is_eight_sources_and_32_kib() {
    let (_, mut dispatch) = incast(511);
    assert_eq!(said(&mut dispatch), (vec![], None));
    let (scheme, mut dispatch) = incast(512);
    // A pause of four times what waits: 4 · 512 · 2.5 ns.
    let all: Vec<_> = (0..8).map(|source| (source, 8, 4 * 512 * 2_500)).collect();
    let (notices, alarm) = said(&mut dispatch);
    assert_eq!(notices, all);
    assert!(alarm.is_some());
    assert_eq!(scheme.counts(), [1, 0, 8]);
}

#[test]
fn small_packets_make_no_stream_and_ports_to_routers_are_left_alone() {
    let (mut scheme, mut dispatch) = (scheme(), Dispatch::default());
    for source in 0..20 {
        scheme.routed(&mut dispatch, &port(600), &packet(source, 1), 0);
        let inner = Port {
            last_hop: false,
            ..port(600)
        };
        scheme.routed(&mut dispatch, &inner, &packet(source, 32), 0);
    }
    assert_eq!(said(&mut dispatch), (vec![], None));
    assert!(
        scheme
            .watches
            .iter()
            .flatten()
            .all(|watch| watch.streams.is_empty())
    );
}

#[test]
fn who_joins_pauses_and_all_share_anew() {
    let (mut scheme, mut dispatch) = incast(512);
    said(&mut dispatch);
    scheme.routed(&mut dispatch, &port(200), &packet(8, 32), 8_000);
    let (notices, _) = said(&mut dispatch);
    let mut expected: Vec<_> = (0..9).map(|source| (source, 9, 0)).collect();
    expected.push((8, 9, 4 * 200 * 2_500));
    assert_eq!(notices, expected);
    assert_eq!(scheme.counts(), [1, 0, 9]);
}

#[test]
fn who_sends_nothing_for_one_and_a_half_rounds_counts_no_more() {
    let (mut scheme, mut dispatch) = incast(512);
    // Source 8 joins; eight of them go on after their pause, source 3 does not.
    scheme.routed(&mut dispatch, &port(500), &packet(8, 32), 8_000);
    for source in [0, 1, 2, 4, 5, 6, 7, 8] {
        scheme.routed(&mut dispatch, &port(500), &packet(source, 32), 6_000_000);
    }
    said(&mut dispatch);
    // 1.5 rounds of nine packets of 80 ns after its pause, which began at 7 ns.
    let over = 7_000 + 4 * 512 * 2_500 + 1_080_000;
    scheme.left(&mut dispatch, &port(500), &packet(0, 32), over - 1);
    assert_eq!(said(&mut dispatch).0, []);
    scheme.left(&mut dispatch, &port(500), &packet(0, 32), over);
    let (notices, alarm) = said(&mut dispatch);
    let mut expected = vec![(0, 8, 0), (1, 8, 0), (2, 8, 0), (3, 0, 0)];
    expected.extend([4, 5, 6, 7, 8].map(|source| (source, 8, 0)));
    assert_eq!(notices, expected);
    // The others are over 1.5 rounds of eight after 6 us. Then all are free, without a packet.
    let last = 6_000_000 + 960_000;
    assert_eq!(alarm, Some(last));
    scheme.alarm(&mut dispatch, &port(0), last);
    let free = [0, 1, 2, 4, 5, 6, 7, 8].map(|source| (source, 0, 0));
    assert_eq!(said(&mut dispatch), (free.to_vec(), None));
    assert_eq!(scheme.counts()[..2], [1, 1]);
}

#[test]
fn a_source_pauses_and_then_keeps_its_share_to_that_endpoint_only() {
    let mut scheme = scheme();
    let notice = |n: u64, pause: Time| Notice {
        time: 1_000_000,
        to: 0,
        from: 3,
        port: 1,
        kind: LIMIT,
        spare: 0,
        words: [9 | n << 32, pause],
    };
    scheme.told(0, &notice(8, 500_000));
    assert_eq!(scheme.ready_at(0, 9, 1_000_000), 1_500_000);
    assert_eq!(
        scheme.ready_at(0, 8, 1_000_000),
        1_000_000,
        "another endpoint"
    );
    assert_eq!(scheme.ready_at(1, 9, 1_000_000), 1_000_000, "another NIC");
    let rates = [1_499_999, 1_500_000].map(|now| scheme.allowed_rate(0, now));
    assert_eq!(rates, [0.0, 0.125]);
    assert_eq!(scheme.allowed_rate(1, 1_000_000), 1.0);
    scheme.sent(0, 9, 1_500_000, 1_580_000);
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_500_000 + 8 * 80_000);
    // A new N counts from the last packet on, without another pause.
    scheme.told(0, &notice(10, 0));
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_500_000 + 10 * 80_000);
    scheme.told(0, &notice(0, 0));
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_580_000);
}
