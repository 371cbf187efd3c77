//! Whole runs against the payment service that stands in, with real sockets and real time.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mainstay_base::{Secret, SystemClock};
use mainstay_journeys::report::{FailureKind, PollerState, StepState};
use mainstay_journeys::{
    Courier, Journey, Mode, News, Observer, Options, RunOutcome, RunRecord, StartError, junit, run,
};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;

const AUTHORISE: &str = include_str!("journeys/authorise.yaml");

fn options(mode: Option<Mode>, base: Option<&str>, is_private: bool) -> Options {
    let clock = Arc::new(SystemClock::new());
    let policy = Policy { private: is_private, ..Policy::default() };
    let web = Web::new(&WebOptions::new(policy, clock.clone()).unwrap()).unwrap();
    let courier = Courier::new(web, clock.clone()).unwrap();
    let vars = base.map(|base| ("base".to_owned(), json!(base))).into_iter().collect();
    Options { mode, vars, secrets: BTreeMap::new(), courier, clock }
}

/// The journey of the guide, at the pace of a test.
fn quick() -> Journey {
    let text = AUTHORISE
        .replace("every: 500ms", "every: 50ms")
        .replace("within: 30s", "within: 400ms")
        .replace("within: 800ms", "within: 10s");
    Journey::parse(&text).unwrap()
}

async fn travel(settling: Settling, mode: Mode) -> RunRecord {
    let server = PaymentServer::start(settling).await.unwrap();
    let options = options(Some(mode), Some(&server.base_url()), true);
    run(&quick(), options, Arc::new(())).await.unwrap()
}

async fn travel_by(text: &str, server: &PaymentServer, secrets: &[(&str, &str)]) -> RunRecord {
    let mut options = options(None, Some(&server.base_url()), true);
    let secrets = secrets.iter();
    options.secrets = secrets
        .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
        .collect();
    run(&Journey::parse(text).unwrap(), options, Arc::new(())).await.unwrap()
}

fn events(run: &RunRecord) -> Vec<&str> {
    run.events.iter().map(|event| event.name.as_str()).collect()
}

fn states(run: &RunRecord) -> Vec<StepState> {
    run.steps.iter().map(|step| step.state).collect()
}

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

#[tokio::test]
async fn what_never_settles_hangs_or_garbles_is_told_as_such() {
    for (settling, kind, told) in [
        (Settling::NeverSettles, FailureKind::Timeout, "did not settle: its time was over after 4"),
        (Settling::Hangs, FailureKind::Timeout, "(1 poll)"),
        (
            Settling::Garbles,
            FailureKind::Poller,
            "no rule fits the answer: status 200, no JSON: <html>",
        ),
        (Settling::Fails, FailureKind::Poller, "no rule fits the answer: status 500, JSON: "),
    ] {
        let run = travel(settling, Mode::Halt).await;
        assert_eq!(run.outcome, RunOutcome::Failed);
        let failure = &run.failures[0];
        assert_eq!(failure.kind, kind, "{settling:?}: {failure:?}");
        assert!(failure.message.contains(told), "{settling:?}: {failure:?}");
        assert_eq!(failure.step.as_deref(), Some("create"));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_as_expected_is_told_with_got_and_expected() {
    let run = travel(Settling::Refuses, Mode::Halt).await;
    let failure = &run.failures[0];
    assert_eq!(failure.kind, FailureKind::Assertion);
    assert_eq!(failure.message, "status: expected 201, got 503 (and 1 more)");
    let check = failure.check.as_ref().unwrap();
    assert_eq!((&check.expected, check.got.as_ref()), (&json!(201), Some(&json!(503))));
    assert_eq!(run.steps[0].checks[1].got, None);
    assert!(run.events.is_empty() && run.pollers.is_empty());
    assert_eq!(run.steps[1].error.as_deref(), Some("the run ended before it"));
    let xml = junit::junit(&run);
    assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
    assert!(xml.contains("type=\"assertion\" message=\"status: expected 201, got 503"), "{xml}");
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

#[tokio::test]
async fn no_secret_is_in_the_record_however_it_comes_back() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let text = "journey: x\nmode: record\nvars: {base: null}\nsteps:\n\
        - id: echo\n  get: '{{ base }}/echo?k={{ secret.KEY | urlencode }}'\n  \
          headers: {X-Key: 'Bearer {{ secret.KEY }}'}\n  \
          expect: {json: {headers: {x-key: '{{ secret.KEY }}'}}, body_contains: '{{ secret.KEY }}!'}\n\
        - id: again\n  get: '{{ base }}/echo'\n  headers: {X-Key: '{{ secret.KEY }}'}\n  \
          capture: {access_token: '$.headers.host', key: '$.headers[\"x-key\"]', uri: $.uri}\n\
        - id: use\n  get: '{{ base }}/echo/{{ access_token }}'\n";
    let run = travel_by(text, &server, &[("KEY", "hunter 2/ä")]).await;
    assert_eq!(run.failures.len(), 2, "{run:#?}");
    let shown = format!("{}{run:?}{}", serde_json::to_string(&run).unwrap(), junit::junit(&run));
    for form in ["hunter", "%C3%A4"] {
        assert!(!shown.contains(form), "{form} in {run:#?}");
    }
    assert_eq!(run.steps[1].captures["key"], json!("[secret]"));
    assert_eq!(run.steps[1].captures["access_token"], json!("[secret]"));
    let used = run.steps[2].request.as_ref().unwrap();
    assert!(used.curl.contains("${access_token}"), "{}", used.curl);
}

#[tokio::test]
async fn what_is_missing_is_told_before_anything_is_sent() {
    let journey = Journey::parse(
        "journey: x\nvars: {base: null, tries: 3}\nsteps: [{id: a, get: '{{ base }}/{{ secret.KEY }}'}]",
    )
    .unwrap();
    let begin = async |options| run(&journey, options, Arc::new(())).await.unwrap_err();
    let missing = begin(options(None, None, true)).await;
    assert_eq!(missing, StartError::MissingVars(vec!["base".to_owned()]));
    let missing = begin(options(None, Some("http://127.0.0.1:1"), true)).await;
    assert_eq!(missing, StartError::MissingSecrets(vec!["KEY".to_owned()]));
    let mut unknown = options(None, None, true);
    unknown.vars.insert("bsae".to_owned(), json!(1));
    let told = begin(unknown).await.to_string();
    assert_eq!(told, "the journey has no variable bsae; did you mean base?");
}

#[tokio::test]
async fn what_must_not_be_called_is_not_called() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let step = |path: &str| {
        format!("journey: x\nvars: {{base: null}}\nsteps: [{{id: a, get: '{{{{ base }}}}{path}'}}]")
    };
    let run = travel_by(&step("/moved"), &server, &[]).await;
    assert_eq!(run.failures[0].kind, FailureKind::Request);
    assert!(run.failures[0].message.contains("redirect is not followed"), "{run:#?}");
    let run = travel_by(&step("/huge"), &server, &[]).await;
    assert!(run.failures[0].message.contains("longer than the limit"), "{run:#?}");
    // As a server that is not alone judges: loopback is inside.
    let journey = Journey::parse(&step("/echo")).unwrap();
    let judged = options(None, Some(&server.base_url()), false);
    let run = mainstay_journeys::run(&journey, judged, Arc::new(())).await.unwrap();
    assert!(run.failures[0].message.contains("is not called"), "{run:#?}");
}

#[tokio::test]
async fn a_path_that_matches_nothing_and_a_template_that_fails_are_told() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let text = "journey: x\nmode: record\nvars: {base: null}\nsteps:\n\
        - {id: a, get: '{{ base }}/echo', capture: {id: $.none}}\n\
        - {id: b, get: '{{ base }}/{{ id }}'}\n";
    let run = travel_by(text, &server, &[]).await;
    let told: Vec<_> = run.failures.iter().map(|one| (one.kind, one.message.as_str())).collect();
    assert_eq!(told[0].0, FailureKind::Capture);
    assert!(told[0].1.contains("$.none can't be captured: it matches nothing"), "{told:?}");
    assert_eq!(told[1].0, FailureKind::Template);
    assert!(told[1].1.contains("id has no value"), "{told:?}");
}

#[tokio::test]
async fn a_host_that_is_down_is_left_alone_after_some_failures() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let steps: String =
        (0..7).map(|n| format!("- {{id: s{n}, get: '{{{{ base }}}}/'}}\n")).collect();
    let text = format!("journey: x\nmode: record\nvars: {{base: null}}\nsteps:\n{steps}");
    let journey = Journey::parse(&text).unwrap();
    let run = run(&journey, options(None, Some(&base), true), Arc::new(())).await.unwrap();
    let kinds: Vec<_> = run.failures.iter().map(|one| one.kind).collect();
    assert_eq!(kinds[..5], [FailureKind::Request; 5]);
    assert_eq!(kinds[5..], [FailureKind::BreakerOpen; 2]);
}

#[tokio::test]
async fn a_poll_may_pass_over_errors_or_speak_of_them() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    let text = "journey: x\nvars: {base: null}\nsteps:\n- id: a\n  post: '{{ base }}/authorizations'\n  \
        capture: {id: $.id}\n  poll:\n    get: '{{ base }}/authorizations/{{ id }}'\n    \
        every: 50ms\n    within: 3s\n    timeout: 100ms\n    max_polls: 3\n    \
        when: [{if: {error: timeout}, do: done, emit: Hung}, {if: {status: [404, 5xx]}, do: error}]\n";
    let run = travel_by(text, &server, &[]).await;
    assert_eq!(run.outcome, RunOutcome::Passed, "{run:#?}");
    assert_eq!(events(&run), ["Hung"]);
}

#[tokio::test]
async fn a_run_has_an_end() {
    let server = PaymentServer::start(Settling::NeverSettles).await.unwrap();
    let text = AUTHORISE.replace("mode: record", "within: 200ms\nmode: record");
    let text = text.replace("within: 800ms", "within: 10s");
    let run = travel_by(&text, &server, &[]).await;
    let kinds: Vec<_> = run.failures.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FailureKind::RunTimeout], "{run:#?}");
    assert_eq!(run.pollers[0].state, PollerState::Stopped);
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
    run(&quick(), options, observer).await.unwrap();
    assert_eq!(
        *heard.0.lock().unwrap(),
        [
            "began create",
            "ended create",
            "event AuthorizationCreated",
            "settled create None",
            "event Approved",
            "began charge",
            "ended charge"
        ]
    );
}

/// What is stored is read back as it was.
#[tokio::test]
async fn a_record_survives_being_written_and_read() {
    let run = travel(Settling::Declines, Mode::Record).await;
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), run);
}
