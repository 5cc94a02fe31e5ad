//! `zipf`: every member prefers some of the others, by a separate random ranking.

use rand_core::Rng as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Section};
use weir_model::{EndpointId, Invalid, Rng, Time, stream, unit};

/// Zipf's law: each source ranks all N members in a separate random order, and sends each message
/// to the i-th of them with the probability i⁻ˢ / (1⁻ˢ + 2⁻ˢ + … + N⁻ˢ).
///
/// With s = 0 this is uniform traffic; with s = 3 a source sends 83% of its messages to one
/// destination. The rankings are independent, so that an endpoint is the favourite of none, one or
/// several sources.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The exponent s, from 0 to 16 (default: 1).
    s: f64,
    /// True if a source that draws itself sends to itself. False: it draws again.
    include_self: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            s: 1.0,
            include_self: false,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "zipf",
    summary: "Every member sends to favourites, in its own order, with probabilities by Zipf's \
              law.",
    source: "Yebenes et al., TACO 2019, section 5.1, equation 4 and table 2; Breslau et al., \
             INFOCOM 1999",
    examples: &["", "s = 2.5"],
    parameters: Keys::of::<Params>(),
    build,
};

/// Maximum of s: beyond it, all ranks but the first are too rare for the resolution of the draws.
const MOST_S: f64 = 16.0;

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let refuse = |key: &str, message: String, remedy: String| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    if !(0.0..=MOST_S).contains(&params.s) {
        let remedy = format!("give a number from 0 (uniform) to {MOST_S}");
        return refuse("s", format!("{} is not allowed", params.s), remedy);
    }
    let needed = if params.include_self { 1 } else { 2 };
    let count = members.endpoints.len();
    if count < needed {
        let message = format!("Zipf traffic among {count} endpoints has nobody to send to");
        return refuse("", message, format!("let at least {needed} take part"));
    }
    let tasks = Tasks::new(members.endpoints);
    Ok(Box::new(Zipf {
        up_to: cumulated(tasks.count(), params.s),
        tasks,
        seed: members.seed,
        include_self: params.include_self,
    }))
}

/// The cumulative probability of each rank, from the first rank on; the last is 1 except for
/// rounding.
fn cumulated(count: u32, s: f64) -> Box<[f64]> {
    let weights = (1..=count).map(|rank| 1.0 / power(f64::from(rank), s));
    let mut sum = 0.0;
    let mut up_to: Box<[f64]> = weights
        .map(|weight| {
            sum += weight;
            sum
        })
        .collect();
    for one in &mut up_to {
        *one /= sum;
    }
    up_to
}

/// A power with an exponent of 0 or more. It uses operations that IEEE 754 defines to the last bit,
/// and is therefore the same on every host.
fn power(base: f64, exponent: f64) -> f64 {
    let (mut power, mut root) = (1.0, base);
    // At most 16.
    for _ in 0..exponent as u32 {
        power *= base;
    }
    let mut rest = exponent.fract();
    while rest > 0.0 {
        rest *= 2.0;
        root = root.sqrt();
        if rest >= 1.0 {
            rest -= 1.0;
            power *= root;
        }
    }
    power
}

/// A random order of `0..count`, computed place by place on demand: storing the orders of all
/// sources would take memory for the square of their number.
///
/// A Feistel network (Luby and Rackoff, 1988) of four rounds over the next power of four permutes
/// numbers; numbers that are too large are permuted again.
struct Order {
    keys: [u64; 4],
    count: u32,
    half: u32,
}

impl Order {
    fn new(count: u32, mut rng: Rng) -> Order {
        let bits = u32::BITS - count.saturating_sub(1).leading_zeros();
        Order {
            keys: std::array::from_fn(|_| rng.next_u64()),
            count,
            half: bits.div_ceil(2).max(1),
        }
    }

    fn at(&self, place: u32) -> u32 {
        let mut number = u64::from(place);
        loop {
            number = self.permuted(number);
            if number < u64::from(self.count) {
                return number as u32;
            }
        }
    }

    /// The place of a number.
    fn place_of(&self, number: u32) -> u32 {
        let mut place = u64::from(number);
        loop {
            place = self.permuted_back(place);
            if place < u64::from(self.count) {
                return place as u32;
            }
        }
    }

    fn halves(&self, number: u64) -> (u64, u64) {
        (number >> self.half, number & self.mask())
    }

    fn mask(&self) -> u64 {
        (1 << self.half) - 1
    }

    /// Bits that depend on a key and all bits of a half: the finalizer of SplitMix64.
    fn mixed(&self, half: u64, key: u64) -> u64 {
        let mut mixed = half ^ key;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) & self.mask()
    }

    fn permuted(&self, number: u64) -> u64 {
        let (mut left, mut right) = self.halves(number);
        for key in self.keys {
            (left, right) = (right, left ^ self.mixed(right, key));
        }
        left << self.half | right
    }

    fn permuted_back(&self, number: u64) -> u64 {
        let (mut left, mut right) = self.halves(number);
        for key in self.keys.into_iter().rev() {
            (left, right) = (right ^ self.mixed(left, key), left);
        }
        left << self.half | right
    }
}

struct Zipf {
    tasks: Tasks,
    /// By rank.
    up_to: Box<[f64]>,
    seed: u64,
    include_self: bool,
}

impl Zipf {
    fn rank(&self, drawn: f64) -> u32 {
        self.up_to.partition_point(|&up_to| up_to <= drawn) as u32
    }

    /// A rank other than one's own, each in proportion to its probability: equivalent to drawing
    /// until the rank is another.
    fn rank_but(&self, own: u32, rng: &mut Rng) -> u32 {
        let (to, before) = (own as usize, own.checked_sub(1));
        let before = before.map_or(0.0, |before| self.up_to[before as usize]);
        let share = self.up_to[to] - before;
        let drawn = unit(rng) * (1.0 - share);
        let rank = match drawn < before {
            true => self.rank(drawn),
            false => self.rank(drawn + share),
        };
        match rank == own {
            // Only rounding leads here.
            true => own.checked_sub(1).unwrap_or(1),
            false => rank,
        }
    }
}

impl Pattern for Zipf {
    fn destination(&self, source: EndpointId, _: Time, rng: &mut Rng) -> Option<EndpointId> {
        let task = self.tasks.task(source)?;
        let count = self.tasks.count();
        let order = Order::new(count, stream(self.seed, &[u64::from(source)]));
        let rank = match self.include_self {
            true => self.rank(unit(rng)),
            false => self.rank_but(order.place_of(task), rng),
        };
        // The last probability may be less than 1 because of rounding.
        Some(self.tasks.endpoint(order.at(rank.min(count - 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Grouped, flat, plausible, refusal, tally};
    use super::*;

    /// Yébenes et al., table 2: percent of the first ten ranks of 64.
    const TABLE_2: [(f64, [f64; 10]); 3] = [
        (1.0, [21.1, 10.5, 7.0, 5.3, 4.2, 3.5, 3.0, 2.6, 2.3, 2.1]),
        (2.0, [61.4, 15.3, 6.8, 3.8, 2.5, 1.7, 1.3, 1.0, 0.8, 0.6]),
        (3.0, [83.2, 10.4, 3.1, 1.3, 0.7, 0.4, 0.2, 0.2, 0.1, 0.1]),
    ];

    #[test]
    fn the_probabilities_are_those_of_table_2() {
        for (s, percent) in TABLE_2 {
            let up_to = cumulated(64, s);
            let before = std::iter::once(0.0).chain(up_to.iter().copied());
            let each: Vec<f64> = up_to
                .iter()
                .zip(before)
                .map(|(to, from)| to - from)
                .collect();
            for (rank, (&one, &wanted)) in (1..).zip(each.iter().zip(&percent)) {
                // They are rounded there, once up instead of down.
                assert!(
                    (100.0 * one - wanted).abs() < 0.051,
                    "s = {s}, {rank}: {one}"
                );
            }
        }
    }

    #[test]
    fn sources_draw_by_table_2_each_in_an_order_of_its_own() {
        const MESSAGES: u32 = 20_000;
        for (s, percent) in TABLE_2 {
            let parameters = format!("s = {s:?}\ninclude_self = true");
            let pattern = flat("zipf", &parameters, 64, 5);
            let mut firsts = std::collections::BTreeSet::new();
            for source in 0..10 {
                let mut counts: Vec<(u32, usize)> = tally(&*pattern, source, 64, MESSAGES, 0)
                    .into_iter()
                    .zip(0..)
                    .collect();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                firsts.insert(counts[0].1);
                for (&(count, _), wanted) in counts.iter().zip(percent).take(3) {
                    assert!(
                        plausible(count, MESSAGES, wanted / 100.0),
                        "s = {s}, {source}: {count} for {wanted}%"
                    );
                }
            }
            assert!(firsts.len() > 5, "{firsts:?}");
        }
    }

    #[test]
    fn nobody_sends_to_itself_and_s_of_0_is_uniform() {
        for (s, chance) in [("0.0", Some(1.0 / 6.0)), ("1.5", None), ("16.0", None)] {
            let pattern = flat("zipf", &format!("s = {s}"), 7, 3);
            for source in 0..7 {
                let counts = tally(&*pattern, source, 7, 4_000, 0);
                assert_eq!(counts[source as usize], 0, "{s}");
                let others = (0..).zip(&counts).filter(|&(one, _)| one != source);
                let good = |(_, &count)| chance.is_none_or(|p| plausible(count, 4_000, p));
                assert!({ others }.all(good), "{source}: {counts:?}");
            }
        }
    }

    #[test]
    fn every_order_has_every_number_once() {
        for count in [1, 2, 3, 5, 16, 17, 2_304] {
            let order = Order::new(count, stream(4, &[u64::from(count)]));
            let mut all: Vec<u32> = (0..count).map(|place| order.at(place)).collect();
            for (place, &number) in (0..).zip(&all) {
                assert_eq!(order.place_of(number), place);
            }
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn all_members_are_favourites_of_as_many() {
        // First choices of 6,400 sources among 64 members.
        let mut counts = [0; 64];
        for source in 0..6_400 {
            counts[Order::new(64, stream(9, &[source])).at(0) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&n| plausible(n, 6_400, 1.0 / 64.0)),
            "{counts:?}"
        );
    }

    #[test]
    fn powers_are_powers() {
        for (base, exponent) in [
            (7.0, 0.0),
            (1.0, 2.5),
            (9.0, 0.5),
            (13_824.0, 1.3),
            (5.0, 16.0),
        ] {
            let (found, wanted) = (power(base, exponent), f64::powf(base, exponent));
            assert!(
                (found / wanted - 1.0).abs() < 1e-13,
                "{base}^{exponent}: {found}"
            );
        }
    }

    #[test]
    fn what_is_no_exponent_is_refused() {
        let topology = Grouped::network(1, 4, 1);
        for parameters in ["s = -1.0", "s = 17.0", "s = nan", "s = inf"] {
            let words = refusal("zipf", parameters, &[0, 1, 2], &topology);
            assert!(words.contains("from 0 (uniform) to 16"), "{words}");
        }
        assert!(refusal("zipf", "", &[2], &topology).contains("among 1 endpoints"));
    }
}
