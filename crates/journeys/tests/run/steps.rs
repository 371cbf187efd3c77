//! What is sent, and what is not.

use std::sync::Arc;

use mainstay_journeys::report::{FailureKind, StepState};
use mainstay_journeys::{Journey, Mode, StartError, junit, run};
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;

use crate::travel::{Closed, answering, options, states, travel, travel_by};

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
    let down = Closed::new();
    let base = format!("http://{}", down.address());
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
async fn another_host_is_still_asked() {
    let closed = Closed::new();
    let down = closed.address();
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let steps: String =
        (0..6).map(|n| format!("- {{id: s{n}, get: 'http://{down}/'}}\n")).collect();
    let text = format!(
        "journey: x\nmode: record\nvars: {{base: null}}\nsteps:\n{steps}- {{id: other, get: '{{{{ base }}}}/echo'}}\n"
    );
    let run = travel_by(&text, &server, &[]).await;
    assert_eq!(run.failures[5].kind, FailureKind::BreakerOpen, "{run:#?}");
    assert_eq!(run.steps[6].state, StepState::Passed, "{run:#?}");
}

/// All later steps and pollers may use it.
#[tokio::test]
async fn all_that_a_run_captures_is_bounded() {
    let body = format!("\"{}\"", "x".repeat(60_000));
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let long = answering(head + &body).await;
    let step = |step: usize| {
        let captures: Vec<_> = (0..50).map(|n| format!("c{step}_{n}: $")).collect();
        format!("- {{id: s{step}, get: 'http://{long}/', capture: {{{}}}}}\n", captures.join(", "))
    };
    let text = format!("journey: x\nmode: record\nsteps:\n{}{}", step(0), step(1));
    let run = run(&Journey::parse(&text).unwrap(), options(None, None, true), Arc::new(())).await;
    let run = run.unwrap();
    assert_eq!(states(&run), [StepState::Passed, StepState::Failed], "{:?}", run.failures);
    assert_eq!(run.failures[0].kind, FailureKind::Bound);
    assert!(run.failures[0].message.contains("all that the run captures"), "{:?}", run.failures);
}

#[tokio::test]
async fn a_body_is_looked_through_as_it_is_written_and_an_empty_text_is_in_none() {
    let page = b"<h1>Gr\xFC\xDFe</h1>";
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=ISO-8859-1\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        page.len()
    );
    let address = answering([head.as_bytes(), page].concat()).await;
    let text = format!(
        "journey: x\nmode: record\nvars: {{nothing: ''}}\nsteps:\n\
         - {{id: a, get: 'http://{address}/', expect: {{body_contains: Grüße}}}}\n\
         - {{id: b, get: 'http://{address}/', expect: {{body_contains: '{{{{ nothing }}}}'}}}}\n"
    );
    let journey = Journey::parse(&text).unwrap();
    let run = run(&journey, options(None, None, true), Arc::new(())).await.unwrap();
    assert_eq!(states(&run), [StepState::Passed, StepState::Failed], "{run:#?}");
    let told = run.steps[1].error.as_deref().unwrap();
    assert!(told.contains("came out as an empty text"), "{told}");
}
