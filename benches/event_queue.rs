//! The event queue in its steady state: one event is taken and another one added, at several numbers of pending
//! events.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weir::engine::EventQueue;
use weir::model::{NEVER, NS, Rng, Time, US, below, stream};

/// Events taken and added in one iteration.
const EVENTS: u64 = 10_000;

/// The longest delay: what crosses a link of a large machine.
const HORIZON: Time = 2 * US;

/// Whole nanoseconds, as most links give them: many events of the same time.
fn delay(rng: &mut Rng) -> Time {
    NS * Time::from(1 + below(rng, (HORIZON / NS) as u32 - 1))
}

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event_queue");
    group.throughput(Throughput::Elements(EVENTS));
    for pending in [100u32, 1_000, 10_000, 100_000] {
        let mut rng = stream(1, &[u64::from(pending)]);
        let mut queue = EventQueue::new(HORIZON, pending as usize, 0);
        for key in 0..pending {
            queue.push(delay(&mut rng), key);
        }
        group.bench_function(BenchmarkId::new("hold", pending), |bencher| {
            bencher.iter(|| {
                for _ in 0..EVENTS {
                    let Some((time, key)) = queue.pop_before(NEVER) else {
                        unreachable!("as many events are added as are taken")
                    };
                    queue.push(time + delay(&mut rng), black_box(key));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
