use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::bounds::{MAX_ANSWER, MAX_RUN, MAX_TEMPLATE};
use crate::model::Journey;

/// What the first step of a journey with this request sends.
fn ready_for(step: &str) -> Result<Ready, NotReady> {
    let text = format!(
        "journey: x\nvars: {{base: 'http://127.0.0.1:1', n: 5, bad: \"a\\nb\"}}\nsteps:\n  - id: a\n    {}\n",
        step.replace('\n', "\n    ")
    );
    let journey = Journey::parse(&text).unwrap();
    let secret = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
    let secrets = BTreeMap::from([secret("KEY", "hunter 2"), secret("HOST", "inner")]);
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
    assert_eq!(shown.curl, "curl -sS -i -g -L 'http://ada:[secret]@127.0.0.1:1/x'");
}

#[test]
fn a_command_asks_for_what_was_asked_for() {
    let curl = |step: &str| ready_for(step).unwrap().shown.curl;
    assert_eq!(
        curl("get: '{{ base }}/red shoes?q=größe 42&f[a]={1}'"),
        "curl -sS -i -g -L 'http://127.0.0.1:1/red%20shoes?q=gr%C3%B6%C3%9Fe%2042&f[a]={1}'"
    );
    assert_eq!(
        curl("get: 'http://{{ secret.HOST }}.example.com/a b'"),
        "curl -sS -i -g -L 'http://'\"${HOST}\"'.example.com/a%20b'"
    );
    assert_eq!(
        curl("get: 'http://ada:{{ secret.KEY }}@127.0.0.1:1/'"),
        "curl -sS -i -g -L 'http://ada:'\"${KEY}\"'@127.0.0.1:1/'"
    );
    let form = curl("post: '{{ base }}/'\nform: {a: 'b c', key: '{{ secret.KEY }}'}");
    assert!(
        form.ends_with("--data-urlencode 'a=b c' --data-urlencode 'key='\"${KEY}\"''"),
        "{form}"
    );
    let plain = curl("post: '{{ base }}/'\nform: {a: 'b c'}");
    assert!(plain.ends_with("--data-raw 'a=b+c'"), "{plain}");
}

#[test]
fn half_a_command_is_none() {
    let body = "'".repeat(MAX_TEMPLATE);
    let shown = ready_for(&format!("post: '{{{{ base }}}}/'\nbody: \"{body}\"")).unwrap().shown;
    assert_eq!(shown.curl, "");
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
