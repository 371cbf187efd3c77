use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_base::Secret;
use serde_json::json;

use super::*;
use crate::scope::{Face, Scope};

fn scope() -> Scope {
    let vars = [("base", json!("http://x")), ("id", json!(7)), ("list", json!([1, {"a": "b"}]))];
    let vars = vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let secrets = BTreeMap::from([("TOKEN".to_owned(), Secret::new("hunter2".to_owned()))]);
    Scope::new(vars, Arc::new(secrets))
}

fn text(template: &str) -> Result<String, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let answer = json!({"decline_reason": "no money", "items": [{"n": 1}, {"n": 2}], "a b": true});
    let scope = scope();
    let context = scope.with_answer(Face::Real, Some(&answer));
    template.text(&context).map_err(|error| error.to_string())
}

#[test]
fn what_is_named_is_filled_in() {
    for (template, filled) in [
        ("plain", "plain"),
        ("{{ base }}/orders/{{ id }}", "http://x/orders/7"),
        ("{{ $.decline_reason }}", "no money"),
        ("{{$.items[1].n}}", "2"),
        ("{{ $['a b'] }}", "true"),
        ("{{ $.none | default('nothing') }}", "nothing"),
        ("{{ $.items | length }} items", "2 items"),
        ("{{ id + 1 }}", "8"),
        ("{{ list }}", r#"[1,{"a":"b"}]"#),
        ("{{ 'a b/ä' | urlencode }}", "a%20b/%C3%A4"),
        ("{{ \"{{\" }}", "{{"),
        ("{{ {'a': 1}.a }}", "1"),
        ("Bearer {{ secret.TOKEN }}", "Bearer hunter2"),
        ("{ a: {b} }", "{ a: {b} }"),
        ("a }} b", "a }} b"),
        ("{{ id }}{{ id }}", "77"),
        ("{{ 'yes' if id == 7 else 'no' }}", "yes"),
        ("{{ '$.x' }}", "$.x"),
        ("{{ $.items[*].n }}", "1"),
    ] {
        assert_eq!(text(template).as_deref(), Ok(filled), "{template}");
    }
}

#[test]
fn what_can_not_be_read_is_told() {
    for (template, told) in [
        ("{{ id", "{{ has no }}"),
        ("{% for x in y %}", "there are no blocks"),
        ("{{ 'a' * 3 }}", "there is no * here"),
        ("{{ id | }}", "in {{ id | }}: "),
        ("{{ $.items[ }}", "in {{ $.items[ }}: it is no JSONPath"),
        ("{{ }}", "in {{  }}: "),
    ] {
        let error = text(template).unwrap_err();
        assert!(error.contains(told), "{template}: {error}");
    }
    let long = format!("{{{{ '{}' }}}}", "x".repeat(MAX_EXPRESSION));
    assert!(text(&long).unwrap_err().contains("longer than"));
    assert!(text(&"x".repeat(MAX_TEMPLATE + 1)).unwrap_err().contains("longer than"));
}

#[test]
fn what_is_not_there_is_told_by_its_name() {
    for (template, told) in [
        ("{{ $.none }}", "$.none matches nothing in the answer"),
        ("{{ other }}", "other has no value"),
        ("{{ secret.OTHER }}", "the secret OTHER is not known"),
        ("{{ id.x.y }}", "a part of it has no value"),
        ("{{ id | nofilter }}", "nofilter"),
        ("{{ base + 1 }}", "can't be filled in"),
    ] {
        let error = text(template).unwrap_err();
        assert!(error.contains(told), "{template}: {error}");
    }
}

/// What makes much out of little is not there.
#[test]
fn a_line_of_text_can_not_fill_the_memory() {
    for template in [
        "{{ range(100000000) }}",
        "{{ 'a' | replace('a', 'aaaa') }}",
        "{{ ['a','b'] | join('x') }}",
        "{{ '%100000000d' | format(1) }}",
        "{{ 'a' | center(100000000) }}",
        "{{ 'a' | indent(100000000) }}",
        "{{ dict(a=1) }}",
        "{{ 10 ** 10 }}",
    ] {
        assert!(text(template).is_err(), "{template}");
    }
}

#[test]
fn a_value_keeps_its_kind_where_it_stands_alone() {
    let template =
        JsonTemplate::parse(&json!({"a": "{{ id }}", "b": "n{{ id }}", "c": ["{{ list }}", 1]}));
    let scope = scope();
    let value = template.unwrap().value(&scope.context(Face::Real)).unwrap();
    assert_eq!(value, json!({"a": 7, "b": "n7", "c": [[1, {"a": "b"}], 1]}));
}

#[test]
fn the_way_to_what_is_wrong_is_told() {
    let (way, _) = JsonTemplate::parse(&json!({"a": [1, {"b": "{{"}]})).unwrap_err();
    assert_eq!(way, ["a", "1", "b"]);
}

#[test]
fn what_it_names_is_known() {
    let template = Template::parse("{{ a.b }}{{ secret.X }}{{ $.c }}{{ secret }}").unwrap();
    let named: Vec<Named> = template.named().into_iter().collect();
    let expected = [
        Named::Variable("a".to_owned()),
        Named::Secret("X".to_owned()),
        Named::AllSecrets,
        Named::Answer,
    ];
    assert_eq!(named, expected);
}

#[test]
fn a_secret_is_shown_as_a_mark() {
    let scope = scope();
    let template = Template::parse("{{ secret.TOKEN }}").unwrap();
    let shown = template.text(&scope.context(Face::Shown)).unwrap();
    assert!(!shown.contains("hunter2") && shown.contains("TOKEN"), "{shown}");
}
