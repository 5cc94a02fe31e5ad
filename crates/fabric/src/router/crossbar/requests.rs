//! Rings of requests: the queues of inputs that wait for each output.

use crate::domain::FabricDomain;
use crate::setup::plain::Compiled;
use crate::state::pool::Fifo;
use crate::state::ports::ring::Side;
use crate::state::{InIndex, OutIndex, Request};
use crate::state::{NO_REQUEST, RequestIndex};
use weir_model::{PacketIndex, Time};

impl<K: Compiled> FabricDomain<K> {
    /// A packet waits for an output as the first of its queue. `from`: its input and its queue
    /// there.
    #[inline]
    pub(crate) fn add_queue(
        &mut self,
        index: PacketIndex,
        from: (InIndex, u16),
        output: OutIndex,
    ) -> RequestIndex {
        let mut queue = Fifo::EMPTY;
        queue.push(&mut self.pool, index);
        let packet = self.pool.get(index);
        self.add_request(Request {
            queue,
            input: from.0,
            output,
            in_queue: from.1,
            class: packet.class,
            out_queue: packet.queue,
            also: false,
            others: NO_REQUEST,
        })
    }

    /// A request joins the rings of its output and its input.
    #[inline]
    pub(crate) fn add_request(&mut self, request: Request) -> RequestIndex {
        let Request {
            input,
            output,
            class,
            ..
        } = request;
        let (at_output, at_input) = self.ring_places(output, input, class);
        let (outputs, inputs) = (&mut self.ports.rings.outputs, &mut self.ports.rings.inputs);
        self.ports
            .requests
            .add(request, &mut outputs[at_output], &mut inputs[at_input])
    }

    /// A request leaves the rings of its output and its input.
    #[inline]
    pub(crate) fn remove_request(&mut self, at: RequestIndex) {
        let Request {
            input,
            output,
            class,
            ..
        } = *self.ports.requests.get(at);
        let (at_output, at_input) = self.ring_places(output, input, class);
        let (outputs, inputs) = (&mut self.ports.rings.outputs, &mut self.ports.rings.inputs);
        self.ports
            .requests
            .remove(at, &mut outputs[at_output], &mut inputs[at_input]);
    }

    /// The places of the rings of an output and an input for a class.
    #[inline]
    pub(crate) fn ring_places(
        &self,
        output: OutIndex,
        input: InIndex,
        class: u8,
    ) -> (usize, usize) {
        let classes = usize::from(self.fixed.classes.count());
        let class = usize::from(class);
        (
            output as usize * classes + class,
            input as usize * classes + class,
        )
    }

    /// The virtual output queue of an input and a queue there, if it holds anything.
    pub(crate) fn find_request(
        &self,
        at_output: usize,
        input: InIndex,
        in_queue: u16,
    ) -> Option<RequestIndex> {
        let first = self.ports.rings.outputs[at_output].next;
        let mut at = first;
        while at != NO_REQUEST {
            let request = self.ports.requests.get(at);
            if request.input == input && request.in_queue == in_queue && !request.also {
                return Some(at);
            }
            at = self.ports.requests.after(at, Side::Output);
            if at == first {
                break;
            }
        }
        None
    }

    /// Takes the first packet of a request out, and the request with its last packet.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, at: RequestIndex) -> Option<PacketIndex> {
        let index = self.ports.requests.queue_mut(at).pop(&self.pool)?;
        if self.ports.requests.get(at).queue.is_empty() {
            self.remove_request(at);
        }
        Some(index)
    }

    /// Without virtual output queues the next packet of the FIFO is at its head now.
    pub(crate) fn next_of_fifo(&mut self, input: InIndex, in_queue: u16, now: Time) {
        let base = self.ports.inputs[input as usize].queue_base;
        let queue = self.ports.fifos.get(base, input, in_queue);
        match queue.behind.pop(&self.pool) {
            Some(index) => self.route(index, input, true, now),
            None => queue.requested = false,
        }
    }
}
