//! `incast`: all tasks send to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, at_least, bytes};
use crate::tasks::{Motif, Peer, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::{Invalid, Time};

/// Many to one: in each iteration all tasks but one send a message to that one.
///
/// The defaults are those of SWM's `incast`: sends and receives are nonblocking, and each iteration
/// ends by waiting for them. Ember's form has `target = 0`, `send = "blocking"`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Repetitions.
    iterations: u32,
    /// Each message.
    bytes: Size,
    /// The task that receives; the last one by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u32>,
    /// "nonblocking" (Isend and Waitall) or "blocking".
    send: Send,
    /// "all" (Irecv from everybody, then Waitall) or "ordered" (one blocking receive after the
    /// other, by task).
    receive: Receive,
    /// Time of the senders before each message.
    compute: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Send {
    Nonblocking,
    Blocking,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Receive {
    All,
    Ordered,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            iterations: 10,
            bytes: Size::Bits(8 * 1_310_720),
            target: None,
            send: Send::Nonblocking,
            receive: Receive::All,
            compute: Duration(0),
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "incast",
    summary: "All tasks send to one.",
    source: "SWM (incast, incast1, incast2); SST Ember (Incast); McGlohon et al., section IV",
    examples: &[r#"iterations = 2, bytes = "10 kB""#],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    at_least(section, tasks, 2)?;
    let target = params.target.unwrap_or(tasks - 1);
    if target >= tasks {
        return Err(section.refuse(Invalid::new(
            "target",
            format!("task {target} is beyond the job's {tasks} tasks"),
            format!("write a task from 0 to {}", tasks - 1),
        )));
    }
    Ok(Box::new(Incast {
        iterations: params.iterations,
        bytes: bytes(section, "bytes", params.bytes)?,
        senders: tasks,
        target,
        blocking: params.send == Send::Blocking,
        ordered: params.receive == Receive::Ordered,
        compute: params.compute.0,
    }))
}

/// An incast among the first `senders` tasks (the target does not send).
pub(super) struct Incast {
    pub iterations: u32,
    pub bytes: u64,
    pub senders: u32,
    pub target: Peer,
    pub blocking: bool,
    pub ordered: bool,
    pub compute: Time,
}

impl Motif for Incast {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        if script.task() == self.target {
            self.receive(script);
        } else if script.task() < self.senders {
            script.compute(self.compute);
            if self.blocking {
                script.send(self.target, self.bytes, 0);
            } else {
                let label = script.isend(self.target, self.bytes, 0);
                script.wait(label);
            }
        }
        true
    }
}

impl Incast {
    fn receive(&self, script: &mut Script) {
        let mark = script.mark();
        for from in (0..self.senders).filter(|&from| from != self.target) {
            if self.ordered {
                script.recv(from, 0);
            } else {
                script.irecv(from, 0);
            }
        }
        script.wait_all(script.since(mark));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn ninety_nine_send_to_one() {
        let run = run("incast", "", 100);
        for task in 0..99 {
            assert_eq!(run.sent_by(task), vec![(99, 1_310_720, 0); 10]);
        }
        let receiver = ops("incast", "iterations = 1", 99, 100);
        assert_eq!(receiver.len(), 100);
        assert_eq!(words(&receiver)[98..], ["Irecv<98", "Wait*99"]);
        let sender = words(&ops("incast", "iterations = 1", 5, 100));
        assert_eq!(sender, ["Isend>99=1310720", "Wait*1"]);
    }

    #[test]
    fn incast1_sends_blocking_and_receives_in_order() {
        let parameters = "iterations = 500\nbytes = \"160 B\"\ncompute = \"20 us\"\nsend = \"blocking\"\nreceive = \"ordered\"";
        let sender = words(&ops("incast", parameters, 0, 512));
        assert_eq!(sender, ["Compute=20000000", "Send>511=160"].repeat(500));
        let receiver = words(&ops("incast", parameters, 511, 512));
        assert_eq!(receiver.len(), 500 * 511);
        assert_eq!(receiver[..2], ["Recv<0", "Recv<1"]);
    }

    #[test]
    fn the_form_of_ember() {
        let parameters = "iterations = 1\nbytes = \"1024 B\"\ntarget = 0\nsend = \"blocking\"";
        let run = run("incast", parameters, 56);
        assert!(run.sent_by(0).is_empty());
        assert_eq!(run.sent_by(55), [(0, 1_024, 0)]);
    }

    #[test]
    fn the_target_is_one_of_the_tasks() {
        assert!(refusal("incast", "target = 8", 8).contains("from 0 to 7"));
        assert!(refusal("incast", "", 1).contains("2 tasks or more"));
    }
}
