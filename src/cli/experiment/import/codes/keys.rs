//! The keys of CODES (commit a5958cf) that its network models read, with their defaults.

use super::super::configuration::Fate::{No, Only, To};
use super::super::configuration::{Key, key};

const MPI: &str = "give a motif or trace as workload, with mpi = { preset = \"codes\" }";
const ROSS: &str = "weir keeps its events itself";
const ONE_RAIL: &str = "endpoints have one link";
const SAMPLES: &str = "result.h5 has counts and times of links and packets";
const SURROGATE: &str = "weir has no surrogate models";
const STORAGE: &str = "weir has no storage models";
const LOCAL: &str = "router.credit_delay is one value, that of local links";
const TREE_FILES: &str = "weir makes routes itself";

/// Longest time that a key may have, ns.
pub const LATEST: f64 = 1e12;

/// Keys of all models.
pub const COMMON: &[Key] = &[
    key("LPGROUPS.*", "", To("the size of [topology]")),
    key("PARAMS.modelnet_order", "", To("topology.kind")),
    key("PARAMS.modelnet_scheduler", "fcfs", To("nic.order")),
    key("PARAMS.packet_size", "512", To("nic.max_packet")),
    key("PARAMS.end_time", "", To("run.until")),
    key("PARAMS.message_size", "", No(ROSS)),
    key("PARAMS.pe_mem_factor", "", No(ROSS)),
    key(
        "PARAMS.num_injection_queues",
        "1",
        Only("1", "a NIC has one queue to its link"),
    ),
    key(
        "PARAMS.nic_seq_delay",
        "10",
        No("a NIC sends without a pause"),
    ),
    key(
        "PARAMS.node_copy_queues",
        "1",
        No("an endpoint has one task"),
    ),
    key("PARAMS.node_eager_limit", "16000", No(MPI)),
    key("PARAMS.eager_limit", "", No(MPI)),
    key("PARAMS.self_msg_overhead", "10", No(MPI)),
    key(
        "PARAMS.compute_time_speedup",
        "1",
        No("workload.motif has its computations"),
    ),
    key("PARAMS.codes_noop_bypass", "", No("events of storage")),
    key("PARAMS.num_apps", "", No(SAMPLES)),
    key("PARAMS.offset", "", No(SAMPLES)),
    key("WORKLOAD.traffic", "uniform", To("workload.pattern")),
    key("WORKLOAD.payload_size", "2048", To("workload.message")),
    key("WORKLOAD.arrival_time", "1000", To("workload.load")),
    key("WORKLOAD.num_messages", "20", To("workload.stop")),
    key(
        "JOBS.*",
        "",
        No("give a [[workload]] with endpoints for each job"),
    ),
    key("NETWORK_SURROGATE.*", "", No(SURROGATE)),
    key("APPLICATION_SURROGATE.*", "", No(SURROGATE)),
    key("DIRECTOR.*", "", No(SURROGATE)),
    key("lsm.*", "", No(STORAGE)),
    key("resource.*", "", No(STORAGE)),
];

/// Keys of both dragonflies.
const DRAGONFLIES: &[Key] = &[
    key("PARAMS.num_routers", "4", To("topology.routers_per_group")),
    key(
        "PARAMS.chunk_size",
        "512",
        To("router.switching; a packet is one chunk"),
    ),
    key(
        "PARAMS.local_bandwidth",
        "5.25",
        To("topology.local.bandwidth"),
    ),
    key(
        "PARAMS.global_bandwidth",
        "4.7",
        To("topology.global.bandwidth"),
    ),
    key(
        "PARAMS.cn_bandwidth",
        "5.25",
        To("topology.terminal.bandwidth"),
    ),
    key(
        "PARAMS.local_vc_size",
        "1024",
        To("router.input_buffer, output_queue"),
    ),
    key(
        "PARAMS.global_vc_size",
        "2048",
        To("router.input_buffer, output_queue"),
    ),
    key(
        "PARAMS.cn_vc_size",
        "1024",
        To("router.input_buffer, output_queue"),
    ),
    key("PARAMS.routing", "minimal", To("routing.algorithm")),
    key("PARAMS.credit_size", "8", To("router.credit_delay")),
    key("PARAMS.credit_delay", "", To("router.credit_delay")),
    key("PARAMS.local_credit_delay", "", To("router.credit_delay")),
    key("PARAMS.global_credit_delay", "", No(LOCAL)),
    key("PARAMS.cn_credit_delay", "", No(LOCAL)),
    key("PARAMS.auto_credit_delay", "0", Only("0", LOCAL)),
    key("PARAMS.cn_sample_file", "", No(SAMPLES)),
    key("PARAMS.rt_sample_file", "", No(SAMPLES)),
];

/// Keys of dragonfly alone.
const DRAGONFLY: &[Key] = &[
    key("PARAMS.router_delay", "50", To("router.latency")),
    key("PARAMS.adaptive_threshold", "0", To("routing.bias")),
];

/// Keys of dragonfly-dally alone.
const DALLY: &[Key] = &[
    key("PARAMS.num_groups", "", To("topology.groups")),
    key(
        "PARAMS.num_cns_per_router",
        "",
        To("topology.endpoints_per_router"),
    ),
    key(
        "PARAMS.num_global_channels",
        "10",
        To("topology.global_links_per_router"),
    ),
    key(
        "PARAMS.intra-group-connections",
        "",
        No("not read: all routers of a group are linked"),
    ),
    key(
        "PARAMS.inter-group-connections",
        "",
        No("not read: arrangement = \"relative\""),
    ),
    key(
        "PARAMS.num_parallel_switch_conns",
        "1",
        Only("1", "one link between two routers"),
    ),
    key("PARAMS.link-failure-file", "", No("no link fails")),
    key("PARAMS.router_delay", "100", To("router.latency")),
    key("PARAMS.cn_delay", "", To("topology.terminal.latency")),
    key("PARAMS.local_delay", "", To("topology.local.latency")),
    key("PARAMS.global_delay", "", To("topology.global.latency")),
    key("PARAMS.adaptive_threshold", "0", To("routing.bias")),
    key("PARAMS.global_k_picks", "2", To("routing.candidates")),
    key(
        "PARAMS.route_scoring_metric",
        "delta",
        Only("delta", "queues of the preset count"),
    ),
    key("PARAMS.notification_on_hops_greater_than", "", No(SAMPLES)),
    key(
        "PARAMS.num_qos_levels",
        "1",
        Only("1", "one class of data packets"),
    ),
    key("PARAMS.qos_bandwidth", "", No("one class of data packets")),
    key("PARAMS.num_rails", "1", Only("1", ONE_RAIL)),
    key("PARAMS.num_planes", "1", Only("1", "one plane")),
    key("PARAMS.rail_select", "dedicated", No(ONE_RAIL)),
    key("PARAMS.counting_bool", "0", Only("0", SAMPLES)),
    key("PARAMS.counting_start", "", No(SAMPLES)),
    key("PARAMS.counting_windows", "", No(SAMPLES)),
    key("PARAMS.counting_interval", "", No(SAMPLES)),
    key("PARAMS.router_buffer_snapshots", "", No(SAMPLES)),
    key(
        "PARAMS.save_packet_latency_path",
        "",
        No("output.packets = true"),
    ),
    key("PARAMS.save_router_timing_trace_path", "", No(SAMPLES)),
    key("PARAMS.save_router_timing_trace_stride", "", No(SAMPLES)),
    key("PARAMS.save_event_time_trace_path", "", No(SAMPLES)),
    key("PARAMS.save_event_time_trace_stride", "", No(SAMPLES)),
    key(
        "PARAMS.congestion_control_enabled",
        "0",
        To("congestion.scheme"),
    ),
    key(
        "PARAMS.cc_single_port_congestion_threshold",
        "0.3",
        To("congestion.threshold"),
    ),
    key(
        "PARAMS.cc_single_port_decongestion_threshold",
        "0.05",
        To("congestion.release"),
    ),
    key(
        "PARAMS.cc_measurement_period",
        "10000",
        To("congestion.period"),
    ),
    key(
        "PARAMS.cc_single_port_aggressor_usage_threshold",
        "0.1",
        No("CODES divides whole numbers there, so that it has no effect"),
    ),
    key(
        "PARAMS.cc_minimum_abatement_active_time",
        "10000000",
        No("CODES reads it without effect"),
    ),
];

/// Keys of the fat tree.
const FATTREE: &[Key] = &[
    key(
        "PARAMS.ft_type",
        "0",
        Only("0", "equal routers, as many links up as down"),
    ),
    key("PARAMS.num_levels", "", To("topology.levels")),
    key("PARAMS.switch_count", "", To("topology.pods")),
    key("PARAMS.switch_radix", "", To("topology.radix")),
    key("PARAMS.tapering", "1", To("topology.kind")),
    key(
        "PARAMS.router_delay",
        "50",
        To("router.latency, topology latencies"),
    ),
    key("PARAMS.soft_delay", "1000", No(MPI)),
    key("PARAMS.rdma_delay", "", No(MPI)),
    key("PARAMS.nic_delay", "", No(MPI)),
    key("PARAMS.copy_per_byte", "", No(MPI)),
    key("PARAMS.intra_bandwidth", "", No("an endpoint has one task")),
    key("PARAMS.terminal_radix", "", No("CODES does not read it")),
    key(
        "PARAMS.vc_size",
        "",
        To("router.input_buffer, output_queue"),
    ),
    key(
        "PARAMS.cn_vc_size",
        "",
        To("router.input_buffer, output_queue"),
    ),
    key(
        "PARAMS.chunk_size",
        "512",
        To("router.switching; a packet is one chunk"),
    ),
    key(
        "PARAMS.link_bandwidth",
        "5",
        To("topology.local, global .bandwidth"),
    ),
    key(
        "PARAMS.cn_bandwidth",
        "5",
        To("topology.terminal.bandwidth"),
    ),
    key("PARAMS.routing", "adaptive", To("routing.algorithm")),
    key("PARAMS.num_rails", "1", Only("1", ONE_RAIL)),
    key("PARAMS.rail_select", "dedicated", No(ONE_RAIL)),
    key("PARAMS.rail_select_limit", "", No(ONE_RAIL)),
    key("PARAMS.rail_routing", "", No("CODES does not read it")),
    key("PARAMS.routing_folder", "", No(TREE_FILES)),
    key("PARAMS.dot_file", "", No(TREE_FILES)),
    key("PARAMS.dump_topo", "0", No(TREE_FILES)),
];

/// Keys of the torus.
const TORUS: &[Key] = &[
    key("PARAMS.n_dims", "4", To("topology.sizes")),
    key("PARAMS.dim_length", "", To("topology.sizes")),
    key(
        "PARAMS.link_bandwidth",
        "2",
        To("topology.link, terminal .bandwidth"),
    ),
    key(
        "PARAMS.buffer_size",
        "2048",
        To("router.input_buffer, output_queue"),
    ),
    key(
        "PARAMS.chunk_size",
        "128",
        To("router.switching; a packet is one chunk"),
    ),
];

/// Keys of simplenet.
const SIMPLENET: &[Key] = &[
    key(
        "PARAMS.net_startup_ns",
        "",
        To("topology.terminal.latency, router.latency"),
    ),
    key("PARAMS.net_bw_mbps", "", To("topology.terminal.bandwidth")),
];

/// A network model: its name in `modelnet_order`, and its tables of keys.
pub type Model = (&'static str, &'static [&'static [Key]]);

/// The models that can be imported.
pub const MODELS: &[Model] = &[
    ("dragonfly_dally", &[DALLY, DRAGONFLIES, COMMON]),
    ("dragonfly", &[DRAGONFLY, DRAGONFLIES, COMMON]),
    ("fattree", &[FATTREE, COMMON]),
    ("torus", &[TORUS, COMMON]),
    ("simplenet", &[SIMPLENET, COMMON]),
];
