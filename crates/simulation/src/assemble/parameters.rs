//! Converts the sections of routers and NICs to the fabric's parameters.

use crate::config::{Experiment, RouterConfig};
use weir_fabric::{Network, NicOrder, Parameters, RouterParameters, Switching};
use weir_input::{ConfigError, OutputQueue, Size, suggest};
use weir_model::{Invalid, KindName};
use weir_network::topology::Topology;

/// Part of the message under way that Firefly's NIC prepares: `maxSendMachineQsize` of SST's
/// platform file firefly-defaults.
const PREPARED: Size = Size::Packets(100);

/// Parameters that are the same in the whole network.
pub(super) fn parameters(experiment: &Experiment) -> Parameters {
    // Sizes that do not fit are refused by `config::check`.
    let flit = experiment.router.flit_size();
    let max_packet = u16::try_from(experiment.max_packet_flits()).unwrap_or(u16::MAX);
    let bits = |size: Size| size.bits(flit, u64::from(max_packet));
    Parameters {
        flit,
        max_packet,
        credit_unit: experiment.router.credit_unit,
        injection_vcs: experiment.nic.injection_vcs,
        order: experiment.nic.order,
        prepared: bits(
            experiment
                .nic
                .prepared
                .map_or(PREPARED, |prepared| prepared.0),
        ),
        acknowledge: experiment.nic.acknowledge,
        control_routes: experiment.nic.control_routes,
    }
}

/// The parameters of each kind of router that the network has.
pub(super) fn routers(
    experiment: &Experiment,
    topology: &dyn Topology,
) -> Result<Vec<RouterParameters>, ConfigError> {
    let kinds = topology.router_kinds();
    let given = &experiment.router_kinds;
    if let Some((name, _)) = given
        .iter()
        .find(|(name, _)| !kinds.iter().any(|own| own == name))
    {
        let message = format!("the network has no routers of the kind {name:?}");
        let names: Vec<&str> = kinds.iter().map(|name| &**name).collect();
        let remedy = suggest(name, "kinds", &names, '`');
        let invalid = Invalid::new(format!("router.{name}"), message, remedy);
        return Err(experiment.file.refuse(invalid));
    }
    let own = |kind: &KindName| given.iter().find(|(name, _)| name == kind);
    let of = |kind| own(kind).map_or(&experiment.router, |(_, router)| router);
    Ok(kinds
        .iter()
        .map(|kind| router_parameters(of(kind)))
        .collect())
}

/// Refuses prepared packets if no order of messages asks for them.
pub(super) fn check_prepared(experiment: &Experiment) -> Result<(), ConfigError> {
    if experiment.nic.prepared.is_none() || experiment.nic.order == NicOrder::ClearsFirst {
        return Ok(());
    }
    Err(experiment.file.refuse(Invalid::new(
        "nic.prepared",
        "only grants that go before other messages wait for packets that are prepared",
        "leave it out, or write nic.order = \"clears_first\"",
    )))
}

/// Refuses a time for a stage that does not occur: with virtual output queues no packet is behind
/// another with a different route.
pub(super) fn check_stages(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    let computed = (network.routers.iter()).any(|router| router.route_computation > 0);
    if !(computed && network.queueing.by_output()) {
        return Ok(());
    }
    Err(experiment.file.refuse(Invalid::new(
        "router.route_computation",
        "packets that wait by output have their ways already: the queueing scheme has virtual \
         output queues",
        "leave it out, or choose a [queueing] scheme without them, such as \"single\"",
    )))
}

/// Refuses time steps that not all packets keep.
pub(super) fn check_steps(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    let stepped = |router: &RouterParameters| router.switching == Switching::TimeSteps;
    let other = network.routers.iter().position(|router| !stepped(router));
    if !network.routers.iter().any(stepped) {
        return Ok(());
    }
    let refuse = |key: String, what: &str, remedy: &str| {
        Err(experiment.file.refuse(Invalid::new(key, what, remedy)))
    };
    if let Some(kind) = other {
        let own = &network.topology.router_kinds()[kind];
        let given = experiment.router_kinds.iter().find(|(name, _)| name == own);
        return refuse(
            given.map_or("router".into(), |_| format!("router.{own}.switching")),
            &format!("routers of the kind {own:?} have no time steps, and others have"),
            "write switching = \"time_steps\" for all kinds of routers or for none",
        );
    }
    let queued = |router: &RouterParameters| router.output_queue != OutputQueue::None;
    if network.routers.iter().any(queued) {
        return refuse(
            "router.switching".into(),
            "packets would leave output queues between time steps",
            "write router.output_queue = \"none\", or router.switching = \"store_and_forward\"",
        );
    }
    if network.routers.iter().any(RouterParameters::allocates) {
        return refuse(
            "router.switching".into(),
            "between time steps channels are allocated and routes computed in no time",
            "write router.vc_allocation = \"0 ns\" and router.route_computation = \"0 ns\"",
        );
    }
    Ok(())
}

/// The parameters of routers with such a section.
pub(super) fn router_parameters(router: &RouterConfig) -> RouterParameters {
    RouterParameters {
        latency: router.latency.0,
        switching: router.switching,
        credit_delay: router.credit_delay.0,
        buffer: router.input_buffer,
        buffer_per: router.buffer_per,
        speedup: router.speedup,
        vc_allocation: router.vc_allocation.0,
        route_computation: router.route_computation.0,
        output_queue: router.output_queue,
        credit_at: router.credit_at,
        arbitration: router.arbitration,
        overtaking: router.overtaking,
        backlog: router.backlog,
    }
}
