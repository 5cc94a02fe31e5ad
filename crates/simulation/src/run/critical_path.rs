//! Critical path of a job.
//! It runs from the end of the job's last task back to its beginning, through the messages and
//! computations that each next event waited for, with the places where those messages waited.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Outcome;
use crate::plan::Plan;
use weir_fabric::{Network, Place, Step, TaskEvent, TaskStep, Watched};
use weir_model::{EndpointId, Time};
use weir_result::Data;
use weir_result::explain::{Path, PathWait};
use weir_workload::tasks::Peer;

/// A message by its source and its number there.
type Name = (EndpointId, u32);

/// The events of tasks in a run, and the last one that happened to each job.
pub struct Log {
    rows: Vec<TaskStep>,
    /// The places of [`TaskEvent::Given`], in order of time, by job, sender, receiver and stamp.
    given: HashMap<(u16, Peer, Peer, u64), Vec<usize>>,
    /// Start and end of each finished job, in the order of jobs, and the place of the event that
    /// ended it.
    ends: Vec<(u16, Time, Time, usize)>,
}

/// A link of the chain, the later ones first.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// A task computed, or its host was busy.
    Host { from: Time, to: Time },
    /// A message was under way from its NIC until the task that waited for it continued.
    Message {
        name: Name,
        from: Time,
        to: Time,
        /// True if its sender waited for it to leave.
        leaves: bool,
    },
}

impl Plan {
    /// This run, with the log of tasks kept ([`Outcome::tasks`]).
    #[must_use]
    pub fn with_task_log(mut self) -> Plan {
        self.blueprint.recording.tasks = true;
        self
    }

    /// This run, with the messages followed that the jobs' ends hung on ([`Outcome::steps`]).
    #[must_use]
    pub fn following(mut self, log: &Log) -> Plan {
        self.blueprint.watched = Watched::Messages(Arc::new(log.messages()));
        self
    }
}

impl Log {
    /// The log of a run of [`Plan::with_task_log`].
    pub fn of(outcome: Outcome) -> Log {
        let mut rows: Vec<TaskStep> = Vec::new();
        for domain in outcome.tasks {
            let first = rows.len() as u32;
            rows.extend(domain.into_iter().map(|row| TaskStep {
                cause: row.cause.map(|cause| first + cause),
                ..row
            }));
        }
        let mut given: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            if let TaskEvent::Given { to, stamp, .. } = row.what {
                let key = (row.job, row.task, to, stamp);
                given.entry(key).or_default().push(at);
            }
        }
        let ends = ends(&rows, &outcome.data);
        Log { rows, given, ends }
    }

    /// The messages of all chains.
    fn messages(&self) -> rustc_hash::FxHashSet<Name> {
        let chains = self.ends.iter().flat_map(|&(.., end)| self.chain(end));
        let names = chains.filter_map(|link| match link {
            Link::Message { name, .. } => Some(name),
            Link::Host { .. } => None,
        });
        names.collect()
    }

    /// The chains of the jobs that are over, with the steps of a run of [`Plan::following`].
    pub fn paths(&self, steps: &[Step], network: &Network) -> Vec<Path> {
        let packets = steps.chunk_by(|a, b| a.packet == b.packet);
        let mut ways: HashMap<Name, Vec<&[Step]>> = HashMap::new();
        for way in packets {
            let (source, message, _) = way[0].packet;
            ways.entry((source, message)).or_default().push(way);
        }
        let path = |&(job, start, finish, end): &(u16, Time, Time, usize)| {
            let mut path = Path {
                job,
                time_ps: finish - start,
                ..Path::default()
            };
            for link in self.chain(end) {
                match link {
                    Link::Host { from, to } => path.hosts_ps += to - from,
                    Link::Message {
                        name,
                        from,
                        to,
                        leaves,
                    } => {
                        let ways = ways.get(&name).map_or(&[][..], Vec::as_slice);
                        add_message(&mut path, ways, (from, to), leaves, network);
                    }
                }
            }
            path
        };
        self.ends.iter().map(path).collect()
    }

    /// The chain that led to a row, from there back to the start.
    fn chain(&self, end: usize) -> Vec<Link> {
        let (mut at, mut links) = (end, Vec::new());
        // Causes come before their effects; a log that says otherwise ends the chain.
        for _ in 0..self.rows.len() {
            let row = self.rows[at];
            let sent = match row.what {
                TaskEvent::Came { from, stamp } => self.found(row.job, (from, row.task), stamp, at),
                TaskEvent::Left { to, stamp } => self.found(row.job, (row.task, to), stamp, at),
                _ => None,
            };
            let before = match sent {
                Some((name, given)) => {
                    links.push(Link::Message {
                        name,
                        from: self.rows[given].time,
                        to: row.time,
                        leaves: matches!(row.what, TaskEvent::Left { .. }),
                    });
                    given
                }
                None => at,
            };
            let Some(cause) = self.rows[before].cause else {
                break;
            };
            at = cause as usize;
            links.push(Link::Host {
                from: self.rows[at].time,
                to: self.rows[before].time,
            });
        }
        links
    }

    /// The last time by the row `at` that a task gave a message of this stamp to its NIC for
    /// another one.
    fn found(
        &self,
        job: u16,
        (from, to): (Peer, Peer),
        stamp: u64,
        at: usize,
    ) -> Option<(Name, usize)> {
        let rows = self.given.get(&(job, from, to, stamp))?;
        let earlier = rows.partition_point(|&row| self.rows[row].time <= self.rows[at].time);
        let given = *rows.get(earlier.checked_sub(1)?)?;
        match self.rows[given].what {
            TaskEvent::Given { message, .. } => Some((message, given)),
            _ => None,
        }
    }
}

/// Start and end of each finished job, and the last event of its last task by then.
fn ends(rows: &[TaskStep], data: &Data) -> Vec<(u16, Time, Time, usize)> {
    let known: HashSet<u16> = rows.iter().map(|row| row.job).collect();
    let jobs = (0..).zip(&data.jobs);
    let over = jobs.filter(|(job, own)| !own.is_cut_off() && known.contains(job));
    let ends = over.filter_map(|(job, own)| {
        let last =
            (own.tasks.task_finish_ps.iter()).position(|&time| time == own.totals.finish_ps)?;
        let mut happened = rows.iter().enumerate().filter(|(_, row)| {
            let given = matches!(row.what, TaskEvent::Given { .. });
            (row.job, row.task as usize) == (job, last)
                && !given
                && row.time <= own.totals.finish_ps
        });
        let (at, _) = happened.next_back()?;
        Some((job, own.totals.start_ps, own.totals.finish_ps, at))
    });
    ends.collect()
}

/// Adds a message: the paths of its packets, when it was given to its NIC, and when the task that
/// waited for it heard of it.
fn add_message(
    path: &mut Path,
    ways: &[&[Step]],
    (from, to): (Time, Time),
    leaves: bool,
    network: &Network,
) {
    let critical = match leaves {
        true => ways.iter().max_by_key(|way| way[0].left),
        false => ways.iter().max_by_key(|way| way[way.len() - 1].tail),
    };
    let mut left = to - from;
    if let Some(way) = critical {
        let nic = &way[0];
        let own = ways.iter().map(|other| &other[0]);
        let before = own.filter(|other| other.left < nic.left);
        let serialized: Time = before.map(|other| other.taken).sum();
        let in_nic = (nic.left - from).saturating_sub(serialized).min(left);
        let waited_ps = nic.stalled.min(in_nic);
        left -= in_nic;
        path.own_nic_ps += in_nic - waited_ps;
        if let Place::Nic(endpoint) = nic.from {
            let (router, port) = network.topology.attachment(endpoint);
            path.waits.push(PathWait {
                router,
                port,
                nic: true,
                from_ps: from,
                to_ps: nic.left,
                waited_ps,
            });
        }
        // A task that waits for a message to leave does not wait for its later path.
        let hops = if leaves { 0 } else { way.len() - 1 };
        for pair in way.windows(2).take(hops) {
            let waited_ps = pair[1].waited(Some(&pair[0]), network).min(left);
            left -= waited_ps;
            if let Place::Router(router, port) = pair[1].from {
                path.waits.push(PathWait {
                    router,
                    port,
                    nic: false,
                    from_ps: pair[1].arrived(Some(&pair[0])),
                    to_ps: pair[1].left,
                    waited_ps,
                });
            }
        }
        let arrived = way[way.len() - 1].tail;
        if !leaves && arrived < to {
            let host = (to - arrived).min(left);
            path.hosts_ps += host;
            left -= host;
        }
    }
    path.idle_ps += left;
}
