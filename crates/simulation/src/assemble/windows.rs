//! Length of the windows that domains run before they exchange mail.

use weir_congestion::{Capabilities, Scheme};
use weir_engine::Interleaving;
use weir_fabric::{Drive, Network, Traffic};
use weir_model::{NEVER, Time};

/// A network of one domain has no lookahead; its windows are this long.
const LONE_WINDOW: Time = 10_000_000;

/// The windows of a run.
pub struct Windows {
    /// The least time in which anything reaches another domain, ps; [`NEVER`] for a single domain.
    pub lookahead: Time,
    /// Length of a window, ps.
    pub window: Time,
    /// Set if the scheme's signals are faster than that.
    pub interleaving: Option<Interleaving>,
}

impl Windows {
    /// Windows of a run with this traffic.
    /// `until_done`: it ends when its applications are done, though there is more to do.
    pub fn new(
        network: &Network,
        scheme: &dyn Scheme,
        traffic: &[Traffic],
        until_done: bool,
    ) -> Windows {
        let least = network.partition.lookahead();
        let lookahead = match least {
            NEVER => NEVER,
            // It ends at the end of a window, which must not depend on the packets that occur.
            _ if until_done => least,
            _ => least.saturating_add(settled_before(network, scheme, traffic)),
        };
        let window = match lookahead {
            NEVER => LONE_WINDOW,
            _ => lookahead,
        };
        Windows {
            lookahead,
            window,
            interleaving: interleaving(network, scheme, least),
        }
    }
}

/// Set if the scheme's notices can take effect before the end of the window in which they are sent.
/// Notices that take the time of an empty network cannot: their path to another domain crosses a
/// link between domains.
fn interleaving(network: &Network, scheme: &dyn Scheme, lookahead: Time) -> Option<Interleaving> {
    let signals = scheme.capabilities().signals;
    let delay = signals.then(|| scheme.signal_delay())??;
    (lookahead != NEVER && delay < lookahead).then(|| Interleaving {
        delay,
        reaction: network.latency_range().0.max(1),
    })
}

/// Time by which windows may be longer than the latency of a link ([`Network::settled_before`]): 0
/// if routers drop or answer packets, a scheme sends out-of-band signals, or links are down.
fn settled_before(network: &Network, scheme: &dyn Scheme, traffic: &[Traffic]) -> Time {
    let can = scheme.capabilities();
    let routers_act = can.drops || can.answers || !can.intercepts.is_empty();
    let acts = routers_act || can.signals || network.flows.managed;
    // Routers drop what has no way.
    if acts || network.outages.is_some() {
        return 0;
    }
    // Packet sizes of applications, and of schemes that may send control packets, are not known.
    let alone = can == Capabilities::NONE && !network.parameters.acknowledge;
    let longest = u64::from(network.parameters.max_packet);
    let shortest = traffic.iter().map(|traffic| match &traffic.drive {
        Drive::Pattern(open) if alone => {
            (open.sizes).shortest_packet(network.parameters.flit, longest)
        }
        _ => 1,
    });
    network.settled_before(shortest.min().unwrap_or(1))
}

/// A time longer than any packet or credit is under way anywhere: some round trips of the longest
/// link, and a packet's time and wait for a time step.
pub fn quiet_limit(network: &Network, window: Time) -> Time {
    let (_, longest) = network.latency_range();
    // Only compared with a time.
    let links = longest.saturating_mul(8);
    let routers = network.longest_crossing().saturating_mul(100);
    links
        .saturating_add(routers)
        .saturating_add(
            network
                .longest_packet()
                .max(network.step())
                .saturating_mul(2),
        )
        .saturating_add(window.saturating_mul(2))
}
