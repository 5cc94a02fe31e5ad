//! `checkpoint`: tasks compute, then write their state to storage servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, bytes};
use crate::tasks::{Motif, Script};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section, Size};
use weir_model::{Invalid, Time};

/// Bursts of writes. The last tasks are storage servers. The others compute, then write their
/// state in requests to one server after the other, each task beginning with another one, with a
/// number of requests on their way at a time. Servers take requests as they come.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// Number of storage servers among the tasks.
    servers: u32,
    /// State of a task.
    state: Size,
    /// Length of a request; the last one may be shorter.
    request: Size,
    /// Requests of a task on their way at a time.
    window: u32,
    /// Computation before each checkpoint.
    compute: Duration,
    /// Number of checkpoints.
    iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            servers: 1,
            state: Size::Bits(8 << 26),
            request: Size::Bits(8 << 20),
            window: 8,
            compute: Duration(1_000_000_000),
            iterations: 1,
        }
    }
}

/// Maximum number of requests to a server in a checkpoint: it has posted receives for all of them.
const MOST_REQUESTS: u64 = 1 << 20;

pub const ENTRY: Entry<Build> = Entry {
    name: "checkpoint",
    summary: "Bursts of writes from all tasks to storage servers.",
    source: "weir; striping as in parallel file systems",
    examples: &[
        r#"state = "10 kB", request = "4 kB", compute = "1 us", iterations = 2"#,
        r#"servers = 3, state = "30 kB", request = "4 kB", window = 2, compute = "0 ns""#,
    ],
    parameters: Keys::of::<Params>(),
    build,
};

fn build(section: &Section, tasks: u32) -> Result<Box<dyn Motif>, ConfigError> {
    let params: Params = section.parse()?;
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    let state = bytes(section, "state", params.state)?;
    let request = bytes(section, "request", params.request)?;
    if params.servers == 0 || params.servers >= tasks {
        let message = format!("{} of {tasks} tasks cannot be servers", params.servers);
        let remedy = "leave at least one task on each side";
        return refuse("servers", message, remedy);
    }
    if params.window == 0 {
        return refuse(
            "window",
            "no request would be sent".into(),
            "write 1 or more",
        );
    }
    let motif = Checkpoint {
        servers: params.servers,
        clients: tasks - params.servers,
        state,
        request,
        window: params.window,
        compute: params.compute.0,
        iterations: params.iterations,
    };
    let most = u64::from(motif.clients).saturating_mul(motif.requests());
    if most / u64::from(motif.servers) > MOST_REQUESTS {
        let message = format!("{most} requests for each checkpoint are too many");
        return refuse("request", message, "write longer requests or more servers");
    }
    Ok(Box::new(motif))
}

struct Checkpoint {
    servers: u32,
    clients: u32,
    state: u64,
    request: u64,
    window: u32,
    compute: Time,
    iterations: u32,
}

impl Checkpoint {
    /// Requests of a task for a checkpoint.
    fn requests(&self) -> u64 {
        self.state.div_ceil(self.request)
    }

    /// The server of a task's request.
    fn server(&self, task: u32, number: u64) -> u32 {
        let place = (u64::from(task) + number) % u64::from(self.servers);
        self.clients + place as u32
    }

    fn write(&self, script: &mut Script) {
        let task = script.task();
        script.compute(self.compute);
        let mut sent = Vec::new();
        for number in 0..self.requests() {
            if let Some(before) = sent.len().checked_sub(self.window as usize) {
                script.wait(sent[before]);
            }
            let length = self.request.min(self.state - number * self.request);
            sent.push(script.isend(self.server(task, number), length, 0));
        }
    }

    /// Number of requests that reach a server in a checkpoint.
    fn arriving(&self, server: u32) -> u64 {
        let (servers, requests) = (u64::from(self.servers), self.requests());
        let place = u64::from(server - self.clients);
        let of = |task: u32| {
            // Requests whose number is `first` more than a multiple of the number of servers.
            let first = (place + servers - u64::from(task) % servers) % servers;
            requests.saturating_sub(first).div_ceil(servers)
        };
        (0..self.clients).map(of).sum()
    }
}

impl Motif for Checkpoint {
    fn part(&self, part: u32, script: &mut Script) -> bool {
        if part >= self.iterations {
            return false;
        }
        match script.task() < self.clients {
            true => self.write(script),
            false => {
                for _ in 0..self.arriving(script.task()) {
                    script.irecv(None, 0);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ops, refusal, run, words};

    #[test]
    fn requests_go_round_the_servers() {
        // 10 kB in requests of 4 kB: 4, 4 and 2. Two servers are tasks 3 and 4.
        let keys =
            "servers = 2\nstate = \"10 kB\"\nrequest = \"4 kB\"\nwindow = 2\ncompute = \"1 us\"";
        let client = words(&ops("checkpoint", keys, 1, 5));
        let parts = [
            "Compute=1000000",
            "Isend>4=4000",
            "Isend>3=4000",
            "Wait*1",
            "Isend>4=2000",
        ];
        assert_eq!(client[..5], parts);
        // Tasks 0 and 2 begin at server 3 and send it two requests each, task 1 one.
        let server = words(&ops("checkpoint", keys, 3, 5));
        assert_eq!(server.iter().filter(|one| *one == "Irecv<any").count(), 5);
        let server = words(&ops("checkpoint", keys, 4, 5));
        assert_eq!(server.iter().filter(|one| *one == "Irecv<any").count(), 4);
    }

    #[test]
    fn all_tasks_finish() {
        for (servers, tasks) in [(1, 2), (3, 10), (7, 9), (4, 5)] {
            let keys = format!(
                "servers = {servers}\nstate = \"50 kB\"\nrequest = \"3 kB\"\niterations = 3"
            );
            let run = run("checkpoint", &keys, tasks);
            let written: u64 = run.messages.iter().map(|sent| sent.bytes).sum();
            assert!(written >= 3 * 50_000 * u64::from(tasks - servers));
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        assert!(refusal("checkpoint", "servers = 4", 4).contains("4 of 4 tasks"));
        assert!(refusal("checkpoint", "window = 0", 4).contains("no request would be sent"));
        let small = "state = \"100 GB\"\nrequest = \"1 kB\"";
        assert!(refusal("checkpoint", small, 4).contains("longer requests"));
    }
}
