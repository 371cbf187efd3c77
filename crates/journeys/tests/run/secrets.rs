//! What stands in no record.

use mainstay_journeys::junit;
use mainstay_journeys::report::FailureKind;
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;

use crate::travel::{LONG, travel_by};

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

/// Mainstay makes a header of it, and whoever is asked may send that back.
#[tokio::test]
async fn what_an_address_logs_in_with_is_in_no_record() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let host = server.base_url().replace("http://", "");
    let text = format!(
        "journey: x\nvars: {{base: null}}\nsteps:\n- id: a\n  get: 'http://ada:{{{{ secret.KEY }}}}@{host}/echo'\n  \
         capture: {{said: $.headers.authorization}}\n  poll:\n    get: 'http://eve:{{{{ secret.KEY }}}}@{host}/echo'\n    \
         every: 50ms\n    within: {LONG}\n    when: [{{do: error, reason: '{{{{ $.headers.authorization }}}}'}}]\n"
    );
    let run = travel_by(&text, &server, &[("KEY", "hunter2")]).await;
    assert_eq!(run.steps[0].captures["said"], json!("Basic [secret]"), "{run:#?}");
    assert_eq!(run.failures[0].message, "Basic [secret]", "{run:#?}");
    let shown = format!("{}{}", serde_json::to_string(&run).unwrap(), junit::junit(&run));
    // ada:hunter2 and eve:hunter2.
    for form in ["YWRhOmh1bnRlcjI", "ZXZlOmh1bnRlcjI", "hunter2"] {
        assert!(!shown.contains(form), "{form} in {shown}");
    }
}

#[tokio::test]
async fn a_secret_with_parts_is_not_captured_and_not_shown() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let text = "journey: x\nvars: {base: null}\nsteps:\n- id: a\n  get: '{{ base }}/echo'\n  \
        headers: {X-Part: part-of-it}\n  expect: {json: {headers: {x-part: part-of-it}}}\n  \
        capture: {uri: $.uri, session: $.headers}\n";
    let run = travel_by(text, &server, &[]).await;
    let failure = &run.failures[0];
    assert_eq!(failure.kind, FailureKind::Capture);
    assert!(failure.message.contains("capture the field itself"), "{failure:?}");
    let step = &run.steps[0];
    assert_eq!(step.answer.as_ref().unwrap().body, "[secret]");
    assert_eq!(step.checks[1].got, Some(json!("[secret]")));
    assert!(!step.captures.contains_key("session"), "{step:?}");
    let text = text.replace("session: $.headers", "session: $.headers.host");
    let run = travel_by(&text, &server, &[]).await;
    assert!(run.is_passed(), "{run:#?}");
    assert_eq!(run.steps[0].captures["session"], json!("[secret]"));
}

/// What sends a secret back makes a secret of what is captured, whatever its name.
#[tokio::test]
async fn an_echo_of_a_secret_can_not_be_changed_so_that_nobody_knows_it_again() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    for (filter, is_kept) in [("upper", false), ("first", false), ("urlencode", true)] {
        let text = format!(
            "journey: x\nmode: record\nvars: {{base: null}}\nsteps:\n- id: a\n  get: '{{{{ base }}}}/echo'\n  \
             headers: {{X-Said: 'k {{{{ secret.KEY }}}}'}}\n  capture: {{zz: '$.headers[\"x-said\"]'}}\n  poll:\n    \
             get: '{{{{ base }}}}/echo'\n    headers: {{X-Said: '{{{{ zz }}}}'}}\n    every: 50ms\n    within: {LONG}\n    \
             when: [{{do: error, reason: 'said {{{{ $.headers[\"x-said\"] | {filter} }}}}'}}]\n\
             - id: b\n  get: '{{{{ base }}}}/echo?k={{{{ zz | {filter} }}}}'\n"
        );
        let run = travel_by(&text, &server, &[("KEY", "hunter2-secret")]).await;
        let shown = format!("{run:?}{}", junit::junit(&run)).to_lowercase();
        assert!(!shown.contains("hunter2"), "{filter}: {shown}");
        let told =
            run.failures.iter().filter(|one| one.message.contains("something else of a secret"));
        assert_eq!(told.count(), if is_kept { 0 } else { 2 }, "{filter}: {run:#?}");
    }
}
