//! What settles later, or does not.

use mainstay_journeys::report::{FailureKind, PollerState, StepState};
use mainstay_journeys::{Mode, RunOutcome, RunRecord};
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;

use crate::travel::{LONG, SOON, events, states, travel, travel_by, travel_within};

#[tokio::test]
async fn what_settles_later_is_charged_then() {
    let run = travel(Settling::Reviews { looks: 2 }, Mode::Halt).await;
    assert_eq!(run.outcome, RunOutcome::Passed, "{run:#?}");
    assert_eq!(events(&run), ["AuthorizationCreated", "PendingReview", "Approved"]);
    assert_eq!(states(&run), [StepState::Passed, StepState::Passed]);
    let poller = &run.pollers[0];
    assert_eq!((poller.state, poller.poll_count, poller.event_count), (PollerState::Done, 4, 2));
    assert_eq!(poller.last_value, Some(json!({"id": "a-1", "status": "approved"})));
    assert_eq!(run.steps[0].captures["id"], json!("a-1"));
    let charge = run.steps[1].request.as_ref().unwrap();
    assert_eq!(charge.body.as_deref(), Some(r#"{"authorization":"a-1"}"#));
    assert!(run.steps[1].offset_ms >= run.events[2].offset_ms);
}

#[tokio::test]
async fn what_is_declined_fails_with_the_reason_of_the_answer() {
    for (mode, outcome, failures) in [
        (Mode::Halt, RunOutcome::Failed, 1),
        (Mode::Record, RunOutcome::Failed, 2),
        (Mode::Log, RunOutcome::Passed, 2),
        (Mode::Disabled, RunOutcome::Passed, 0),
    ] {
        let run = travel(Settling::Declines, mode).await;
        assert_eq!((run.outcome, run.failures.len()), (outcome, failures), "{mode}: {run:#?}");
        assert_eq!(events(&run), ["AuthorizationCreated"], "{mode}");
        assert_eq!(states(&run), [StepState::Passed, StepState::Skipped], "{mode}");
        if let Some(first) = run.failures.first() {
            assert_eq!(
                (first.kind, first.message.as_str()),
                (FailureKind::Poller, "insufficient funds")
            );
        }
        if let Some(second) = run.failures.get(1) {
            assert_eq!(second.kind, FailureKind::NeverReady, "{second:?}");
            assert!(second.message.contains("create.Approved"), "{second:?}");
        }
        assert_eq!(run.pollers[0].state, PollerState::Failed, "{mode}");
    }
}

/// The poller of a step may fail before the step itself has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_step_tells_is_kept_however_soon_its_poller_fails() {
    for _ in 0..100 {
        let run = travel(Settling::Garbles, Mode::Halt).await;
        assert_eq!(states(&run), [StepState::Passed, StepState::Skipped], "{run:#?}");
        assert_eq!(events(&run), ["AuthorizationCreated"], "{run:#?}");
    }
}

#[tokio::test]
async fn what_never_settles_hangs_or_garbles_is_told_as_such() {
    let garbled = "no rule fits the answer: status 200, no JSON: <html>";
    let failed = "no rule fits the answer: status 500, JSON: ";
    for (settling, within, kind, told) in [
        (Settling::NeverSettles, SOON, FailureKind::Timeout, "did not settle: its time was over"),
        (Settling::Hangs, SOON, FailureKind::Timeout, "(1 poll)"),
        (Settling::Garbles, LONG, FailureKind::Poller, garbled),
        (Settling::Fails, LONG, FailureKind::Poller, failed),
    ] {
        let run = travel_within(within, settling, Mode::Halt).await;
        assert_eq!(run.outcome, RunOutcome::Failed);
        let failure = &run.failures[0];
        assert_eq!(failure.kind, kind, "{settling:?}: {failure:?}");
        assert!(failure.message.contains(told), "{settling:?}: {failure:?}");
        assert_eq!(failure.step.as_deref(), Some("create"));
    }
}

#[tokio::test]
async fn a_timeout_can_be_ignored_or_told_in_own_words() {
    let server = PaymentServer::start(Settling::NeverSettles).await.unwrap();
    let text = |on_timeout: &str| {
        format!(
            "journey: x\nvars: {{base: null}}\nsteps:\n- id: a\n  post: '{{{{ base }}}}/authorizations'\n  \
             capture: {{id: $.id}}\n  poll:\n    get: '{{{{ base }}}}/authorizations/{{{{ id }}}}'\n    \
             every: 50ms\n    within: 120ms\n    on_timeout: {on_timeout}\n    \
             when: [{{if: {{$.status: processing}}, do: continue}}, {{do: done}}]\n"
        )
    };
    let run = travel_by(&text("ignore"), &server, &[]).await;
    assert_eq!((run.outcome, run.pollers[0].state), (RunOutcome::Passed, PollerState::TimedOut));
    let words =
        "{error: 'never after {{ timeout.poll_count }} polls, {{ timeout.elapsed_ms >= 120 }}'}";
    let run = travel_by(&text(words), &server, &[]).await;
    let polls = run.pollers[0].poll_count;
    assert_eq!(run.failures[0].message, format!("never after {polls} polls, true"));
}

/// What is stored is read back as it was.
#[tokio::test]
async fn a_record_survives_being_written_and_read() {
    let run = travel(Settling::Declines, Mode::Record).await;
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), run);
}
