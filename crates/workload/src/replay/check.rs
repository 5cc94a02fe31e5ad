//! Checks over all tasks of a trace: every message has its receive, and no operation waits for
//! itself, directly or over other tasks.

use super::deadlock::{self, Channels};
use super::graph::{ANY, Kind, Node, TaskGraph};
use super::input::Fault;
use crate::tasks::{Peer, Tag};

/// Messages between tasks have tags below this.
const TAGS: u32 = 1 << 16;

/// A send or a receive as seen by the receiver: the other task, the tag, and the owner.
type End = (Peer, u32, Owner);

/// A task and the number of its operation.
type Owner = (Peer, u32);

/// Checks the tasks together, and gives their messages tags that fit. `place` describes the
/// position of a task's operation in the trace.
///
/// # Errors
/// The first error found.
pub fn check(graphs: &mut [TaskGraph], place: &dyn Fn(Peer, u32) -> String) -> Result<(), Fault> {
    for (graph, task) in graphs.iter().zip(0..) {
        if let Some(node) = graph.cycle() {
            return Err(Fault {
                place: place(task, node),
                message: format!("this operation of task {task} waits for itself, over others"),
                remedy: "remove one of the dependencies of the cycle".into(),
            });
        }
    }
    let sends = sends(graphs);
    let mut channels = Channels::new(graphs);
    for (own, task) in sends.iter().zip(0..) {
        let mut own: Vec<End> = own
            .iter()
            .map(|&(from, node)| (from, node_of(graphs, (from, node)).tag, (from, node)))
            .collect();
        own.sort_unstable();
        let mut receives = receives(&graphs[task as usize], task);
        receives.sort_unstable();
        matched(task, &own, &receives, place)?;
        channels.add(&own, &receives);
        fit_tags(graphs, task, &own, &receives, place)?;
    }
    drop(sends);
    deadlock::check(graphs, channels.of(), place)
}

fn node_of(graphs: &[TaskGraph], (task, node): Owner) -> &Node {
    &graphs[task as usize].nodes[node as usize]
}

/// The sends to each task.
fn sends(graphs: &[TaskGraph]) -> Vec<Vec<Owner>> {
    let mut sends = vec![Vec::new(); graphs.len()];
    for (graph, from) in graphs.iter().zip(0..) {
        for (node, number) in graph.nodes.iter().zip(0..) {
            if node.kind == Kind::Send {
                sends[node.peer as usize].push((from, number));
            }
        }
    }
    sends
}

fn receives(graph: &TaskGraph, task: Peer) -> Vec<End> {
    let nodes = graph.nodes.iter().zip(0..);
    nodes
        .filter(|(node, _)| node.kind == Kind::Receive)
        .map(|(node, number)| (node.peer, node.tag, (task, number)))
        .collect()
}

/// Checks that every message to a task has a receive, and every receive a message. (For receives of
/// any task or any tag only the number is checked.)
fn matched(
    task: Peer,
    sends: &[End],
    receives: &[End],
    place: &dyn Fn(Peer, u32) -> String,
) -> Result<(), Fault> {
    let key = |end: &End| (end.0, end.1);
    let exact: Vec<&End> = receives
        .iter()
        .filter(|end| end.0 != ANY && end.1 != ANY)
        .collect();
    let wild = receives.len() - exact.len();
    let (mut at, mut free) = (0, Vec::new());
    for send in sends {
        match exact.get(at) {
            Some(receive) if key(receive) == key(send) => at += 1,
            Some(receive) if key(receive) < key(send) => {
                return Err(lonely(task, receive, "is never sent", place));
            }
            _ => free.push(send),
        }
    }
    if let Some(receive) = exact.get(at) {
        return Err(lonely(task, receive, "is never sent", place));
    }
    if let (0, Some(send)) = (wild, free.first()) {
        return Err(lonely(task, send, "is never received", place));
    }
    if wild == free.len() {
        return Ok(());
    }
    let (sends, receives) = (sends.len(), receives.len());
    Err(Fault::new(
        format!("task {task} is sent {sends} messages, and receives {receives}"),
        "complete the trace",
    ))
}

fn lonely(
    task: Peer,
    &(peer, tag, (owner, node)): &End,
    what: &str,
    place: &dyn Fn(Peer, u32) -> String,
) -> Fault {
    Fault {
        place: place(owner, node),
        message: format!("the message from task {peer} to task {task} with tag {tag} {what}"),
        remedy: "complete the trace: every message needs a send and a receive with its tag".into(),
    }
}

/// Replaces tags that are too large for a message by smaller ones, which still distinguish messages
/// to the same task.
fn fit_tags(
    graphs: &mut [TaskGraph],
    task: Peer,
    sends: &[End],
    receives: &[End],
    place: &dyn Fn(Peer, u32) -> String,
) -> Result<(), Fault> {
    let ends = || sends.iter().chain(receives);
    if ends().all(|&(_, tag, _)| tag < TAGS || tag == ANY) {
        return Ok(());
    }
    let mut tags: Vec<u32> = ends().map(|end| end.1).filter(|&tag| tag != ANY).collect();
    tags.sort_unstable();
    tags.dedup();
    if tags.len() > TAGS as usize {
        let owner = ends().next().map_or((task, 0), |end| end.2);
        return Err(Fault {
            place: place(owner.0, owner.1),
            message: format!(
                "the messages to task {task} have {} different tags",
                tags.len()
            ),
            remedy: format!(
                "at most {TAGS} are possible: use tags again when their messages are received"
            ),
        });
    }
    for &(_, tag, (owner, node)) in ends() {
        if let Ok(small) = tags.binary_search(&tag) {
            graphs[owner as usize].nodes[node as usize].tag = small as Tag;
        }
    }
    graphs[task as usize].tags = tags;
    Ok(())
}
