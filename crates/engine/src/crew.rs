//! The threads of a rank, which share the work on its domains.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// Times that a thread looks for work before it parks: some tens of microseconds if no other thread
/// wants its core, as long as the ranks take to exchange the mail of a window.
const LOOKS: u32 = 2_000;

/// Looks after which it offers its core to others: where there are more threads than cores, the one
/// that it waits for may have none.
const OFFER: u32 = 100;

/// Some threads, the caller's among them, that work on the same list at the same time.
///
/// A thread that has nothing to do waits busily for a short time, and is parked then. A panic on
/// any thread becomes one of the caller.
pub struct Crew {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
    /// For each thread, the places of the list that it begins with and that nobody has taken.
    shares: Vec<Line<AtomicU64>>,
}

/// A value with no other in its cache line, nor in the next one.
#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

/// State that the threads share.
struct Shared {
    /// Number of the task, from 1; it is ready when the number changes.
    number: Line<AtomicUsize>,
    task: Mutex<Task>,
    /// Threads besides the caller's that are not done with it.
    busy: Line<AtomicUsize>,
    /// For each thread, the caller's first: true if it is parked, or about to be.
    parked: Vec<Line<AtomicBool>>,
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A task for all threads, with the number of the thread.
#[derive(Clone)]
enum Task {
    Run(Call, Thread),
    End,
}

/// A function that outlives the task: [`Crew::all`] returns when no thread is in it.
#[derive(Clone, Copy)]
struct Call(*const (dyn Fn(usize) + Sync));

// SAFETY: the function may be called from any thread, and is there until all have called it.
#[allow(unsafe_code)]
unsafe impl Send for Call {}

impl Crew {
    /// A crew of `threads` threads, the caller's included; of fewer if the system gives no more.
    pub fn new(threads: usize) -> Crew {
        let threads = threads.max(1);
        let shared = Arc::new(Shared {
            number: Line::default(),
            task: Mutex::new(Task::End),
            busy: Line::default(),
            parked: (0..threads).map(|_| Line::default()).collect(),
            panicked: Mutex::new(None),
        });
        let spawn = |me: usize| {
            let shared = shared.clone();
            let name = format!("weir {me}");
            let work = move || shared.work(me);
            thread::Builder::new().name(name).spawn(work)
        };
        let others: Vec<_> = (1..threads).map_while(|me| spawn(me).ok()).collect();
        let shares = (0..=others.len()).map(|_| Line::default()).collect();
        Crew {
            shared,
            others,
            shares,
        }
    }

    /// Number of threads.
    pub fn size(&self) -> usize {
        self.others.len() + 1
    }

    /// Calls `work` on each thread with its number, from 0; returns when all have come back.
    fn all(&self, work: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let call: *const (dyn Fn(usize) + Sync + '_) = work;
        // SAFETY: only the lifetime changes. No thread keeps the function when this returns.
        #[allow(unsafe_code)]
        let call: *const (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(call) };
        *lock(&shared.task) = Task::Run(Call(call), thread::current());
        shared.busy.0.store(self.others.len(), SeqCst);
        self.announce();
        let own = catch_unwind(AssertUnwindSafe(|| work(0)));
        shared.wait(0, || shared.busy.0.load(SeqCst) == 0);
        let others = lock(&shared.panicked).take();
        if let Some(panic) = own.err().or(others) {
            resume_unwind(panic);
        }
    }

    fn announce(&self) {
        self.shared.number.0.fetch_add(1, SeqCst);
        for (me, other) in self.others.iter().enumerate() {
            self.shared.wake(me + 1, other.thread());
        }
    }

    /// Calls `work` once for each of these places of two lists, with the place; in order on a
    /// single thread, from the end if `backwards`. Otherwise each thread has a part of the places,
    /// in the same order, and helps others from the far end when it is done with it.
    ///
    /// # Errors
    /// That of the first place whose work fails. The work is done for all places nevertheless.
    ///
    /// # Panics
    /// If the places are not ascending, or not all in both lists.
    pub fn each<A: Send, B: Send, E: Send>(
        &mut self,
        places: &[u32],
        (first, second): (&mut [A], &mut [B]),
        backwards: bool,
        work: impl Fn(usize, &mut A, &mut B) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let (count, length) = (places.len(), first.len().min(second.len()));
        assert!(places.is_sorted_by(|a, b| a < b), "each place once");
        assert!(places.last().is_none_or(|&last| (last as usize) < length));
        let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
        let one = |at: usize, first: &mut A, second: &mut B| {
            if let Err(error) = work(at, first, second) {
                let mut failed = lock(&failed);
                if failed.as_ref().is_none_or(|(before, _)| at < *before) {
                    *failed = Some((at, error));
                }
            }
        };
        if self.size() == 1 || count < 2 {
            for nth in 0..count {
                let nth = if backwards { count - 1 - nth } else { nth };
                let at = places[nth] as usize;
                one(at, &mut first[at], &mut second[at]);
            }
        } else {
            let (crew, threads) = (&*self, self.size());
            for (thread, share) in crew.shares.iter().enumerate() {
                let part = |thread| (thread * count / threads) as u64;
                share.0.store(part(thread) << 32 | part(thread + 1), SeqCst);
            }
            let (first, second) = (List::of(first), List::of(second));
            crew.all(&|me| {
                for thread in 0..threads {
                    let whose = (me + thread) % threads;
                    // Its share in order, and those of others against it.
                    while let Some(nth) = crew.take(whose, backwards == (thread == 0)) {
                        let at = places[nth] as usize;
                        // SAFETY: a place is taken once, and is in both lists.
                        #[allow(unsafe_code)]
                        let (first, second) = unsafe { (first.get(at), second.get(at)) };
                        one(at, first, second);
                    }
                }
            });
        }
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The results of `work` for each number below `count`, in order.
    pub fn map<T: Send>(&mut self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut made: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let places: Vec<u32> = (0..count as u32).collect();
        let lists = (&mut made[..], &mut vec![(); count][..]);
        let done: Result<(), ()> = self.each(&places, lists, false, |at, place, _| {
            *place = Some(work(at));
            Ok(())
        });
        debug_assert!(done.is_ok());
        made.into_iter().flatten().collect()
    }

    /// Takes a place of the share of a thread, the last one or the first one.
    fn take(&self, thread: usize, last: bool) -> Option<usize> {
        let share = &self.shares[thread].0;
        let rest = |now: u64| {
            let (first, end) = (now >> 32, now & 0xffff_ffff);
            match last {
                _ if first >= end => None,
                true => Some(first << 32 | (end - 1)),
                false => Some((first + 1) << 32 | end),
            }
        };
        let before = share.fetch_update(SeqCst, SeqCst, rest).ok()?;
        Some(match last {
            true => (before & 0xffff_ffff) - 1,
            false => before >> 32,
        } as usize)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        *lock(&self.shared.task) = Task::End;
        self.announce();
        for other in self.others.drain(..) {
            // Its panics are the caller's.
            let _ = other.join();
        }
    }
}

impl Shared {
    /// Work of a thread besides the caller's.
    fn work(&self, me: usize) {
        let mut number = 0;
        loop {
            self.wait(me, || self.number.0.load(SeqCst) != number);
            number += 1;
            let Task::Run(call, caller) = lock(&self.task).clone() else {
                return;
            };
            // SAFETY: the caller waits until this thread is not busy any more.
            #[allow(unsafe_code)]
            let work = unsafe { &*call.0 };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(me))) {
                lock(&self.panicked).get_or_insert(panic);
            }
            if self.busy.0.fetch_sub(1, SeqCst) == 1 {
                self.wake(0, &caller);
            }
        }
    }

    fn wait(&self, me: usize, ready: impl Fn() -> bool) {
        for look in 1..=LOOKS {
            if ready() {
                return;
            }
            match look % OFFER {
                0 => thread::yield_now(),
                _ => spin_loop(),
            }
        }
        let parked = &self.parked[me].0;
        loop {
            // Whoever makes it ready looks whether this thread is parked afterwards.
            parked.store(true, SeqCst);
            if ready() {
                parked.store(false, SeqCst);
                return;
            }
            thread::park();
        }
    }

    fn wake(&self, other: usize, thread: &Thread) {
        if self.parked[other].0.swap(false, SeqCst) {
            thread.unpark();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A list whose places different threads change.
struct List<T>(*mut T);

// SAFETY: whoever takes a place is the only one ([`List::get`]).
#[allow(unsafe_code)]
unsafe impl<T: Send> Sync for List<T> {}

impl<T> List<T> {
    fn of(list: &mut [T]) -> List<T> {
        List(list.as_mut_ptr())
    }

    /// SAFETY: the place is in the list, and nobody else has it as long as the result lives.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    unsafe fn get(&self, at: usize) -> &mut T {
        unsafe { &mut *self.0.add(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_worked_on_once() {
        for threads in 1..5 {
            let mut crew = Crew::new(threads);
            for count in [0, 1, 3, 17] {
                for backwards in [false, true] {
                    for step in [1, 3] {
                        let chosen: Vec<u32> = (0..count as u32).step_by(step).collect();
                        let (mut list, mut places) = (vec![0_u32; count], vec![0; count]);
                        let lists = (&mut list[..], &mut places[..]);
                        let done: Result<(), ()> =
                            crew.each(&chosen, lists, backwards, |at, times, place| {
                                *times += 1;
                                *place = at;
                                Ok(())
                            });
                        assert_eq!(done, Ok(()));
                        for at in 0..count {
                            let is = chosen.contains(&(at as u32));
                            assert_eq!(list[at], u32::from(is));
                            assert_eq!(places[at], if is { at } else { 0 });
                        }
                    }
                }
            }
            assert_eq!(crew.map(5, |at| 10 * at), [0, 10, 20, 30, 40]);
        }
    }

    #[test]
    fn the_first_error_counts() {
        for threads in 1..4 {
            let mut crew = Crew::new(threads);
            for backwards in [false, true] {
                let fails = |at: usize, _: &mut (), _: &mut ()| match at {
                    2 | 5 => Err(at),
                    _ => Ok(()),
                };
                let lists = (&mut [(); 7][..], &mut [(); 7][..]);
                let done = crew.each(&[0, 1, 2, 3, 4, 5, 6], lists, backwards, fails);
                assert_eq!(done, Err(2));
            }
        }
    }

    #[test]
    fn a_panic_is_one_of_the_caller_and_the_crew_goes_on() {
        let mut crew = Crew::new(3);
        for at_fault in 0..6 {
            let panics = |at: usize, _: &mut (), _: &mut ()| {
                assert_ne!(at, at_fault, "on purpose");
                Ok::<(), ()>(())
            };
            let lists = (&mut [(); 6][..], &mut [(); 6][..]);
            let each = || crew.each(&[0, 1, 2, 3, 4, 5], lists, false, panics);
            assert!(catch_unwind(AssertUnwindSafe(each)).is_err());
        }
        assert_eq!(crew.map(3, |at| at), [0, 1, 2]);
    }

    #[test]
    fn parked_threads_are_woken() {
        let mut crew = Crew::new(2);
        for _ in 0..3 {
            let slow = |at: usize| {
                thread::sleep(std::time::Duration::from_millis(2));
                at
            };
            assert_eq!(crew.map(4, slow), [0, 1, 2, 3]);
        }
    }
}
