//! Times at which the programs of a job send: the part of its data sent by each part of the least
//! time that they take.

/// Course of one task: pairs of a time, ps, and the bits sent in all by then.
type Line = Vec<(f64, f64)>;

/// Work of a part of a task's program: it computes, and then communicates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// ps.
    pub computed: f64,
    /// Times that it waits for others.
    pub waits: f64,
    /// Bytes that it sends.
    pub bytes: f64,
}

impl Step {
    /// Both, one after the other.
    pub fn and(self, other: Step) -> Step {
        Step {
            computed: self.computed + other.computed,
            waits: self.waits + other.waits,
            bytes: self.bytes + other.bytes,
        }
    }

    /// The step repeated `times` times.
    pub fn times(self, times: f64) -> Step {
        Step {
            computed: times * self.computed,
            waits: times * self.waits,
            bytes: times * self.bytes,
        }
    }
}

/// The course of a job: the part of its bits sent by each part of its time, both from 0 to 1.
/// The examined tasks stand for all, and run side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    tasks: Vec<Line>,
    rounds: f64,
}

impl Course {
    /// Course of tasks that repeat these steps `rounds` times, if a wait takes `wait` ps and a byte
    /// `byte` ps.
    pub fn of(tasks: &[Vec<Step>], rounds: f64, wait: f64, byte: f64) -> Course {
        let line = |steps: &Vec<Step>| {
            let (mut time, mut bits, mut line) = (0.0, 0.0, vec![(0.0, 0.0)]);
            for step in steps {
                time += step.computed;
                line.push((time, bits));
                time += step.waits * wait + step.bytes * byte;
                bits += 8.0 * step.bytes;
                line.push((time, bits));
            }
            // All tasks come to their ends together.
            line.iter_mut()
                .for_each(|point| point.0 /= f64::max(time, 1.0));
            (bits > 0.0 && time > 0.0).then_some(line)
        };
        Course {
            tasks: tasks.iter().filter_map(line).collect(),
            rounds: rounds.max(1.0),
        }
    }

    /// The part of the bits that is sent by a part of the time.
    pub fn at(&self, time: f64) -> f64 {
        let time = time.clamp(0.0, 1.0);
        if self.tasks.is_empty() || time >= 1.0 {
            return time;
        }
        let round = (time * self.rounds).floor();
        (round + self.in_round(time * self.rounds - round)) / self.rounds
    }

    fn in_round(&self, time: f64) -> f64 {
        let sent = |line: &Line| {
            let next = line.partition_point(|point| point.0 <= time);
            match (line.get(next.wrapping_sub(1)), line.get(next)) {
                (Some(before), Some(after)) => {
                    let part = (time - before.0) / (after.0 - before.0);
                    before.1 + part * (after.1 - before.1)
                }
                (Some(last), None) => last.1,
                _ => 0.0,
            }
        };
        let all: f64 = self
            .tasks
            .iter()
            .filter_map(|line| Some(line.last()?.1))
            .sum();
        self.tasks.iter().map(sent).sum::<f64>() / all.max(f64::MIN_POSITIVE)
    }

    /// The part of the time after which this part of the bits is sent; within a span in which
    /// nothing is sent, the time nearest to `near`.
    pub fn when(&self, sent: f64, near: f64) -> f64 {
        /// Rounding error of sums of floats.
        const NOTHING: f64 = 1e-9;
        let bisect = |reached: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                match reached(self.at(middle)) {
                    true => high = middle,
                    false => low = middle,
                }
            }
            0.5 * (low + high)
        };
        let first = bisect(&|at| at >= sent - NOTHING);
        let last = bisect(&|at| at > sent + NOTHING);
        near.clamp(first, last.max(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(computed: f64, bytes: f64) -> Step {
        Step {
            computed,
            waits: 0.0,
            bytes,
        }
    }

    #[test]
    fn what_is_computed_first_sends_later() {
        // 80 ps of computation and 20 of sending, twice over.
        let course = Course::of(&[vec![step(80.0, 20.0)]], 2.0, 0.0, 1.0);
        for (time, sent) in [
            (0.0, 0.0),
            (0.4, 0.0),
            (0.45, 0.25),
            (0.5, 0.5),
            (0.9, 0.5),
            (1.0, 1.0),
        ] {
            assert!(
                (course.at(time) - sent).abs() < 1e-9,
                "{time}: {}",
                course.at(time)
            );
        }
        assert!((course.when(0.25, 0.0) - 0.45).abs() < 1e-6);
        // Nothing is sent from the middle to nine tenths.
        for (near, then) in [(0.1, 0.5), (0.7, 0.7), (0.95, 0.9)] {
            assert!((course.when(0.5, near) - then).abs() < 1e-6, "{near}");
        }
    }

    #[test]
    fn tasks_go_on_side_by_side() {
        let early = vec![step(0.0, 10.0), step(90.0, 0.0)];
        let late = vec![step(90.0, 10.0)];
        let course = Course::of(&[early, late, vec![]], 1.0, 0.0, 1.0);
        assert!((course.at(0.1) - 0.5).abs() < 1e-9 && (course.at(0.9) - 0.5).abs() < 1e-9);
        assert_eq!((course.at(2.0), course.at(-1.0)), (1.0, 0.0));
    }

    #[test]
    fn nothing_known_is_even() {
        let even = Course::default();
        assert_eq!((even.at(0.3), even.at(1.7)), (0.3, 1.0));
        assert!((even.when(0.3, 0.9) - 0.3).abs() < 1e-6);
    }
}
