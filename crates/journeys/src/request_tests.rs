use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::bounds::{MAX_ANSWER, MAX_RUN};
use crate::model::Journey;

/// What the first step of a journey with this request sends.
fn ready_for(step: &str) -> Result<Ready, NotReady> {
    let text = format!(
        "journey: x\nvars: {{base: 'http://127.0.0.1:1', n: 5, bad: \"a\\nb\"}}\nsteps:\n  - id: a\n    {}\n",
        step.replace('\n', "\n    ")
    );
    let journey = Journey::parse(&text).unwrap();
    let secrets = BTreeMap::from([("KEY".to_owned(), Secret::new("hunter 2".to_owned()))]);
    let scope = Scope::new(journey.vars.clone(), Arc::new(secrets));
    ready(&journey.steps[0].request, &scope, MAX_RUN, MAX_ANSWER)
}

#[test]
fn what_is_shown_holds_no_secret() {
    let ready = ready_for(
        "post: '{{ base }}/a?k={{ secret.KEY | urlencode }}'\n\
         headers: {X-Key: 'k-{{ secret.KEY }}', Authorization: 'Basic aHVudGVyMg=='}\n\
         json: {n: '{{ n }}', key: '{{ secret.KEY }}'}",
    )
    .unwrap();
    let shown = ready.shown;
    assert_eq!(shown.url, "http://127.0.0.1:1/a?k=$KEY");
    let header = |name: &str| {
        shown.headers.iter().find(|header| header.name == name).map(|header| header.value.as_str())
    };
    assert_eq!(header("X-Key"), Some("k-$KEY"));
    assert_eq!(header("Authorization"), Some("[secret]"));
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(shown.body.as_deref(), Some(r#"{"key":"$KEY","n":5}"#));
    assert!(shown.curl.contains("'http://127.0.0.1:1/a?k='\"${KEY}\"''"), "{}", shown.curl);
    assert!(!format!("{shown:?}").contains("hunter"), "{shown:?}");
}

#[test]
fn bodies_have_their_types() {
    let form = ready_for("post: '{{ base }}/'\nform: {a: 'b c', n: '{{ n }}'}").unwrap().shown;
    assert_eq!(form.body.as_deref(), Some("a=b+c&n=5"));
    let text = ready_for("put: '{{ base }}/'\nbody: plain").unwrap().shown;
    assert_eq!(text.headers[0].value, "text/plain; charset=utf-8");
    let own =
        ready_for("put: '{{ base }}/'\nbody: <a/>\nheaders: {Content-Type: text/xml}").unwrap();
    assert_eq!(own.shown.headers.len(), 1);
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let shown = ready_for("get: 'http://ada:pass@127.0.0.1:1/x'").unwrap().shown;
    assert_eq!(shown.url, "http://ada:[secret]@127.0.0.1:1/x");
    assert_eq!(shown.curl, "curl -sS -i -L 'http://ada:[secret]@127.0.0.1:1/x'");
}

#[test]
fn what_can_not_be_sent_is_told() {
    for (step, told) in [
        ("get: '{{ n }}'", "5 is no address"),
        (
            "get: '{{ base }}/'\nheaders: {X: '{{ bad }}'}",
            "the value of the header x can't be sent",
        ),
        ("get: '{{ base }}/{{ n.x.y }}'", "can't be filled in"),
    ] {
        let error = ready_for(step).unwrap_err().to_string();
        assert!(error.contains(told), "{step}: {error}");
    }
}
