//! The tasks of applications at the NICs: they send by them, and hear when a message has left or
//! arrived.

use crate::setup::plain::Compiled;
use crate::setup::traffic::Application;
use std::collections::BTreeMap;

use crate::domain::FabricDomain;
use crate::endpoint::nodes::FromTask;
use crate::fault::Fault;
use crate::state::event::EventKind;
use crate::state::hosts::Action;
use crate::state::hosts::{Due, Host, JobState};
use crate::state::records::stats::JobStats;
use crate::state::records::task_log::{TaskEnd, TaskEvent, TasksBehind, merge_iterations, word};
use weir_model::table::{IterationRow, TaskInterval};
use weir_model::{EndpointId, LATEST, LONGEST_MESSAGE, Origin, Time};
use weir_workload::tasks::{Envelope, Iteration, Peer, Task, Trouble, Waiting};
use weir_workload::timeline::LeftOut;

impl<K: Compiled> FabricDomain<K> {
    /// Puts the tasks of all applications at this domain's NICs.
    pub(crate) fn add_tasks(&mut self) {
        let traffic = self.traffic.clone();
        self.hosts.jobs = vec![JobState::default(); traffic.len()];
        for (job, traffic) in traffic.iter().enumerate() {
            let Some(application) = traffic.application() else {
                continue;
            };
            // Further NICs of tasks.
            let mut more = Vec::new();
            for nic in 0..self.ends.nics.len() as u32 {
                let endpoint = self.ends.nics[nic as usize].id;
                let Some(&number) = application.numbers.get(&endpoint) else {
                    continue;
                };
                if traffic.tasks[number as usize] != endpoint {
                    more.push((nic, number));
                    continue;
                }
                let place = self.hosts.len() as u32;
                self.hosts.places.insert((job as u16, nic), place);
                self.hosts.hosts.push(Host {
                    job: job as u16,
                    nic,
                    task: Task::new(&application.job, number),
                    due: Vec::new(),
                    parts: BTreeMap::new(),
                });
                self.hosts.unfinished += u64::from(!traffic.background);
                self.hosts.jobs[job].unfinished += 1;
            }
            // A node is in one domain.
            for (nic, number) in more {
                let first = self.nic_of(traffic.tasks[number as usize]);
                if let Some(&place) = self.hosts.places.get(&(job as u16, first)) {
                    self.hosts.places.insert((job as u16, nic), place);
                }
            }
        }
        self.hosts.hosts.shrink_to_fit();
    }

    /// Schedules the start of all tasks.
    pub(crate) fn start_tasks(&mut self) {
        for place in 0..self.hosts.len() {
            let job = usize::from(self.hosts.hosts[place].job);
            let start = self.traffic[job].start;
            self.expect(place as u32, start, Action::Start);
        }
    }

    /// Something will happen to a task.
    pub(super) fn expect(&mut self, place: u32, time: Time, action: Action) {
        let order = self.hosts.next_order;
        self.hosts.next_order += 1;
        if self.records.task_log.is_on() {
            self.records.task_log.due(order);
        }
        let host = &mut self.hosts.hosts[place as usize];
        host.due.push(Due {
            time,
            order,
            action,
        });
        self.hosts.jobs[usize::from(host.job)].pending += 1;
        self.schedule(EventKind::Task, place, time);
    }

    /// The first thing that is due at a task happens. (There is one event for each.)
    // Kept out of the loop over events, which patterns share.
    #[inline(never)]
    pub(crate) fn task_event(&mut self, place: u32, now: Time) {
        let host = &mut self.hosts.hosts[place as usize];
        let times = host.due.iter().enumerate();
        let first = times.min_by_key(|(_, due)| (due.time, due.order));
        let Some((at, _)) = first else {
            return;
        };
        let Due { order, action, .. } = host.due.swap_remove(at);
        self.hosts.jobs[usize::from(host.job)].pending -= 1;
        if self.records.task_log.is_on() {
            self.records.task_log.happens(order);
        }
        self.act(place, action, now);
        self.records.task_log.over();
    }

    fn act(&mut self, place: u32, action: Action, now: Time) {
        if let Action::Send {
            to,
            bytes,
            envelope,
        } = action
        {
            return self.send_from_task(place, to, bytes, envelope, now);
        }
        let host = &mut self.hosts.hosts[place as usize];
        let traffic = &self.traffic[usize::from(host.job)];
        let Some(Application { job, .. }) = traffic.application() else {
            return;
        };
        let mut wishes = std::mem::take(&mut self.hosts.wishes);
        let before = host.task.finished();
        if self.records.task_log.is_on() {
            let (job, task) = (host.job, host.task.number());
            self.records.task_log.begin(job, task, action.event(), now);
        }
        host.task.event(action.ending());
        match action {
            Action::Start => host.task.start(job, now, &mut wishes),
            Action::Wake => host.task.wake(job, now, &mut wishes),
            Action::Sent { to, envelope, .. } => {
                host.task.sent(job, to, envelope, now, &mut wishes);
            }
            Action::Arrived { from, envelope, .. } => {
                host.task.arrived(job, from, envelope, now, &mut wishes);
            }
            Action::Send { .. } => {}
        }
        if before.is_none() && host.task.finished().is_some() {
            self.hosts.unfinished -= u64::from(!traffic.background);
            self.hosts.last_done = now;
            self.hosts.jobs[usize::from(host.job)].unfinished -= 1;
        }
        if let Some(trouble) = host.task.trouble() {
            let (job, task) = (traffic.name.clone(), host.task.number());
            self.fault.get_or_insert(match trouble {
                Trouble::Idle => Fault::Idle { job, task },
                Trouble::Overtaken(from) => Fault::Overtaken { job, task, from },
            });
        }
        for (delay, action) in wishes.0.drain(..) {
            match action {
                // Without a delay at once, in the order of the calls.
                Action::Send {
                    to,
                    bytes,
                    envelope,
                } if delay == 0 => self.send_from_task(place, to, bytes, envelope, now),
                action => self.expect(place, now + delay.min(LATEST), action),
            }
        }
        self.hosts.wishes = wishes;
    }

    /// Hands a message of a task to its NIC. Messages from a task to itself do not pass the NIC.
    fn send_from_task(&mut self, place: u32, to: Peer, bytes: u64, envelope: Envelope, now: Time) {
        let host = &self.hosts.hosts[place as usize];
        let job = host.job;
        if to == host.task.number() {
            let sent = Action::Sent {
                to,
                bytes,
                envelope,
            };
            let arrived = Action::Arrived {
                from: to,
                bytes,
                envelope,
            };
            self.expect(place, now, sent);
            return self.expect(place, now, arrived);
        }
        if bytes > LONGEST_MESSAGE / 8 {
            let job = self.traffic[usize::from(job)].name.clone();
            self.fault.get_or_insert(Fault::Oversized { job, bytes });
            return;
        }
        let counts = K::CC && self.fixed.can.retransmits || K::RICH && self.fixed.flows.managed;
        if counts && !self.about.countable(8 * bytes) {
            let job = self.traffic[usize::from(job)].name.clone();
            self.fault = Some(Fault::TooLong { job, bytes });
            return;
        }
        let nics = self.nics_of(place).filter(|_| envelope.kind.has_content());
        let message = FromTask {
            place,
            to,
            bytes,
            envelope,
            parts: nics.map_or(1, |nics| nics.parts(bytes)),
        };
        if self.send_inside(message, now) {
            return;
        }
        let state = &mut self.hosts.jobs[usize::from(job)];
        state.sent += 1;
        let protocol = u64::from(!envelope.kind.has_content());
        self.records.stats.jobs[usize::from(job)].protocol_generated += protocol;
        for part in 0..message.parts {
            self.submit_part(message, part, now);
        }
    }

    fn submit_part(&mut self, message: FromTask, part: u32, now: Time) {
        let new = self.part(message, part);
        let (from, to) = (self.ends.nics[new.nic as usize].id, new.destination);
        let topology = &self.network.topology;
        if topology.planes() > 1 && topology.plane_of(from) != topology.plane_of(to) {
            let job = self.traffic[usize::from(new.job)].name.clone();
            self.fault
                .get_or_insert(Fault::OtherPlane { job, from, to });
            return;
        }
        let pending = u64::from(K::CC && self.fixed.can.retransmits);
        self.hosts.jobs[usize::from(new.job)].pending += pending;
        if self.records.task_log.is_on() {
            let sender = &self.ends.nics[new.nic as usize];
            let given = TaskEvent::Given {
                to: message.to,
                stamp: word(message.envelope),
                message: (sender.id, sender.next_message),
            };
            let task = self.hosts.hosts[message.place as usize].task.number();
            self.records.task_log.add(new.job, task, given, now);
        }
        self.submit(new, now);
    }

    /// A packet of a task's message has arrived, as its destination reports, under a scheme that
    /// may drop packets.
    /// With such a scheme the NIC may need the message again until all of it is acknowledged: the
    /// message leaves at that time.
    #[inline(never)]
    pub(crate) fn packet_acknowledged(&mut self, nic: u32, origin: &Origin, now: Time) {
        let (own, destination) = (self.ends.nics[nic as usize].id, origin.source);
        if self.ends.acknowledged.add(origin, own, destination) {
            self.hosts.jobs[usize::from(origin.job)].pending -= 1;
            self.message_leaves(nic, destination, origin, now);
        }
    }

    /// The last bit of a task's message leaves its NIC at `tail`; after that the task may reuse its
    /// content.
    #[inline(never)]
    pub(crate) fn message_leaves(
        &mut self,
        nic: u32,
        destination: EndpointId,
        origin: &Origin,
        tail: Time,
    ) {
        let Some(envelope) = Envelope::from_stamp(origin.stamp()) else {
            return;
        };
        // No task waits for control messages to leave.
        if !envelope.kind.has_content() {
            return;
        }
        let Some(&place) = self.hosts.places.get(&(origin.job, nic)) else {
            return;
        };
        let application = self.traffic[usize::from(origin.job)].application();
        let Some(&to) = application.and_then(|one| one.numbers.get(&destination)) else {
            return;
        };
        let Some((bytes, tail)) = self.whole(place, (true, to), origin, tail) else {
            return;
        };
        let action = Action::Sent {
            to,
            bytes,
            envelope,
        };
        self.expect(place, tail, action);
    }

    /// A message for a task is whole at its NIC.
    #[inline(never)]
    pub(crate) fn message_arrives(&mut self, nic: u32, origin: &Origin, now: Time) {
        let Some(envelope) = Envelope::from_stamp(origin.stamp()) else {
            return;
        };
        let Some(&place) = self.hosts.places.get(&(origin.job, nic)) else {
            return;
        };
        let Some(application) = self.traffic[usize::from(origin.job)].application() else {
            return;
        };
        let Some(&from) = application.numbers.get(&origin.source) else {
            return;
        };
        let delay = application.job.exchange.protocol.receive_delay;
        let Some((bytes, _)) = self.whole(place, (false, from), origin, now) else {
            return;
        };
        self.hosts.jobs[usize::from(origin.job)].received += 1;
        let protocol = u64::from(!envelope.kind.has_content());
        self.records.stats.jobs[usize::from(origin.job)].protocol_received += protocol;
        let action = Action::Arrived {
            from,
            bytes,
            envelope,
        };
        match delay {
            0 => {
                self.act(place, action, now);
                self.records.task_log.over();
            }
            _ => self.expect(place, now + delay, action),
        }
    }

    /// Time of the last delivery, or of the end of the last task.
    pub fn last_activity(&self) -> Time {
        self.records.stats.last_delivery.max(self.hosts.last_done)
    }

    /// Progress of each job in this domain, in the order of the experiment file; all zeros for
    /// traffic that is no application.
    pub fn job_states(&self) -> &[JobState] {
        &self.hosts.jobs
    }

    /// The first tasks of a job that wait, in the order of this domain's endpoints, at most `most`.
    pub fn waiting_tasks(&self, job: u16, most: usize) -> Vec<Waiting> {
        let hosts = self.hosts.hosts.iter().filter(|host| host.job == job);
        let waiting = hosts.filter_map(|host| host.task.waiting());
        waiting.take(most).collect()
    }

    /// State of the tasks of this domain at the end of the run, simulated time `end`.
    pub(crate) fn task_rows(&self, end: Time) -> Vec<TaskEnd> {
        let row = |host: &Host| {
            let start = self.traffic[usize::from(host.job)].start;
            let (whole, requests) = host.task.unclaimed();
            let communicated = host.task.communicated_until(end);
            TaskEnd {
                job: host.job,
                task: host.task.number(),
                finish: host.task.finished(),
                communication: communicated.unwrap_or(end.saturating_sub(start)),
                unclaimed: (whole + requests) as u64,
            }
        };
        self.hosts.hosts.iter().map(row).collect()
    }

    /// Adds the times that tasks took for the iterations that they began in the measurement window,
    /// and how long ago those began that were not over at `end`.
    pub(crate) fn add_iteration_times(&self, jobs: &mut [JobStats], end: Time) {
        for host in &self.hosts.hosts {
            let job = &mut jobs[usize::from(host.job)];
            let iterations = host.task.iterations().iter();
            let counted = |one: &&Iteration| {
                one.counts && !one.idle && self.records.stats.measured(one.begin)
            };
            for one in iterations.filter(counted) {
                match one.end {
                    Some(over) => job.iteration.add(over - one.begin),
                    None => job.iteration_missing.add(end.saturating_sub(one.begin)),
                }
            }
        }
    }

    /// The iterations of the applications here, by job, then number. Empty if they are not written
    /// down.
    pub(crate) fn iteration_rows(&self) -> Vec<IterationRow> {
        let rows = self.hosts.hosts.iter().flat_map(|host| {
            let iterations = host.task.iterations().iter().enumerate();
            let real = iterations.filter(|(_, one)| !one.idle);
            real.map(|(number, one)| IterationRow {
                job: host.job.into(),
                iteration: number as u32,
                begin_ps: one.begin,
                end_ps: one.end.unwrap_or(0),
                tasks: 1,
                ended: one.end.is_some().into(),
            })
        });
        merge_iterations(rows)
    }

    /// The timelines of the tasks here up to `end`, and the intervals that they left out.
    pub(crate) fn task_intervals(&self, end: Time) -> (Vec<TaskInterval>, LeftOut) {
        let (mut rows, mut left_out) = (Vec::new(), LeftOut::default());
        for host in &self.hosts.hosts {
            let Some((own, more)) = host.task.intervals(end) else {
                continue;
            };
            left_out.merge(&more);
            rows.extend(own.into_iter().map(|one| TaskInterval {
                job: host.job.into(),
                task: host.task.number(),
                begin_ps: one.begin,
                end_ps: one.end,
                activity: one.activity,
                ended_by: one.ending.by,
                // There are fewer than 2³¹ tasks.
                peer: one.ending.peer.map_or(-1, |peer| peer as i32),
                bytes: one.ending.bytes,
            }));
        }
        (rows, left_out)
    }

    /// The tasks here that may still begin iterations, by job and iteration. Empty if iterations
    /// are not recorded.
    pub(crate) fn behind_rows(&self) -> Vec<TasksBehind> {
        let mut counts: BTreeMap<(u16, u64), u64> = BTreeMap::new();
        for host in &self.hosts.hosts {
            if let Some(next) = host.task.next_iteration() {
                *counts.entry((host.job, next)).or_default() += 1;
            }
        }
        let rows = counts.into_iter();
        rows.map(|((job, next), tasks)| TasksBehind { job, next, tasks })
            .collect()
    }
}
