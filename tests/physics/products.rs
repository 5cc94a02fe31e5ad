//! Presets of products: a message between two endpoints of one router takes the latency that the
//! file gives, and the time of its flits.

use crate::support::Experiment;

/// Preset, latency of the router, ps, and flit, bytes.
const PRODUCTS: [(&str, u64, u64); 6] = [
    ("infiniband-hdr", 90_000, 64),
    ("infiniband-ndr", 200_000, 64),
    ("slingshot-11", 350_000, 32),
    ("tomahawk-5", 600_000, 254),
    ("aries", 100_000, 8),
    ("tofu-d", 100_000, 32),
];

#[test]
fn a_message_takes_the_latency_of_the_product() {
    for (preset, latency, flit) in PRODUCTS {
        let text = format!(
            "preset = {preset:?}\nrouting = {{ algorithm = \"dmodk\" }}\nnic = {{ acknowledge = false }}\n\
             [topology]\nkind = \"kary_ntree\"\nk = 2\nn = 1\n\
             terminal = {{ bandwidth = \"200 Gbps\", latency = \"10 ns\" }}\n\
             [[workload]]\nname = \"pong\"\ntasks = 2\n\
             motif = {{ kind = \"ping_pong\", bytes = \"4 KiB\", iterations = 1 }}\n\
             [run]\nuntil = \"completion\"\n"
        );
        let table: toml::Table = text.parse().expect("TOML");
        let job = Experiment::of(table).run().data.jobs[0].clone();
        // 8 bits of 200 Gbps are 40 ps.
        let content = 4_096_u64.div_ceil(flit) * flit * 40;
        let once = 10_000 + latency + 10_000 + content;
        assert_eq!(job.finish(), 2 * once, "{preset}");
    }
}
