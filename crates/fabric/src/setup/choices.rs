//! Options of an experiment for routers and NICs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Condition on which a router may pass a packet on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switching {
    /// As soon as its head has come.
    #[default]
    CutThrough,
    /// Once its tail has come, as in CODES: a packet takes its time on the link once for every
    /// link.
    StoreAndForward,
    /// At the beginning of the next time step: whole packets, one of each output in every step
    /// (Birk and Zdornov 2009, section 2).
    TimeSteps,
}

impl Switching {
    /// True if a packet is passed on once all of it has come.
    pub fn stores(self) -> bool {
        match self {
            Switching::CutThrough => false,
            Switching::StoreAndForward | Switching::TimeSteps => true,
        }
    }
}

/// Queues that one input buffer serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BufferPer {
    /// One virtual channel.
    Vc,
    /// All virtual channels of one traffic class at one port.
    Port,
    /// One port and traffic class, whose virtual channels and queues have equal parts of it to
    /// themselves: however many there are, they have the same memory.
    Divided,
}

/// Moment when a packet takes its credit, if there are output queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreditAt {
    /// Taken as its head goes onto the link.
    Link,
    /// Taken as it crosses to the output queue.
    Crossing,
}

/// Room that a packet takes in a buffer or queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreditUnit {
    /// As many flits as it has.
    #[default]
    Flit,
    /// That of the longest packet, however short it is, as in CODES.
    Packet,
}

/// Flits of a queue that adaptive routing counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backlog {
    /// Packets ahead of the packet: its own traffic class and those of higher priority.
    Ahead,
    /// Every class: packets that may be dropped turn others away from a queue, too.
    All,
}

/// Rule by which an output picks among waiting queues of one traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arbitration {
    /// Each queue in turn, a packet at a time.
    RoundRobin,
    /// The packet that was injected first.
    Oldest,
    /// The packet that came first: at the crossbar to this router, at a link to its output queue.
    FirstCome,
}

/// Order in which a NIC sends packets of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicOrder {
    /// Each queue pair (of a job and a destination) in turn, a packet at a time; messages of one
    /// queue pair in the order in which they were posted.
    #[default]
    Fair,
    /// Messages one after the other, in the order in which they were posted, regardless of
    /// destination, as in CODES. A message that may not be sent yet blocks all others.
    Fifo,
    /// As `Fifo`, but grants of requests (clear to send) go before messages of other kinds, also
    /// before the rest of one that has begun, except for its packets that are prepared
    /// ([`Parameters::prepared`](crate::Parameters)): as by the second send machine of SST's
    /// Firefly.
    ClearsFirst,
    /// Each message in turn, a packet at a time, also of those to one destination.
    Message,
}

impl NicOrder {
    /// True if only one message may send at a time.
    #[inline]
    pub(crate) fn is_one_by_one(self) -> bool {
        matches!(self, NicOrder::Fifo | NicOrder::ClearsFirst)
    }
}

/// Injection discipline for flows whose rates the congestion control sets. r is the rate of a flow,
/// d the length of its packet, D the amount sent of its message (Birk and Zdornov, section 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Inter-packet delay: each flow by itself, a packet every d / r.
    #[default]
    Ipd,
    /// Shaped virtual clock: the same, and of the flows that may send the one with the least D / r.
    Svc,
    /// Periodic selection: a packet every d / R, where R is the sum of the rates of the NIC's
    /// flows; the packet is one of the flow with the least D / r.
    Ps,
}

/// Routes of control packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlRoutes {
    /// Minimal routes, regardless of queues there.
    #[default]
    Minimal,
    /// Such as the routing algorithm chooses for data, in their own traffic classes.
    AsData,
}

/// NICs that a message takes, of a task that has several, and of its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicOfMessage {
    /// All of them at once, an equal part of the message each; a part is no shorter than a longest
    /// packet.
    #[default]
    Stripe,
    /// The one whose place is the number of the receiver, modulo their number.
    Destination,
    /// The next one for each message to the same receiver.
    Turn,
}

impl NicOfMessage {
    /// True for the default.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
    pub fn is_default(&self) -> bool {
        *self == NicOfMessage::default()
    }
}
