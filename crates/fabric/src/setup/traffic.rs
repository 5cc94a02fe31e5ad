//! The workloads of a run, the same for all domains.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use weir_workload::tasks::{Job, Peer};

use weir_model::{EndpointId, Span, Time};
use weir_workload::open::injection::Injector;
use weir_workload::open::sizes::Sizes;
use weir_workload::patterns::Pattern;

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
    /// Times of messages.
    pub injector: Injector,
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
}
