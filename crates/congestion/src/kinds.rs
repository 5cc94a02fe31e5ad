//! The control packets of schemes that reserve. Other kinds of a scheme are in its own file:
//! results name only the kinds that a scheme uses.

use weir_model::{ControlKind, PacketKind};

/// Tells the source that a data packet was dropped.
pub const NACK: PacketKind = PacketKind::own(0);
/// Asks for a time to send.
pub const RESERVATION: PacketKind = PacketKind::own(1);
/// Tells the source when to send.
pub const GRANT: PacketKind = PacketKind::own(2);

/// All three in the one class of control packets of [`weir_model::Classes::SPECULATIVE`].
pub const IN_ONE_CLASS: &[ControlKind] = &in_classes([2, 2, 2]);
/// Reservations and grants in separate classes, those of [`weir_model::Classes::RESERVED`].
pub const IN_OWN_CLASSES: &[ControlKind] = &in_classes([2, 3, 4]);

const fn in_classes([nack, reservation, grant]: [u8; 3]) -> [ControlKind; 3] {
    [
        ControlKind {
            name: "nack",
            class: nack,
            timed: true,
        },
        ControlKind {
            name: "reservation",
            class: reservation,
            timed: false,
        },
        ControlKind {
            name: "grant",
            class: grant,
            timed: true,
        },
    ]
}
