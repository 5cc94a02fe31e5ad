//! Limits of a network that keep every number of the fabric within its type.
//! Checked before anything runs.
//!
//! | what | type | why it holds it |
//! | --- | --- | --- |
//! | times, and sums of a time and of delays | `u64` | no time is beyond [`LATEST`], and a `u64` holds 18 times that |
//! | how long a tail follows its head | 40 bits | the longest packet takes 1 s at most on any link ([`Packet::LONGEST_LAG`]) |
//! | the time of a flit, with 20 binary places | `u64` | the same; and 1 ps at least, so that rounding it is less than a millionth |
//! | flits of a packet, bits of its payload | `u16`, `u32` | `config::check` |
//! | flits of a buffer, of a queue, on the way out by a port | `u32` | [`MOST_BUFFERED`], [`MOST_QUEUED`] |
//! | queues of a port, over all classes | `u16` | [`MOST_QUEUES`] |
//! | places of ports, endpoints, sources, tasks in events | 28 bits | `MOST_DOMAIN_PORTS`, `MOST_TASKS` |
//! | routers that a packet has visited | `u8` | [`Routing::max_routers`] |
//! | a grant's time | 48 bits since its message was generated | a later one ends the run |
//! | messages and packets of a source | `u32`, which begin again | `model::Origin` |
//! | bits of a message | `u64` | [`weir_model::LONGEST_MESSAGE`] |
//!
//! [`LATEST`]: weir_model::LATEST
//! [`Routing::max_routers`]: weir_network::routing::Routing::max_routers

use crate::config::Experiment;
use weir_fabric::{BufferPer, MOST_BUFFERED, MOST_QUEUED, Network, Parameters};
use weir_input::{Buffer, ConfigError, OutputQueue};
use weir_model::{Invalid, KindName, Packet, RouterKind, TERMINAL};
use weir_network::failures::Changed;
use weir_network::topology::{Link, Peer, kind_problem};

/// The most queues of a port, over all traffic classes.
pub const MOST_QUEUES: u32 = 1 << 16;

/// Picoseconds of a second.
const SECOND: u128 = 1_000_000_000_000;

/// Checks the links and the buffers of a network.
pub(super) fn check(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    let topology = &network.topology;
    check_distance(experiment, network)?;
    check_injection(experiment, network)?;
    check_names(topology.link_kinds());
    check_names(topology.router_kinds());
    if !topology.axes().is_empty() {
        check_names(topology.axes());
    }
    assert_eq!(
        topology.link_kinds()[0],
        TERMINAL,
        "the first kind of links"
    );
    for links in topology.links() {
        let kind = &topology.link_kinds()[links.link.kind.index()];
        let checked = check_link(network, &links.link, format!("{kind}.bandwidth"));
        checked.map_err(|invalid| experiment.topology.refuse(invalid))?;
    }
    for (_, changed) in network.failures.iter() {
        let key = format!("failure.{}.bandwidth", changed.failure);
        let checked = check_link(network, &changed.link, key);
        checked.map_err(|invalid| experiment.file.refuse(invalid))?;
        check_errors(network, changed).map_err(|invalid| experiment.file.refuse(invalid))?;
    }
    // Domains are alike; domains that were not would be found when they are built.
    let mut seen = Vec::new();
    for &router in network.partition.routers(0) {
        let kind = topology.router_kind(router);
        for port in 0..topology.ports(router) {
            let link = topology.link(router, port);
            let used = topology.peer(router, port) != Peer::Unused;
            if used && !seen.contains(&(kind, link.kind)) {
                seen.push((kind, link.kind));
                check_queues(experiment, network, kind, &link)?;
            }
        }
        let buffered = network.buffered(router);
        if buffered > u64::from(MOST_BUFFERED) {
            return Err(refuse_buffers(experiment, network, kind, buffered));
        }
    }
    let mut kinds = (0..network.routers.len()).map(|kind| RouterKind(kind as u8));
    kinds.try_for_each(|kind| check_output_queues(experiment, network, kind))
}

/// Checks that the routers that a packet visits can be counted in a byte.
fn check_distance(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    let (routers, most) = (network.routing.max_routers(), u8::MAX);
    if routers <= u32::from(most) {
        return Ok(());
    }
    let key = match experiment.file.has("topology.sizes") {
        true => "topology.sizes",
        false => "routing.algorithm",
    };
    Err(experiment.file.refuse(Invalid::new(
        key,
        format!("packets would visit up to {routers} routers; at most {most} can be counted"),
        "choose a network of more and shorter dimensions, or a routing with shorter ways",
    )))
}

/// Key under which a value for the routers of a kind is written: in their own table, or for all.
fn key_of(experiment: &Experiment, network: &Network, kind: RouterKind, key: &str) -> String {
    let own = format!(
        "router.{}.{key}",
        network.topology.router_kinds()[kind.index()]
    );
    match experiment.file.has(&own) {
        true => own,
        false => format!("router.{key}"),
    }
}

/// Checks that the flits in the output queues of a port can be counted.
fn check_output_queues(
    experiment: &Experiment,
    network: &Network,
    kind: RouterKind,
) -> Result<(), ConfigError> {
    let router = &network.routers[kind.index()];
    let channels = u64::from(network.most_channels());
    match router.output_flits(&network.parameters) {
        Some(flits)
            if router.output_queue != OutputQueue::Unlimited
                && u64::from(flits) * channels > u64::from(MOST_QUEUED) =>
        {
            Err(experiment.file.refuse(Invalid::new(
                key_of(experiment, network, kind, "output_queue"),
                format!(
                    "{channels} output queues of {flits} flits at a port hold {} flits; at most \
                     {MOST_QUEUED} can be counted",
                    u64::from(flits) * channels
                ),
                format!(
                    "write at most \"{} flits\"",
                    u64::from(MOST_QUEUED) / channels
                ),
            )))
        }
        _ => Ok(()),
    }
}

/// The topology's names of kinds are good, and each has its own.
fn check_names(names: &[KindName]) {
    assert!(
        (1..=256).contains(&names.len()),
        "kinds have a number of 8 bits"
    );
    for (number, name) in names.iter().enumerate() {
        let problem = kind_problem(name);
        assert!(problem.is_none(), "{name:?} {}", problem.unwrap_or(""));
        assert!(
            !names[..number].contains(name),
            "two kinds of the name {name:?}"
        );
    }
}

fn refuse_buffers(
    experiment: &Experiment,
    network: &Network,
    kind: RouterKind,
    buffered: u64,
) -> ConfigError {
    let remedy = match network.routers[kind.index()].buffer {
        Buffer::Size(_) => "write a smaller input_buffer, or a larger router.flit",
        Buffer::Auto => {
            "write a size for input_buffer, shorter latencies of links or router.credit_delay, or \
             a larger router.flit"
        }
    };
    experiment.file.refuse(Invalid::new(
        key_of(experiment, network, kind, "input_buffer"),
        format!(
            "the input buffers of a router hold {buffered} flits in all; at most {MOST_BUFFERED} \
             can be counted"
        ),
        remedy,
    ))
}

/// Virtual channels on links from NICs are counted in a byte.
fn check_injection(experiment: &Experiment, network: &Network) -> Result<(), ConfigError> {
    let vcs = u32::from(network.parameters.injection_vcs);
    let networks = (network.routing.choice_at_nic()).map_or(1, |choice| u32::from(choice.networks));
    let most = u32::from(u8::MAX) / networks;
    if vcs <= most {
        return Ok(());
    }
    Err(experiment.file.refuse(Invalid::new(
        "nic.injection_vcs",
        format!(
            "{vcs} virtual channels for each of {networks} orders of dimensions on a link from \
                 a NIC"
        ),
        format!("write at most {most}"),
    )))
}

/// The queues of the buffer that a router has behind a link.
fn check_queues(
    experiment: &Experiment,
    network: &Network,
    kind: RouterKind,
    link: &Link,
) -> Result<(), ConfigError> {
    let router = &network.routers[kind.index()];
    let refuse = |key: &str, message: String, remedy: String| {
        Err(experiment.file.refuse(Invalid::new(key, message, remedy)))
    };
    let vcs = network.vcs(link.kind);
    let (queues, classes) = (network.queues(link.kind), network.classes.count());
    let each = queues / u32::from(vcs.max(1));
    assert!(each >= 1, "a virtual channel of no queues");
    let links = &network.topology.link_kinds()[link.kind.index()];
    let channels = network.channels(link.kind);
    if channels > MOST_QUEUES {
        return refuse(
            "queueing",
            format!(
                "{vcs} virtual channels of {each} queues in {classes} traffic classes are \
                 {channels} queues at a port ({links} links); at most {MOST_QUEUES} are possible"
            ),
            "choose a queueing scheme with fewer queues, a routing or a congestion.scheme with \
             fewer virtual channels or classes, or fewer nic.injection_vcs"
                .into(),
        );
    }
    if each > 1 && router.buffer_per == BufferPer::Port {
        return refuse(
            &key_of(experiment, network, kind, "buffer_per"),
            format!(
                "the {each} queues that queueing.scheme makes of a virtual channel would share one \
                 buffer per port, and block each other there"
            ),
            "write buffer_per = \"vc\" or \"divided\", or queueing.scheme = \"voq_sw\" or \
             \"single\""
                .into(),
        );
    }
    let longest = u64::from(network.parameters.max_packet);
    let flits = network.queue_flits([router, router], link);
    let (parts, of) = match router.buffer_per {
        BufferPer::Divided => (queues, format!("{vcs} virtual channels with ")),
        BufferPer::Vc | BufferPer::Port => (each, String::new()),
    };
    if flits < longest {
        return refuse(
            &key_of(experiment, network, kind, "input_buffer"),
            format!(
                "{} flits in {of}{each} queues (queueing.scheme) are {flits} flits for each, but \
                 the longest packet (nic.max_packet) has {longest}",
                network.parameters.buffer_flits([router, router], link)
            ),
            format!(
                "write at least \"{} flits\", or \"auto\", or choose fewer queues",
                longest * u64::from(parts)
            ),
        );
    }
    Ok(())
}

/// Checks that a link with errors gets its packets across: at least every other one at the first
/// try, and in a second even one that is sent 64 times.
fn check_errors(network: &Network, changed: &Changed) -> Result<(), Invalid> {
    let Parameters {
        flit, max_packet, ..
    } = network.parameters;
    let bits = u64::from(flit.0) * u64::from(max_packet);
    let most = std::f64::consts::LN_2 / bits as f64;
    let key = || format!("failure.{}.bit_error_rate", changed.failure);
    if changed.bit_error_rate > most {
        return Err(Invalid::new(
            key(),
            format!("most packets of {bits} bits would have an error"),
            format!("write at most {most:.0e}"),
        ));
    }
    let packet = network.rate(&changed.link).time(max_packet);
    let round_trip = packet.saturating_add(changed.link.latency.saturating_mul(2));
    if changed.bit_error_rate > 0.0 && round_trip.saturating_mul(64) > SECOND as u64 {
        let message = "a packet with several errors would take longer than a second";
        return Err(Invalid::new(
            key(),
            message,
            "choose shorter links or packets",
        ));
    }
    Ok(())
}

/// Checks the serialization time of flits on a link, whose bandwidth has this key.
fn check_link(network: &Network, link: &Link, key: String) -> Result<(), Invalid> {
    let bits = u128::from(network.parameters.flit.0);
    let bandwidth = u128::from(link.bandwidth.0);
    // In ps · bandwidth.
    let flit = bits * SECOND;
    let packet = flit * u128::from(network.parameters.max_packet);
    if flit < bandwidth {
        return Err(Invalid::new(
            key,
            format!("a flit of {bits} bits takes less than 1 ps on such a link"),
            "write less bandwidth or a larger router.flit",
        ));
    }
    if packet > bandwidth * u128::from(Packet::LONGEST_LAG) {
        return Err(Invalid::new(
            key,
            format!(
                "the longest packet ({} bits) takes {} ps on such a link; at most 1 s is possible",
                bits * u128::from(network.parameters.max_packet),
                packet / bandwidth
            ),
            "write more bandwidth or a smaller nic.max_packet",
        ));
    }
    Ok(())
}
