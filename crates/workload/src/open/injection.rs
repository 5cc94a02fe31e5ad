//! Times at which an endpoint generates its messages (open loop: independent of the network).
//!
//! An [`Injector`] is made once for all senders with the same link. Every sender has a separate
//! [`Clock`], which holds the time of its next message with 64 binary places below the picosecond.
//! The time is rounded to whole picoseconds where it is read, so rounding never adds up and the
//! long-run rate is that of the load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometric::Geometric;
use super::logarithm::ln;
use weir_model::{Bandwidth, FlitSize, Invalid, Rng, Time, unit};

/// Maximum load; more is taken for a misplaced decimal point.
const MOST_LOAD: f64 = 1_000.0;

/// Maximum number of messages in the time of a flit; more is taken for a wrong unit.
const MOST_PER_FLIT: f64 = 1_000.0;

/// One picosecond in the units of a clock.
const PS: f64 = 18_446_744_073_709_551_616.0; // 2^64

/// Distribution of the times at which an endpoint generates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// In each flit time with the same probability.
    Bernoulli,
    /// After exponentially distributed times.
    Poisson,
    /// After equal times, from a random phase.
    Periodic,
}

/// Spacing of the messages of a workload's senders.
#[derive(Clone, Debug)]
pub struct Injector {
    spacing: Spacing,
}

/// Times are in units of 2^-64 ps.
#[derive(Clone, Debug)]
enum Spacing {
    /// Less than one message per flit time: the number of flit times to the next one is
    /// geometrically distributed.
    Sparse {
        flit: u128,
        /// Distribution of the number of flit times without a message before the next one with a
        /// message.
        misses: Box<Geometric>,
    },
    /// One message per flit time or more.
    Dense {
        flit: u128,
        /// Messages in every flit time.
        whole: u64,
        /// Probability of one more.
        chance: f64,
    },
    /// Exponentially distributed times.
    Poisson { mean: f64 },
    /// Equal times.
    Periodic { period: u128 },
}

/// The time of a sender's next message. 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// In ps.
    time: Time,
    /// In 2^-64 ps.
    fraction: u64,
    /// Number of further messages at this time.
    burst: u64,
}

impl Clock {
    /// The time of the next message in ps; `NEVER` if it overflows.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }

    fn at(start: Time) -> Clock {
        Clock {
            time: start,
            fraction: 0,
            burst: 0,
        }
    }

    fn advance(&mut self, by: u128) {
        let now = u128::from(self.time) << 64 | u128::from(self.fraction);
        let then = now.saturating_add(by);
        self.time = (then >> 64) as Time;
        self.fraction = then as u64;
    }
}

impl Injector {
    /// For senders that offer `load` of a link of `bandwidth` in messages of `mean_bits` on average
    /// ([`Sizes::mean_bits`](super::sizes::Sizes::mean_bits)).
    ///
    /// - Bernoulli: each flit time (counted from the start of the workload) has a message with the
    ///   same probability, load · flit / mean_bits. If this is above 1, every flit time has its
    ///   integer part in messages, and one more with the remaining probability.
    /// - Poisson: exponentially distributed times with the mean mean_bits / (load · bandwidth).
    /// - Periodic: equal times of this length, from a random phase.
    ///
    /// Errors (about the key `load`): not a positive number, or above 1,000, or more than 1,000
    /// messages in the time of a flit.
    pub fn new(
        injection: Injection,
        load: f64,
        mean_bits: f64,
        bandwidth: Bandwidth,
        flit: FlitSize,
    ) -> Result<Injector, Invalid> {
        let per_flit = load * f64::from(flit.0) / mean_bits;
        if !(load > 0.0 && load <= MOST_LOAD && per_flit > 0.0) {
            let message = format!("{load} is not a load");
            let remedy =
                format!("give a fraction of the link, more than 0 and at most {MOST_LOAD}");
            return Err(Invalid::new("load", message, remedy));
        }
        if per_flit > MOST_PER_FLIT {
            let message = format!("{load} is {per_flit} messages in the time of a flit");
            let remedy = format!(
                "write a lower load or longer messages: at most {MOST_PER_FLIT} messages in that \
                 time"
            );
            return Err(Invalid::new("load", message, remedy));
        }
        let flit = flit_time(bandwidth, flit);
        // A cast from a float saturates: a gap of that length never ends.
        let period = mean_bits * 1e12 / (load * bandwidth.0 as f64) * PS;
        let spacing = match injection {
            Injection::Bernoulli if per_flit < 1.0 => Spacing::Sparse {
                flit,
                misses: Box::new(Geometric::new(per_flit)),
            },
            Injection::Bernoulli => Spacing::Dense {
                flit,
                whole: per_flit as u64,
                chance: per_flit.fract(),
            },
            Injection::Poisson => Spacing::Poisson { mean: period },
            Injection::Periodic => Spacing::Periodic {
                period: period as u128,
            },
        };
        Ok(Injector { spacing })
    }

    /// The clock of a sender that starts at `start`: it shows the time of its first message.
    pub fn first(&self, rng: &mut Rng, start: Time) -> Clock {
        let mut clock = Clock::at(start);
        match &self.spacing {
            // The first flit time may have a message as well.
            Spacing::Sparse { flit, misses } => {
                clock.advance(flit.saturating_mul(misses.draw(rng).into()));
            }
            Spacing::Dense { whole, chance, .. } => clock.burst = burst(*whole, *chance, rng) - 1,
            Spacing::Poisson { mean } => clock.advance(exponential(*mean, rng)),
            Spacing::Periodic { period } => clock.advance((*period as f64 * unit(rng)) as u128),
        }
        clock
    }

    /// Advances `clock` to the message after the one that it shows, and returns its time.
    #[inline]
    pub fn next(&self, clock: &mut Clock, rng: &mut Rng) -> Time {
        match &self.spacing {
            Spacing::Sparse { flit, misses } => {
                let flits = misses.draw(rng).saturating_add(1);
                clock.advance(flit.saturating_mul(flits.into()));
            }
            Spacing::Dense { .. } if clock.burst > 0 => clock.burst -= 1,
            Spacing::Dense {
                flit,
                whole,
                chance,
            } => {
                clock.advance(*flit);
                clock.burst = burst(*whole, *chance, rng) - 1;
            }
            Spacing::Poisson { mean } => clock.advance(exponential(*mean, rng)),
            Spacing::Periodic { period } => clock.advance(*period),
        }
        clock.time
    }
}

/// The time of one flit, in 2^-64 ps, rounded down: less than 10^-19 of it is lost.
fn flit_time(bandwidth: Bandwidth, flit: FlitSize) -> u128 {
    let bandwidth = u128::from(bandwidth.0.max(1));
    let ps = u128::from(flit.0) * 1_000_000_000_000;
    let fraction = ((ps % bandwidth) << 64) / bandwidth;
    // 2^32 bits at one bit per second: the picoseconds have 72 bits.
    (ps / bandwidth)
        .saturating_mul(1 << 64)
        .saturating_add(fraction)
}

/// Messages of one flit time; at least one, since `whole` is.
fn burst(whole: u64, chance: f64, rng: &mut Rng) -> u64 {
    whole + u64::from(unit(rng) < chance)
}

fn exponential(mean: f64, rng: &mut Rng) -> u128 {
    (-ln(1.0 - unit(rng)) * mean) as u128
}

#[cfg(test)]
mod tests {
    use super::super::sizes::Sizes;
    use super::*;
    use crate::open::message::Message;
    use weir_input::Size;
    use weir_model::{NEVER, stream};

    const GBPS_100: Bandwidth = Bandwidth(100_000_000_000);
    const FLIT: FlitSize = FlitSize(100);
    const KINDS: [Injection; 3] = [
        Injection::Bernoulli,
        Injection::Poisson,
        Injection::Periodic,
    ];

    fn injector(kind: Injection, load: f64, flits: f64) -> Injector {
        Injector::new(kind, load, flits * 100.0, GBPS_100, FLIT).unwrap()
    }

    /// The times of the first `count` messages from `start`.
    fn times(injector: &Injector, seed: u64, start: Time, count: usize) -> Vec<Time> {
        let mut rng = stream(seed, &[]);
        let mut clock = injector.first(&mut rng, start);
        let mut times = vec![clock.time()];
        times.extend((1..count).map(|_| injector.next(&mut clock, &mut rng)));
        times
    }

    /// Mean and variance of the gaps between messages, in ps.
    fn moments(times: &[Time]) -> (f64, f64) {
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, variance)
    }

    #[test]
    fn the_long_run_rate_is_the_load() {
        let count = 200_000;
        for kind in KINDS {
            for (load, flits) in [
                (0.001, 4.0),
                (0.4, 4.0),
                (0.5, 1.0),
                (0.8, 512.0),
                (2.0, 24.0),
            ] {
                let period = flits / load * 1_000.0;
                let chance = load / flits;
                let times = times(&injector(kind, load, flits), 5, 7_000, count);
                assert!(times.is_sorted() && times[0] >= 7_000);
                let (mean, _) = moments(&times);
                let sigma = match kind {
                    Injection::Bernoulli => period * (1.0 - chance).sqrt(),
                    Injection::Poisson => period,
                    // Only the rounding of the first and the last time.
                    Injection::Periodic => 1.0 / (count as f64).sqrt(),
                } / (count as f64).sqrt();
                let off = (mean - period) / sigma;
                assert!(
                    off.abs() <= 3.0,
                    "{kind:?} {load} {flits}: {mean} ps, {off} sigma"
                );
            }
        }
    }

    #[test]
    fn a_mix_of_sizes_offers_the_load() {
        let parts = [(4, 0.5), (512, 0.5)].map(|(flits, share)| (Size::Flits(flits), share));
        let sizes = Sizes::new(&Message::Mix(parts.into()), FLIT, 24).unwrap();
        for kind in KINDS {
            let injector = Injector::new(kind, 0.6, sizes.mean_bits(), GBPS_100, FLIT).unwrap();
            let times = times(&injector, 14, 0, 1_000_000);
            let mut rng = stream(15, &[]);
            let bits: u64 = times.iter().map(|_| sizes.draw(&mut rng)).sum();
            let load = bits as f64 / (times[times.len() - 1] as f64 * 0.1);
            // 7,752 messages of 512 flits with a sigma of 88 are half of the volume: 0.57% of the
            // load.
            assert!((load / 0.6 - 1.0).abs() < 0.017, "{kind:?}: {load}");
        }
    }

    #[test]
    fn the_gaps_vary_as_they_should() {
        let count = 400_000;
        for (load, flits) in [(0.4, 4.0), (0.9, 1.0), (0.1, 50.0)] {
            let period = flits / load * 1_000.0;
            let chance: f64 = load / flits;
            // The standard deviation of the variance of n such gaps is about sqrt(8 / n) of it,
            // 0.45% here. For a geometric distribution with a chance near 1 it is sqrt((8 + p² /
            // (1 - p)) / n), because of the tail.
            let (_, poisson) = moments(&times(
                &injector(Injection::Poisson, load, flits),
                6,
                0,
                count,
            ));
            assert!(
                (poisson / period.powi(2) - 1.0).abs() < 0.0135,
                "{load} {flits}: {poisson}"
            );
            let (_, bernoulli) = moments(&times(
                &injector(Injection::Bernoulli, load, flits),
                6,
                0,
                count,
            ));
            let expected = (1.0 - chance) / chance.powi(2) * 1e6;
            assert!(
                (bernoulli / expected - 1.0).abs() < 0.02,
                "{load} {flits}: {bernoulli}"
            );
            let (_, periodic) = moments(&times(
                &injector(Injection::Periodic, load, flits),
                6,
                0,
                1_000,
            ));
            assert!(periodic <= 0.25, "{load} {flits}: {periodic}");
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let times = times(&injector(Injection::Poisson, 0.5, 4.0), 8, 0, 100_001);
        for (gap, survivors) in [
            (800, 0.904_837_f64),
            (8_000, 0.367_879),
            (24_000, 0.049_787),
        ] {
            let longer = times
                .windows(2)
                .filter(|pair| pair[1] - pair[0] >= gap)
                .count() as f64;
            let sigma = (1e5 * survivors * (1.0 - survivors)).sqrt();
            assert!(
                (longer - 1e5 * survivors).abs() < 3.0 * sigma,
                "{gap}: {longer}"
            );
        }
    }

    #[test]
    fn bernoulli_keeps_to_flit_times_from_the_start() {
        // 512 bits at 25 GiB/s take 2384.185791015625 ps.
        let bandwidth = Bandwidth(25 * (1 << 30) * 8);
        let injector = Injector::new(
            Injection::Bernoulli,
            0.7,
            4.0 * 512.0,
            bandwidth,
            FlitSize(512),
        )
        .unwrap();
        let mut firsts = 0;
        for time in times(&injector, 9, 0, 10_000) {
            let slot = (time as f64 / 2_384.185_791_015_625).ceil();
            assert_eq!(time, (slot * 2_384.185_791_015_625) as Time);
        }
        for seed in 0..4_000 {
            let mut rng = stream(seed, &[]);
            firsts += u32::from(injector.first(&mut rng, 55).time() == 55);
        }
        // The first flit time has a message with chance 0.175: 700 expected, sigma is 24.
        assert!((628..=772).contains(&firsts), "{firsts}");
    }

    #[test]
    fn loads_above_one_message_per_flit_time_fill_every_one() {
        // 2.5 messages of half a flit per flit time at load 1.25.
        let times = times(&injector(Injection::Bernoulli, 1.25, 0.5), 10, 0, 250_000);
        let mut counts = vec![0u32; *times.last().unwrap() as usize / 1_000];
        for time in times {
            assert_eq!(time % 1_000, 0);
            if let Some(count) = counts.get_mut(time as usize / 1_000) {
                *count += 1;
            }
        }
        assert!(counts.iter().all(|count| (2..=3).contains(count)));
        let three = counts.iter().filter(|&&count| count == 3).count() as f64;
        let slots = counts.len() as f64;
        // Each flit time has a third message with chance one half.
        assert!(
            (three - slots / 2.0).abs() < 3.0 * (slots / 4.0).sqrt(),
            "{three} of {slots}"
        );
        // Exactly one per flit time needs no chance.
        let even = super::tests::times(&injector(Injection::Bernoulli, 1.0, 1.0), 10, 3, 100);
        assert!(
            even.iter()
                .enumerate()
                .all(|(slot, &time)| time == 3 + 1_000 * slot as Time)
        );
    }

    #[test]
    fn a_thousand_messages_take_a_thousand_periods() {
        let times = times(&injector(Injection::Periodic, 0.4, 4.0), 11, 0, 1_001);
        assert_eq!(times[1_000] - times[0], 10_000_000);
        assert!(times[0] < 10_000);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 10_000));
    }

    #[test]
    fn a_fractional_period_does_not_drift() {
        // 2048 bits at 0.3 of 25 GiB/s.
        let bandwidth = Bandwidth(25 * (1 << 30) * 8);
        let injector =
            Injector::new(Injection::Periodic, 0.3, 2_048.0, bandwidth, FlitSize(512)).unwrap();
        let mut rng = stream(12, &[]);
        let mut clock = injector.first(&mut rng, 0);
        let first = clock.time();
        let count = 3_000_000u64;
        let mut last = first;
        for _ in 0..count {
            last = injector.next(&mut clock, &mut rng);
        }
        // 2048e12 / (0.3 · 25 · 2^33) ps, count times.
        let exact = u128::from(count) * 2_048 * 10_u128.pow(13) / (3 * 25 * (1 << 33));
        assert!(
            u128::from(last - first).abs_diff(exact) <= 1,
            "{last} {first} {exact}"
        );
    }

    #[test]
    fn phases_are_spread_over_the_period() {
        let injector = injector(Injection::Periodic, 0.5, 4.0);
        let mut quarters = [0u32; 4];
        for seed in 0..4_000 {
            let phase = injector.first(&mut stream(seed, &[]), 0).time();
            quarters[phase as usize / 2_000] += 1;
        }
        // 1,000 expected each; sigma is 27.
        assert!(
            quarters.iter().all(|count| (918..=1_082).contains(count)),
            "{quarters:?}"
        );
    }

    #[test]
    fn seeds_choose_the_times_and_repeat_them() {
        for kind in KINDS {
            let injector = injector(kind, 0.4, 4.0);
            assert_eq!(times(&injector, 1, 0, 50), times(&injector, 1, 0, 50));
            assert_ne!(times(&injector, 1, 0, 50), times(&injector, 2, 0, 50));
        }
    }

    #[test]
    fn what_never_comes_is_never() {
        for kind in KINDS {
            let injector = Injector::new(kind, 1e-12, 1.8e19, Bandwidth(1), FLIT).unwrap();
            let mut rng = stream(1, &[]);
            let mut clock = injector.first(&mut rng, 5);
            (0..100).for_each(|_| _ = injector.next(&mut clock, &mut rng));
            assert_eq!(clock.time(), NEVER, "{kind:?}");
        }
    }

    #[test]
    fn a_flit_time_has_a_thousand_messages_at_most() {
        // Messages of a bit and flits of 100.
        let new = |load| Injector::new(Injection::Bernoulli, load, 1.0, GBPS_100, FLIT);
        let times = times(&new(10.0).unwrap(), 1, 0, 2_001);
        assert_eq!((times[999], times[1_000], times[2_000]), (0, 1_000, 2_000));
        assert_eq!(new(10.001).unwrap_err().key, "load");
    }

    #[test]
    fn what_is_no_load_is_refused() {
        for load in [0.0, -0.1, f64::NAN, f64::INFINITY, 1_001.0] {
            let refused =
                Injector::new(Injection::Poisson, load, 400.0, GBPS_100, FLIT).unwrap_err();
            assert_eq!(refused.key, "load");
        }
        assert!(size_of::<Clock>() <= 32);
    }
}
