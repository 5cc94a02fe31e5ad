//! Bandwidths, flit sizes, and the time that flits take on a link.

use super::Time;
use serde::{Deserialize, Serialize};

/// Bits per second of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bandwidth(pub u64);

/// Bits of one flit, the unit of buffers and credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlitSize(pub u32);

impl FlitSize {
    /// Flits that hold `bits`; at least one.
    pub fn flits(self, bits: u64) -> u64 {
        bits.div_ceil(u64::from(self.0)).max(1)
    }
}

/// Serialization time of flits on a link.
///
/// The picoseconds per flit are held with 20 binary places. This is the only place where a
/// serialization time is rounded: the time of a packet is rounded to the nearest picosecond,
/// whatever its length. So the error of a packet is at most half a picosecond and 2⁻²¹ ps per flit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRate {
    ps_per_flit_q20: u64,
}

impl LinkRate {
    const PLACES: u32 = 20;

    /// The rate of a link of `bandwidth` for flits of `flit` bits.
    pub fn new(bandwidth: Bandwidth, flit: FlitSize) -> Self {
        let scaled = (u128::from(flit.0) * 1_000_000_000_000) << Self::PLACES;
        let per_flit = (scaled + u128::from(bandwidth.0 / 2)) / u128::from(bandwidth.0.max(1));
        LinkRate {
            ps_per_flit_q20: u64::try_from(per_flit).unwrap_or(u64::MAX >> 24),
        }
    }

    /// A link `times` as fast (a crossbar's speedup).
    pub fn faster(self, times: f64) -> Self {
        LinkRate {
            ps_per_flit_q20: ((self.ps_per_flit_q20 as f64) / times).round() as u64,
        }
    }

    /// A link that takes no time (an infinite crossbar).
    pub fn instant() -> Self {
        LinkRate { ps_per_flit_q20: 0 }
    }

    /// Picoseconds that `flits` flits occupy the link, one after the other; [`Time::MAX`] if they
    /// are more than that.
    pub fn time_of(self, flits: u64) -> Time {
        let scaled = u128::from(flits) * u128::from(self.ps_per_flit_q20);
        let time = (scaled + (1 << (Self::PLACES - 1))) >> Self::PLACES;
        Time::try_from(time).unwrap_or(Time::MAX)
    }

    /// Picoseconds that `flits` occupy the link.
    #[inline]
    pub fn time(self, flits: u16) -> Time {
        (u64::from(flits) * self.ps_per_flit_q20 + (1 << (Self::PLACES - 1))) >> Self::PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_rates_are_exact() {
        let sc15 = LinkRate::new(Bandwidth(100_000_000_000), FlitSize(100));
        assert_eq!(sc15.time(1), 1_000);
        assert_eq!(sc15.time(24), 24_000);
        assert_eq!(sc15.faster(2.0).time(1), 500);
    }

    #[test]
    fn a_long_packet_is_rounded_once() {
        // 25 GiB/s: 512 bits take 2384.185791015625 ps, 32 flits 76293.9453125 ps.
        let codes = LinkRate::new(Bandwidth(25 * (1 << 30) * 8), FlitSize(512));
        assert_eq!(codes.time(1), 2_384);
        assert_eq!(codes.time(32), 76_294);
    }
}
