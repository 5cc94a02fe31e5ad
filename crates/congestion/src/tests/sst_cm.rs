//! Counting, limits and pauses of `sst_cm`, by hand.

use super::super::Scheme;
use super::super::rules::Applied;
use super::super::testing::{Seen, about, at, last_timer, nic, section};
use super::parameters::PRESETS;
use super::*;

/// Packets of 32 flits (2 KiB): 80 ns.
fn scheme(preset: &str) -> Applied<SstCm> {
    let preset = PRESETS
        .iter()
        .find(|one| one.name == preset)
        .expect("one of them");
    let text = format!("scheme = \"sst_cm\"\n{}", preset.values.replace(", ", "\n"));
    let rules = SstCm::new(&section(&text), &about(32, 512)).expect("good");
    Applied::new(rules.into(), 4, 2)
}

fn port(level: u32) -> Port {
    Port {
        output: 1,
        last_hop: true,
        level,
        capacity: 512,
        rate: nic(0).1,
    }
}

fn packet(source: EndpointId, flits: u16) -> PacketView {
    PacketView {
        source,
        destination: 9,
        flits,
        payload_bits: 0,
        marked: false,
    }
}

/// NIC 0 sends a packet to endpoint 9.
fn send(scheme: &mut Applied<SstCm>, head: Time, tail: Time) {
    let to = super::super::testing::packet(9);
    scheme.on_sent(&mut Seen::at(head), &to, tail);
}

/// The signals sent (receiver, N, pause), and the alarm.
fn said(actions: &mut Actions) -> (Vec<(EndpointId, u64, Time)>, Option<Time>) {
    let signals = std::mem::take(&mut actions.signals);
    let mut signals: Vec<_> = signals
        .into_iter()
        .map(|(to, _, [word, pause])| {
            assert_eq!(word as u32, 9, "the endpoint that it is about");
            (to, word >> 32, pause)
        })
        .collect();
    signals.sort_unstable();
    (signals, last_timer(actions))
}

/// Eight sources, one packet each at 0, 1, … 7 ns; control begins with the last one if the backlog
/// is `level`.
fn incast(level: u32) -> (Applied<SstCm>, Actions) {
    incast_under("mcglohon2021", level)
}

fn incast_under(preset: &str, level: u32) -> (Applied<SstCm>, Actions) {
    let (mut scheme, mut actions) = (scheme(preset), Actions::default());
    for source in 0..7 {
        let now = 1_000 * Time::from(source);
        scheme.on_route(&mut at(&mut actions, port(600), now), &packet(source, 32));
    }
    assert_eq!(said(&mut actions), (vec![], None), "seven are no incast");
    scheme.on_route(&mut at(&mut actions, port(level), 7_000), &packet(7, 32));
    (scheme, actions)
}

#[test]
fn an_incast_is_eight_sources_and_32_kib() {
    let (_, mut actions) = incast(511);
    assert_eq!(said(&mut actions), (vec![], None));
    let (scheme, mut actions) = incast(512);
    // A pause of four times the backlog: 4 · 512 · 2.5 ns.
    let all: Vec<_> = (0..8).map(|source| (source, 8, 4 * 512 * 2_500)).collect();
    let (signals, alarm) = said(&mut actions);
    assert_eq!(signals, all);
    assert!(alarm.is_some());
    assert_eq!(scheme.counts(0), [1, 0, 8]);
}

#[test]
fn small_packets_make_no_stream_and_ports_to_routers_are_left_alone() {
    let (mut scheme, mut actions) = (scheme("mcglohon2021"), Actions::default());
    for source in 0..20 {
        scheme.on_route(&mut at(&mut actions, port(600), 0), &packet(source, 1));
        let inner = Port {
            last_hop: false,
            ..port(600)
        };
        scheme.on_route(&mut at(&mut actions, inner, 0), &packet(source, 32));
    }
    assert_eq!(said(&mut actions), (vec![], None));
    assert!(
        scheme
            .state
            .watches
            .iter()
            .flatten()
            .all(|watch| watch.streams.is_empty())
    );
}

#[test]
fn who_joins_pauses_and_all_share_anew() {
    let (mut scheme, mut actions) = incast(512);
    said(&mut actions);
    scheme.on_route(&mut at(&mut actions, port(200), 8_000), &packet(8, 32));
    let (signals, _) = said(&mut actions);
    let mut expected: Vec<_> = (0..9).map(|source| (source, 9, 0)).collect();
    expected.push((8, 9, 4 * 200 * 2_500));
    assert_eq!(signals, expected);
    assert_eq!(scheme.counts(0), [1, 0, 9]);
}

#[test]
fn who_sends_nothing_for_one_and_a_half_rounds_counts_no_more() {
    let (mut scheme, mut actions) = incast(512);
    // Source 8 joins; eight of the sources send after their pause, source 3 does not.
    scheme.on_route(&mut at(&mut actions, port(500), 8_000), &packet(8, 32));
    for source in [0, 1, 2, 4, 5, 6, 7, 8] {
        scheme.on_route(
            &mut at(&mut actions, port(500), 6_000_000),
            &packet(source, 32),
        );
    }
    said(&mut actions);
    // 1.5 rounds of nine packets of 80 ns after its pause, which began at 7 ns.
    let over = 7_000 + 4 * 512 * 2_500 + 1_080_000;
    scheme.on_departure(&mut at(&mut actions, port(500), over - 1), &packet(0, 32));
    assert_eq!(said(&mut actions).0, []);
    scheme.on_departure(&mut at(&mut actions, port(500), over), &packet(0, 32));
    let (signals, alarm) = said(&mut actions);
    let mut expected = vec![(0, 8, 0), (1, 8, 0), (2, 8, 0), (3, 0, 0)];
    expected.extend([4, 5, 6, 7, 8].map(|source| (source, 8, 0)));
    assert_eq!(signals, expected);
    // The others time out 1.5 rounds of eight after 6 us. Then all are free, without a packet.
    let last = 6_000_000 + 960_000;
    assert_eq!(alarm, Some(last));
    scheme.on_port_timer(&mut at(&mut actions, port(0), last));
    let free = [0, 1, 2, 4, 5, 6, 7, 8].map(|source| (source, 0, 0));
    assert_eq!(said(&mut actions), (free.to_vec(), None));
    assert_eq!(scheme.counts(0)[..2], [1, 1]);
}

/// The port of endpoint 9 tells NIC 0 at 1 us.
fn signal(n: u64, pause: Time) -> Signal {
    Signal {
        time: 1_000_000,
        to: 0,
        from: 3,
        port: 1,
        kind: super::watch::LIMIT,
        spare: 0,
        words: [9 | n << 32, pause],
    }
}

#[test]
fn a_source_pauses_and_then_keeps_its_share_to_that_endpoint_only() {
    let mut scheme = scheme("mcglohon2021");
    scheme.on_signal(0, &signal(8, 500_000));
    assert_eq!(scheme.ready_at(0, 9, 1_000_000), 1_500_000);
    assert_eq!(
        scheme.ready_at(0, 8, 1_000_000),
        1_000_000,
        "another endpoint"
    );
    assert_eq!(scheme.ready_at(1, 9, 1_000_000), 1_000_000, "another NIC");
    let rates = [1_499_999, 1_500_000].map(|now| scheme.allowed_rate(nic(0), now));
    assert_eq!(rates, [0.0, 0.125]);
    assert_eq!(scheme.allowed_rate(nic(1), 1_000_000), 1.0);
    send(&mut scheme, 1_500_000, 1_580_000);
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_500_000 + 8 * 80_000);
    // A new N counts from the last packet on, without another pause.
    scheme.on_signal(0, &signal(10, 0));
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_500_000 + 10 * 80_000);
    scheme.on_signal(0, &signal(0, 0));
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_580_000);
}

#[test]
fn under_ssts_preset_all_pause_when_one_joins() {
    let (mut scheme, mut actions) = incast_under("sst", 512);
    let all: Vec<_> = (0..8).map(|source| (source, 8, 4 * 512 * 2_500)).collect();
    assert_eq!(said(&mut actions), (all, None), "no alarm");
    scheme.on_route(&mut at(&mut actions, port(200), 8_000), &packet(8, 32));
    let all: Vec<_> = (0..9).map(|source| (source, 9, 4 * 200 * 2_500)).collect();
    assert_eq!(said(&mut actions).0, all);
    assert_eq!(scheme.counts(0), [1, 0, 8 + 9]);
}

#[test]
fn under_ssts_preset_two_shares_are_left_free() {
    let mut scheme = scheme("sst");
    scheme.on_signal(0, &signal(8, 0));
    assert_eq!(scheme.allowed_rate(nic(0), 1_000_000), 0.1);
    send(&mut scheme, 1_500_000, 1_580_000);
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_500_000 + 10 * 80_000);
}

#[test]
fn under_ssts_preset_a_pause_outlasts_the_limit() {
    let mut scheme = scheme("sst");
    scheme.on_signal(0, &signal(8, 500_000));
    scheme.on_signal(0, &signal(0, 0));
    assert_eq!(scheme.ready_at(0, 9, 1_000_000), 1_500_000);
    assert_eq!(scheme.allowed_rate(nic(0), 1_499_999), 0.0);
    assert_eq!(scheme.allowed_rate(nic(0), 1_500_000), 1.0);
    // After one packet nothing is left of it.
    send(&mut scheme, 1_500_000, 1_580_000);
    assert_eq!(scheme.ready_at(0, 9, 1_580_000), 1_580_000);
    assert!(scheme.state.limits.is_empty());
}

#[test]
fn under_ssts_preset_departures_time_sources_out_after_five_rounds() {
    let (mut scheme, mut actions) = incast_under("sst", 512);
    scheme.on_route(&mut at(&mut actions, port(200), 8_000), &packet(8, 32));
    // Source 1 came second, and could time out 1.5 · 3 packets of 80 ns after that; its first pause
    // postpones this, its second one does not. Sources 0 and 8 have sent since, at most five rounds
    // of ten ago.
    for source in [0, 8] {
        let now = 5_000_000;
        scheme.on_route(&mut at(&mut actions, port(200), now), &packet(source, 32));
    }
    said(&mut actions);
    let due = 1_000 + 360_000 + 4 * 512 * 2_500;
    scheme.on_departure(&mut at(&mut actions, port(200), due - 1), &packet(0, 32));
    assert_eq!(said(&mut actions).0, []);
    // Arriving packets do not time anyone out.
    scheme.on_route(&mut at(&mut actions, port(200), due), &packet(0, 32));
    assert_eq!(said(&mut actions).0, []);
    scheme.on_departure(&mut at(&mut actions, port(200), due), &packet(0, 32));
    let mut expected: Vec<_> = (0..9).map(|source| (source, 8, 0)).collect();
    expected[1] = (1, 0, 0);
    assert_eq!(said(&mut actions), (expected, None));
    // On its next packet it joins, and all pause.
    scheme.on_route(&mut at(&mut actions, port(100), due + 1), &packet(1, 32));
    let all: Vec<_> = (0..9).map(|source| (source, 9, 4 * 100 * 2_500)).collect();
    assert_eq!(said(&mut actions).0, all);
}
