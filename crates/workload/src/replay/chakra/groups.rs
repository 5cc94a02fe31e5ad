//! Members of communicators.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use sha2::Sha256;

use super::super::input::{Fault, Input};
use super::super::operations::{Operations, Wrong};
use crate::tasks::Peer;

/// The communicators of a trace by their names.
pub struct Groups {
    tasks: u32,
    members: FxHashMap<String, Arc<[Peer]>>,
    /// All tasks.
    all: Arc<[Peer]>,
    /// Groups that operations have used, by their members: names may differ between files.
    used: FxHashMap<Arc<[Peer]>, usize>,
    /// The same by the current names; the group of all tasks has none.
    named: FxHashMap<Option<String>, usize>,
}

/// A process group in PyTorch's format.
#[derive(Deserialize)]
struct ProcessGroup {
    pg_name: String,
    ranks: Vec<Peer>,
}

impl Groups {
    /// For this number of tasks; no group is known yet.
    pub fn new(tasks: u32) -> Groups {
        Groups {
            tasks,
            all: (0..tasks).collect(),
            members: FxHashMap::default(),
            used: FxHashMap::default(),
            named: FxHashMap::default(),
        }
    }

    /// Reads the groups of a JSON file and updates the hash.
    ///
    /// # Errors
    /// If it cannot be read, or groups are empty, have a task twice or tasks that do not exist.
    pub fn file(&mut self, path: &Path, hash: Sha256) -> Result<Sha256, Fault> {
        let name = path.display().to_string();
        let refuse = |message: String| Fault {
            place: name.clone(),
            message,
            remedy: "write groups as JSON: { \"1\": [0, 1], \"2\": [2, 3] }".into(),
        };
        let mut input = Input::open_after(path, hash).map_err(|fault| Fault {
            remedy: "give a path relative to the trace".into(),
            ..fault.within(&name)
        })?;
        let mut text = String::new();
        let read = input.read_to_string(&mut text);
        read.map_err(|e| refuse(format!("it cannot be read: {e}")))?;
        let groups: BTreeMap<String, Vec<Peer>> =
            serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
        for (group, members) in groups {
            let mut sorted = members.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if members.is_empty() || sorted.len() != members.len() {
                return Err(refuse(format!(
                    "group {group:?} has no task, or one of them twice"
                )));
            }
            if let Some(task) = sorted.last().filter(|&&task| task >= self.tasks) {
                return Err(refuse(format!(
                    "group {group:?} has a task {task}, and there are {}",
                    self.tasks
                )));
            }
            self.members.insert(group, members.into());
        }
        Ok(input.hasher())
    }

    /// Reads the groups that a metadata node lists, if any: `[{"pg_name": "0", "ranks": [0, 1],
    /// …}]`, within a list of one text. Empty ranks mean all tasks.
    pub fn inline(&mut self, values: &str) {
        let from = values.find("[{").unwrap_or(values.len());
        let to = values.rfind("}]").map_or(from, |at| at + 2);
        let text = values.get(from..to.max(from)).unwrap_or_default();
        let groups: Vec<ProcessGroup> = serde_json::from_str(text).unwrap_or_default();
        self.named.clear();
        for group in groups {
            let ranks = match group.ranks.is_empty() {
                true => self.all.clone(),
                false => group.ranks.into(),
            };
            self.members.insert(group.pg_name, ranks);
        }
    }

    /// The group of an operation: the one with this name, or all tasks.
    ///
    /// # Errors
    /// If none has that name, or it has tasks that do not exist.
    pub fn find(
        &mut self,
        name: Option<&str>,
        operations: &mut Operations,
    ) -> Result<usize, Wrong> {
        let name = name.map(str::to_string);
        if let Some(&group) = self.named.get(&name) {
            return Ok(group);
        }
        let members: Arc<[Peer]> = match name.as_deref() {
            None => self.all.clone(),
            Some(name) => match self.members.get(name) {
                Some(members) => members.clone(),
                None => {
                    let name: String = name.chars().take(40).collect();
                    return Err((
                        format!("there is no communicator {name:?}"),
                        "write `groups = \"comm_group.json\"`, which says who is in it".into(),
                    ));
                }
            },
        };
        if let Some(task) = members.iter().find(|&&task| task >= self.tasks) {
            return Err((
                format!(
                    "the communicator has a task {task}, and there are {} files",
                    self.tasks
                ),
                "the trace needs a file for each task".into(),
            ));
        }
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err((
                format!("the communicator has task {} twice", twice[0]),
                "name each of its tasks once".into(),
            ));
        }
        let group = match self.used.get(&members) {
            Some(&group) => group,
            None => operations.group(members.clone()),
        };
        self.used.insert(members, group);
        self.named.insert(name, group);
        Ok(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_all_tasks_share_one_list() {
        let mut groups = Groups::new(3);
        groups.inline(r#"['[{"pg_name": "a", "ranks": []}, {"pg_name": "b", "ranks": []}]']"#);
        assert_eq!(&*groups.members["a"], [0, 1, 2]);
        assert!(Arc::ptr_eq(&groups.members["a"], &groups.members["b"]));
    }
}
