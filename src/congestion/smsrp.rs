use schemars::schema_for;

use super::scheduler::Scheduler;
use super::srp::Parameters;
use super::{About, AnyScheme, Build, Desk, Port, Scheme, check_speculation};
use crate::model::{Classes, Origin, PacketKind, Time};
use crate::registry::Entry;

/// Small-message speculative reservation: every packet is sent speculatively at once; only one that was dropped asks
/// for a time, and is sent without loss then. The packets of a longer message each do so on their own.
///
/// Control packets carry all that a source has to know of a packet to send it again, so that the model holds nothing
/// for packets under way; a real NIC holds them until they are acknowledged.
#[derive(Clone, Debug)]
pub struct Smsrp {
    timeout: Time,
    loss: f64,
    about: About,
    scheduler: Scheduler,
}

impl Scheme for Smsrp {
    const SPECULATES: bool = true;

    fn name(&self) -> &'static str {
        "smsrp"
    }

    fn classes(&self) -> Classes {
        Classes::RESERVED
    }

    fn prepare(&mut self, nics: usize, _outputs: usize) {
        self.scheduler.prepare(nics);
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn heard<D: Desk>(&mut self, desk: &mut D, origin: &Origin, _marked: bool) {
        match PacketKind::ALL[usize::from(origin.kind)] {
            PacketKind::Nack => {
                let payload = self.about.payload(origin.message_bits, origin.part);
                let request = Origin {
                    payload_bits: self.about.flit.flits(payload) as u32,
                    ..*origin
                };
                desk.reply(PacketKind::Reservation, origin.source, request);
            }
            PacketKind::Grant => {
                let at = origin.time().unwrap_or(0);
                desk.resend(at, false, origin.source, *origin);
            }
            PacketKind::Reservation => self.scheduler.answer(desk, origin),
            PacketKind::Ack | PacketKind::Data => {}
        }
    }

    fn allowed(&self, _port: &Port) -> Time {
        self.timeout
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "smsrp",
    summary: "Small-message SRP: speculation first, a reservation only for what was dropped.",
    source: "000 section 3.1, Table 1",
    parameters: || schema_for!(Parameters),
    build: |section, about| {
        let parameters: Parameters = section.parse()?;
        check_speculation(section, about, parameters.loss, Some(parameters.timeout.0))?;
        Ok(AnyScheme::Smsrp(Smsrp {
            timeout: parameters.timeout.0,
            loss: parameters.loss,
            about: *about,
            scheduler: Scheduler::new(*about),
        }))
    },
};
