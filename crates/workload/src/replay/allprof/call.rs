//! The calls of a process: `MPI_Name:begin:argument:argument:…:end`.

use rustc_hash::FxHashMap;

use super::super::graph::ANY;
use super::super::mpi::{Processes, shown};
use super::super::operations::Wrong;
use super::super::{Node, Scale, signed_task};
use super::arguments::{Arguments, Communicator, time, wrong};
use super::groups::Handles;
use super::names;
use super::operation::operation;
use super::requests::Requests;
use super::{Library, Params};
use crate::tasks::Peer;

/// Reads the calls of a process.
pub struct Calls<'a> {
    processes: &'a mut Processes,
    handles: Handles,
    task: Peer,
    /// Picoseconds in a unit of time.
    unit: f64,
    compute: Scale,
    /// Any source, and no process at all.
    any: i64,
    nobody: i64,
    /// End of the previous call.
    then: Option<f64>,
    finalized: bool,
    requests: Requests,
    /// Persistent requests by their addresses: the arguments of the call that made them, and its
    /// direction.
    persistent: FxHashMap<u64, (Vec<String>, Way)>,
}

/// Reason why operations in a communicator cannot be simulated.
const UNKNOWN: &str = "the trace does not say who is in communicators that are not made by MPI_Comm_split or MPI_Comm_dup";

/// The tag that receives any.
const ANY_TAG: i64 = -1;

/// Sends that do not end before their receive has begun.
const SYNCHRONOUS: [&str; 3] = ["MPI_Ssend", "MPI_Issend", "MPI_Ssend_init"];

/// Calls that make or start persistent requests, and free or cancel a request.
const REQUESTS: &[&str] = &[
    "MPI_Send_init",
    "MPI_Ssend_init",
    "MPI_Rsend_init",
    "MPI_Bsend_init",
    "MPI_Recv_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Request_free",
    "MPI_Cancel",
];

/// Calls that have no effect on others.
const LOCAL: &[&str] = &[
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Comm_free",
    "MPI_Get_count",
    "MPI_Initialized",
    "MPI_Wtime",
    "MPI_Wtick",
    "MPI_Get_processor_name",
    "MPI_Type_size",
    "MPI_Type_extent",
    "MPI_Type_commit",
    "MPI_Type_free",
    "MPI_Type_contiguous",
    "MPI_Type_vector",
    "MPI_Type_indexed",
    "MPI_Type_struct",
    "MPI_Address",
    "MPI_Op_create",
    "MPI_Op_free",
    "MPI_Errhandler_set",
    "MPI_Get_version",
    "MPI_Finalized",
];

impl<'a> Calls<'a> {
    /// The reader for one process.
    pub fn new(
        processes: &'a mut Processes,
        handles: Handles,
        task: Peer,
        params: &Params,
        compute: Scale,
    ) -> Calls<'a> {
        let (any, nobody) = match params.library {
            Library::OpenMpi => (-1, -2),
            Library::Mpich => (-2, -1),
        };
        Calls {
            processes,
            handles,
            task,
            unit: params.unit.0 as f64,
            compute,
            any,
            nobody,
            then: None,
            finalized: false,
            requests: Requests::new(params.request_bytes),
            persistent: FxHashMap::default(),
        }
    }

    /// Checks the end of the file.
    ///
    /// # Errors
    /// If the process does not reach its end.
    pub fn end(&self) -> Result<(), Wrong> {
        match self.finalized {
            true => Ok(()),
            false => Err(wrong(
                format!("process {} does not end with MPI_Finalize", self.task),
                "the trace is not complete",
            )),
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is not a call, or an invalid one.
    pub fn line(&mut self, text: &str, line: u64) -> Result<(), Wrong> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let fields: Vec<&str> = text.split(':').map(str::trim).collect();
        let [name, begin, arguments @ .., end] = fields.as_slice() else {
            return Err(wrong(
                format!("{} is no call", shown(text)),
                "write `MPI_Name:begin:arguments:end`",
            ));
        };
        if !name.starts_with("MPI_") {
            return Err(wrong(
                format!("{} is no call of MPI", shown(name)),
                "calls begin with MPI_",
            ));
        }
        if self.finalized {
            return Err(wrong("a call after MPI_Finalize", "remove it"));
        }
        match *name {
            "MPI_Init" | "MPI_Init_thread" if self.then.is_none() => {
                self.then = Some(time(end)?);
                return Ok(());
            }
            "MPI_Init" | "MPI_Init_thread" => {
                return Err(wrong("a second MPI_Init", "write one trace to each file"));
            }
            "MPI_Finalize" => self.finalized = true,
            _ => {}
        }
        let begin = time(begin)?;
        self.computes_until(begin, line)?;
        if *name == "MPI_Finalize" {
            return Ok(());
        }
        let end = time(end)?;
        if end < begin {
            let message = format!("a call that begins at {begin} and ends at {end}");
            return Err(wrong(message, "times go up in a trace"));
        }
        self.then = Some(end);
        self.call(name, &Arguments { fields: arguments }, line)?;
        if SYNCHRONOUS.contains(name) {
            let coverage = &mut self.processes.coverage;
            coverage.simulated("synchronous sends among these, as standard ones", 1, 0);
        }
        Ok(())
    }

    /// Records the time since the previous call as computation.
    fn computes_until(&mut self, begin: f64, line: u64) -> Result<(), Wrong> {
        let Some(then) = self.then else {
            return Err(wrong("a call before MPI_Init", "the trace is not complete"));
        };
        if begin < then {
            return Err(wrong(
                format!("a call at {begin} that the one before, until {then}, is not over for"),
                "times go up in a trace",
            ));
        }
        // Casts saturate.
        let ps = ((begin - then) * self.unit).round() as u128;
        let time = self.compute.of(ps).ok_or_else(|| {
            wrong(
                "the time since the last call is longer than can be simulated",
                "at most 1,000,000 s are: look at `unit`",
            )
        })?;
        self.processes.compute(self.task, time, line)
    }

    fn call(&mut self, name: &str, arguments: &Arguments, line: u64) -> Result<(), Wrong> {
        match name {
            "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" => {
                self.message(arguments, [1, 2, 3, 4, 5], Way::Send, line)?;
            }
            "MPI_Recv" => _ = self.message(arguments, [1, 2, 3, 4, 5], Way::Receive, line)?,
            "MPI_Isend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Ibsend" => {
                let request = self.renew(arguments.address(6)?);
                let node = self.message(arguments, [1, 2, 3, 4, 5], Way::Isend, line)?;
                self.request(request, node);
            }
            "MPI_Irecv" => {
                let request = self.renew(arguments.address(6)?);
                let node = self.message(arguments, [1, 2, 3, 4, 5], Way::Ireceive, line)?;
                self.request(request, node);
            }
            "MPI_Sendrecv" => {
                let receive = self.message(arguments, [6, 7, 8, 9, 10], Way::Ireceive, line)?;
                let send = self.message(arguments, [1, 2, 3, 4, 10], Way::Isend, line)?;
                self.wait([receive, send]);
            }
            "MPI_Sendrecv_replace" => {
                let receive = self.message(arguments, [1, 2, 5, 6, 7], Way::Ireceive, line)?;
                let send = self.message(arguments, [1, 2, 3, 4, 7], Way::Isend, line)?;
                self.wait([receive, send]);
            }
            "MPI_Wait" => {
                let node = self.requests.take(arguments.address(0)?);
                if node.is_none() {
                    let coverage = &mut self.processes.coverage;
                    coverage.ignored("waits for nothing", 1, 0, "nothing is open");
                }
                self.wait([node, None]);
            }
            "MPI_Waitall" => {
                let (count, first) = arguments.requests()?;
                let nodes = self.requests.take_all(count, first);
                self.wait_for(nodes);
            }
            "MPI_Waitany" | "MPI_Waitsome" => {
                let (count, first) = arguments.requests()?;
                let nodes = self.requests.any(count, first);
                self.wait_for(nodes);
                let coverage = &mut self.processes.coverage;
                coverage.simulated("waits for any, as far as known", 1, 0);
            }
            name if REQUESTS.contains(&name) => self.of_requests(name, arguments, line)?,
            "MPI_Test" | "MPI_Testall" | "MPI_Testany" | "MPI_Testsome" | "MPI_Iprobe"
            | "MPI_Probe" => {
                match name {
                    "MPI_Test" => self.requests.look(1, arguments.address(0)?),
                    "MPI_Iprobe" | "MPI_Probe" => {}
                    _ => {
                        let (count, first) = arguments.requests()?;
                        self.requests.look(count, first);
                    }
                }
                let why = "what they look for is over at the next wait, or when its request is used again";
                self.processes
                    .coverage
                    .ignored("tests and probes", 1, 0, why);
            }
            name if names::MAKERS.contains(&name) => {
                let why = "what the library sends for them is not known";
                let coverage = &mut self.processes.coverage;
                coverage.ignored("calls that make communicators", 1, 0, why);
            }
            name if LOCAL.contains(&name) => {
                let why = "they are local";
                self.processes
                    .coverage
                    .ignored("calls without messages", 1, 0, why);
            }
            name => return self.collective(name, arguments, line),
        }
        Ok(())
    }

    /// A call of [`REQUESTS`].
    fn of_requests(&mut self, name: &str, arguments: &Arguments, line: u64) -> Result<(), Wrong> {
        match name {
            "MPI_Request_free" => {
                self.persistent.remove(&arguments.address(0)?);
                self.requests.take(arguments.address(0)?);
            }
            "MPI_Recv_init" => self.keep(arguments, Way::Ireceive)?,
            "MPI_Start" => self.again(arguments.address(0)?, line)?,
            "MPI_Startall" => {
                let (count, first) = arguments.requests()?;
                for address in self.requests.addresses(count, first) {
                    self.again(address, line)?;
                }
            }
            "MPI_Cancel" => self.cancel(arguments.address(0)?),
            _ => self.keep(arguments, Way::Isend)?,
        }
        Ok(())
    }

    /// Keeps a persistent request.
    fn keep(&mut self, arguments: &Arguments, way: Way) -> Result<(), Wrong> {
        let fields = arguments.fields.iter().map(|field| (*field).to_string());
        self.persistent
            .insert(arguments.address(6)?, (fields.collect(), way));
        Ok(())
    }

    /// Starts a persistent request.
    fn again(&mut self, address: u64, line: u64) -> Result<(), Wrong> {
        let Some((fields, way)) = self.persistent.get(&address) else {
            return Err(wrong(
                format!("no call has made the persistent request {address}"),
                "complete the trace: MPI_Send_init or MPI_Recv_init comes before MPI_Start",
            ));
        };
        let (fields, way) = (fields.clone(), *way);
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let request = self.renew(address);
        let node = self.message(&Arguments { fields: &fields }, [1, 2, 3, 4, 5], way, line)?;
        self.request(request, node);
        Ok(())
    }

    /// Cancels a receive. (Sends have left.)
    fn cancel(&mut self, address: u64) {
        let open = self.requests.open(address);
        if !open.is_some_and(|node| self.processes.cancel(self.task, node)) {
            let why = "they cancel no receive";
            self.processes.coverage.ignored("cancellations", 1, 0, why);
        }
    }

    /// Gives a request another operation: its previous one has ended.
    fn renew(&mut self, address: u64) -> u64 {
        if let Some(node) = self.requests.reuse(address) {
            self.processes.wait(self.task, node);
        }
        address
    }

    fn request(&mut self, address: u64, node: Option<u32>) {
        if let Some(node) = node {
            self.requests.start(address, node);
        }
    }

    fn wait(&mut self, nodes: [Option<u32>; 2]) {
        for node in nodes.into_iter().flatten() {
            self.processes.wait(self.task, node);
        }
    }

    fn wait_for(&mut self, nodes: Vec<u32>) {
        for node in nodes {
            self.processes.wait(self.task, node);
        }
    }

    /// The group of a communicator, if it is known.
    fn group(&mut self, communicator: &Communicator, line: u64) -> Result<Option<usize>, Wrong> {
        let (size, tasks) = (communicator.size, self.processes.count());
        if size > u64::from(tasks) {
            return Err(wrong(
                format!("a communicator of {size} processes, and there are files of {tasks}"),
                format!("complete the trace: the file of process {tasks} is missing"),
            ));
        }
        Ok(self.handles.group(line, communicator))
    }

    /// A message, by the places of count, type, partner, tag and communicator. None if there is
    /// none.
    fn message(
        &mut self,
        arguments: &Arguments,
        [count, kind, partner, tag, communicator]: [usize; 5],
        way: Way,
        line: u64,
    ) -> Result<Option<u32>, Wrong> {
        let bytes = arguments.bytes(count, kind)?;
        let communicator = arguments.communicator(communicator)?;
        let (partner, tag) = (arguments.integer(partner)?, arguments.integer(tag)?);
        let name = way.name();
        if partner == self.nobody {
            let coverage = &mut self.processes.coverage;
            coverage.ignored("messages with nobody", 1, 0, "MPI_PROC_NULL");
            return Ok(None);
        }
        let Some(group) = self.group(&communicator, line)? else {
            let coverage = &mut self.processes.coverage;
            coverage.ignored(way.within_some(), 1, bytes, UNKNOWN);
            return Ok(None);
        };
        let members = self.processes.operations.members(group);
        let any = way.receives() && partner == self.any;
        let peer = match any {
            true => ANY,
            false => members[signed_task(partner, members.len() as u32)? as usize],
        };
        let tag = match u32::try_from(tag) {
            Ok(tag) if tag < ANY => own_tag(tag, group, self.processes.all),
            Err(_) if way.receives() && tag == ANY_TAG => ANY,
            _ => {
                let remedy = format!("write 0 to {}", ANY - 1);
                return Err(wrong(format!("{tag} is no tag"), remedy));
            }
        };
        self.processes.coverage.simulated(name, 1, bytes);
        let node = match way.receives() {
            true => Node::receive(peer, bytes, tag),
            false => Node::send(peer, bytes, tag),
        };
        let node = match way {
            Way::Send | Way::Receive => self.processes.call(self.task, node, line)?,
            Way::Isend | Way::Ireceive => self.processes.start(self.task, node, line)?,
        };
        Ok(Some(node))
    }

    fn collective(&mut self, name: &str, all: &Arguments, line: u64) -> Result<(), Wrong> {
        let Some(named) = names::collective(name, all.fields.len()) else {
            let why = "this is no call that is simulated";
            self.processes.coverage.ignored("other calls", 1, 0, why);
            return Ok(());
        };
        let fields = &all.fields[..=named.communicator];
        let arguments = Arguments { fields };
        let communicator = arguments.communicator(named.communicator)?;
        let Some(group) = self.group(&communicator, line)? else {
            let coverage = &mut self.processes.coverage;
            coverage.ignored("parts in operations of some of the tasks", 1, 0, UNKNOWN);
            return Ok(());
        };
        let Some(call) = operation(&named.name, &arguments, &communicator)? else {
            let why = "the trace does not say how much goes to whom";
            let coverage = &mut self.processes.coverage;
            coverage.ignored("parts in operations without sizes", 1, 0, why);
            return Ok(());
        };
        let request = match named.request {
            Some(at) => Some(self.renew(all.address(at)?)),
            None => None,
        };
        let goes_on = request.is_some();
        let node = self
            .processes
            .collective(self.task, group, call, goes_on, line)?;
        if let Some(address) = request {
            self.request(address, Some(node));
        }
        Ok(())
    }
}

/// The tag of a message in a communicator. The same tag in another communicator becomes a different
/// one, as long as there is room.
fn own_tag(tag: u32, group: usize, all: usize) -> u32 {
    const PLAIN: u32 = 1 << 24;
    match u32::try_from(group) {
        Ok(number) if group != all && tag < PLAIN && number < 127 => tag + (number + 1) * PLAIN,
        _ => tag,
    }
}

/// Direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Send,
    Isend,
    Receive,
    Ireceive,
}

impl Way {
    fn receives(self) -> bool {
        matches!(self, Way::Receive | Way::Ireceive)
    }

    fn name(self) -> &'static str {
        match self.receives() {
            true => "receives",
            false => "sends",
        }
    }

    fn within_some(self) -> &'static str {
        match self.receives() {
            true => "receives from some of the tasks",
            false => "sends to some of the tasks",
        }
    }
}
