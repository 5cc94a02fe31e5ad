//! Rules by which flows are managed, and the control packets that do it.

use weir_model::{Classes, ControlKind, FlowStep, PacketKind};

/// Rules by which flows are managed in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRules {
    /// True if they are.
    pub managed: bool,
    /// True if all jobs of a NIC share its queue pairs: flows are managed, or the scheme counts
    /// messages by source and destination.
    pub shared: bool,
    /// True if the scheme hears of them.
    pub announced: bool,
    /// Shorter messages are none, bits.
    pub from_bits: u64,
    /// Flows that an input keeps a port for, if the routing keeps circuits.
    pub cache: Option<u32>,
    /// True if the fabric keeps the hop of the packet that sets a flow up, for a routing that might
    /// route the others differently.
    pub held: bool,
}

/// The control packets that manage flows.
/// They are in the class of control packets, except the last, which follows data. If the scheme
/// does not hear of flows there are no probes.
pub fn flow_kinds(rules: &FlowRules, classes: Classes) -> Vec<ControlKind> {
    let kind = |name, class| ControlKind {
        name,
        class,
        timed: false,
    };
    let mut kinds = Vec::new();
    if rules.managed {
        kinds.push(kind("flow_start", classes.control));
        kinds.push(kind("flow_end", classes.data));
        kinds.push(kind("flow_back", classes.control));
        if rules.announced {
            kinds.push(kind("flow_probe", classes.control));
        }
    }
    kinds
}

/// Their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowKinds {
    start: PacketKind,
    pub end: PacketKind,
    pub back: PacketKind,
    probe: PacketKind,
}

impl FlowKinds {
    /// Numbers that follow the scheme's `own` kinds.
    pub fn after(own: u8, rules: &FlowRules) -> FlowKinds {
        let place = |place| match rules.managed && (place < 3 || rules.announced) {
            true => PacketKind::own(own + place),
            // There are none.
            false => PacketKind::DATA,
        };
        FlowKinds {
            start: place(0),
            end: place(1),
            back: place(2),
            probe: place(3),
        }
    }

    pub fn of(self, step: FlowStep) -> PacketKind {
        match step {
            FlowStep::Start => self.start,
            FlowStep::Probe => self.probe,
            FlowStep::End => self.end,
        }
    }
}
