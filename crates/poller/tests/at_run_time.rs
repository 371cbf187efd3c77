#![cfg(test)]
//! Commands, events and handlers that are known only at run time, as a journey has them: commands wait
//! for events by name, somebody looks on, somebody cancels.

mod common;

use std::future::{pending, ready};
use std::time::Duration;

use mainstay_poller::{
    Adapter, Cause, Context, Entry, Executor, Mode, Outcome, Reason, Run, Schedule, Span as _,
    State,
};
use serde_json::{Value, json};
use tokio::time::sleep;

struct Journey;

impl Adapter for Journey {
    type Command = Value;
    type Event = Value;

    async fn execute(&mut self, step: &Value, ctx: &Context<Value>) -> Result<Vec<Value>, Reason> {
        if let Some(poll) = step.get("poll") {
            watch(poll, ctx)?;
        }
        if step["hangs"] == true {
            pending::<()>().await;
        }
        sleep(Duration::from_millis(step["takes_ms"].as_u64().unwrap_or(0))).await;
        if let Some(reason) = step["fails"].as_str() {
            return Err(reason.into());
        }
        Ok(vec![json!({ "step": step["id"] })])
    }

    fn is_ready(&self, step: &Value, events: &[Entry<Value>]) -> bool {
        let needed = step["needs"].as_str();
        needed.is_none_or(|name| events.iter().any(|entry| entry.event["name"] == name))
    }
}

/// A poller whose options, answers and rules all stand in the step.
fn watch(poll: &Value, ctx: &Context<Value>) -> Result<(), Reason> {
    let every = poll["every_ms"].as_u64().ok_or("a poll needs every_ms")?;
    let schedule =
        Schedule::every(every.ms()).within(poll["within_ms"].as_u64().unwrap_or(9_000).ms());
    let mut answers = poll["answers"].as_array().cloned().unwrap_or_default().into_iter();
    let rules = poll["when"].clone();
    let mut last = json!(null);
    let watch = ctx.poll(move || {
        last = answers.next().unwrap_or(last.clone());
        ready(last.clone())
    });
    watch.on(schedule).emit_on_change().handle(move |answer| match &rules[answer.to_string()] {
        Value::Null => Outcome::error(format!("no rule for {answer}")),
        rule if rule["do"] == "inject" => Outcome::inject(json!({ "name": rule["emit"] })),
        rule if rule["do"] == "done" => Outcome::done(json!({ "name": rule["emit"] })),
        _ => Outcome::Continue,
    })?;
    Ok(())
}

fn authorise() -> Value {
    json!({
        "id": "create",
        "poll": {
            "every_ms": 500,
            "answers": ["processing", "processing", "review", "review", "approved"],
            "when": {
                "\"processing\"": { "do": "continue" },
                "\"review\"": { "do": "inject", "emit": "PendingReview" },
                "\"approved\"": { "do": "done", "emit": "Approved" },
            },
        },
    })
}

fn told(run: &Run<Value>) -> Vec<String> {
    let shown = |entry: &Entry<Value>| {
        let name = entry.event["name"].as_str().or(entry.event["step"].as_str());
        name.unwrap_or_default().to_owned()
    };
    run.events.iter().map(shown).collect()
}

#[tokio::test(start_paused = true)]
async fn a_command_waits_for_the_event_that_it_needs() {
    let start = common::now();
    let charge = json!({ "id": "charge", "needs": "Approved" });
    let run = Executor::new(Journey).run([authorise(), charge]).await.into_result().unwrap();
    assert_eq!(told(&run), ["create", "PendingReview", "Approved", "charge"]);
    assert_eq!(start.elapsed(), 2.s());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_needs_what_nobody_will_tell_is_not_executed() {
    let charge = json!({ "id": "charge", "needs": "Refunded" });
    let end = json!({ "id": "end" });
    let executor = Executor::builder(Journey).mode(Mode::Record).build();
    let run = executor.run([authorise(), charge.clone(), end]).await;
    assert_eq!(told(&run), ["create", "PendingReview", "Approved", "end"]);
    let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
    assert!(matches!(failure.cause, Cause::NeverReady));
    assert_eq!((failure.command_index, run.commands_run), (1, 2));
    let run = Executor::new(Journey).run([charge]).await;
    assert_eq!((run.failures.len(), run.commands_run), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_error_ends_the_wait_of_a_command() {
    let mut broken = authorise();
    broken["poll"]["answers"] = json!(["processing", "garbage"]);
    let start = common::now();
    let charge = json!({ "id": "charge", "needs": "Approved" });
    let run = Executor::new(Journey).run([broken, charge]).await;
    assert_eq!(start.elapsed(), 500.ms());
    assert_eq!(
        run.into_result().unwrap_err().to_string(),
        "command 0: resource poller 1 error: no rule for \"garbage\""
    );
}

#[tokio::test(start_paused = true)]
async fn somebody_looks_on() {
    let executor = Executor::new(Journey);
    let observer = executor.observer();
    let running = tokio::spawn(executor.run([authorise()]));
    observer.changed().await;
    sleep(1_250.ms()).await;
    let [status] = observer.pollers().try_into().unwrap();
    assert_eq!((status.poll_count, status.event_count, status.elapsed), (3, 1, 1_250.ms()));
    let last = status.last_result.unwrap();
    assert_eq!(last.downcast_ref::<Value>(), Some(&json!("review")));
    assert!(running.await.unwrap().is_success());
    assert!(observer.pollers().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_in_the_middle_of_a_command() {
    for mode in [Mode::Halt, Mode::Record, Mode::Log, Mode::Disabled] {
        let executor = Executor::builder(Journey).mode(mode).build();
        let observer = executor.observer();
        let hangs = json!({ "id": "hangs", "hangs": true });
        let running = tokio::spawn(executor.run([authorise(), hangs, json!({ "id": "never" })]));
        sleep(700.ms()).await;
        let start = common::now();
        observer.cancel();
        let run = running.await.unwrap();
        assert_eq!(start.elapsed(), 0.s());
        assert!(run.is_cancelled && !run.is_success());
        assert_eq!(run.commands_run, 2);
        assert!(matches!(run.pollers[0].state, State::Stopped));
        assert_eq!(run.into_result().unwrap_err().to_string(), "the run was cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_while_it_waits() {
    let needs = json!({ "id": "charge", "needs": "Approved" });
    for steps in [vec![authorise()], vec![authorise(), needs]] {
        let executor = Executor::new(Journey);
        let observer = executor.observer();
        let running = tokio::spawn(executor.run(steps));
        sleep(700.ms()).await;
        let start = common::now();
        observer.cancel();
        assert!(running.await.unwrap().is_cancelled);
        assert_eq!(start.elapsed(), 0.s());
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_tells_without_end_is_ended_in_every_mode() {
    struct Flood;

    impl Adapter for Flood {
        type Command = ();
        type Event = ();

        async fn execute(&mut self, (): &(), _: &Context<()>) -> Result<Vec<()>, Reason> {
            Ok(vec![(); 60_000])
        }
    }
    for mode in [Mode::Halt, Mode::Disabled] {
        let executor = Executor::builder(Flood).mode(mode).build();
        let run = executor.run(vec![(); 100]).await;
        assert_eq!((run.events.len(), run.commands_run), (mainstay_poller::MAX_EVENTS, 18));
        assert!(matches!(run.failures[0].cause, Cause::TooManyEvents { .. }));
    }
}
