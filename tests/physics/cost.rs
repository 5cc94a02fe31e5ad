//! Cost of buffers: sizes, areas and energies worked out by hand.

use crate::networks::direct::experiment;
use crate::support::{Cli, Experiment};
use weir::result::Cost;

const KNS: &str = "kind = \"kns\"\nk = 4\nn = 2";

/// A KNS of 4 x 4 with input-queued routers, 960 bytes for each port.
fn kns() -> Experiment {
    experiment(KNS, "hybrid_dor")
        .set("router.flit", "8 B")
        .set("nic.max_packet", "5 flits")
        .set("router.buffer_per", "divided")
        .set("router.input_buffer", "120 flits")
        .set("router.output_queue", "none")
        .set("nic.acknowledge", false)
        .set("cost.memory", "960 B")
        .set("cost.area_mm2", 0.5)
        .set("cost.access", "16 B")
        .set("cost.access_nj", 2.0)
}

/// 10 packets of 40 bytes from node 0 to 5.
fn cost(network: Experiment) -> Cost {
    let experiment = network
        .traffic("fixed_pairs", 0.1)
        .with("endpoints", vec![0, 5])
        .with("injection", "periodic")
        .message("5 flits")
        .with("stop", "320 ns");
    let data = experiment.to_completion("320 ns").run().data;
    assert_eq!(data.summary.packets_delivered % 2, 0, "both ends may send");
    let packets = data.summary.packets_delivered;
    let hops = data.summary.packet_hops;
    assert!(
        packets > 5 && hops == 5 * packets,
        "{packets} packets, {hops} hops"
    );
    let cost = data.cost.expect("[cost] is given");
    // Bytes of a port in units of 16, rounded up.
    let ports = data.ports.bytes.iter().map(|bytes| bytes.div_ceil(16));
    assert_eq!(cost.accesses % ports.sum::<u64>(), 0);
    cost
}

#[test]
fn area_and_energy_are_worked_out_of_sizes_and_accesses() {
    // 16 nodes with 3 ports and 8 switches with 4: 80 buffers of 960 bytes, however they are
    // divided.
    let plain = cost(kns());
    assert_eq!((plain.buffer_bytes, plain.area_mm2), (76_800, 40.0));
    let banded = kns().set("queueing.scheme", "bbq");
    assert_eq!(cost(banded).buffer_bytes, 76_800);
    assert!((plain.energy_nj - 2.0 * plain.accesses as f64).abs() < 1e-9);
    // An output queue is memory, too: one of 50 flits of each queue behind a link, and of a port to
    // a node. A packet is written and read twice.
    let queued = cost(kns().set("router.output_queue", "50 flits"));
    assert_eq!(queued.buffer_bytes, 76_800 + 80 * 400);
    assert_eq!(queued.accesses, 2 * plain.accesses);
}

/// 80 buffers of 960 bytes are 75 KiB; one virtual channel suffices for a mesh in one dimension
/// after the other.
#[test]
fn check_says_what_all_buffers_hold() {
    let text = kns().uniform(0.1).until("1 us").text();
    let ran = Cli::check(&text).succeeds().stdout;
    assert!(
        ran.contains("# buffers    75.0 KiB in routers, 40.0000 mm2 ([cost])\n"),
        "{ran}"
    );
    assert!(ran.contains("# VCs        terminal 1, x 1, y 1\n"), "{ran}");
}

#[test]
fn the_defaults_are_those_of_the_paper() {
    // 128 KiB for each of 80 ports at 0.26 mm2.
    let experiment = experiment(KNS, "hybrid_dor")
        .set("router.buffer_per", "divided")
        .set("router.input_buffer", "128 KiB")
        .set("router.output_queue", "none")
        .set("router.flit", "64 B")
        .set("nic.acknowledge", false)
        .set("cost", toml::Table::new())
        .uniform(0.2)
        .until("2 us");
    let cost = experiment.run().data.cost.expect("[cost] is given");
    assert!((cost.area_mm2 - 80.0 * 0.26).abs() < 1e-9, "{cost:?}");
    assert!((cost.energy_nj / cost.accesses as f64 - 0.09).abs() < 1e-12);
    let check = experiment.cli().succeeds();
    assert!(check.stdout.contains("mm2"), "{}", check.stdout);
}

#[test]
fn what_is_no_memory_is_refused() {
    for (key, value, says) in [
        ("cost.memory", "4 flits", "cost.memory: is 4 flits"),
        ("cost.access", "0 B", "cost.access: \"0 B\" is zero"),
    ] {
        let error = kns().set(key, value).uniform(0.1).until("1 us").try_plan();
        let text = error.err().expect("refused").render(false);
        assert!(text.contains(says), "{text}");
    }
    for (key, value) in [
        ("cost.access_nj", -1.0),
        ("cost.access_nj", 1e308),
        ("cost.area_mm2", f64::NAN),
    ] {
        let error = kns().set(key, value).uniform(0.1).until("1 us");
        let text = error.try_plan().err().expect("refused").render(false);
        assert!(text.contains("write a number from 0 to 1e15"), "{text}");
    }
}
