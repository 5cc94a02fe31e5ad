//! `permutations`: phases of communication, each of superposed random permutations of flows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, at_least, bytes, length};
use crate::open::message::Message;
use crate::patterns::permutation::derangement;
use crate::tasks::{Motif, Peer, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section, Size};
use weir_model::{Invalid, Rng, stream, unit};

/// In each phase every task sends a flow along each of some random permutations, receives as many,
/// and waits for all of them; then all tasks wait for each other (a barrier), and the next phase
/// begins. Flows of a task to the same other task are one flow of their sizes together. A phase is
/// an iteration, with the barrier behind it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Permutations of each phase: flows that every task sends and receives.
    permutations: u32,
    /// Phases, each with different permutations.
    phases: u32,
    /// The size of a flow in bytes, or sizes with their shares of the volume, from which the size
    /// of each is drawn.
    bytes: Message,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            permutations: 1,
            phases: 1,
            bytes: Message::Fixed(Size::Bits(8 << 20)),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "permutations",
    summary: "Phases of superposed random permutations of flows, with a barrier between them.",
    source: "Birk and Zdornov, SYSTOR 2009, sections 1.2 and 5.3",
    examples: &[
        r#"permutations = 2, phases = 2, bytes = "4 KiB""#,
        r#"bytes = [{ size = "1 KiB", share = 0.5 }, { size = "8 KiB", share = 0.5 }]"#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};

/// Maximum number of flows of all phases: each takes some 30 bytes of memory on every rank.
const MOST: u64 = 1 << 26;

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    at_least(section, tasks, 2)?;
    let flows = u64::from(params.permutations) * u64::from(params.phases) * u64::from(tasks);
    if params.permutations == 0 || flows > MOST {
        return Err(section.refuse(Invalid::new(
            "permutations",
            format!(
                "{} permutations in {} phases of {tasks} tasks",
                params.permutations, params.phases
            ),
            format!("write 1 or more, and as few as make {MOST} flows in all"),
        )));
    }
    let parts = match &params.bytes {
        Message::Fixed(size) => vec![(*size, 1.0)],
        Message::Mix(parts) => parts.clone(),
    };
    let mut sizes = Vec::new();
    for &(size, share) in &parts {
        let bytes = bytes(section, "bytes", size)?;
        if bytes == 0 || !(share > 0.0 && share.is_finite()) {
            return Err(section.refuse(Invalid::new(
                "bytes",
                format!("{size} with a share of {share}"),
                "write sizes and shares of more than 0",
            )));
        }
        // All permutations may have the same destination for a task.
        let most = u128::from(bytes) * u128::from(params.permutations);
        length(section, "bytes", most)?;
        sizes.push((bytes, share / bytes as f64));
    }
    if sizes.is_empty() {
        let invalid = Invalid::new("bytes", "the mix is empty", "give at least one size");
        return Err(section.refuse(invalid));
    }
    Ok(Box::new(Permutations {
        tasks,
        permutations: params.permutations,
        sizes,
        phases: vec![Phase::default(); params.phases as usize],
    }))
}

/// Flows of one phase.
#[derive(Clone, Default)]
struct Phase {
    /// Destinations and bytes, ascending.
    sends: Lists<(Peer, u64)>,
    /// Sources, ascending.
    receives: Lists<Peer>,
}

/// A list for each task.
#[derive(Clone, Default)]
struct Lists<T> {
    /// End of the list of each task.
    ends: Vec<u32>,
    all: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: impl ExactSizeIterator<Item = Vec<T>>) -> Lists<T> {
        let (mut ends, mut all) = (Vec::with_capacity(lists.len()), Vec::new());
        for list in lists {
            all.extend(list);
            // There are no more than `MOST`.
            ends.push(all.len() as u32);
        }
        all.shrink_to_fit();
        Lists { ends, all }
    }

    fn get(&self, task: usize) -> &[T] {
        let begin = task.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin as usize..self.ends[task] as usize]
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.all)
    }
}

struct Permutations {
    tasks: u32,
    permutations: u32,
    /// Bytes and frequency: the share of the volume divided by the size.
    sizes: Vec<(u64, f64)>,
    phases: Vec<Phase>,
}

impl Permutations {
    /// The size of a flow.
    fn size(&self, rng: &mut Rng) -> u64 {
        if let [(bytes, _)] = self.sizes[..] {
            return bytes;
        }
        let all: f64 = self.sizes.iter().map(|(_, often)| often).sum();
        let mut left = unit(rng) * all;
        let found = self.sizes.iter().find(|(_, often)| {
            left -= often;
            left < 0.0
        });
        found.unwrap_or(&self.sizes[0]).0
    }

    fn phase(&self, seed: u64, number: u64) -> Phase {
        let tasks = self.tasks as usize;
        let mut sends: Vec<BTreeMap<Peer, u64>> = vec![BTreeMap::new(); tasks];
        let mut rng = stream(seed, &[number]);
        for _ in 0..self.permutations {
            for (task, &to) in derangement(self.tasks, &mut rng).iter().enumerate() {
                *sends[task].entry(to).or_default() += self.size(&mut rng);
            }
        }
        let mut receives = vec![Vec::new(); tasks];
        for (task, own) in sends.iter().enumerate() {
            own.keys()
                .for_each(|&to| receives[to as usize].push(task as Peer));
        }
        let sends = sends.into_iter().map(|own| own.into_iter().collect());
        Phase {
            sends: Lists::of(sends),
            receives: Lists::of(receives.into_iter()),
        }
    }
}

impl Motif for Permutations {
    fn begins_iteration(&self, part: u32) -> bool {
        part.is_multiple_of(2)
    }

    fn draw(&mut self, seed: u64) {
        let numbers = 0..self.phases.len() as u64;
        self.phases = numbers.map(|number| self.phase(seed, number)).collect();
    }

    fn shared_bytes(&self) -> usize {
        let bytes =
            |phase: &Phase| size_of::<Phase>() + phase.sends.bytes() + phase.receives.bytes();
        self.phases.iter().map(bytes).sum()
    }

    fn part(&self, part: u32, script: &mut Script) -> bool {
        let number = part as usize / 2;
        if number >= self.phases.len() {
            return false;
        }
        if part % 2 == 1 {
            let more = number + 1 < self.phases.len();
            if more {
                script.barrier();
            }
            return more;
        }
        let (phase, task) = (&self.phases[number], script.task() as usize);
        let mark = script.mark();
        for &from in phase.receives.get(task) {
            script.irecv(from, 0);
        }
        for &(to, bytes) in phase.sends.get(task) {
            script.isend(to, bytes, 0);
        }
        script.wait_all(script.since(mark));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{motif, refusal, run};
    use crate::tasks::ideal::{self, Ideal};

    #[test]
    fn everybody_sends_and_receives_a_flow_for_each_permutation() {
        let run = run(
            "permutations",
            "permutations = 3\nphases = 2\nbytes = \"1 KiB\"",
            40,
        );
        for task in 0..40 {
            let sent: u64 = run.sent_by(task).iter().map(|(_, bytes, _)| bytes).sum();
            let messages = run.messages.iter();
            let received: u64 = messages
                .filter(|one| one.to == task)
                .map(|one| one.bytes)
                .sum();
            // The barrier between the phases sends only headers.
            assert_eq!((sent, received), (6 * 1_024, 6 * 1_024));
            assert!(run.sent_by(task).iter().all(|&(to, ..)| to != task));
        }
    }

    #[test]
    fn what_is_drawn_is_counted() {
        let parameters = "permutations = 2\nphases = 1_000\nbytes = \"1 KiB\"";
        let bytes = motif("permutations", parameters, 13).shared_bytes();
        // A flow is a destination with its bytes, and a source; a task has the ends of two lists.
        let least = 1_000 * 13 * (2 * (16 + 4) / 2 + 8);
        assert!((least..2 * least).contains(&bytes), "{bytes}");
    }

    #[test]
    fn the_seed_decides_who_sends_to_whom() {
        let partners = |seed| {
            let mut motif = motif("permutations", "", 40);
            motif.draw(seed);
            let run = Ideal::new(ideal::job(motif, 40)).finish();
            (0..40)
                .map(|task| run.sent_by(task)[0].0)
                .collect::<Vec<_>>()
        };
        assert_eq!(partners(1), partners(1));
        assert_ne!(partners(1), partners(2));
    }

    /// Half the volume in flows of 1 KiB and half in flows of 3 KiB: the short ones are three times
    /// as frequent.
    #[test]
    fn sizes_are_drawn_by_volume() {
        let mix = "permutations = 8\nbytes = [{ size = \"1 KiB\", share = 1 }, { size = \"3 KiB\", share = 1 }]";
        let run = run("permutations", mix, 500);
        let sent: u64 = run.messages.iter().map(|one| one.bytes).sum();
        // 4,000 flows of 1.5 KiB in the mean, sigma 0.87 KiB: 55 of 6,000.
        assert!((5_780..6_220).contains(&(sent / 1_024)), "{sent}");
    }

    #[test]
    fn what_makes_no_flows_is_refused() {
        assert!(refusal("permutations", "permutations = 0", 8).contains("1 or more"));
        assert!(refusal("permutations", "bytes = []", 8).contains("empty"));
        let all = "permutations = 3000\nbytes = \"18000000000 MB\"";
        assert!(refusal("permutations", all, 2).contains("a message would have"));
        assert!(refusal("permutations", "bytes = \"4 flits\"", 8).contains("in bytes"));
    }
}
