//! NICs: their sending and receiving, and the tasks of applications on them.

pub(crate) mod flows;
pub(crate) mod groups;
pub(crate) mod nic;
mod pair_groups;
pub(crate) mod pair_ring;
pub(crate) mod reassembly;
pub(crate) mod resend;
pub(crate) mod ring_order;
pub(crate) mod send_queues;
pub(crate) mod shaper;
pub(crate) mod source;

use serde::{Deserialize, Serialize};

use crate::setup::network::Network;
use flows::Flows;
use nic::Nic;
use reassembly::Reassembly;
use resend::Resends;
use send_queues::SendQueues;
use shaper::Shaper;
use source::Source;
use weir_slots::Slots;

/// NICs, with the state of their sending and receiving.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ends {
    pub nics: Slots<Nic>,
    pub sends: SendQueues,
    /// By NIC; of schemes that send packets again only.
    pub resends: Vec<Resends>,
    /// Messages that have come in part.
    pub partial: Reassembly,
    /// Messages of tasks that are acknowledged in part; of schemes that may drop packets only.
    pub acknowledged: Reassembly,
    pub sources: Slots<Source>,
    /// Flows whose paths are set up.
    pub flows: Flows,
    /// Last packets that NICs have sent at the rates of flows.
    pub shaper: Shaper,
}

impl Ends {
    /// Without endpoints.
    pub fn new(network: &Network) -> Ends {
        Ends {
            nics: Slots::default(),
            sends: SendQueues::new(network.parameters.order, network.flows.shared),
            resends: Vec::new(),
            partial: Reassembly::default(),
            acknowledged: Reassembly::default(),
            sources: Slots::default(),
            flows: Flows::default(),
            shaper: Shaper::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NicOrder;
    use pair_ring::{Message, PairRing};
    use std::collections::VecDeque;
    use weir_workload::tasks::{Envelope, EnvelopeKind};

    /// Grants leave in order, and before all else; the rest leaves in order.
    #[test]
    fn grants_go_before_other_messages() {
        let (mut queues, mut ring) = (
            SendQueues::new(NicOrder::ClearsFirst, false),
            PairRing::EMPTY,
        );
        let kinds = [
            EnvelopeKind::Clear,
            EnvelopeKind::Request,
            EnvelopeKind::Data,
        ];
        let mut rng = weir_model::stream(1, &[]);
        let [mut grants, mut rest] = [(); 2].map(|()| VecDeque::<(u32, u64)>::new());
        for number in 0..20_000 {
            if weir_model::below(&mut rng, 7) < 2 {
                let kind = kinds[weir_model::below(&mut rng, 3) as usize];
                let bits = 1 + u64::from(weir_model::below(&mut rng, 3));
                let stamp = Envelope {
                    kind,
                    tag: 0,
                    number: 0,
                }
                .to_stamp();
                queues.add(0, &mut ring, 7, Message::new(0, bits, number, 0, stamp));
                let place = if kind == EnvelopeKind::Clear {
                    &mut grants
                } else {
                    &mut rest
                };
                place.push_back((number, bits));
            } else if ring.pairs > 0 {
                let first = if grants.is_empty() {
                    &mut rest
                } else {
                    &mut grants
                };
                let message = queues.message(queues.pair(ring.turn).first);
                assert_eq!((message.number, message.left), first[0]);
                let turn = ring.turn;
                queues.take(0, &mut ring, turn, 1);
                first[0].1 -= 1;
                first.retain(|&(_, left)| left > 0);
            }
            assert_eq!(ring.pairs as usize, grants.len() + rest.len());
        }
        assert!(ring.pairs < 1_000, "{}", ring.pairs);
    }
}
