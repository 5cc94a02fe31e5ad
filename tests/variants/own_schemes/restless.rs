//! Timers that set themselves again for the same moment, at a NIC and at a port.

use weir::congestion::{Capabilities, NicContext, PacketView, PortContext, Rules};
use weir::fabric::Fault;
use weir::model::{Classes, Time};
use weir::simulation::RunError;

use super::network;

#[derive(Clone, Copy, PartialEq)]
enum Restless {
    Nic,
    Port,
}

impl Rules for Restless {
    type State = ();

    fn start(&self, _nics: usize, _outputs: usize) {}

    fn name(&self) -> &'static str {
        "restless"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            paces: true,
            observes: true,
            ..Capabilities::NONE
        }
    }

    fn classes(&self) -> Classes {
        Classes::PLAIN
    }

    fn on_sent(&self, (): &mut (), nic: &mut dyn NicContext, _: &PacketView, _tail: Time) {
        if *self == Restless::Nic {
            nic.wake(nic.now(), 0);
        }
    }

    fn on_nic_timer(&self, (): &mut (), nic: &mut dyn NicContext, number: u64) {
        nic.wake(nic.now(), number);
    }

    fn on_route(&self, (): &mut (), port: &mut PortContext, _: &PacketView) {
        if *self == Restless::Port {
            port.wake(port.now);
        }
    }

    fn on_port_timer(&self, (): &mut (), port: &mut PortContext) {
        port.wake(port.now);
    }
}

#[test]
fn timers_that_keep_time_from_going_on_end_the_run() {
    let traffic = network().uniform(0.1).message("24 flits").until("2 us");
    for build in [
        |_: &_, _: &_| Ok(Restless::Nic.into_scheme()),
        |_: &_, _: &_| Ok(Restless::Port.into_scheme()),
    ] {
        let ended = traffic.clone().own_scheme(build).try_run().map(|_| ());
        let Err(RunError::Fault(Fault::Timers { scheme, .. })) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(scheme, "restless");
    }
}
