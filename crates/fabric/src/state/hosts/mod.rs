//! The tasks of applications, each at its NIC.

mod action;

pub use action::{Action, Wishes};

use crate::setup::traffic::Traffic;
use serde::{Deserialize, Serialize};

use rustc_hash::FxHashMap;

use weir_model::Time;
use weir_model::codec::CodecError;
use weir_workload::tasks::Task;

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
            })
        });
        Ok(SavedHosts {
            tasks: tasks.collect::<Result<_, CodecError>>()?,
            jobs: self.jobs.clone(),
            unfinished: self.unfinished,
            last_done: self.last_done,
            next_order: self.next_order,
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
        }
        self.jobs = saved.jobs;
        self.unfinished = saved.unfinished;
        self.last_done = saved.last_done;
        self.next_order = saved.next_order;
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
