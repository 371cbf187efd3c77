//! What is measured: each contestant enters the calls that it knows.

use crate::call::{SUCCEED, drive, succeed};
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
    pub(crate) fn closed_sync<E>(&mut self, call: impl Call<E>) {
        self.contended("two_threads_sync", Over::BareSync, call.clone());
        self.admitted("closed_sync", Over::BareSync, 0, call);
    }

    /// A closed breaker around a future, alone and with two threads.
    pub(crate) fn closed_async<F: Future<Output = Result<u64, E>>, E>(
        &mut self,
        mut call: impl FnMut() -> F + Clone + Send + 'static,
    ) {
        let call = move || drive(call());
        self.contended("two_threads_async", Over::BareAsync, call.clone());
        self.admitted("closed_async", Over::BareAsync, 0, call);
    }

    /// A breaker that is open and refuses a plain call.
    pub(crate) fn open_sync<E>(&mut self, call: impl Call<E>) {
        self.refused("open_sync", call);
    }

    /// A breaker that is open and refuses a future.
    pub(crate) fn open_async<F: Future<Output = Result<u64, E>>, E>(
        &mut self,
        mut call: impl FnMut() -> F + Clone + Send + 'static,
    ) {
        self.refused("open_async", move || drive(call()));
    }

    /// A closed breaker around a plain call, whose `window` holds as many results as `build` is told.
    pub(crate) fn window_sync<C: Call<E>, E>(&mut self, window: &str, build: impl Fn(u32) -> C) {
        for samples in SAMPLES {
            self.admitted(&format!("{window}_{samples}"), Over::BareSync, samples, build(samples));
        }
    }

    /// A closed breaker around a future, whose `window` holds as many results as `build` is told.
    pub(crate) fn window_async<C, F, E>(
        &mut self,
        window: &str,
        build: impl Fn(u32) -> anyhow::Result<C>,
    ) -> anyhow::Result<()>
    where
        C: FnMut() -> F + Clone + Send + 'static,
        F: Future<Output = Result<u64, E>>,
    {
        for samples in SAMPLES {
            let mut call = build(samples)?;
            let call = move || drive(call());
            self.admitted(&format!("{window}_{samples}"), Over::BareAsync, samples, call);
        }
        Ok(())
    }

    /// A bare operation, whose whole time is told.
    pub(crate) fn floor<T>(&mut self, name: &str, mut operation: impl FnMut() -> T + 'static) {
        let round = Box::new(move |calls| Ok(measure::one_thread(calls, &mut operation)));
        self.enter(name, Over::Nothing, 0, round);
    }

    fn admitted<E>(&mut self, name: &str, over: Over, warm: u32, mut call: impl Call<E>) {
        let round = Box::new(move |calls| {
            let time = measure::one_thread(calls, &mut call);
            anyhow::ensure!(call().is_ok(), "a call was refused or failed");
            Ok(time)
        });
        self.enter(name, over, warm, round);
    }

    fn contended<E>(&mut self, name: &str, over: Over, mut call: impl Call<E>) {
        let round = Box::new(move |calls| {
            let time = measure::two_threads(calls, &call)?;
            anyhow::ensure!(call().is_ok(), "a call was refused or failed");
            Ok(time)
        });
        self.enter(name, over, 0, round);
    }

    fn refused<E>(&mut self, name: &str, mut call: impl Call<E>) {
        let round = Box::new(move |calls| {
            anyhow::ensure!(call().is_err(), "the breaker is not open");
            let time = measure::one_thread(calls, &mut call);
            anyhow::ensure!(call().is_err(), "the breaker is no longer open");
            Ok(time)
        });
        self.enter(name, Over::Nothing, 0, round);
    }

    fn enter(&mut self, name: &str, over: Over, warm: u32, round: Round) {
        let case = Case { contestant: self.contestant, name: name.to_owned(), over, warm, round };
        self.cases.push(case);
    }
}

/// A guarded call that can be made again and again, by several threads.
pub(crate) trait Call<E>: FnMut() -> Result<u64, E> + Clone + Send + 'static {}

impl<E, C: FnMut() -> Result<u64, E> + Clone + Send + 'static> Call<E> for C {}

/// The calls without a breaker, over which the others are told. They stand first in every round.
pub(crate) fn bare(cases: &mut Vec<Case>) {
    let mut entry = Entry::new(cases, FLOOR);
    entry.floor(BARE_SYNC, succeed);
    entry.floor(BARE_ASYNC, || drive(SUCCEED));
}
