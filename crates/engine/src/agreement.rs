//! Values that ranks agree on before they continue.

use super::transport::{Transport, TransportError};
use weir_model::Time;

/// Values that the ranks agree on between two pieces of windows.
/// Combining takes the minimum of every field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Agreement {
    /// The next time at which anything happens.
    pub next: Time,
    /// 1 if nothing has moved in the last piece, otherwise 0.
    pub still: u64,
    /// The number of a [`super::StopReason`] if a rank asks to stop, the next one if a rank wants
    /// the state of the run, otherwise more.
    pub go_on: u64,
    /// 1 if all domains of all ranks are finished ([`super::Domain::finished`]), otherwise 0.
    pub finished: u64,
    /// Maximum length of the next piece of a window, ps.
    pub piece: Time,
}

impl Agreement {
    /// Leaves every other view as it is.
    pub const NEUTRAL: Agreement = Agreement {
        next: u64::MAX,
        still: u64::MAX,
        go_on: u64::MAX,
        finished: u64::MAX,
        piece: u64::MAX,
    };

    /// The common view of all ranks.
    pub fn of_all<T: Transport + ?Sized>(
        self,
        transport: &mut T,
    ) -> Result<Agreement, TransportError> {
        let mut words: [u64; 5] = bytemuck::cast(self);
        transport.min(&mut words)?;
        Ok(bytemuck::cast(words))
    }

    /// The common view of two ranks.
    pub fn with(self, other: Agreement) -> Agreement {
        Agreement {
            next: self.next.min(other.next),
            still: self.still.min(other.still),
            go_on: self.go_on.min(other.go_on),
            finished: self.finished.min(other.finished),
            piece: self.piece.min(other.piece),
        }
    }
}
