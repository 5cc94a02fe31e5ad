//! Applications under congestion control schemes: ends of sends, packets that are dropped and sent
//! again, hangs.

use super::{HANG, NS, SAME_ROUTER, hang, refusal, run_alone, run_program};
use crate::support::Experiment;
use weir::workload::tasks::Script;

const SCHEMES: [&str; 6] = ["none", "ecn", "srp", "smsrp", "lhrp", "lhrp_srp"];

#[test]
fn several_applications_complete_under_every_scheme() {
    for scheme in SCHEMES {
        let outcome = Experiment::dragonfly(2, 4, 2)
            .routing("par")
            .set("congestion.scheme", scheme)
            .applications()
            .run();
        for job in &outcome.data.jobs {
            let finish = &job.tasks.task_finish_ps;
            let started = finish.iter().all(|&finish| finish > job.totals.start_ps);
            assert!(started, "{} under {scheme}", job.name);
            assert_eq!(job.finish(), *finish.iter().max().unwrap());
        }
        let summary = &outcome.data.summary;
        assert_eq!(summary.messages_generated, summary.messages_received);
        assert_eq!(summary.packets_in_flight, 0);
        // 8 of 20 kB, three times, with requests and answers of 64 bytes; nothing else belongs to
        // that job.
        let incast = outcome.data.jobs[1].totals.bytes_delivered;
        assert_eq!(incast, 3 * 8 * (20_000 + 2 * 64), "{scheme}");
    }
}

/// The same network with a scheme; of one that drops packets, with this probability at each router.
fn under(scheme: &str, loss: f64) -> Experiment {
    let network = Experiment::dragonfly(2, 4, 2).set("congestion.scheme", scheme);
    match scheme {
        "none" | "ecn" => network,
        _ => network.set("congestion.loss", loss),
    }
}

/// Time when a blocking receive of `bytes` bytes from the other endpoint of the router is complete,
/// and time when the send is.
fn received_and_sent(scheme: &str, loss: f64, bytes: u64) -> (u64, u64) {
    let program = move |script: &mut Script| match script.task() {
        0 => script.send(1, bytes, 0),
        1 => script.recv(0, 0),
        _ => {}
    };
    let jobs = run_alone(under(scheme, loss), program).unwrap();
    let finish = &jobs[0].tasks.task_finish_ps;
    (finish[1] / NS, finish[0] / NS)
}

/// The time of a packet of one flit between the endpoints of a router, ns.
const CONTROL: u64 = SAME_ROUTER / NS + 1;

#[test]
fn a_send_is_complete_when_it_has_left_or_where_packets_may_be_dropped_when_it_is_acknowledged() {
    // 250 bytes are 20 flits, 750 bytes are packets of 24, 24 and 12.
    for (bytes, flits) in [(0, 1), (250, 20), (750, 60)] {
        for scheme in ["none", "ecn"] {
            let times = received_and_sent(scheme, 0.0, bytes);
            assert_eq!(times, (20 + flits, flits), "{scheme}");
        }
        for scheme in ["smsrp", "lhrp"] {
            let times = received_and_sent(scheme, 0.0, bytes);
            assert_eq!(times, (20 + flits, 20 + flits + CONTROL), "{scheme}");
        }
        // A reservation of one flit goes first. The grant for the long message comes while it is
        // being sent.
        let times = received_and_sent("srp", 0.0, bytes);
        assert_eq!(times, (1 + 20 + flits, 1 + 20 + flits + CONTROL));
    }
}

#[test]
fn a_long_message_is_complete_when_it_is_acknowledged() {
    // Request and answer of 2 flits, each after an acknowledgement at the side that answers; then
    // 800 flits.
    let whole = (20 + 2) + (1 + 20 + 2) + (1 + 20 + 800);
    let times = received_and_sent("lhrp", 0.0, 10_000);
    assert_eq!(times, (whole, whole + CONTROL));
    // A reservation before each of the three.
    let times = received_and_sent("srp", 0.0, 10_000);
    assert_eq!(times, (3 + whole, 3 + whole + CONTROL));
}

#[test]
fn a_dropped_packet_takes_its_time_to_be_sent_again() {
    // Routers drop all that they may. The head is in the router after 5 ns; the answer is a control
    // packet that begins there; then the message goes without loss.
    let refused = 5 + 10 + 5 + 1;
    let once = 20 + 20;
    let again = refused + once;
    assert_eq!(
        received_and_sent("lhrp", 1.0, 250),
        (again, again + CONTROL)
    );
    // The source has to ask for a time: a reservation to the destination and its grant.
    let asked = refused + 2 * CONTROL + once;
    assert_eq!(
        received_and_sent("smsrp", 1.0, 250),
        (asked, asked + CONTROL)
    );
    // It has asked before: the refusal arrives before the grant.
    let granted = 2 * CONTROL + once;
    assert_eq!(
        received_and_sent("srp", 1.0, 250),
        (granted, granted + CONTROL)
    );
    // The router takes the reservation and grants at once; the first packet is under way then (from
    // 1 to 25 ns) and is refused, the second and the third follow it, and then the first once more.
    let first_again = 25 + 24 + 12;
    let all = first_again + 20 + 24;
    assert_eq!(
        received_and_sent("lhrp_srp", 1.0, 750),
        (all, all + CONTROL)
    );
}

#[test]
fn who_waits_for_an_acknowledgement_does_not_hang() {
    // Endpoints 0 and 8 are in different groups. Half of the time nothing but an acknowledgement is
    // on its way; hung tasks are looked for after every 512 windows, of 100 ns each.
    let experiment = under("lhrp", 0.0)
        .job("ping_pong", 4)
        .with("endpoints", vec![0, 8, 16, 24]);
    let jobs = run_program(experiment, |script| {
        for _ in 0..4_000 {
            match script.task() {
                0 => script.send(1, 250, 0),
                1 => script.recv(0, 0),
                _ => {}
            }
        }
    });
    // There and back by a global link.
    let finish = jobs.unwrap()[0].finish();
    assert!(finish > 4_000 * 2 * 100 * NS, "{finish}");
}

#[test]
fn a_hang_is_found_under_a_scheme_that_drops_packets() {
    for scheme in ["srp", "smsrp", "lhrp", "lhrp_srp"] {
        let words = run_alone(under(scheme, 0.5), hang).unwrap_err().to_string();
        assert!(words.ends_with(HANG), "{scheme}: {words}");
    }
}

#[test]
fn a_message_of_too_many_packets_to_tell_apart_is_refused() {
    let network = under("smsrp", 0.0)
        .set("router.flit", "1 bits")
        .set("nic.max_packet", "1 flits");
    let longest = u64::from(u32::MAX) / 8;
    let error = run_alone(network.clone(), move |script| match script.task() {
        0 => script.send(1, longest + 1, 0),
        1 => script.recv(0, 0),
        _ => {}
    });
    let error = error.unwrap_err();
    let words = error.to_string();
    assert!(words.contains("a message of 536870912 bytes"), "{words}");
    assert_eq!(error.exit_code(), 2);
    // The traffic of patterns is known before.
    let words = refusal(network.clone().uniform(0.1).message("4294967296 bits"));
    assert!(words.contains("more than 4,294,967,295 packets"), "{words}");
    network.uniform(0.1).message("4294967295 bits").plan();
}
