//! How runs end, and who hears of it.

use std::sync::{Arc, Mutex};

use mainstay_journeys::bounds::MAX_RUN_EVENTS;
use mainstay_journeys::report::{FailureKind, PollerState, StepState};
use mainstay_journeys::{
    Journey, Mode, News, Observer, RunOutcome, RunRecord, junit, run, run_until,
};
use mainstay_standins::payments::{PaymentServer, Settling};
use tokio_util::sync::CancellationToken;

use crate::travel::{AUTHORISE, LONG, options, quick, states, travel_by};

/// Whoever did not see its end can't say that it passed.
#[tokio::test]
async fn a_run_that_tells_too_many_events_ends_and_has_passed_in_no_mode() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let events: Vec<String> = (0..16).map(|n| format!("E{n}")).collect();
    let step = |n: usize| {
        format!(
            "- id: s{n}\n  get: '{{{{ base }}}}/echo'\n  poll:\n    get: '{{{{ base }}}}/echo'\n    every: 50ms\n    \
             within: 10m\n    when: [{{if: {{status: 500}}, do: error}}, {{do: inject, emit: [{}]}}]\n",
            events.join(", ")
        )
    };
    let steps: String = (0..30).map(step).collect();
    for mode in [Mode::Log, Mode::Disabled] {
        let text = format!("journey: x\nmode: {mode}\nvars: {{base: null}}\nsteps:\n{steps}");
        let run = travel_by(&text, &server, &[]).await;
        assert_eq!((run.outcome, run.events.len()), (RunOutcome::Failed, MAX_RUN_EVENTS), "{mode}");
        let bound = run.failures.iter().filter(|one| one.kind == FailureKind::Bound);
        let told: Vec<&str> = bound.map(|one| one.message.as_str()).collect();
        assert!(told.len() == 1 && told[0].contains("more than 10000 events"), "{mode}: {told:?}");
    }
}

#[tokio::test]
async fn a_run_has_an_end() {
    let server = PaymentServer::start(Settling::NeverSettles).await.unwrap();
    let text = AUTHORISE.replace("mode: record", "within: 200ms\nmode: record");
    let text = text.replace("within: 800ms", "within: 10s");
    let run = travel_by(&text, &server, &[]).await;
    let kinds: Vec<_> = run.failures.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FailureKind::RunTimeout], "{run:#?}");
    // It may have been over before there was one.
    assert!(run.pollers.iter().all(|one| one.state == PollerState::Stopped), "{run:#?}");
}

/// Cancels a run at the first news of a kind.
struct Cancels(CancellationToken, fn(&News<'_>) -> bool);

impl Observer for Cancels {
    fn tell(&self, news: &News<'_>) {
        if (self.1)(news) {
            self.0.cancel();
        }
    }
}

/// Runs a journey until there is such news.
async fn travel_until(
    text: &str,
    server: &PaymentServer,
    is_it: fn(&News<'_>) -> bool,
) -> RunRecord {
    let (options, cancel) =
        (options(None, Some(&server.base_url()), true), CancellationToken::new());
    let observer = Arc::new(Cancels(cancel.clone(), is_it));
    run_until(&Journey::parse(text).unwrap(), options, observer, &cancel).await.unwrap()
}

#[tokio::test]
async fn a_poller_stops_with_its_run() {
    let server = PaymentServer::start(Settling::NeverSettles).await.unwrap();
    let text = AUTHORISE.replace("within: 800ms", "within: 10s");
    let run = travel_until(&text, &server, |news| matches!(news, News::Polled { .. })).await;
    assert_eq!(run.pollers[0].state, PollerState::Stopped, "{run:#?}");
    assert_eq!(run.failures.last().unwrap().kind, FailureKind::Cancelled, "{run:#?}");
}

/// A journey whose second step is never answered.
const HANGING: &str = "journey: x\nvars: {base: null}\nmode: log\nsteps:\n- id: a\n  post: '{{ base }}/authorizations'\n  \
    capture: {id: $.id}\n- id: look\n  get: '{{ base }}/authorizations/{{ id }}'\n  timeout: 20s\n- id: last\n  get: '{{ base }}/echo'\n";

#[tokio::test]
async fn a_run_whose_time_is_over_names_the_step_under_way_and_what_it_sent() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    let create =
        "journey: x\nvars: {base: null}\nsteps: [{id: a, post: '{{ base }}/authorizations'}]";
    assert!(travel_by(create, &server, &[]).await.is_passed());
    let text = "journey: x\nvars: {base: null}\nwithin: 5s\nsteps:\n\
        - {id: look, get: '{{ base }}/authorizations/a-1', timeout: 20s}\n\
        - {id: last, get: '{{ base }}/echo'}\n";
    let run = travel_by(text, &server, &[]).await;
    let failure = &run.failures[0];
    assert_eq!((failure.kind, failure.step.as_deref()), (FailureKind::RunTimeout, Some("look")));
    assert_eq!(
        failure.message, "the run did not end within 5s; this step was under way",
        "{run:#?}"
    );
    let request = run.steps[0].request.as_ref().unwrap();
    assert!(request.url.ends_with("/authorizations/a-1"), "{request:?}");
    assert_eq!(states(&run), [StepState::Failed, StepState::Skipped]);
    let step = &run.steps[0];
    let (begun, end) = (step.offset_ms, step.offset_ms + step.duration_ms);
    assert!(begun < 5_000.0 && end >= 5_000.0 && end <= run.duration_ms, "{run:#?}");
    let case = format!("name=\"look\" time=\"{:.3}\"", step.duration_ms / 1_000.0);
    assert!(junit::junit(&run).contains(&case), "{case}: {}", junit::junit(&run));
    assert_eq!(run.steps[1].duration_ms, 0.0, "what was never begun took no time");
}

#[tokio::test]
async fn a_run_that_is_cancelled_is_recorded_as_far_as_it_came_and_has_passed_in_no_mode() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    let is_looking = |news: &News<'_>| matches!(news, News::StepBegan { step: "look" });
    let run = travel_until(HANGING, &server, is_looking).await;
    assert_eq!(run.outcome, RunOutcome::Failed, "{run:#?}");
    let failure = run.failures.last().unwrap();
    assert_eq!((failure.kind, failure.step.as_deref()), (FailureKind::Cancelled, Some("look")));
    assert_eq!(states(&run), [StepState::Passed, StepState::Failed, StepState::Skipped]);
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn tell(&self, news: &News<'_>) {
        let line = match news {
            News::StepBegan { step } => format!("began {step}"),
            News::StepEnded(step) => format!("ended {}", step.id),
            News::Event(event) => format!("event {}", event.name),
            News::PollerEnded { step, error } => format!("settled {step} {error:?}"),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::test]
async fn who_looks_on_hears_of_everything_in_order() {
    let server = PaymentServer::start(Settling::Approves { after: 1 }).await.unwrap();
    let heard = Arc::new(Heard::default());
    let options = options(Some(Mode::Halt), Some(&server.base_url()), true);
    let observer: Arc<dyn Observer> = Arc::clone(&heard) as _;
    run(&quick(LONG), options, observer).await.unwrap();
    assert_eq!(
        *heard.0.lock().unwrap(),
        [
            "began create",
            "ended create",
            "event AuthorizationCreated",
            "event Approved",
            "settled create None",
            "began charge",
            "ended charge"
        ]
    );
}
