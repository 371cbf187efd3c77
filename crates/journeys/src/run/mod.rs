//! Runs a journey on the poller's executor: `adapter` does its steps, `poll` watches what settles later,
//! `rules` says what an answer means, `journal` keeps what happens, `end` makes the record of it.

mod adapter;
mod end;
mod journal;
mod poll;
mod rules;
mod step_error;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use mainstay_poller::{Entry, Executor, Mode as ExecutorMode, Reason};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bounds::MAX_RUN_EVENTS;
use crate::courier::Courier;
use crate::model::{Journey, Mode};
use crate::report::{EventRecord, RunRecord, StepRecord};
use crate::scope::{Scope, Secrets};
use adapter::{Told, Traveller};
use end::CutOff;
use journal::Journal;
use mainstay_base::nearest;

/// What a run is made with.
#[derive(Clone)]
pub struct Options {
    /// Another mode than the journey's.
    pub mode: Option<Mode>,
    /// Values in place of the journey's.
    pub vars: BTreeMap<String, Value>,
    /// The secrets, of which it uses those that it names.
    pub secrets: Secrets,
    /// Who carries requests out.
    pub courier: Courier,
    /// Who tells the time.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("mode", &self.mode)
            .field("vars", &self.vars)
            .finish_non_exhaustive()
    }
}

/// Looks on while a journey runs. It is called from the run's own tasks: it must not block.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn tell(&self, news: &News<'_>);
}

/// What happened. No secret stands in it.
#[derive(Debug)]
#[non_exhaustive]
pub enum News<'a> {
    /// A step begins.
    StepBegan {
        /// Which.
        step: &'a str,
    },
    /// A step has ended.
    StepEnded(&'a StepRecord),
    /// An event has arrived.
    Event(&'a EventRecord),
    /// A poller begins.
    PollerBegan {
        /// The step that starts it.
        step: &'a str,
    },
    /// A poll has ended.
    Polled {
        /// The step that started the poller.
        step: &'a str,
        /// How many polls there were by now.
        poll_count: u64,
    },
    /// A poller has ended.
    PollerEnded {
        /// The step that started it.
        step: &'a str,
        /// Why it failed, if it did.
        error: Option<&'a str>,
    },
}

impl Observer for () {
    fn tell(&self, _: &News<'_>) {}
}

/// Why a run can't begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// A value for a variable that the journey does not have.
    #[error("the journey has no variable {name}{}", meant(.nearest.as_deref()))]
    UnknownVar {
        /// The name.
        name: String,
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
    /// Variables without a value.
    #[error("these variables have no value: {}; give each one", .0.join(", "))]
    MissingVars(Vec<String>),
    /// Secrets that nobody gave.
    #[error("these secrets are not set: {}; set each one", .0.join(", "))]
    MissingSecrets(Vec<String>),
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Runs a journey to its end. Dropping the future ends it, with everything that it started.
///
/// # Errors
/// [`StartError`] when a value or a secret is missing, before anything is sent.
pub async fn run(
    journey: &Journey,
    options: Options,
    observer: Arc<dyn Observer>,
) -> Result<RunRecord, StartError> {
    run_until(journey, options, observer, &CancellationToken::new()).await
}

/// As [`run`]; cancelled, it ends, and is recorded as far as it came.
///
/// # Errors
/// As [`run`].
pub async fn run_until(
    journey: &Journey,
    options: Options,
    observer: Arc<dyn Observer>,
    cancel: &CancellationToken,
) -> Result<RunRecord, StartError> {
    let vars = vars(journey, &options.vars)?;
    let secrets = Arc::new(secrets(journey, options.secrets)?);
    let mode = options.mode.unwrap_or(journey.mode);
    let journal =
        Arc::new(Journal::new(journey, mode, vars.clone(), &secrets, options.clock, observer));
    let traveller = Traveller {
        journey: Arc::new(journey.clone()),
        scope: Scope::new(vars, secrets),
        courier: options.courier,
        journal: Arc::clone(&journal),
        captured: 0,
    };
    let executor = Executor::builder(traveller).mode(executor_mode(mode)).build();
    let watching = executor.observer();
    let (noting, cancelling) = (Arc::clone(&journal), executor.observer());
    let fold = move |entry: &Entry<Told>| -> Result<(), Reason> {
        if noting.event(entry) {
            return Ok(());
        }
        cancelling.cancel();
        Err(format!("the run has more than {MAX_RUN_EVENTS} events").into())
    };
    let running = executor.run_with((0..journey.steps.len()).collect::<Vec<_>>(), fold);
    let mut running = pin!(running);
    let cut = tokio::select! {
        ended = &mut running => return Ok(end::record(journey, &journal, &ended, None)),
        () = tokio::time::sleep(journey.within) => CutOff::Late,
        () = cancel.cancelled() => CutOff::Cancelled,
    };
    journal.cut_off();
    watching.cancel();
    let ended = running.await;
    // It may have come to its end just then.
    let cut = Some(cut).filter(|_| ended.is_cancelled);
    Ok(end::record(journey, &journal, &ended, cut))
}

/// A failure that is only logged or ignored is recorded all the same: what it means is decided at the end.
fn executor_mode(mode: Mode) -> ExecutorMode {
    match mode {
        Mode::Halt => ExecutorMode::Halt,
        Mode::Record | Mode::Log | Mode::Disabled => ExecutorMode::Record,
    }
}

fn vars(
    journey: &Journey,
    given: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, StartError> {
    let mut vars = journey.vars.clone();
    for (name, value) in given {
        let Some(var) = vars.get_mut(name) else {
            let nearest = nearest(name, journey.vars.keys().map(String::as_str)).map(str::to_owned);
            return Err(StartError::UnknownVar { name: name.clone(), nearest });
        };
        *var = value.clone();
    }
    let missing = vars.iter().filter(|(_, value)| value.is_null());
    let missing: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
    if missing.is_empty() { Ok(vars) } else { Err(StartError::MissingVars(missing)) }
}

/// Only those that it names: what it can't use, it can't tell.
fn secrets(journey: &Journey, given: Secrets) -> Result<Secrets, StartError> {
    let used: Secrets =
        given.into_iter().filter(|(name, _)| journey.secrets.contains(name)).collect();
    let known: BTreeSet<&String> = used.keys().collect();
    let missing = journey.secrets.iter().filter(|name| !known.contains(name));
    let missing: Vec<String> = missing.cloned().collect();
    if missing.is_empty() { Ok(used) } else { Err(StartError::MissingSecrets(missing)) }
}

/// A time as a record holds it: in milliseconds, to the microsecond.
pub(crate) fn millis(time: Duration) -> f64 {
    const MICROS_PER_MILLI: f64 = 1_000.0;
    u32::try_from(time.as_micros()).map_or_else(
        |_| (time.as_secs_f64() * MICROS_PER_MILLI).round(),
        |micros| f64::from(micros) / MICROS_PER_MILLI,
    )
}
