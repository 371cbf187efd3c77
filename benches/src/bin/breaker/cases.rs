//! What is measured: each contestant enters the calls that it knows.

use std::hint::black_box;

use crate::call::{SUCCEED, drive, spend, succeed};
use crate::measure;

/// How many results the windows hold.
pub(crate) const SAMPLES: [u32; 2] = [100, 10_000];
/// The name under which the bare operations are printed.
pub(crate) const FLOOR: &str = "floor";
pub(crate) const BARE_SYNC: &str = "bare_sync";
pub(crate) const BARE_ASYNC: &str = "bare_async";

/// What a case's time is told over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The same call without a breaker.
    BareSync,
    /// The same future without a breaker.
    BareAsync,
    /// Nothing: a refused call never makes the bare one.
    Nothing,
}

/// What a closed breaker looks back on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The last so many results.
    CountRing,
    /// The results of the last seconds.
    Rolling,
}

impl Window {
    /// What the case with so many results is called.
    fn name(self, samples: u32) -> String {
        match self {
            // The usual length, which goes without saying.
            Self::CountRing if samples == SAMPLES[0] => "count_ring".to_owned(),
            Self::CountRing => format!("count_ring_{samples}"),
            Self::Rolling => format!("rolling_{samples}"),
        }
    }
}

/// Measures a number of calls: nanoseconds for each.
type Round = Box<dyn FnMut(u32) -> anyhow::Result<f64>>;

/// One column of one contestant.
pub(crate) struct Case {
    pub(crate) contestant: &'static str,
    pub(crate) name: String,
    pub(crate) over: Over,
    /// How many calls stand before each round: they fill the window.
    pub(crate) warm: u32,
    pub(crate) round: Round,
}

/// Where one contestant enters its calls.
pub(crate) struct Entry<'a> {
    cases: &'a mut Vec<Case>,
    contestant: &'static str,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(cases: &'a mut Vec<Case>, contestant: &'static str) -> Self {
        Self { cases, contestant }
    }

    /// A closed breaker around a plain call, alone and with two threads.
    pub(crate) fn closed_sync<E>(&mut self, call: impl Call<Result<u64, E>>) {
        let (timed, check) = plain(call);
        self.contended("two_threads", Over::BareSync, timed.clone(), check.clone());
        self.admitted("closed_sync", Over::BareSync, 0, timed, check);
    }

    /// A closed breaker around a future, alone and with two threads.
    pub(crate) fn closed_async<F: Future<Output = Result<u64, E>>, E>(
        &mut self,
        call: impl Call<F>,
    ) {
        let (timed, check) = polled(call);
        self.contended("two_threads_async", Over::BareAsync, timed.clone(), check.clone());
        self.admitted("closed_async", Over::BareAsync, 0, timed, check);
    }

    /// A breaker that is open and refuses a plain call.
    pub(crate) fn open_sync<E>(&mut self, call: impl Call<Result<u64, E>>) {
        let (timed, check) = plain(call);
        self.refused("open_reject", timed, check);
    }

    /// A breaker that is open and refuses a future.
    pub(crate) fn open_async<F: Future<Output = Result<u64, E>>, E>(&mut self, call: impl Call<F>) {
        let (timed, check) = polled(call);
        self.refused("open_reject_async", timed, check);
    }

    /// A closed breaker around a plain call, whose `window` holds as many results as `build` is told.
    pub(crate) fn window_sync<C: Call<Result<u64, E>>, E>(
        &mut self,
        window: Window,
        build: impl Fn(u32) -> anyhow::Result<C>,
    ) -> anyhow::Result<()> {
        for samples in SAMPLES {
            let (timed, check) = plain(build(samples)?);
            self.admitted(&window.name(samples), Over::BareSync, samples, timed, check);
        }
        Ok(())
    }

    /// A closed breaker around a future, whose `window` holds as many results as `build` is told.
    pub(crate) fn window_async<C: Call<F>, F: Future<Output = Result<u64, E>>, E>(
        &mut self,
        window: Window,
        build: impl Fn(u32) -> anyhow::Result<C>,
    ) -> anyhow::Result<()> {
        for samples in SAMPLES {
            let (timed, check) = polled(build(samples)?);
            self.admitted(&window.name(samples), Over::BareAsync, samples, timed, check);
        }
        Ok(())
    }

    /// A bare operation, whose whole time is told.
    pub(crate) fn floor<T>(&mut self, name: &str, mut operation: impl FnMut() -> T + 'static) {
        let mut timed = move || {
            black_box(&operation());
        };
        let round = Box::new(move |calls| Ok(measure::one_thread(calls, &mut timed)));
        self.enter(name, Over::Nothing, 0, round);
    }

    fn admitted(
        &mut self,
        name: &str,
        over: Over,
        warm: u32,
        mut timed: impl Call<()>,
        mut check: impl Call<bool>,
    ) {
        let round = Box::new(move |calls| {
            let time = measure::one_thread(calls, &mut timed);
            anyhow::ensure!(check(), "a call was refused or failed");
            Ok(time)
        });
        self.enter(name, over, warm, round);
    }

    fn contended(
        &mut self,
        name: &str,
        over: Over,
        timed: impl Call<()>,
        mut check: impl Call<bool>,
    ) {
        let round = Box::new(move |calls| {
            let time = measure::two_threads(calls, &timed)?;
            anyhow::ensure!(check(), "a call was refused or failed");
            Ok(time)
        });
        self.enter(name, over, 0, round);
    }

    fn refused(&mut self, name: &str, mut timed: impl Call<()>, mut check: impl Call<bool>) {
        let round = Box::new(move |calls| {
            anyhow::ensure!(!check(), "the breaker is not open");
            let time = measure::one_thread(calls, &mut timed);
            anyhow::ensure!(!check(), "the breaker is no longer open");
            Ok(time)
        });
        self.enter(name, Over::Nothing, 0, round);
    }

    fn enter(&mut self, name: &str, over: Over, warm: u32, round: Round) {
        let case = Case { contestant: self.contestant, name: name.to_owned(), over, warm, round };
        self.cases.push(case);
    }
}

/// What can be done again and again, by several threads.
pub(crate) trait Call<T>: FnMut() -> T + Clone + Send + 'static {}

impl<T, C: FnMut() -> T + Clone + Send + 'static> Call<T> for C {}

/// The call to be timed, and the same call to be checked: whether it came through.
fn plain<E>(mut call: impl Call<Result<u64, E>>) -> (impl Call<()>, impl Call<bool>) {
    let mut checked = call.clone();
    let timed = move || {
        // Not by value: see `spend`.
        black_box(&call());
    };
    (timed, move || checked().is_ok())
}

fn polled<F: Future<Output = Result<u64, E>>, E>(
    mut call: impl Call<F>,
) -> (impl Call<()>, impl Call<bool>) {
    let mut checked = call.clone();
    (move || spend(call()), move || drive(checked()).is_ok())
}

/// The calls without a breaker, over which the others are told. They stand first in every round.
pub(crate) fn bare(cases: &mut Vec<Case>) {
    let mut entry = Entry::new(cases, FLOOR);
    entry.floor(BARE_SYNC, succeed);
    entry.floor(BARE_ASYNC, || spend(SUCCEED));
}
