use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_base::Secret;
use serde_json::json;

use super::*;
use crate::document::Document;
use crate::mask::Mask;
use crate::scope::{Face, Scope};

fn scope() -> Scope {
    let vars = [
        ("base", json!("http://x")),
        ("id", json!(7)),
        ("list", json!([1, {"a": "b"}])),
        ("nothing", json!(null)),
        ("long", json!("x".repeat(MAX_VALUE))),
        ("letters", json!("abcdefghij".repeat(100))),
        ("many", json!(vec!["\n".repeat(100); 1_000])),
    ];
    let vars = vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let secrets = BTreeMap::from([("TOKEN".to_owned(), Secret::new("hunter2".to_owned()))]);
    Scope::new(vars, Arc::new(secrets))
}

fn text(template: &str) -> Result<String, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let answer = Document::new(
        json!({"decline_reason": "no money", "items": [{"n": 1}, {"n": 2}], "a b": true}),
    );
    let scope = scope();
    let context = scope.with_answer(Face::Real, Some(&answer), None);
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
        ("{{ $.items[?@.n > 1].n }}", "2"),
        ("{{ $.items[1:2].n }}", "2"),
        ("{{ [{'a': 1}][0]['a'] ~ ':' }}", "1:"),
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
        ("{{ list[::-1] }}", "there are no slices such as [1:2] here"),
        ("{{ (list and list)[ 1 : ] }}", "there are no slices"),
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
        ("{{ other | trim }}", "other has no value"),
        ("{{ other | tojson }}", "other has no value"),
        ("{{ other | string }}", "other has no value"),
        ("{{ other | urlencode }}", "other has no value"),
        ("{{ id | nofilter }}", "there is no filter nofilter; there are default, "),
        ("{{ id is even }}", "there is no test even; there are defined, none"),
        ("{{ $.items[*].n }}", "$.items[*].n matches 2 values, and one is wanted"),
        ("a{{ nothing }}", "it is null"),
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
        "{{ list | tojson(indent=1000000000) }}",
        "{{ list | tojson(1000000000000) }}",
        "{{ list|string|tojson( 2 ) }}",
        "{{ list | tojson(true) }}",
        "{{ 'a' | upper(100000000) }}",
        "{{ base | trim(letters) }}",
    ] {
        assert!(text(template).is_err(), "{template}");
    }
}

/// Each of these doubles what it is given, and a line has room for dozens of them.
#[test]
fn a_line_of_text_can_not_double_a_value_again_and_again() {
    let nested = |open: &str, close: &str| {
        format!("{{{{ {}'\\\\'{} }}}}", open.repeat(40), close.repeat(40))
    };
    for template in [
        nested("", "|tojson"),
        nested("[", "]~''"),
        nested("[", "]|string"),
        nested("{1:", "}~''"),
        nested("(", ",)~''"),
        format!("{{{{ 'yes' if {}'' == '' else 'no' }}}}", "long~".repeat(40)),
        format!("{{{{ [{}1] | length }}}}", "long,".repeat(40)),
    ] {
        assert!(text(&template).is_err(), "{template}");
    }
}

/// What a filter may be told can be as large or as odd as its writer likes.
#[test]
fn the_arguments_of_a_filter_do_no_harm() {
    for template in [
        "{{ 1.5 | round(2147483647) }}",
        "{{ 15 | round(-2147483648) }}",
        "{{ 1.5 | round(-2147483648) }}",
        "{{ 1.5 | round(precision=1000000000) }}",
        "{{ 1.5 | round(-2147483648, 'ceil') }}",
        "{{ 'zz' | int(default=0, base=99) }}",
        "{{ 'zz' | int(0, 4294967295) }}",
        "{{ 'x' | float(1) }}",
        "{{ base | trim('htp:/') }}",
        "{{ '' | default(long, true) | length }}",
        "{{ list | first | string }}{{ long[1000000000] | default(1) }}",
    ] {
        let _ = text(template).map(|text| assert!(text.len() < 1_000, "{template}"));
    }
}

#[test]
fn what_a_filter_makes_is_bounded_while_it_is_made() {
    for filter in ["tojson", "string", "urlencode"] {
        let template = format!("{{{{ [many, many] | {filter} | length }}}}");
        let error = text(&template).unwrap_err();
        assert!(error.contains("longer than 262144 bytes"), "{filter}: {error}");
    }
    let error = text("{{ [many, many] }}").unwrap_err();
    assert!(error.contains("longer than 262144 bytes"), "{error}");
}

#[test]
fn an_argument_that_a_filter_does_not_take_is_told() {
    let error = text("{{ list | tojson(indent=2) }}").unwrap_err();
    assert_eq!(
        error,
        "in {{ list | tojson(indent=2) }}: the filter tojson takes nothing in brackets; leave (…) out"
    );
    assert_eq!(text("{{ list | tojson }}").as_deref(), Ok(r#"[1,{"a":"b"}]"#));
    assert_eq!(text("{{ '<\"ä' | tojson }}").as_deref(), Ok(r#""<\"ä""#));
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

/// What is captured may be long, and a body may hold thousands of expressions.
#[test]
fn an_expression_is_filled_in_from_what_it_names_and_from_nothing_else() {
    let scope = scope();
    let context = scope.context(Face::Real);
    let template = Template::parse("{{ id ~ secret.TOKEN }}{{ $.x }}").unwrap();
    let named: Vec<Named> = template.named().into_iter().collect();
    let values = context.filling(&named).values;
    assert_eq!(values.keys().collect::<Vec<_>>(), ["id", "secret"]);
    let secrets: Vec<String> =
        values["secret"].try_iter().unwrap().map(|key| key.to_string()).collect();
    assert_eq!(secrets, ["TOKEN"]);
}

#[test]
fn json_that_becomes_too_long_is_refused_before_all_of_it_is_made() {
    let mut scope = scope();
    scope.insert("long", json!("x".repeat(MAX_VALUE)), &Mask::default());
    let parsed = |count: usize| JsonTemplate::parse(&json!(vec!["{{ long }}"; count])).unwrap();
    let fits = MAX_RENDERED / MAX_VALUE - 1;
    assert!(parsed(fits).value(&scope.context(Face::Real)).is_ok());
    let error = parsed(1_000).value(&scope.context(Face::Real)).unwrap_err().to_string();
    assert!(error.contains("longer than"), "{error}");
}

/// A thousand short texts may each go over a long value.
#[test]
fn what_all_expressions_together_go_over_is_bounded() {
    let mut scope = scope();
    scope.insert("long", json!(vec![0; MAX_VALUE / 2 - 1]), &Mask::default());
    let parsed = |count: usize| JsonTemplate::parse(&json!(vec!["{{ long == long }}"; count]));
    assert!(parsed(3).unwrap().value(&scope.context(Face::Real)).is_ok());
    let error = parsed(1_000).unwrap().value(&scope.context(Face::Real)).unwrap_err().to_string();
    assert!(error.contains("{{ long == long }} can't be filled in"), "{error}");
}

/// A service may send a secret back, and a variable may be given one.
#[test]
fn a_value_in_which_a_secret_stands_is_used_as_one() {
    let mut scope = scope();
    let mut mask = Mask::default();
    mask.hide("hunter2").unwrap();
    scope.insert("echo", json!({"said": "it is hunter2", "n": 1}), &mask);
    let answer = Document::new(json!({"echo": "HUNTER1 hunter2", "n": 1}));
    let filled = |template: &str, face: Face| {
        let context = scope.with_answer(face, Some(&answer), Some(&mask));
        Template::parse(template).unwrap().text(&context).map_err(|error| error.to_string())
    };
    assert_eq!(filled("{{ echo.said }}", Face::Real).as_deref(), Ok("it is hunter2"));
    assert_eq!(filled("{{ echo.said }}", Face::Shown).as_deref(), Ok("it is [secret]"));
    assert_eq!(filled("{{ echo.n ~ $.n }}", Face::Shown).as_deref(), Ok("11"));
    assert_eq!(filled("{{ $.echo }}", Face::Shown).as_deref(), Ok("HUNTER1 [secret]"));
    for changing in ["{{ echo.said | upper }}", "{{ $.echo | first }}", "{{ echo['said'] }}"] {
        for face in [Face::Real, Face::Shown] {
            let error = filled(changing, face).unwrap_err();
            assert!(error.contains("makes something else of a secret"), "{changing}: {error}");
        }
    }
}

#[test]
fn a_variable_that_turns_out_to_hold_a_secret_is_one_from_then_on() {
    let mut scope = scope();
    let mut mask = Mask::default();
    scope.insert("early", json!("s-17"), &mask);
    let template = Template::parse("{{ early | upper }}").unwrap();
    assert_eq!(template.text(&scope.context(Face::Shown)).unwrap(), "S-17");
    mask.hide("s-17").unwrap();
    scope.mask(&mask);
    assert!(template.text(&scope.context(Face::Real)).is_err());
}
