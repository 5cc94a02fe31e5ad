//! The engine by itself, with PHOLD instead of a network (Fujimoto, "Performance of parallel
//! simulations", 1990): balls that jump between domains for ever. The course of each ball is known
//! without the engine: it is played through, ball by ball.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::SplitMix64;
use weir::engine::{
    self, Crew, Domain, End, Local, Mail, Monitor, Progress, Schedule, Settled, Share, StopReason,
    Threads, Transport, TransportError,
};
use weir::model::{NEVER, Time};

/// A game: the number of domains, the number of balls in each at the beginning, the least time of a
/// jump.
#[derive(Clone, Copy, Debug)]
struct Game {
    domains: u32,
    balls: u32,
    lookahead: Time,
    end: Time,
    /// Each ball may jump to domains at most this far away, round a ring.
    reach: u32,
    seed: u64,
}

/// A ball, by its number, and how often it has jumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ball {
    time: Time,
    number: u64,
    jumps: u64,
}

/// A random number, the same for the same arguments.
fn mix(seed: u64, ball: u64, jump: u64) -> u64 {
    let key =
        seed ^ ball.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ jump.wrapping_mul(0xD1B5_4A32_D192_ED03);
    SplitMix64::seed_from_u64(key).next_u64()
}

impl Game {
    /// Domain that a ball landing in `domain` jumps to, and the time when it lands there.
    fn next(&self, domain: u32, ball: Ball) -> (u32, Ball) {
        let chance = mix(self.seed, ball.number, ball.jumps);
        let steps = (chance % u64::from(2 * self.reach + 1)) as u32;
        let to = (domain + self.domains + steps - self.reach) % self.domains;
        // Some jumps take exactly the lookahead: they land on the first moment of a window.
        let time = ball.time + self.lookahead + (chance >> 32) % (2 * self.lookahead);
        let jumps = ball.jumps + 1;
        (
            to,
            Ball {
                time,
                jumps,
                ..ball
            },
        )
    }

    fn first(&self, domain: u32, place: u32) -> Ball {
        let number = u64::from(domain * self.balls + place);
        let time = mix(self.seed, number, NEVER) % self.lookahead;
        let jumps = 0;
        Ball {
            time,
            number,
            jumps,
        }
    }

    /// By domain, how often balls land and a checksum over which, when: ball by ball.
    fn expected(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.domains as usize];
        for start in 0..self.domains {
            for place in 0..self.balls {
                let (mut domain, mut ball) = (start, self.first(start, place));
                while ball.time < self.end {
                    land(&mut counts[domain as usize], ball);
                    (domain, ball) = self.next(domain, ball);
                }
            }
        }
        counts
    }

    fn neighbours(&self, domain: u32) -> Vec<u32> {
        let reach = self.reach;
        let around =
            (0..=2 * reach).map(|step| (domain + self.domains + step - reach) % self.domains);
        let mut list: Vec<u32> = around.filter(|&other| other != domain).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// The same through the engine, on one rank of some threads.
    fn played<T: Transport>(&self, transport: &mut T, threads: usize) -> (Vec<(u64, u64)>, End) {
        let share = Share {
            domains: self.domains,
            ranks: transport.size(),
        };
        let mut domains: Vec<Field> = share
            .of(transport.rank())
            .map(|id| Field::new(*self, id))
            .collect();
        let schedule = Schedule {
            window: self.lookahead,
            end: self.end,
            interleaving: None,
        };
        let neighbours = |domain| self.neighbours(domain);
        let ended = engine::run(
            &mut domains,
            engine::Task {
                share,
                crew: &mut Crew::new(threads),
                schedule,
                start: engine::Start::default(),
            },
            transport,
            neighbours,
            &mut Nobody,
        );
        let (end, _) = ended.expect("a good game");
        (domains.iter().map(|field| field.count).collect(), end)
    }

    /// Through the engine on some ranks of some threads.
    fn on(&self, ranks: u32, threads: usize) -> Vec<(u64, u64)> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = Threads::ranks(ranks)
                .into_iter()
                .map(|mut rank| scope.spawn(move || self.played(&mut rank, threads)))
                .collect();
            let ends = threads.into_iter().map(|one| one.join().expect("no panic"));
            ends.flat_map(|(counts, end)| {
                assert_eq!(end, End::Time);
                counts
            })
            .collect()
        })
    }
}

/// A ball lands. Balls of one time may land in any order.
fn land(count: &mut (u64, u64), ball: Ball) {
    count.0 += 1;
    count.1 = count
        .1
        .wrapping_add(mix(ball.time, ball.number, ball.jumps));
}

/// A domain of the game.
struct Field {
    game: Game,
    id: u32,
    neighbours: Vec<u32>,
    balls: BinaryHeap<Reverse<Ball>>,
    out: Vec<Balls>,
    now: Time,
    count: (u64, u64),
}

#[derive(Default)]
struct Balls(Vec<Ball>);

impl Mail for Balls {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn earliest(&self) -> Time {
        self.0.iter().map(|ball| ball.time).min().unwrap_or(NEVER)
    }
    fn encode(&self, bytes: &mut Vec<u8>) {
        for ball in &self.0 {
            for word in [ball.time, ball.number, ball.jumps] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        let words = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        let words: Vec<u64> = words.collect();
        let balls = words.as_chunks().0.iter();
        Some(Balls(
            balls
                .map(|&[time, number, jumps]| Ball {
                    time,
                    number,
                    jumps,
                })
                .collect(),
        ))
    }
    fn clear(&mut self) {
        self.0.clear();
    }
}

impl Field {
    fn new(game: Game, id: u32) -> Field {
        let neighbours = game.neighbours(id);
        let out = neighbours.iter().map(|_| Balls::default()).collect();
        let balls = (0..game.balls).map(|place| Reverse(game.first(id, place)));
        Field {
            game,
            id,
            balls: balls.collect(),
            neighbours,
            out,
            now: 0,
            count: (0, 0),
        }
    }
}

impl Domain for Field {
    type Mail = Balls;
    type Error = TransportError;

    fn id(&self) -> u32 {
        self.id
    }
    fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }
    fn next_time(&self) -> Time {
        self.balls.peek().map_or(NEVER, |ball| ball.0.time)
    }
    fn advance(&mut self, until: Time) -> Result<(), TransportError> {
        while let Some(&Reverse(ball)) = self.balls.peek()
            && ball.time < until
        {
            self.balls.pop();
            assert!(ball.time >= self.now, "the past has changed");
            self.now = ball.time;
            land(&mut self.count, ball);
            let (to, ball) = self.game.next(self.id, ball);
            match self.neighbours.binary_search(&to) {
                Ok(place) => self.out[place].0.push(ball),
                Err(_) => self.balls.push(Reverse(ball)),
            }
        }
        Ok(())
    }
    fn take_mail(&mut self) -> Option<(usize, Balls)> {
        let place = self.out.iter().position(|mail| !mail.is_empty())?;
        Some((place, self.take_mail_for(place)))
    }
    fn take_mail_for(&mut self, neighbour: usize) -> Balls {
        std::mem::take(&mut self.out[neighbour])
    }
    fn accepts(&self, _: usize, _: &Balls) -> bool {
        true
    }
    fn deliver(&mut self, _: usize, mail: &mut Balls) {
        self.balls.extend(mail.0.drain(..).map(Reverse));
    }
    fn moved(&self) -> u64 {
        self.count.0
    }
}

struct Nobody;

impl<T: Transport + ?Sized> Monitor<Field, T> for Nobody {
    type Error = TransportError;

    fn stop(&mut self) -> Option<StopReason> {
        None
    }
    fn heed_within(&self) -> Duration {
        Duration::from_secs(1)
    }
    fn observe(
        &mut self,
        _: &mut Settled<Field>,
        _: &mut T,
        _: Progress,
    ) -> Result<(), TransportError> {
        Ok(())
    }
}

#[test]
fn one_domain_needs_no_mail() {
    let game = Game {
        domains: 1,
        balls: 5,
        lookahead: 1_000,
        end: 10_000,
        reach: 0,
        seed: 3,
    };
    let (counts, end) = game.played(&mut Local, 2);
    assert_eq!(end, End::Time);
    assert_eq!(counts, game.expected());
    // Jumps take 1,000 to 2,999 ps, and the first is before 1,000.
    let (least, most) = (5 * 4, 5 * 10);
    assert!((least..=most).contains(&counts[0].0), "{counts:?}");
}

#[test]
fn jumps_take_two_lookaheads_on_the_mean_and_spread_evenly() {
    let game = Game {
        domains: 8,
        balls: 50,
        lookahead: 100,
        end: 200_000,
        reach: 3,
        seed: 7,
    };
    let counts = game.on(3, 2);
    assert_eq!(counts, game.expected());
    // 400 balls land every 199.5 ps on the mean.
    let landed: u64 = counts.iter().map(|(landed, _)| landed).sum();
    let expected = 400.0 * 200_000.0 / 199.5;
    assert!(
        (landed as f64 / expected - 1.0).abs() < 0.01,
        "{landed} {expected}"
    );
    for (landed, _) in counts {
        let share = landed as f64 / (expected / 8.0);
        assert!((share - 1.0).abs() < 0.03, "{share}");
    }
}

fn games() -> impl Strategy<Value = Game> {
    let shape = (1..9u32, 1..20u32, 1..300u64, 0..4u32);
    (shape, 1..200u64, any::<u64>()).prop_map(|((domains, balls, lookahead, reach), long, seed)| {
        Game {
            domains,
            balls,
            lookahead,
            end: long * lookahead / 2 + 1,
            reach: reach.min(domains.saturating_sub(1) / 2),
            seed,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_ball_lands_where_and_when_it_must_on_any_number_of_ranks(game in games()) {
        let expected = game.expected();
        for ranks in 1..=game.domains.min(4) {
            for threads in [1, 3] {
                let counts = game.on(ranks, threads);
                prop_assert_eq!(&counts, &expected, "{} ranks of {} threads", ranks, threads);
            }
        }
    }
}
