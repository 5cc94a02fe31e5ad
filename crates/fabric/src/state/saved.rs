//! The state of a domain as bytes, and back.
//!
//! Data that is fixed for a run is not saved: a domain that is built anew from the same experiment
//! continues from the bytes. Lists of a domain are not checked at every access
//! ([`weir_slots::Slots`]), so every index in the bytes is checked here.

use std::io::Write;

use serde::{Deserialize, Serialize};

use super::{Ends, Input, Mail, NO_REQUEST, Output, Ports, Progress, Records, Ring, Upstream};
use crate::domain::FabricDomain;
use crate::setup::fork::Fork;
use crate::setup::plain::Compiled;
use crate::state::ends::sends::pair_ring::PairRing;
use crate::state::event::EventKind;
use crate::state::hosts::SavedHosts;
use crate::state::pool::{Fifo, Pool};
use crate::state::ports::wide_port::WIDE;
use weir_engine::{EventKey, EventQueue};
use weir_model::codec::{self, CodecError};
use weir_model::{LATEST, NEVER, Time};

/// A state that was read, not yet known to be one of this domain.
#[derive(Deserialize)]
pub(super) struct Loaded {
    pub events: Vec<(Time, EventKey)>,
    pool: Pool,
    ports: Ports,
    pub ends: Ends,
    pub hosts: SavedHosts,
    mail: Mail,
    pub records: Records,
    progress: Progress,
    scheme: Vec<u8>,
}

/// The same to be written: field by field like [`Loaded`].
#[derive(Serialize)]
struct Saved<'a> {
    events: Vec<(Time, EventKey)>,
    pool: &'a Pool,
    ports: &'a Ports,
    ends: &'a Ends,
    hosts: SavedHosts,
    mail: &'a Mail,
    records: &'a Records,
    progress: Progress,
    scheme: Vec<u8>,
}

impl<K: Compiled> FabricDomain<K> {
    /// Writes the state between two pieces of windows, when all mail has been delivered.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), CodecError> {
        debug_assert!(self.outboxes.is_empty(), "mail is left");
        let mut events = self.queue.pending();
        events.sort_unstable();
        let state = Saved {
            events,
            pool: &self.pool,
            ports: &self.ports,
            ends: &self.ends,
            hosts: self.hosts.save()?,
            mail: &self.mail,
            records: &self.records,
            progress: self.progress,
            scheme: self.scheme.save()?,
        };
        codec::encode_into(&state, out)
    }

    /// Continues from a state that was saved by the same domain of the same experiment, or of
    /// another one from which this one forks. Only for a domain that has just been built.
    ///
    /// # Errors
    /// If the bytes are no such state. The domain is unusable then.
    pub fn load(&mut self, bytes: &[u8], fork: Option<&Fork>) -> Result<(), CodecError> {
        let mut loaded: Loaded = codec::decode(bytes)?;
        if let Some(fork) = fork {
            self.carry_over(&mut loaded, fork)?;
        }
        self.check(&loaded).map_err(|what| {
            CodecError::new(format!("{what} are not those of domain {}", self.id))
        })?;
        if fork.is_none_or(|fork| fork.scheme) {
            self.scheme.load(&loaded.scheme)?;
        }
        self.hosts.load(loaded.hosts, &self.traffic)?;
        let horizon = self.network.horizon(self.id);
        let (count, components) = (self.keys.count(), self.keys.components());
        self.queue = EventQueue::new(horizon, count, components);
        for (time, key) in loaded.events {
            self.queue.push(time, key);
        }
        self.pool = loaded.pool;
        self.ports = loaded.ports;
        self.ends = loaded.ends;
        self.mail = loaded.mail;
        self.records = loaded.records;
        self.progress = loaded.progress;
        Ok(())
    }

    /// The first thing that does not fit this domain, if there is one.
    fn check(&self, loaded: &Loaded) -> Result<(), &'static str> {
        let parts = [
            (self.fits_events(loaded), "the events"),
            (self.fits_wiring(&loaded.ports), "the ports"),
            (self.fits_ends(&loaded.ends), "the NICs"),
            (self.fits_mail(&loaded.mail), "the mail"),
            (self.fits_records(&loaded.records), "the records"),
            (
                loaded.pool.header_words() == self.pool.header_words(),
                "the headers",
            ),
            (loaded.pool.is_sound(), "the packets"),
            (self.fits_requests(&loaded.ports), "the requests"),
        ];
        let wrong = parts.into_iter().find(|(fits, _)| !fits);
        wrong.map_or(Ok(()), |(_, what)| Err(what))?;
        self.check_lists(loaded)
    }

    fn fits_events(&self, loaded: &Loaded) -> bool {
        let until = loaded.progress.until;
        let fits = |&(time, key): &(Time, EventKey)| {
            let (kind, component) = self.keys.unkey(key);
            let count = match kind {
                EventKind::OutputFree | EventKind::Link | EventKind::Scheme => {
                    self.ports.outputs.len()
                }
                EventKind::InputFree | EventKind::Arrive => self.ports.inputs.len(),
                EventKind::Deliver => self.ends.nics.len(),
                EventKind::Generate => self.ends.sources.len(),
                EventKind::Task => self.hosts.len(),
            };
            (key as usize) < self.keys.count()
                && (component as usize) < count
                && (until..NEVER).contains(&time)
        };
        until <= LATEST && loaded.events.iter().all(fits)
    }

    /// The fixed part of ports is as the network has it.
    fn fits_wiring(&self, ports: &Ports) -> bool {
        let own = &self.ports;
        let routers = own.routers.iter().zip(ports.routers.iter());
        let inputs = own.inputs.iter().zip(ports.inputs.iter());
        let outputs = own.outputs.iter().zip(ports.outputs.iter());
        let channels = own.channels.iter().zip(ports.channels.iter());
        ports.routers.len() == own.routers.len()
            && ports.inputs.len() == own.inputs.len()
            && ports.outputs.len() == own.outputs.len()
            && ports.channels.len() >= own.channels.len()
            && ports.channels.len() < WIDE as usize
            && ports.rings.outputs.len() == own.rings.outputs.len()
            && ports.rings.inputs.len() == own.rings.inputs.len()
            && ports.memory.fits(&own.memory)
            && ports.wide_ports.fit(&own.wide_ports, ports.channels.len())
            && ports.fifos.fit(&own.fifos)
            && ports.allocation.fits(ports.channels.len())
            && routers.into_iter().all(|(own, read)| {
                (own.id, own.base, own.ports) == (read.id, read.base, read.ports)
            })
            && inputs
                .into_iter()
                .all(|(own, read)| Input::same_wiring(own, read))
            && outputs
                .into_iter()
                .all(|(own, read)| Output::same_wiring(own, read))
            && channels
                .into_iter()
                .all(|(own, read)| own.share == read.share && read.credit.fits(&own.credit))
            && (ports.channels.iter().enumerate()).all(|(at, one)| one.share as usize <= at)
    }

    fn fits_ends(&self, ends: &Ends) -> bool {
        let own = &self.ends;
        let nics = own.nics.iter().zip(ends.nics.iter());
        let sources = own.sources.iter().zip(ends.sources.iter());
        let rings: Vec<PairRing> = ends.nics.iter().map(|nic| nic.ring).collect();
        ends.nics.len() == own.nics.len()
            && ends.sources.len() == own.sources.len()
            && ends.resends.len() == own.resends.len()
            && ends.flows.fit(&own.flows)
            && ends.sends.are_sound(&own.sends, &rings)
            && nics.into_iter().all(|(own, read)| own.id == read.id)
            && sources.into_iter().all(|(own, read)| own.same_place(read))
    }

    fn fits_mail(&self, mail: &Mail) -> bool {
        let inboxes = mail
            .inboxes
            .iter()
            .zip(self.mail.inboxes.iter())
            .enumerate();
        mail.inboxes.len() == self.mail.inboxes.len()
            && mail.signals.interleaved == self.mail.signals.interleaved
            && mail.signals.all().all(|signal| self.accepts_signal(signal))
            && mail
                .later
                .nics()
                .all(|nic| (nic as usize) < self.ends.nics.len())
            && inboxes.into_iter().all(|(neighbour, (read, own))| {
                let mut letters = read.packets();
                read.entrance == own.entrance
                    && read.is_sound()
                    && letters.all(|letter| self.accepts_packet(neighbour, letter))
            })
    }

    fn fits_records(&self, records: &Records) -> bool {
        let own = &self.records;
        records.stats.fit(&own.stats)
            && records.samples.fit(&own.samples)
            && records.attribution.fits(&own.attribution)
            && records.link_log.fits(&own.link_log)
            && (records.failing.keys()).all(|output| self.failing.contains_key(output))
    }

    /// Queues of an input over all traffic classes: those of the output that feeds it.
    fn queues_of(&self, input: u32) -> u32 {
        match self.ports.inputs[input as usize].upstream {
            Upstream::Output(output) => self.channels_of(output),
            Upstream::Away { .. } => self.channels_of(input),
            // The port of a router for its own packets, which are in the queues of their classes.
            Upstream::Nothing => u32::from(self.fixed.classes.count()),
        }
    }

    /// Each packet is in one list, and its queue exists where it is; the lists that are wrong.
    fn check_lists(&self, loaded: &Loaded) -> Result<(), &'static str> {
        let (pool, ports) = (&loaded.pool, &loaded.ports);
        let mut left = pool.len();
        let mut list = |fifo: Fifo, queues: u32, what: &'static str| {
            let packets = pool.listed(fifo, &mut left).ok_or(what)?;
            let fits = packets.into_iter().all(|(packet, origin)| {
                packet.class < self.fixed.classes.count()
                    && usize::from(origin.kind) < self.fixed.kinds
                    && usize::from(origin.job) < self.traffic.len()
                    && (1..=self.fixed.max_packet).contains(&packet.flits)
                    && packet.flight.destination < self.network.topology.endpoints()
                    && u32::from(packet.queue) < queues
            });
            fits.then_some(()).ok_or(what)
        };
        for (input, at) in ports.inputs.iter().zip(0..) {
            list(input.wire, self.queues_of(at), "the packets on wires")?;
        }
        for fifo in ports.fifos.lists() {
            list(fifo, u32::MAX, "the packets behind others")?;
        }
        // A request for another way has its packet in another list.
        for request in ports.requests.used().filter(|one| !one.also) {
            list(
                request.queue,
                self.channels_of(request.output),
                "the packets at inputs",
            )?;
        }
        for channel in ports.channels.iter() {
            list(channel.queue, u32::MAX, "the packets at outputs")?;
        }
        for nic in loaded.ends.nics.iter() {
            let lists = [nic.wire, nic.ends].into_iter().chain(nic.control.all());
            lists
                .into_iter()
                .try_for_each(|one| list(one, u32::MAX, "the packets at NICs"))?;
        }
        Ok(())
    }

    fn fits_requests(&self, ports: &Ports) -> bool {
        let requests = &ports.requests;
        let ring =
            |ring: &Ring| ring.next == NO_REQUEST || (ring.next as usize) < requests.places();
        let rings = ports.rings.outputs.iter().chain(ports.rings.inputs.iter());
        requests.are_sound()
            && rings.into_iter().all(ring)
            && requests.used().all(|one| {
                (one.input as usize) < self.ports.inputs.len()
                    && (one.output as usize) < self.ports.outputs.len()
                    && u32::from(one.in_queue) < self.queues_of(one.input)
                    && u32::from(one.out_queue) < self.channels_of(one.output)
                    && one.class < self.fixed.classes.count()
            })
    }
}
