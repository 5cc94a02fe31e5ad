//! Rules by which flows are managed, from the routing, the scheme and `[nic]`; combinations that do
//! not fit are refused.

use crate::config::Experiment;
use weir_congestion::Scheme;
use weir_fabric::{ControlRoutes, Discipline, FlowRules, NicOrder, Parameters};
use weir_input::{ConfigError, Size};
use weir_model::Invalid;
use weir_network::routing::Routing;

/// Rules by which flows are managed, if the routing keeps circuits or the scheme is told of flows.
pub(super) fn rules(
    experiment: &Experiment,
    routing: &dyn Routing,
    scheme: &dyn Scheme,
    parameters: &Parameters,
) -> Result<FlowRules, ConfigError> {
    let (circuits, can) = (routing.circuits(), scheme.capabilities());
    if can.announces && routing.has_alternatives() {
        return refuse(
            experiment,
            "routing.algorithm",
            "the congestion control asks the links on the way of a flow, and with this routing packets that wait may go other ways",
            "choose a routing whose packets wait where they are led, or another congestion.scheme",
        );
    }
    if circuits.is_some() && !routing.one_way() {
        return refuse(
            experiment,
            "queueing.scheme",
            "the packets of a flow would be spread over virtual channels, and must not overtake each other",
            "choose another queueing.scheme, or another routing",
        );
    }
    let longest = u64::from(parameters.max_packet);
    let from_bits = |size: Size| size.bits(parameters.flit, longest);
    let from_bits = experiment.nic.flow_from.map_or(0, from_bits);
    let managed = circuits.is_some() || can.announces;
    if can.by_pair && parameters.order != NicOrder::Fair {
        return refuse(
            experiment,
            "nic.order",
            "the scheme counts messages by destination, and a NIC must send them in turn",
            "write \"fair\", or leave congestion.outstanding out",
        );
    }
    let from = experiment.nic.flow_from;
    if !managed {
        if from.is_some() && !experiment.output.flows {
            return refuse(
                experiment,
                "nic.flow_from",
                "no flows are managed or recorded here",
                "leave it out, or choose routing \"adaptive_flow\" or congestion.scheme \"saa\", or set output.flows = true",
            );
        }
        return Ok(FlowRules {
            shared: can.by_pair,
            from_bits,
            ..FlowRules::default()
        });
    }
    check_managed(experiment, routing, scheme, parameters)?;
    Ok(FlowRules {
        managed,
        shared: true,
        announced: can.announces,
        from_bits,
        cache: circuits.map(|circuits| circuits.cache),
        held: !routing.one_way(),
    })
}

/// Refuses what would have packets of managed flows overtake each other, or be sent again.
fn check_managed(
    experiment: &Experiment,
    routing: &dyn Routing,
    scheme: &dyn Scheme,
    parameters: &Parameters,
) -> Result<(), ConfigError> {
    let can = scheme.capabilities();
    if can.drops || can.retransmits {
        return refuse(
            experiment,
            "congestion.scheme",
            "the scheme sends packets again, which would not follow the flows that they belong to",
            "choose a scheme that drops nothing, or another routing",
        );
    }
    if parameters.control_routes != ControlRoutes::Minimal {
        return refuse(
            experiment,
            "nic.control_routes",
            "flows are managed, by control packets that must not overtake each other",
            "leave it out, or write \"minimal\"",
        );
    }
    if parameters.order != NicOrder::Fair {
        return refuse(
            experiment,
            "nic.order",
            "flows are managed, one at a time for each destination",
            "leave it out, or write \"fair\"",
        );
    }
    if parameters.injection_vcs != 1 {
        return refuse(
            experiment,
            "nic.injection_vcs",
            "flows are managed, and their packets must not overtake each other",
            "leave it out, or write 1",
        );
    }
    let choice = routing.choice_at_nic();
    if choice.is_some_and(|choice| choice.networks > 1) {
        return refuse(
            experiment,
            "routing.choose_at",
            "flows are managed, and packets that a NIC gives different orders of dimensions overtake each other",
            "write \"router\", or choose another congestion.scheme",
        );
    }
    Ok(())
}

/// The refusal of a key's value.
fn refuse<T>(
    experiment: &Experiment,
    key: &str,
    message: &str,
    remedy: &str,
) -> Result<T, ConfigError> {
    Err(experiment.file.refuse(Invalid::new(key, message, remedy)))
}

/// Injection discipline for flows with rates that the scheme sets.
pub(super) fn discipline(
    experiment: &Experiment,
    scheme: &dyn Scheme,
) -> Result<Option<Discipline>, ConfigError> {
    let given = experiment.nic.discipline;
    match (scheme.capabilities().rates, given) {
        (true, given) => Ok(Some(given.unwrap_or_default())),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(experiment.file.refuse(Invalid::new(
            "nic.discipline",
            format!(
                "congestion.scheme {:?} sets no rates of flows",
                scheme.name()
            ),
            "leave it out, or choose a scheme that does: \"saa\" or \"fixed_rate\"",
        ))),
    }
}
