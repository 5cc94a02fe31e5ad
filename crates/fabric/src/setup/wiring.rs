//! The routers of a domain, their ports, and the links between them.

use super::plain::Compiled;

use rustc_hash::FxHashMap;

use super::network::MOST_BUFFERED;
use crate::BufferPer;
use crate::domain::FabricDomain;
use crate::setup::network::failing::Failing;
use crate::state::ends::nic::Nic;
use crate::state::mail::inbox::Inbox;
use crate::state::pool::Fifo;
use crate::state::ports::memory::Memory;
use crate::state::ports::wide_port::MOST_BITS;
use crate::state::records::attribution::Divided;
use crate::state::{Channel, Input, NO_OUTPUT, OutIndex, Output, Router, Timing, Upstream, Wire};
use weir_input::OutputQueue;
use weir_model::{DomainId, NEVER, PortId, RouterId, Time, purpose, stream};
use weir_network::topology::{Link, Peer, Place};

impl<K: Compiled> FabricDomain<K> {
    pub(crate) fn add_routers(&mut self, seed: u64) {
        let network = self.network.clone();
        let topology = &network.topology;
        for (id, base) in self.bases(self.id) {
            let ports = topology.ports(id);
            let rng = stream(seed, &[purpose::ROUTING, u64::from(id)]);
            self.ports.routers.push(Router {
                id,
                base,
                ports,
                rng,
            });
            self.first_nic_output = base + self.places(ports);
        }
        let words = self
            .ports
            .routers
            .iter()
            .map(|router| network.routing.words(router.id));
        self.ports.memory = Memory::new(words);
    }

    /// Number of port indices of a router.
    /// A router that sends packets itself does so by a port that leads nowhere, after the others.
    pub(crate) fn places(&self, ports: PortId) -> u32 {
        u32::from(ports) + u32::from(K::CC && self.fixed.can.answers)
    }

    /// The routers of a domain, and the number of the first port of each among the domain's.
    fn bases(&self, domain: DomainId) -> Vec<(RouterId, u32)> {
        let topology = &self.network.topology;
        let mut next = 0;
        let routers = self.network.partition.routers(domain).iter();
        let with_base = routers.map(|&id| {
            let base = next;
            next += self.places(topology.ports(id));
            (id, base)
        });
        with_base.collect()
    }

    pub(crate) fn add_ports(&mut self) {
        let network = self.network.clone();
        let mut bases = FxHashMap::default();
        let mut nics = 0;
        for at in 0..self.ports.routers.len() {
            let Router { id, ports, .. } = self.ports.routers[at];
            let buffered = network.buffered(id);
            assert!(
                buffered <= u64::from(MOST_BUFFERED),
                "{buffered} flits of router {id}"
            );
            for port in 0..ports {
                let link = network.topology.link(id, port);
                let peer = network.topology.peer(id, port);
                let to = peer.router().unwrap_or(id);
                let (wire, upstream) = match peer {
                    Peer::Unused => (Wire::Unused, Upstream::Nothing),
                    Peer::Endpoint(endpoint) => {
                        self.ends.nics.push(Nic::new(endpoint));
                        nics += 1;
                        (
                            Wire::Endpoint(nics - 1),
                            Upstream::Output(self.first_nic_output + nics - 1),
                        )
                    }
                    Peer::Router(other, far) => self.wires(other, far, &mut bases),
                };
                let place = Place::Router(id, port);
                // Its credits take the direction that begins here.
                let back = network.link(place).latency;
                self.add_input(at as u32, upstream, &link, back);
                self.add_output(wire, [id, to], place);
            }
            if K::CC && self.fixed.can.answers {
                let link = network.topology.link(id, 0);
                self.add_input(at as u32, Upstream::Nothing, &link, link.latency);
                self.add_output(Wire::Unused, [id, id], Place::Router(id, 0));
            }
        }
    }

    /// Finds out which neighbours' packets all come to one input.
    pub(crate) fn add_inboxes(&mut self) {
        let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); self.neighbours.len()];
        for (input, place) in self.ports.inputs.iter().enumerate() {
            if let Upstream::Away { neighbour, .. } = place.upstream {
                inputs[neighbour as usize].push(input as u32);
            }
        }
        for inputs in inputs {
            let entrance = match inputs[..] {
                [input] => Some(input),
                _ => None,
            };
            self.mail.inboxes.push(Inbox::new(
                entrance.filter(|_| self.pool.header_words() == 0),
            ));
        }
    }

    /// The wire to a port of another router, and the reverse path for credits.
    /// `bases` holds those of neighbouring domains.
    fn wires(
        &self,
        router: RouterId,
        port: PortId,
        bases: &mut FxHashMap<DomainId, Vec<(RouterId, u32)>>,
    ) -> (Wire, Upstream) {
        let domain = self.network.partition.domain_of(router);
        if domain == self.id {
            let flat = self.flat_port(router, port);
            return (Wire::Router(flat), Upstream::Output(flat));
        }
        let neighbour = self.neighbours.partition_point(|&other| other < domain) as u32;
        let network = &self.network;
        let bases = bases.entry(domain);
        let bases = bases.or_insert_with(|| self.bases(domain));
        let (_, base) = bases[network.partition.local_index(router) as usize];
        let flat = base + u32::from(port);
        (
            Wire::Away {
                neighbour,
                input: flat,
            },
            Upstream::Away {
                neighbour,
                output: flat,
            },
        )
    }

    /// The flat number of a port of one of this domain's routers.
    #[inline]
    pub(crate) fn flat_port(&self, router: RouterId, port: PortId) -> u32 {
        let at = self.network.partition.local_index(router);
        self.ports.routers[at as usize].base + u32::from(port)
    }

    /// Adds an input behind a link as built; its credits take the latency `back`, ps.
    fn add_input(&mut self, router: u32, upstream: Upstream, link: &Link, back: Time) {
        let queue_base = match self.fixed.voq {
            true => 0,
            false => self.ports.fifos.add(self.network.channels(link.kind)),
        };
        let own = self.network.router(self.ports.routers[router as usize].id);
        self.ports.inputs.push(Input {
            free_at: 0,
            wake: NEVER,
            wire: Fifo::EMPTY,
            upstream,
            credit_latency: back + own.credit_delay,
            crossbar: self.network.crossbar(own, link),
            router,
            queue_base,
            onward: NO_OUTPUT,
        });
    }

    /// Place of a timing among those of the domain. Mostly there is one for each kind of link, and
    /// one for each way in which links of a kind differ.
    fn place_of(&mut self, timing: Timing) -> u32 {
        let known = self.timings.iter().position(|&known| known == timing);
        known.unwrap_or_else(|| {
            self.timings.push(timing);
            self.timings.len() - 1
        }) as u32
    }

    /// Adds the output at a place, of one router to another. (A NIC's is of the router that it
    /// leads to.) Crossbar and buffers are made for the link as built.
    pub(crate) fn add_output(&mut self, wire: Wire, [from, to]: [RouterId; 2], place: Place) {
        let network = self.network.clone();
        let (link, built) = (&network.link(place), &network.topology.link_from(place));
        let of_nic = matches!(place, Place::Nic(_));
        let ends @ [own, next] = [network.router(from), network.router(to)];
        let queue = own.output_flits(&network.parameters);
        let prepaid = !of_nic && own.credit_to_cross() && own.output_queue != OutputQueue::None;
        let timing = self.place_of(Timing {
            rate: network.rate(link),
            crossbar: network.crossbar(own, built),
            latency: link.latency,
            round_trip: (network.parameters).round_trip_flits(ends, link, network.back(place)),
            crossing: own.latency,
            crossed: match own.output_queue {
                OutputQueue::None => 0,
                _ => network.parameters.flits_in(own.latency, link),
            },
            output_queue: queue.map(|flits| flits.min(network.most_queued())),
            unlimited: own.output_queue == OutputQueue::Unlimited,
            model: network.topology.router_kind(from).0,
            stores: next.switching.stores() && matches!(wire, Wire::Router(_) | Wire::Away { .. }),
            passes_queue: network.passes_queue(own, link),
            credit_to_cross: own.credit_to_cross(),
            vc_allocation: own.vc_allocation,
            route_computation: own.route_computation,
            prepaid,
        });
        self.add_failing(wire, place);
        let mut out = Output::new(timing, wire, link.kind);
        let sink = matches!(wire, Wire::Endpoint(_));
        out.queues = match wire {
            Wire::Unused => 0,
            Wire::Endpoint(_) => 1,
            Wire::Router(_) | Wire::Away { .. } => network.queues(link.kind),
        };
        let shared = next.buffer_per == BufferPer::Port;
        // An endpoint takes everything at once. If packets need a place before they cross, it has
        // the places of any buffer, and no fewer than its link needs.
        let flits = match (sink, prepaid) {
            (false, _) => network.queue_flits(ends, built),
            (true, false) => u64::from(u32::MAX / 2),
            (true, true) => network
                .queue_flits(ends, built)
                .max(network.parameters.full_rate_flits(ends, built)),
        };
        // `simulation/src/assemble/limits.rs` refuses more.
        let capacity = u32::try_from(flits).unwrap_or(u32::MAX / 2);
        let classes = self.fixed.classes.count();
        if out.queues * u32::from(classes) > MOST_BITS {
            let wide_port = self
                .ports
                .wide_ports
                .add(out.queues, classes, capacity, shared);
            out.channel_base = wide_port;
            self.ports.outputs.push(out);
            return;
        }
        out.channel_base = self.ports.channels.len() as u32;
        for _ in 0..classes {
            for queue in 0..out.queues {
                let share = if shared { queue } else { 0 };
                let own = if share == 0 { capacity } else { 0 };
                self.ports.channels.push(Channel::new(own, share));
            }
        }
        self.ports.outputs.push(out);
    }

    /// Takes note of the next output if its link fails during the run.
    fn add_failing(&mut self, wire: Wire, place: Place) {
        if wire != Wire::Unused
            && let Some(failing) = Failing::new(&self.network, place)
        {
            let output = self.ports.outputs.len() as OutIndex;
            self.failing.insert(output, failing);
        }
    }

    /// Division of the buffer of an input.
    pub(crate) fn divided_buffer(&self, input: u32) -> Divided {
        let network = &self.network;
        let Router { id, base, .. } =
            self.ports.routers[self.ports.inputs[input as usize].router as usize];
        let port = (input - base) as PortId;
        let own = network.router(id);
        let from = match self.ports.inputs[input as usize].upstream {
            Upstream::Nothing => {
                return Divided {
                    flits: 0,
                    queues: 1,
                };
            }
            _ => match network.topology.peer(id, port) {
                Peer::Router(from, _) => network.router(from),
                Peer::Endpoint(_) | Peer::Unused => own,
            },
        };
        let link = network.topology.link(id, port);
        let flits = network.queue_flits([from, own], &link);
        Divided {
            flits: u32::try_from(flits).unwrap_or(u32::MAX),
            queues: match own.buffer_per {
                BufferPer::Port => network.queues(link.kind),
                BufferPer::Vc | BufferPer::Divided => 1,
            },
        }
    }
}
