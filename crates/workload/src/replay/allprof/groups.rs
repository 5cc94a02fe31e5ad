//! Members of communicators, from the calls that made them.
//!
//! A trace gives the handle of a communicator, its size and the rank of the process in it. For the
//! call that made it, the trace gives color and key, but not the handle.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::input::Fault;
use super::super::operations::Operations;
use super::arguments::Communicator;
use super::scan::{Event, How, What, scan};
use crate::tasks::Peer;

/// The communicators of all processes.
#[derive(Debug, Default)]
pub struct Groups {
    /// By process: the line from which a handle means a group of tasks; None if that is not known.
    meanings: Vec<Vec<Meaning>>,
    /// Number of handles that were ambiguous, and resolved by the order in which the communicators
    /// were made.
    pub by_order: u64,
}

/// The meaning of a handle from a line on.
#[derive(Clone, Debug)]
struct Meaning {
    line: u64,
    communicator: Communicator,
    group: Option<usize>,
}

impl Groups {
    /// Reads the files of all processes, and adds the groups to `operations`; `all`: the group of
    /// all processes.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(
        files: &[PathBuf],
        operations: &mut Operations,
        all: usize,
    ) -> Result<Groups, Fault> {
        let each = files.iter().map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            scan(path).map_err(|fault| fault.within(&name))
        });
        let events: Vec<Vec<Event>> = each.collect::<Result<_, _>>()?;
        Ok(Resolver::new(events, operations, all).resolve())
    }

    /// The communicators of one process.
    pub fn of(&mut self, task: Peer) -> Handles {
        Handles {
            coming: std::mem::take(&mut self.meanings[task as usize])
                .into_iter()
                .peekable(),
            now: FxHashMap::default(),
        }
    }
}

/// The communicators of a process, line by line.
pub struct Handles {
    coming: std::iter::Peekable<std::vec::IntoIter<Meaning>>,
    now: FxHashMap<String, Option<usize>>,
}

impl Handles {
    /// The group that a handle means on a line, if that is known. Lines must ascend.
    pub fn group(&mut self, line: u64, communicator: &Communicator) -> Option<usize> {
        while let Some(meaning) = self.coming.next_if(|meaning| meaning.line <= line) {
            self.now.insert(meaning.communicator.handle, meaning.group);
        }
        self.now.get(&communicator.handle).copied().flatten()
    }
}

/// A communicator that a process has made.
#[derive(Debug)]
struct Made {
    group: usize,
    freed: bool,
}

/// Meaning of a handle.
#[derive(Debug)]
struct Known {
    communicator: Communicator,
    group: Option<usize>,
    /// Its index among the communicators that the process has made.
    made: Option<usize>,
}

/// The k-th split of a group.
type Split = (usize, u32);

/// State of a process while its events are resolved.
#[derive(Debug, Default)]
struct Process {
    /// Number of events processed.
    at: usize,
    made: Vec<Made>,
    /// Communicators whose handles have not appeared yet, by size and rank.
    open: FxHashMap<(u64, u64), VecDeque<usize>>,
    /// Communicators not yet freed, by the addresses of their variables.
    variables: FxHashMap<String, Vec<usize>>,
    /// Number of communicators made in ways that the trace does not record, and whose handles have
    /// not appeared yet.
    untold: u32,
    /// True if the communicator of all processes has appeared.
    all: bool,
    handles: FxHashMap<String, Known>,
    /// Splits of each group so far.
    splits: FxHashMap<usize, u32>,
    /// The split that it waits for.
    waits: Option<Split>,
}

/// Colors and keys of the processes of a group in a split, and the resulting groups.
#[derive(Debug, Default)]
struct Round {
    /// Color, key and place in the group.
    said: Vec<(i64, i64, u32)>,
    done: bool,
    groups: FxHashMap<Peer, usize>,
}

struct Resolver<'a> {
    operations: &'a mut Operations,
    all: usize,
    events: Vec<Vec<Event>>,
    processes: Vec<Process>,
    rounds: FxHashMap<Split, Round>,
    numbers: FxHashMap<Arc<[Peer]>, usize>,
    meanings: Vec<Vec<Meaning>>,
    /// Groups for which some process cannot tell if a handle means them.
    unsure: FxHashSet<usize>,
    by_order: u64,
}

impl<'a> Resolver<'a> {
    fn new(events: Vec<Vec<Event>>, operations: &'a mut Operations, all: usize) -> Resolver<'a> {
        let mut processes = Vec::new();
        processes.resize_with(events.len(), Process::default);
        let mut numbers = FxHashMap::default();
        numbers.insert(operations.members(all).clone(), all);
        Resolver {
            meanings: vec![Vec::new(); events.len()],
            operations,
            all,
            events,
            processes,
            rounds: FxHashMap::default(),
            numbers,
            unsure: FxHashSet::default(),
            by_order: 0,
        }
    }

    /// Advances every process until it splits a group whose other processes have not arrived at the
    /// split.
    fn resolve(mut self) -> Groups {
        loop {
            let mut goes_on = false;
            let mut stuck = None;
            for task in 0..self.processes.len() {
                while self.processes[task].at < self.events[task].len() {
                    if !self.step(task) {
                        stuck = stuck.or(self.processes[task].waits);
                        break;
                    }
                    self.processes[task].at += 1;
                    goes_on = true;
                }
            }
            match stuck {
                None => break,
                // Some process never arrives: nothing is known of the resulting groups.
                Some(split) if !goes_on => self.rounds.entry(split).or_default().done = true,
                Some(_) => {}
            }
        }
        let unsure = self.unsure;
        for meaning in self.meanings.iter_mut().flatten() {
            meaning.group = meaning.group.filter(|group| !unsure.contains(group));
        }
        Groups {
            meanings: self.meanings,
            by_order: self.by_order,
        }
    }

    /// Processes the next event of a process. False if it has to wait for others.
    fn step(&mut self, task: usize) -> bool {
        let event = self.events[task][self.processes[task].at].clone();
        match event.what {
            What::Used(communicator) => {
                let group = self.meaning(task, &communicator);
                self.meanings[task].push(Meaning {
                    line: event.line,
                    communicator,
                    group,
                });
            }
            What::Freed(address) => {
                let process = &mut self.processes[task];
                let last = process.variables.get_mut(&address).and_then(Vec::pop);
                if let Some(made) = last {
                    process.made[made].freed = true;
                }
            }
            What::Made(of, how, address) => return self.make(task, &of, how, address),
        }
        true
    }

    /// Processes the creation of a communicator. False if the process has to wait for others.
    fn make(&mut self, task: usize, of: &Communicator, how: How, address: String) -> bool {
        let of = self.processes[task].handles.get(&of.handle);
        let group = match (how, of.and_then(|known| known.group)) {
            (How::Copy, group) => group,
            (How::Split { color, key }, Some(group)) => {
                let split = self.say(task, group, color, key);
                let round = &self.rounds[&split];
                if !round.done {
                    return false;
                }
                self.processes[task].waits = None;
                let own = round.groups.get(&(task as Peer)).copied();
                if own.is_none() && color < 0 {
                    return true;
                }
                own
            }
            _ => None,
        };
        let Some(group) = group else {
            self.processes[task].untold += 1;
            return true;
        };
        let members = self.operations.members(group);
        let rank = members.iter().position(|&member| member == task as Peer);
        let key = (members.len() as u64, rank.unwrap_or(0) as u64);
        let process = &mut self.processes[task];
        let number = process.made.len();
        process.made.push(Made {
            group,
            freed: false,
        });
        process.open.entry(key).or_default().push_back(number);
        process.variables.entry(address).or_default().push(number);
        true
    }

    /// Records the color and key of a process, once; when all processes have given theirs, the new
    /// groups are known.
    fn say(&mut self, task: usize, group: usize, color: i64, key: i64) -> Split {
        let process = &mut self.processes[task];
        if let Some(split) = process.waits {
            return split;
        }
        let number = process.splits.entry(group).or_default();
        let split = (group, *number);
        *number += 1;
        process.waits = Some(split);
        let members = self.operations.members(group).clone();
        let place = members.iter().position(|&member| member == task as Peer);
        let round = self.rounds.entry(split).or_default();
        round.said.push((color, key, place.unwrap_or(0) as u32));
        if round.said.len() < members.len() || round.done {
            return split;
        }
        round.done = true;
        let mut said = std::mem::take(&mut round.said);
        said.retain(|&(color, ..)| color >= 0);
        said.sort_unstable();
        let mut groups = FxHashMap::default();
        for same in said.chunk_by(|a, b| a.0 == b.0) {
            let list = same.iter().map(|&(_, _, place)| members[place as usize]);
            let list: Arc<[Peer]> = list.collect();
            let number = self.number(&list);
            groups.extend(list.iter().map(|&task| (task, number)));
        }
        self.rounds.entry(split).or_default().groups = groups;
        split
    }

    /// The number of a group.
    fn number(&mut self, list: &Arc<[Peer]>) -> usize {
        let operations = &mut *self.operations;
        let number = self.numbers.entry(list.clone());
        *number.or_insert_with(|| operations.group(list.clone()))
    }

    /// The group that a handle means.
    fn meaning(&mut self, task: usize, communicator: &Communicator) -> Option<usize> {
        let process = &self.processes[task];
        if let Some(known) = process.handles.get(&communicator.handle)
            && known.communicator == *communicator
            && known.made.is_none_or(|made| !process.made[made].freed)
        {
            return known.group;
        }
        let (group, made) = self.find(task, communicator);
        let known = Known {
            communicator: communicator.clone(),
            group,
            made,
        };
        let handles = &mut self.processes[task].handles;
        handles.insert(communicator.handle.clone(), known);
        group
    }

    /// The communicator of a process that a new handle means: one with this size and rank; of
    /// several, the one that was made first.
    fn find(&mut self, task: usize, new: &Communicator) -> (Option<usize>, Option<usize>) {
        let all = new.size == self.processes.len() as u64 && new.rank == task as u64;
        let process = &mut self.processes[task];
        if all && !process.all {
            process.all = true;
            return (Some(self.all), None);
        }
        let made = &process.made;
        let mut none = VecDeque::new();
        let open = process.open.get_mut(&(new.size, new.rank));
        let open = open.unwrap_or(&mut none);
        while open.front().is_some_and(|&first| made[first].freed) {
            open.pop_front();
        }
        let Some(&first) = open.front() else {
            if all {
                // For example a grid of all of them.
                process.untold = process.untold.saturating_sub(1);
                return (Some(self.all), None);
            }
            if new.size == 1 {
                return (Some(self.number(&Arc::from([task as Peer]))), None);
            }
            process.untold = process.untold.saturating_sub(1);
            return (None, None);
        };
        let group = made[first].group;
        if process.untold > 0 && group != self.all {
            // It may be one of those about which nothing is known.
            self.unsure.extend(open.iter().map(|&one| made[one].group));
            self.unsure.remove(&self.all);
            return (None, None);
        }
        open.pop_front();
        let other = |&&one: &&usize| !made[one].freed && made[one].group != group;
        self.by_order += u64::from(open.iter().take(16).any(|one| other(&one)));
        (Some(group), Some(first))
    }
}
