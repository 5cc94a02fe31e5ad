//! The tasks of applications, each at its NIC.

mod action;

pub use action::{Action, Wishes};

use crate::setup::traffic::Traffic;
use serde::{Deserialize, Serialize};

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

use weir_model::Time;
use weir_model::codec::CodecError;
use weir_workload::tasks::{Peer, Task};

/// Progress of the tasks of one job in one domain.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    bytemuck::Pod,
    bytemuck::Zeroable,
    Serialize,
    Deserialize,
)]
#[repr(C)]
pub struct JobState {
    /// Messages handed to NICs.
    pub sent: u64,
    /// Messages that have come whole.
    pub received: u64,
    /// Times that tasks wait for, and messages that are not wholly acknowledged if routers may drop
    /// packets.
    pub pending: u64,
    /// Tasks that are not done.
    pub unfinished: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Due {
    pub time: Time,
    /// Order among simultaneous events: the one that was asked for first comes first.
    pub order: u64,
    pub action: Action,
}

/// A task at its NIC.
pub struct Host {
    pub job: u16,
    pub nic: u32,
    pub task: Task,
    pub due: Vec<Due>,
    /// Messages of which some parts have left, or come: true if they leave, the other task, and the
    /// word of their stamp.
    pub parts: BTreeMap<(bool, Peer, u64), Incomplete>,
}

/// A message of which some parts have left, or come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Incomplete {
    /// Number of parts that have not.
    pub missing: u32,
    /// Length of the others.
    pub bytes: u64,
    /// Time of the last one, ps.
    pub latest: Time,
}

/// The tasks of a domain.
#[derive(Default)]
pub struct Hosts {
    pub hosts: Vec<Host>,
    /// (job, NIC) → task.
    pub places: FxHashMap<(u16, u32), u32>,
    pub jobs: Vec<JobState>,
    /// Tasks that are not done, of jobs that are not in the background.
    pub unfinished: u64,
    /// Time when the last task was done.
    pub last_done: Time,
    pub next_order: u64,
    /// By endpoint (by node, if its endpoints share the network inside): time until which it sends
    /// to others of its node.
    pub inside_free: BTreeMap<u32, Time>,
    /// Empty but while a task is called.
    pub wishes: Wishes,
}

/// A task as it is saved.
#[derive(Clone, Serialize, Deserialize)]
pub struct SavedHost {
    pub job: u16,
    pub nic: u32,
    pub task: Vec<u8>,
    pub due: Vec<Due>,
    pub parts: BTreeMap<(bool, Peer, u64), Incomplete>,
}

/// The tasks of a domain as they are saved.
#[derive(Serialize, Deserialize)]
pub struct SavedHosts {
    /// In the order of the tasks.
    pub tasks: Vec<SavedHost>,
    pub jobs: Vec<JobState>,
    pub unfinished: u64,
    pub last_done: Time,
    pub next_order: u64,
    pub inside_free: BTreeMap<u32, Time>,
}

impl Hosts {
    /// All tasks and due events, to be saved.
    ///
    /// # Errors
    /// If a task cannot be written.
    pub fn save(&self) -> Result<SavedHosts, CodecError> {
        let tasks = self.hosts.iter();
        let tasks = tasks.map(|host| {
            Ok(SavedHost {
                job: host.job,
                nic: host.nic,
                task: host.task.save()?,
                due: host.due.clone(),
                parts: host.parts.clone(),
            })
        });
        Ok(SavedHosts {
            tasks: tasks.collect::<Result<_, CodecError>>()?,
            jobs: self.jobs.clone(),
            unfinished: self.unfinished,
            last_done: self.last_done,
            next_order: self.next_order,
            inside_free: self.inside_free.clone(),
        })
    }

    /// Continues from the saved state of the same tasks.
    ///
    /// # Errors
    /// If the state is that of other tasks.
    pub fn load(&mut self, saved: SavedHosts, traffic: &[Traffic]) -> Result<(), CodecError> {
        if (saved.tasks.len(), saved.jobs.len()) != (self.hosts.len(), self.jobs.len()) {
            return Err(CodecError::new("there are other tasks in this domain"));
        }
        for (host, saved) in self.hosts.iter_mut().zip(saved.tasks) {
            if (host.job, host.nic) != (saved.job, saved.nic) {
                return Err(CodecError::new("there are other tasks in this domain"));
            }
            let application = traffic[usize::from(host.job)].application();
            let application = application.ok_or_else(|| CodecError::new("no application"))?;
            host.task = Task::load(&application.job, host.task.number(), &saved.task)?;
            host.due = saved.due;
            host.parts = saved.parts;
        }
        self.jobs = saved.jobs;
        self.unfinished = saved.unfinished;
        self.last_done = saved.last_done;
        self.next_order = saved.next_order;
        self.inside_free = saved.inside_free;
        Ok(())
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Tasks that are not done, of jobs that a run to completion waits for.
    pub fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let host = |host: &Host| {
            size_of::<Host>() + host.task.memory_bytes() + host.due.capacity() * size_of::<Due>()
        };
        self.hosts.iter().map(host).sum::<usize>() + self.places.capacity() * 16
    }
}
