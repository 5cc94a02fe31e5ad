//! Sizes of messages: one size, or a mix by volume.

use crate::open::message::Message;
use weir_model::{FlitSize, Invalid, LONGEST_MESSAGE, Rng, unit};

/// Draws the sizes of the messages of a workload, in bits.
///
/// The shares of a mix are shares of the volume (Jiang et al., SC15, figure 12: "50% of the data
/// transferred as 4-flit messages"), so the chance of a size is proportional to its share divided
/// by the size.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// In bits.
    sizes: Box<[u64]>,
    /// Cumulative probability: the chance of an index below i + 1, for every index but the last.
    below: Box<[f64]>,
    mean: f64,
}

impl Sizes {
    /// The sizes that `message` describes, with flits of `flit` and packets of at most
    /// `max_packet_flits`.
    ///
    /// Errors (about the key `message`): no size, one above [`LONGEST_MESSAGE`], or a share that is
    /// not a positive number. Shares need not sum up to 1.
    pub fn new(message: &Message, flit: FlitSize, max_packet_flits: u64) -> Result<Sizes, Invalid> {
        // An empty message still needs a packet.
        let bits = |size: &weir_input::Size| size.bits(flit, max_packet_flits).max(1);
        let parts: Vec<(u64, f64)> = match message {
            Message::Fixed(size) => vec![(bits(size), 1.0)],
            Message::Mix(parts) => parts
                .iter()
                .map(|(size, share)| (bits(size), *share))
                .collect(),
        };
        if let Some(at) = parts.iter().position(|&(bits, _)| bits > LONGEST_MESSAGE) {
            let key = match message {
                Message::Fixed(_) => "message".to_string(),
                Message::Mix(_) => format!("message.{at}.size"),
            };
            let message = format!("a message is longer than {LONGEST_MESSAGE} bits");
            return Err(Invalid::new(key, message, "write a smaller size"));
        }
        if parts.is_empty() {
            return Err(Invalid::new(
                "message",
                "the mix is empty",
                "give at least one size",
            ));
        }
        if let Some(index) = parts
            .iter()
            .position(|(_, share)| !(*share > 0.0 && share.is_finite()))
        {
            let message = format!("{} is not a share", parts[index].1);
            let remedy = "write a number of more than 0; shares are relative to one another";
            return Err(Invalid::new(
                format!("message.{index}.share"),
                message,
                remedy,
            ));
        }
        let volume: f64 = parts.iter().map(|(_, share)| share).sum();
        // Messages per bit, of each size and of all.
        let rates: Vec<f64> = parts
            .iter()
            .map(|(bits, share)| share / volume / *bits as f64)
            .collect();
        let rate: f64 = rates.iter().sum();
        let mut sum = 0.0;
        let below = rates[..rates.len() - 1].iter().map(|one| {
            sum += one;
            sum / rate
        });
        Ok(Sizes {
            below: below.collect(),
            sizes: parts.iter().map(|(bits, _)| *bits).collect(),
            mean: 1.0 / rate,
        })
    }

    /// Mean size of a message in bits.
    pub fn mean_bits(&self) -> f64 {
        self.mean
    }

    /// The largest size in bits.
    pub fn largest(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// The length in flits of the shortest packet of any message, if the longest has `max_packet`
    /// of `flit`.
    pub fn shortest_packet(&self, flit: FlitSize, max_packet: u64) -> u64 {
        let longest = max_packet.saturating_mul(u64::from(flit.0)).max(1);
        let last = self.sizes.iter().map(|&bits| match bits % longest {
            0 => longest,
            rest => rest,
        });
        last.map(|bits| flit.flits(bits)).min().unwrap_or(1)
    }

    /// The size of the next message in bits. A workload of one size draws no random number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        if self.below.is_empty() {
            return self.sizes[0];
        }
        let drawn = unit(rng);
        self.sizes[self.below.partition_point(|&below| below <= drawn)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_input::Size;
    use weir_model::stream;

    const FLIT: FlitSize = FlitSize(100);

    fn mix(parts: &[(u64, f64)]) -> Message {
        Message::Mix(
            parts
                .iter()
                .map(|&(flits, share)| (Size::Flits(flits), share))
                .collect(),
        )
    }

    #[test]
    fn one_size_is_that_size_and_leaves_the_stream_alone() {
        let mut rng = stream(1, &[]);
        for (size, bits) in [
            (Size::Flits(4), 400),
            (Size::Packets(2), 4_800),
            (Size::Bits(77), 77),
        ] {
            let sizes = Sizes::new(&Message::Fixed(size), FLIT, 24).unwrap();
            assert_eq!(
                (sizes.draw(&mut rng), sizes.mean_bits()),
                (bits, bits as f64)
            );
        }
        assert_eq!(rng, stream(1, &[]));
    }

    #[test]
    fn the_shortest_packet_is_the_last_of_a_message() {
        for (parts, shortest) in [
            (&[24][..], 24),
            (&[48], 24),
            (&[7], 7),
            (&[25], 1),
            (&[24, 50, 71], 2),
        ] {
            let parts: Vec<_> = parts.iter().map(|&flits| (flits, 1.0)).collect();
            let sizes = Sizes::new(&mix(&parts), FLIT, 24).unwrap();
            assert_eq!(sizes.shortest_packet(FLIT, 24), shortest, "{parts:?}");
        }
        // One bit more than a packet takes another flit.
        let sizes = Sizes::new(&Message::Fixed(Size::Bits(2_401)), FLIT, 24).unwrap();
        assert_eq!(sizes.shortest_packet(FLIT, 24), 1);
    }

    #[test]
    fn half_of_the_volume_is_many_small_messages() {
        // Jiang et al., SC15, figure 12: one message of 512 flits for 128 of 4 flits.
        let sizes = Sizes::new(&mix(&[(4, 0.5), (512, 0.5)]), FLIT, 24).unwrap();
        assert!((sizes.mean_bits() - 129.0_f64.recip() * (128.0 * 400.0 + 51_200.0)).abs() < 1e-9);
        let mut rng = stream(2, &[]);
        let messages = 1_290_000;
        let large = (0..messages)
            .filter(|_| sizes.draw(&mut rng) == 51_200)
            .count() as f64;
        // 10,000 expected; sigma is 100.
        assert!((large - 10_000.0).abs() < 300.0, "{large}");
    }

    #[test]
    fn every_part_has_its_share_of_the_volume_in_any_order() {
        // Shares are relative: they sum up to 10 here.
        let parts = [(100, 2.0), (1, 5.0), (30, 3.0)];
        let sizes = Sizes::new(&mix(&parts), FLIT, 24).unwrap();
        let mut rng = stream(3, &[]);
        let mut volume = [0u64; 3];
        let mut total = 0;
        let messages = 3_000_000;
        for _ in 0..messages {
            let bits = sizes.draw(&mut rng);
            let part = parts
                .iter()
                .position(|(flits, _)| flits * 100 == bits)
                .unwrap();
            volume[part] += bits;
            total += bits;
        }
        for (part, (_, share)) in volume.iter().zip(parts) {
            let measured = *part as f64 / total as f64;
            assert!(
                (measured - share / 10.0).abs() < 0.005,
                "{measured} for {share}"
            );
        }
        let mean = total as f64 / f64::from(messages);
        assert!((mean / sizes.mean_bits() - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        for share in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Sizes::new(&mix(&[(4, 1.0), (8, share)]), FLIT, 24).unwrap_err();
            assert_eq!(refused.key, "message.1.share");
        }
        assert_eq!(Sizes::new(&mix(&[]), FLIT, 24).unwrap_err().key, "message");
    }
}
