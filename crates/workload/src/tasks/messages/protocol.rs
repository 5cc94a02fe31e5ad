//! Parameters of the protocol between tasks, with presets of MPI libraries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tasks::collectives::Choices;
use crate::tasks::{Algorithms, Envelope, Peer};
use weir_input::{Duration, Size};
use weir_model::{FlitSize, Invalid, LONGEST_MESSAGE, Time, stream, unit};

/// Protocol of messages between tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Minimum bytes of messages that send a request first (rendezvous); shorter ones go at once
    /// (eager).
    pub rendezvous_from: u64,
    /// Length of a request, of an answer to it, or of a notice of arrival, bytes.
    pub control_bytes: u64,
    /// Header before the content of a message (not of a control message), bytes.
    pub header_bytes: u64,
    /// Time from a task's call (or the answer to a request) until the message is handed to the NIC,
    /// ps. It does not delay other sends of the task.
    pub send_delay: Time,
    /// Maximum extra time, drawn for each message, ps.
    pub send_jitter: Time,
    /// The same for each byte of an eager message, ps.
    pub copy_per_byte: Time,
    /// Time from the arrival of a message until its task is notified, ps.
    pub receive_delay: Time,
    /// Time that the start of a nonblocking operation (isend, irecv) keeps its task, ps.
    pub per_call: Time,
    /// End of an eager send.
    pub completes: Completes,
    /// End of a rendezvous send.
    pub rendezvous_completes: RendezvousCompletes,
}

impl Protocol {
    /// Length of a message with this content, bytes.
    pub fn with_header(&self, content: u64) -> u64 {
        content.saturating_add(self.header_bytes)
    }
}

/// End of an eager send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completes {
    /// Its last bit has left the endpoint; with a scheme that drops packets, all of it is
    /// acknowledged: until then the NIC may have to send it again.
    Sent,
    /// The NIC has it.
    Copied,
}

/// End of a rendezvous send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RendezvousCompletes {
    /// As for an eager send that ends when it is sent.
    Sent,
    /// Its receiver has confirmed, by a control message (FIN), that all of it has arrived.
    Received,
}

/// Predefined protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MpiPreset {
    /// Hosts take no time; rendezvous from 8,192 bytes, with control messages of 64 bytes.
    #[default]
    Plain,
    /// As CODES models MPI: the same thresholds, 3,510 ns of host overhead for each send and 0.55
    /// ns for each byte of an eager one.
    Codes,
    /// As SST's Firefly, without its host delays: rendezvous from 12,001 bytes, complete when the
    /// receiver confirms; eager sends complete at once; headers and control messages of 45 bytes;
    /// collectives on a binary tree, alltoall by a ring shift.
    // Firefly's headers are 13 bytes of the NIC and 32 of MPI, its control messages 45, 13 and 15
    // bytes: the last two, and the header of a long message's content (13), are a flit of 32 bytes
    // shorter there.
    Ember,
    /// As NCCL's rings between nodes: allreduce, allgather and reduce-scatter around a ring, an
    /// alltoall with all messages at once; no rendezvous, because receivers have posted their
    /// buffers. The time that its kernels take for a step is not in it.
    Nccl,
}

/// `mpi = { … }` of a job: a preset, and deviations from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mpi {
    /// Values of keys that are not given. "plain": hosts take no time; rendezvous from 8,192 bytes,
    /// control messages of 64 bytes. "codes", as CODES carries MPI: the same thresholds, 3,510 ns
    /// of host overhead for each send, 0.55 ns for each byte of an eager one. "ember", as SST's
    /// Firefly without its host delays: rendezvous from 12,001 bytes, complete when the receiver
    /// says so; eager sends complete at once; headers and control messages of 45 bytes; collectives
    /// on a binary tree, alltoall by a ring shift. "nccl", as its rings between nodes: allreduce,
    /// allgather and reduce-scatter around a ring, alltoall at once; no rendezvous.
    pub preset: MpiPreset,
    /// Minimum length of messages that send a request first (rendezvous); shorter ones go at once
    /// (eager).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendezvous_from: Option<Size>,
    /// Length of such a request, of its answer, and of the receiver's notice of arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Size>,
    /// Length of the header of each other message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Size>,
    /// Time from a task's call, or the answer to a request, until the NIC has the message. It does
    /// not delay other sends of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_delay: Option<Duration>,
    /// Maximum extra time, drawn uniformly for each message: messages sent at the same moment reach
    /// the NIC in random order. CODES draws from 0.5 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Duration>,
    /// The same for each byte of an eager message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_per_byte: Option<Duration>,
    /// Time from the arrival of a message until its task hears of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_delay: Option<Duration>,
    /// Time that the start of a nonblocking operation (isend, irecv) takes of its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_call: Option<Duration>,
    /// End of an eager send. "sent": its last bit has left the endpoint; with a scheme that drops
    /// packets all of it is acknowledged, since the NIC may have to send it again. "copied": the
    /// NIC has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completes: Option<Completes>,
    /// End of a rendezvous send. "sent": as of an eager send. "received": its receiver has
    /// confirmed, by a control message (FIN), that all of it has come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendezvous_completes: Option<RendezvousCompletes>,
    /// Algorithms of collective operations; the preset's by default.
    pub collectives: Choices,
}

impl Mpi {
    /// The protocol, on a network with these flits and longest packets (in flits).
    ///
    /// # Errors
    /// If a control message or header exceeds the maximum message length. (A threshold beyond it
    /// has no effect.)
    pub fn protocol(&self, flit: FlitSize, longest: u64) -> Result<Protocol, Invalid> {
        let preset = self.preset.protocol();
        let bytes = |size: Option<Size>, other: u64| {
            size.map_or(other, |size| size.bits(flit, longest).div_ceil(8))
        };
        let time = |time: Option<Duration>, other: Time| time.map_or(other, |time| time.0);
        let part = |key, size, other| match bytes(size, other) {
            bytes if bytes > LONGEST_MESSAGE / 8 => {
                let message = format!("{bytes} bytes are too long for a message");
                let remedy = "write a size such as \"64 B\"";
                Err(Invalid::new(key, message, remedy))
            }
            bytes => Ok(bytes),
        };
        Ok(Protocol {
            rendezvous_from: bytes(self.rendezvous_from, preset.rendezvous_from),
            control_bytes: part("control", self.control, preset.control_bytes)?,
            header_bytes: part("header", self.header, preset.header_bytes)?,
            send_delay: time(self.send_delay, preset.send_delay),
            send_jitter: time(self.send_jitter, preset.send_jitter),
            copy_per_byte: time(self.copy_per_byte, preset.copy_per_byte),
            receive_delay: time(self.receive_delay, preset.receive_delay),
            per_call: time(self.per_call, preset.per_call),
            completes: self.completes.unwrap_or(preset.completes),
            rendezvous_completes: self
                .rendezvous_completes
                .unwrap_or(preset.rendezvous_completes),
        })
    }

    /// The algorithms of collective operations: the preset's by default.
    pub fn algorithms(&self) -> Algorithms {
        match self.preset {
            MpiPreset::Ember => self.collectives.over(Algorithms::EMBER),
            MpiPreset::Nccl => self.collectives.over(Algorithms::NCCL),
            MpiPreset::Plain | MpiPreset::Codes => self.collectives.over(Algorithms::default()),
        }
    }
}

impl MpiPreset {
    /// Its protocol.
    pub fn protocol(self) -> Protocol {
        let plain = Protocol {
            rendezvous_from: 8_192,
            control_bytes: 64,
            header_bytes: 0,
            send_delay: 0,
            send_jitter: 0,
            copy_per_byte: 0,
            receive_delay: 0,
            per_call: 0,
            completes: Completes::Sent,
            rendezvous_completes: RendezvousCompletes::Sent,
        };
        match self {
            MpiPreset::Plain => plain,
            MpiPreset::Codes => Protocol {
                send_delay: (10 + 2_500 + 1_000) * weir_model::NS,
                copy_per_byte: 550,
                ..plain
            },
            MpiPreset::Ember => Protocol {
                rendezvous_from: 12_001,
                control_bytes: 45,
                header_bytes: 45,
                completes: Completes::Copied,
                rendezvous_completes: RendezvousCompletes::Received,
                ..plain
            },
            MpiPreset::Nccl => Protocol {
                rendezvous_from: u64::MAX,
                ..plain
            },
        }
    }
}

/// Rules of the messages of a job. The same for all its tasks.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Protocol of messages.
    pub protocol: Protocol,
    /// Seed of the draws for each message.
    pub seed: u64,
}

impl Exchange {
    /// Time from a call until its message is handed to the NIC, ps. `copied`: number of its bytes
    /// copied on the way.
    pub(in crate::tasks) fn delay(
        &self,
        from: Peer,
        to: Peer,
        envelope: Envelope,
        copied: u64,
    ) -> Time {
        let copy = self.protocol.copy_per_byte.saturating_mul(copied);
        let fixed = self.protocol.send_delay.saturating_add(copy);
        match self.protocol.send_jitter {
            0 => fixed,
            most => {
                // Drawn from a stream named by the message itself: other messages do not change it.
                let name = [from.into(), to.into(), envelope.to_stamp().word()];
                let drawn = unit(&mut stream(self.seed, &name)) * most as f64;
                fixed.saturating_add(drawn as Time)
            }
        }
    }
}
