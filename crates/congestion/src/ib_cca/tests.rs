//! Marks, notifications and delays of `ib_cca`, by hand.

use super::super::rules::Applied;
use super::super::testing::{Seen, about, nic, origin, packet, section};
use super::super::{About, PacketView, Port, Scheme};
use super::*;

const US: Time = 1_000_000;

/// Packets of 32 flits (2 KiB): 80 ns; input buffers of 36 of them; 32 endpoints.
fn network() -> About {
    About {
        input_buffer: 36 * 32,
        acknowledge: true,
        circuits: false,
        ..about(32, 512)
    }
}

fn refused(text: &str, about: &About) -> String {
    match parameters::build(&section(text), about) {
        Ok(_) => panic!("{text} is taken"),
        Err(error) => error.render(false),
    }
}

fn scheme(text: &str) -> Applied<IbCca> {
    let rules = parameters::build(&section(text), &network()).expect("good");
    Applied::new(rules.into(), 2, 3)
}

fn port(level: u32, last_hop: bool) -> Port {
    Port {
        output: 1,
        last_hop,
        level,
        capacity: 0,
        rate: weir_model::LinkRate::instant(),
    }
}

/// A marked acknowledgement of endpoint 7 arrives at NIC 0.
fn told(scheme: &mut Applied<IbCca>, now: Time) {
    let ack = origin(PacketKind::ACK, 7, 0);
    scheme.on_control(&mut Seen::at(now), &ack, true);
}

fn sent(scheme: &mut Applied<IbCca>, tail: Time) {
    scheme.on_sent(&mut Seen::at(tail - 80_000), &packet(7), tail);
}

#[test]
fn thresholds_are_shares_of_the_input_buffer() {
    // 90% of 36 packets of 32 flits, and a fifteenth of that.
    for (text, flits) in [("", 1_036), ("threshold = 15", 69)] {
        let mut scheme = scheme(text);
        assert_eq!(scheme.mark_from(), flits + 1);
        for last_hop in [false, true] {
            assert!(!scheme.mark(&port(flits, last_hop), &packet(7), true));
            assert!(scheme.mark(&port(flits + 1, last_hop), &packet(7), true));
        }
    }
    let mut scheme = scheme("threshold = 0\nendpoint_threshold = 15\nbuffer = \"100 flits\"");
    assert!(!scheme.mark(&port(5_000, false), &packet(7), true));
    assert!(!scheme.mark(&port(6, true), &packet(7), true));
    assert!(scheme.mark(&port(7, true), &packet(7), true));
}

#[test]
fn victims_mark_where_the_mask_says_so() {
    for (mask, to_router, to_endpoint) in [
        ("none", false, false),
        ("endpoints", false, true),
        ("all", true, true),
    ] {
        let mut scheme = scheme(&format!("victim_mask = \"{mask}\""));
        let mut marks = |last_hop| scheme.mark(&port(2_000, last_hop), &packet(7), false);
        assert_eq!((marks(false), marks(true)), (to_router, to_endpoint));
        let spared = u64::from(!to_router) + u64::from(!to_endpoint);
        assert_eq!(scheme.counts(0), [0, spared]);
    }
}

#[test]
fn every_third_packet_is_marked_and_small_ones_never() {
    let mut scheme = scheme("marking_rate = 2\npacket_size = \"401 bits\"");
    let big = PacketView {
        payload_bits: 401,
        ..packet(7)
    };
    let mut marks = |packet: &PacketView| scheme.mark(&port(2_000, true), packet, true);
    assert!(!marks(&packet(7)));
    let seen: Vec<bool> = (0..6).map(|_| marks(&big)).collect();
    assert_eq!(seen, [true, false, false, true, false, false]);
}

#[test]
fn delays_follow_the_table_and_the_timer() {
    // 31 packets of 80 ns over 127 steps; half of it is the timer.
    let mut scheme = scheme("");
    let delay = |index: u64| 2_480_000 * index / 127;
    assert_eq!(scheme.ready_at(0, 7, 0), 0);
    told(&mut scheme, 0);
    told(&mut scheme, 0);
    sent(&mut scheme, 100_000);
    assert_eq!(scheme.ready_at(0, 7, 100_000), 100_000 + delay(10));
    // Other destinations and NICs are not slowed.
    assert_eq!(scheme.ready_at(0, 8, 100_000), 100_000);
    assert_eq!(scheme.ready_at(1, 7, 100_000), 100_000);
    // After three times the timer the index is 7, and after ten it is 0.
    sent(&mut scheme, 4 * US);
    assert_eq!(scheme.ready_at(0, 7, 4 * US), 4 * US + delay(7));
    assert_eq!(scheme.ready_at(0, 7, 13 * US), 13 * US);
    let share = scheme.allowed_rate(nic(0), 13 * US);
    assert!((share - 1.0).abs() < 1e-9, "{share}");
}

#[test]
fn a_delay_shrinks_while_its_source_waits() {
    let text = "table = [\"0 ns\", \"1 us\", \"5 us\", \"50 us\"]\nccti_increase = 3\nrecovery_timer = \"2 us\"";
    let mut scheme = scheme(text);
    told(&mut scheme, 0);
    sent(&mut scheme, 500_000);
    // Index 3 until 2 us, 2 until 4 us, then 1, whose delay is over by then.
    assert_eq!(scheme.ready_at(0, 7, 500_000), 4 * US);
    assert!((scheme.allowed_rate(nic(0), 500_000) - 0.08 / 50.08).abs() < 1e-9);
    assert!((scheme.allowed_rate(nic(0), 4 * US) - 0.08 / 1.08).abs() < 1e-9);
}

#[test]
fn the_index_stays_between_its_bounds() {
    let text = "table = [\"0 ns\", \"1 us\", \"2 us\", \"50 us\"]\nccti_limit = 2\nccti_min = 1\nrecovery_timer = \"1 ms\"";
    let mut scheme = scheme(text);
    // A source that was never notified leaves the smallest delay.
    sent(&mut scheme, US);
    assert_eq!(scheme.ready_at(0, 7, US), 2 * US);
    for _ in 0..3 {
        told(&mut scheme, US);
    }
    assert_eq!(scheme.ready_at(0, 7, US), 3 * US);
    // After 5 ms only the smallest is left.
    sent(&mut scheme, 5_000 * US);
    assert_eq!(scheme.ready_at(0, 7, 5_000 * US), 5_001 * US);
}

#[test]
fn a_service_level_is_slowed_as_a_whole() {
    let mut scheme = scheme("reaction = \"service_level\"");
    told(&mut scheme, 0);
    assert!(scheme.ready_at(0, 8, 0) > 0);
    assert_eq!(scheme.ready_at(1, 7, 0), 0);
}

#[test]
fn notifications_of_their_own_answer_marked_packets() {
    let about = About {
        acknowledge: false,
        circuits: false,
        ..network()
    };
    let rules = parameters::build(&section("becn = \"cn\""), &about).expect("good");
    let mut scheme = Applied::new(rules.into(), 1, 1);
    let (mut nic, marked) = (
        Seen::at(US),
        PacketView {
            marked: true,
            ..packet(0)
        },
    );
    scheme.on_delivery(&mut nic, &packet(0));
    assert!(nic.replies.is_empty());
    scheme.on_delivery(&mut nic, &marked);
    assert_eq!(nic.replies, [(CN, 0, 0, 0)]);
    scheme.on_control(&mut nic, &origin(CN, 7, 0), false);
    assert!(scheme.ready_at(0, 7, US) > US);
    assert_eq!(scheme.kinds()[0].class, 0);
    assert!(refused("", &about).contains("becn = \"cn\""));
}

#[test]
fn an_exponential_table_grows_by_a_factor() {
    let scheme = scheme("table = \"exponential\"\nentries = 11\nmax_ipd = \"8192 ns\"");
    let table = &scheme.rules.throttle.table;
    assert_eq!((table[0], table[1], table[10]), (0, 8_000, 8_192_000));
    // 1,024 in nine steps.
    let factors = table[1..]
        .windows(2)
        .map(|pair| pair[1] as f64 / pair[0] as f64);
    for factor in factors {
        assert!(
            (factor - 1_024f64.powf(1.0 / 9.0)).abs() < 0.001,
            "{factor}"
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (text, words) in [
        ("threshold = 16", "there is no threshold 16"),
        ("endpoint_threshold = 99", "there is no threshold 99"),
        ("threshold_share = 0.0", "not above 0"),
        ("entries = 1", "1 entries"),
        (
            "table = [\"0 ns\", \"1 us\"]\nentries = 2",
            "would say nothing",
        ),
        (
            "table = [\"0 ns\", \"1 us\"]\nmax_ipd = \"2 us\"",
            "would say nothing",
        ),
        ("table = \"quadratic\"", "a list of times"),
        ("max_ipd = \"0 ns\"", "would ever be slowed"),
        ("ccti_limit = 128", "beyond 127"),
        ("ccti_limit = 3\nccti_min = 4", "beyond 3"),
        ("ccti_increase = 0", "never move"),
        ("recovery_decrease = 0", "never move"),
        ("recovery_timer = \"0 ns\"", "no length"),
        ("virtual_lanes = 3", "3 virtual lanes"),
        (
            "becn = \"cn\"\ncn_size = \"2 packets\"",
            "longer than the longest",
        ),
        ("cn_size = \"2 flits\"", "would say nothing"),
    ] {
        let refusal = refused(text, &network());
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}
