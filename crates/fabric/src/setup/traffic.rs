//! The workloads of a run, the same for all domains.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::NicOfMessage;
use weir_model::{Bandwidth, EndpointId, Span, Time};
use weir_network::topology::{Place, Topology};
use weir_workload::open::injection::Injector;
use weir_workload::open::sizes::Sizes;
use weir_workload::patterns::Pattern;
use weir_workload::tasks::{Job, Peer};

/// One workload, the same for all domains.
pub struct Traffic {
    /// Its name, by which its random streams are named too.
    pub name: String,
    /// Its number in the experiment file.
    pub number: u16,
    /// The endpoints of its tasks, in task order.
    pub tasks: Arc<[EndpointId]>,
    /// The same, ascending.
    pub members: Arc<[EndpointId]>,
    /// Source of its messages.
    pub drive: Drive,
    /// Time when it starts, ps.
    pub start: Time,
    /// Time when it stops, ps.
    pub stop: Time,
    /// True for an application for which a run to completion does not wait.
    pub background: bool,
}

/// Source of a workload's messages.
pub enum Drive {
    /// Messages are generated, regardless of their delivery.
    Pattern(Open),
    /// Tasks that wait for each other.
    Motif(Application),
}

/// Open-loop traffic.
pub struct Open {
    /// Traffic pattern: the destination of each message.
    pub pattern: Box<dyn Pattern>,
    /// Message sizes.
    pub sizes: Sizes,
    /// Times of messages of senders by the bandwidth of their links as built: each bandwidth once.
    pub injectors: Vec<(Bandwidth, Injector)>,
}

impl Open {
    /// Times of the messages of a sender.
    #[inline]
    pub(crate) fn injector(&self, topology: &dyn Topology, sender: EndpointId) -> &Injector {
        if let [(_, only)] = &self.injectors[..] {
            return only;
        }
        let own = topology.link_from(Place::Nic(sender)).bandwidth;
        let found = self
            .injectors
            .iter()
            .find(|(bandwidth, _)| *bandwidth == own);
        &found.unwrap_or(&self.injectors[0]).1
    }
}

impl Traffic {
    /// From its start to its stop.
    pub fn on(&self) -> Span {
        Span {
            from: self.start,
            to: self.stop,
        }
    }

    /// True if an endpoint generates messages.
    pub fn sends(&self, endpoint: EndpointId) -> bool {
        let Drive::Pattern(open) = &self.drive else {
            return false;
        };
        self.members.binary_search(&endpoint).is_ok() && open.pattern.sends(endpoint)
    }

    /// The application, if it is one.
    pub fn application(&self) -> Option<&Application> {
        match &self.drive {
            Drive::Pattern(_) => None,
            Drive::Motif(application) => Some(application),
        }
    }
}

/// An application: the same for all domains.
pub struct Application {
    /// Behaviour of its tasks.
    pub job: Job,
    /// The task at each of its endpoints.
    pub numbers: FxHashMap<EndpointId, Peer>,
    /// The NICs of its tasks.
    pub nics: TaskNics,
}

/// The NICs of an application's tasks.
pub struct TaskNics {
    /// Endpoints, [`TaskNics::each`] for each task, in task order.
    pub endpoints: Arc<[EndpointId]>,
    /// NICs of each task, at least 1.
    pub each: u32,
    /// Choice of one of them for a message.
    pub choice: NicOfMessage,
    /// Least part of a message that is worth another NIC, bytes.
    pub least: u64,
}

impl TaskNics {
    /// Tasks with one NIC each, at these endpoints.
    pub fn one_each(endpoints: Arc<[EndpointId]>) -> TaskNics {
        TaskNics {
            endpoints,
            each: 1,
            choice: NicOfMessage::default(),
            least: 1,
        }
    }

    /// The endpoint of a task by this one of its NICs.
    #[inline]
    pub fn endpoint(&self, task: Peer, nic: u32) -> EndpointId {
        self.endpoints[(task * self.each + nic) as usize]
    }

    /// Number of NICs that carry a message of this length; each carries an equal part.
    pub fn parts(&self, bytes: u64) -> u32 {
        let long = || bytes >= self.least.saturating_mul(self.each.into());
        match self.each > 1 && self.choice == NicOfMessage::Stripe && long() {
            true => self.each,
            false => 1,
        }
    }

    /// The NIC of the sender and of the receiver that carries a message in one part, which has this
    /// number among those to the receiver.
    pub fn nic(&self, to: Peer, number: u32) -> u32 {
        match self.choice {
            NicOfMessage::Stripe | NicOfMessage::Destination => to % self.each,
            NicOfMessage::Turn => number % self.each,
        }
    }
}
