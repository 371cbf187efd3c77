//! One round of one case: how much CPU time a call takes.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use mainstay_benches::cpu::thread_time;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many threads share a breaker when it is contended.
const THREADS: usize = 2;
/// How many calls a contending thread makes before it looks whether the other one has finished.
const BATCH: u32 = 64;

/// Nanoseconds of CPU time for each of `calls` calls.
pub(crate) fn one_thread(calls: u32, call: &mut impl FnMut()) -> f64 {
    let before = thread_time();
    for _ in 0..calls {
        call();
    }
    (thread_time() - before).as_secs_f64() * 1e9 / f64::from(calls)
}

/// The same by threads that call at once, each on its own core, for each call of a thread.
///
/// Whoever is done first ends the round, so that no call is counted that had no rival.
pub(crate) fn two_threads(calls: u32, call: &(impl FnMut() + Clone + Send)) -> anyhow::Result<f64> {
    let start = Barrier::new(THREADS);
    let done = AtomicBool::new(false);
    let cores = cores()?;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let core = cores.get(index % cores.len()).copied();
                let mut call = call.clone();
                let (start, done) = (&start, &done);
                scope.spawn(move || {
                    core.map_or(Ok(()), stay_on)?;
                    start.wait();
                    Ok(until_done(calls, &mut call, done))
                })
            })
            .collect();
        let mut sum = 0.0;
        for thread in threads {
            let time: anyhow::Result<f64> = thread.join().ok().context("a thread panicked")?;
            sum += time?;
        }
        Ok(sum / f64::from(u32::try_from(THREADS)?))
    })
}

fn until_done(calls: u32, call: &mut impl FnMut(), done: &AtomicBool) -> f64 {
    let before = thread_time();
    let mut made = 0;
    while made < calls && !done.load(Ordering::Relaxed) {
        for _ in 0..BATCH {
            call();
        }
        made += BATCH;
    }
    done.store(true, Ordering::Relaxed);
    (thread_time() - before).as_secs_f64() * 1e9 / f64::from(made.max(1))
}

/// The cores that this process may use.
fn cores() -> anyhow::Result<Vec<usize>> {
    let allowed = sched_getaffinity(None)?;
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    anyhow::ensure!(!cores.is_empty(), "this process may use no core");
    Ok(cores)
}

fn stay_on(core: usize) -> anyhow::Result<()> {
    let mut only = CpuSet::new();
    only.set(core);
    Ok(sched_setaffinity(None, &only)?)
}
