use super::*;
use crate::model::{Act, Method, Mode, OnTimeout};

/// The example of the guide.
const GOOD: &str = include_str!("../tests/journeys/authorise.yaml");

fn mistakes(text: &str) -> Vec<String> {
    Journey::parse(text).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn the_example_is_a_journey() {
    let journey = Journey::parse(GOOD).unwrap();
    assert_eq!(journey.name, "authorise a payment");
    assert_eq!(journey.every, Some(std::time::Duration::from_secs(60)));
    assert_eq!(journey.mode, Mode::Record);
    assert_eq!(journey.touches, ["payments"]);
    let [create, charge] = journey.steps.as_slice() else { panic!("{journey:?}") };
    assert_eq!((create.id.as_str(), create.request.method), ("create", Method::Post));
    assert_eq!(create.emit, ["AuthorizationCreated"]);
    let poll = create.poll.as_ref().unwrap();
    assert!(matches!(poll.on_timeout, OnTimeout::Fail));
    assert_eq!(poll.rules.len(), 4);
    assert!(
        matches!(&poll.rules[1].act, Act::Inject { emit, once: true } if emit == &["PendingReview"])
    );
    assert_eq!(charge.needs[0].to_string(), "create.Approved");
    assert!(charge.expect.status.holds(201) && !charge.expect.status.holds(200));
}

#[test]
fn a_mistake_is_told_with_its_place_its_way_and_the_nearest_name() {
    for (from, to, told) in [
        (
            "journey: authorise",
            "journy: authorise",
            "1:1: journy: there is no such key; did you mean journey?",
        ),
        (
            "{{ base }}/charges",
            "{{ base | tojson(indent=9) }}/charges",
            "25:11: steps[1].post: in {{ base | tojson(indent=9) }}: the filter tojson takes nothing",
        ),
        (
            "journey: authorise a payment",
            "journey: \"authorise a \\u202epayment\"",
            "1:10: journey: it holds control or direction characters; leave them out",
        ),
        (
            "touches: [payments]",
            "touches: [ok, \"pay\\u0007ments\"]",
            "5:15: touches[1]: it holds control or direction characters; leave them out",
        ),
        ("every: 1m", "every: 60", "2:8: every: 60 has no unit; write 60s, or 60ms"),
        ("every: 1m", "every: 1min", "2:8: every: a time with its unit is expected"),
        ("every: 1m", "every: 5s", "2:8: every: 5s is out of bounds: give from 10s to 7d"),
        (
            "mode: record",
            "mode: recrod",
            "4:7: mode: there is no such word here; did you mean record?",
        ),
        (
            "    expect: { status: 201, json",
            "    expct: { status: 201, json",
            "10:5: steps[0].expct: there is no such key; did you mean expect?",
        ),
        ("status: 201, json", "status: 2012, json", "steps[0].expect.status: a status is expected"),
        ("within: 800ms", "within: 800", "steps[0].expect.within: 800 has no unit"),
        ("      within: 30s\n", "", "`within` is missing: a poll has an end"),
        ("      every: 500ms\n", "", "`every` is missing"),
        (
            "every: 500ms",
            "every: 1ms",
            "steps[0].poll.every: 1ms is out of bounds: give from 50ms to 10m",
        ),
        (
            "on_timeout: fail",
            "on_timeout: fial",
            "steps[0].poll.on_timeout: fail, ignore or {error: text} is expected",
        ),
        (
            "{{ base }}/charges",
            "{{ bsae }}/charges",
            "25:11: steps[1].post: bsae is neither a variable nor captured by a step before; did you mean base?",
        ),
        (
            "\"{{ id }}\" }\n    expect: { status: 201 }",
            "\"{{ id }\" }\n    expect: { status: 201 }",
            "steps[1].json.authorization: {{ has no }}",
        ),
        ("\"$.id\"", "\"$.id[\"", "steps[0].capture.id: it is no JSONPath, from character"),
        ("\"$.id\"", "id", "steps[0].capture.id: a path begins with $"),
        (
            "create.Approved",
            "create.Aproved",
            "24:13: steps[1].needs[0]: create tells no event Aproved; did you mean Approved?",
        ),
        (
            "create.Approved",
            "crate.Approved",
            "steps[1].needs[0]: there is no step crate; did you mean create?",
        ),
        ("create.Approved", "Approved", "an event is named by its step and itself"),
        ("[create.Approved]", "charge.Done", "steps wait for each other: charge needs charge"),
        ("do: continue", "do: continu", "there is no such word here; did you mean continue?"),
        (
            "{ \"$.status\": processing },     do",
            "{ sttus: 200 },     do",
            "a condition is a JSONPath such as $.status, `status` or `error`; did you mean status?",
        ),
        ("emit: PendingReview, once", "once", "steps[0].poll.when[1]: `emit` is missing"),
        ("do: continue", "do: continue, emit: X", "`emit` has no meaning for what this rule does"),
        ("{{ $.decline_reason }}", "{{ $.decline_reason[ }}", "it is no JSONPath"),
        (
            "post: \"{{ base }}/charges\"",
            "post: {{ base }}/charges",
            "25:11: steps[1].post: a template stands in quotes, such as \"{{ base }}/orders\"",
        ),
        (
            "{ authorization: \"{{ id }}\" }",
            "{ authorization: {{ id }} }",
            "26:28: steps[1].json.authorization: a template stands in quotes",
        ),
        (
            "    expect: { status: 201 }",
            "    expect: 201",
            "27:13: steps[1].expect: another kind of value is expected: a mapping of keys",
        ),
        (
            "touches: [payments]",
            "touches: payments",
            "touches: another kind of value is expected: a list, such as [one, two]",
        ),
        (
            "journey: authorise a payment",
            "journey: [a]",
            "1:10: journey: another kind of value is expected: a text",
        ),
        ("mode: record", "mode: [record]", "4:7: mode: another kind of value is expected: a text"),
        (
            "    expect: { status: 201 }",
            "    follow: yes\n    expect: { status: 201 }",
            "27:13: steps[1].follow: another kind of value is expected: true or false",
        ),
        (
            "    post: \"{{ base }}/charges\"\n",
            "    POST: \"{{ base }}/charges\"\n",
            "25:5: steps[1].POST: there is no such key; did you mean post?",
        ),
        (
            "    expect: { status: 201 }",
            "    headers: { X Key: a }\n    expect: { status: 201 }",
            "steps[1].headers.X Key: the request can't be sent: header 1 has a name that is none",
        ),
        (
            "    expect: { status: 201 }",
            "    headers: { Host: x }\n    expect: { status: 201 }",
            "steps[1].headers.Host: the request can't be sent: the header host is Mainstay's own to set",
        ),
        ("    post: \"{{ base }}/charges\"\n", "", "steps[1]: there is no request"),
        (
            "    post: \"{{ base }}/charges\"\n",
            "    post: \"{{ base }}/charges\"\n    get: http://x\n",
            "there is more than one request: get, post",
        ),
        ("id: charge", "id: create", "there is a step create already"),
        ("id: charge", "id: 'a b'", "a name of a step or an event has"),
        ("vars: { base", "vars: { secret: 1, base", "vars.secret: secret has a meaning of its own"),
        (
            "{ user_id: \"u-1\"",
            "{ user_id: \"{{ secret.token }}\"",
            "a secret is named with capitals",
        ),
        (
            "{ user_id: \"u-1\"",
            "{ user_id: \"{{ $.x }}\"",
            "there is no answer here that $ could stand for",
        ),
        (
            "json: { user_id",
            "form: {a: b}\n    json: { user_id",
            "there is more than one body: json, form",
        ),
        (
            "{ user_id: \"u-1\"",
            "{ user_id: \"{{ secret.TOKEN|upper }}\"",
            "steps[0].json.user_id: {{ secret.TOKEN|upper }} makes something else of a secret",
        ),
        (
            "json: { authorization: \"{{ id }}\" }",
            "json: { authorization: \"{{ base|nofilter }}\" }",
            "steps[1].json.authorization: in {{ base|nofilter }}: there is no filter nofilter",
        ),
        (
            "on_timeout: fail",
            "on_timeout: { error: \"{{ timeout.polls }}\" }",
            "there is no timeout.polls; there are elapsed_ms, poll_count, skipped_count",
        ),
        (
            "    expect: { status: 201 }",
            "    headers: { X-Key: \"a\\nb\" }\n    expect: { status: 201 }",
            "steps[1].headers.X-Key: the request can't be sent",
        ),
        ("journey: authorise a payment", "journey: ''", "1:10: journey: it is empty"),
        ("mode: record", "mode: record\nmode: log", "stands there twice"),
        ("steps:", "steps: []\nx:", "there is no such key"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let found = mistakes(&text).join("\n");
        assert!(found.contains(told), "{to}\n  told: {found}\n  expected: {told}");
    }
}

#[test]
fn a_mistake_within_json_is_told_where_it_stands() {
    let text =
        GOOD.replace("json: { authorization: \"{{ id }}\" }", "json: { a: [1, \"{{ idd }}\"] }");
    let found = mistakes(&text);
    assert!(found[0].starts_with("26:20: steps[1].json.a[1]: idd is neither"), "{found:?}");
}

#[test]
fn every_mistake_is_told_at_once_in_the_order_of_the_file() {
    let text = GOOD
        .replace("every: 1m", "every: 1s")
        .replace("{{ base }}/charges", "{{ bas }}/charges")
        .replace("create.Approved", "create.Approve");
    let found = mistakes(&text);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("2:8: every") && found[2].contains("steps[1].post"), "{found:?}");
}

#[test]
fn every_mistake_of_the_shape_is_told_at_once_too() {
    let text = GOOD
        .replace("every: 1m", "evry: 1m")
        .replace("mode: record", "mode: 7")
        .replace("expect: { status: 201, json", "expct: { status: 201, json")
        .replace("within: 30s", "within: 30")
        .replace("    expect: { status: 201 }", "    expect: 201");
    let found = mistakes(&text);
    assert_eq!(found.len(), 5, "{found:#?}");
    let told = ["2:1: evry", "mode", "steps[0].expct", "steps[0].poll.within", "steps[1].expect"];
    for (mistake, told) in found.iter().zip(told) {
        assert!(mistake.contains(told), "{told}: {mistake}");
    }
}

#[test]
fn a_captured_secret_is_not_changed_either() {
    for (expression, is_fine) in [("token|upper", false), ("token|urlencode", true)] {
        let text = format!(
            "journey: x\nsteps:\n- id: a\n  get: http://x\n  capture: {{token: $.t}}\n- id: b\n  get: 'http://x/{{{{ {expression} }}}}'\n"
        );
        assert_eq!(Journey::parse(&text).is_ok(), is_fine, "{expression}");
    }
}

#[test]
fn a_poll_that_outlasts_its_run_is_doubted_with_its_place() {
    let doubts = |within: &str, whole: &str| -> Vec<String> {
        let text = GOOD.replace("within: 30s", &format!("within: {within}"));
        let text = text.replace("mode: record", &format!("mode: record{whole}"));
        let journey = Journey::parse(&text).unwrap();
        journey.doubts(&text).iter().map(ToString::to_string).collect()
    };
    assert!(doubts("10m", "").is_empty(), "as long as the run");
    let [doubt] = doubts("20m", "").try_into().unwrap();
    let told = "16:15: steps[0].poll.within: 20m is longer than the whole run may take (10m), ";
    assert!(doubt.starts_with(told), "{doubt}");
    assert!(doubts("20m", "\nwithin: 20m").is_empty());
    assert_eq!(doubts("30s", "\nwithin: 29s").len(), 1);
}

#[test]
fn steps_that_wait_for_each_other_are_told() {
    let text = "journey: x\nsteps:\n\
        - {id: a, get: http://x, needs: [b.B], emit: A}\n\
        - {id: b, get: http://x, needs: [c.C], emit: B}\n\
        - {id: c, get: http://x, needs: [a.A], emit: C}\n";
    let found = mistakes(text);
    assert!(found[0].contains("steps wait for each other: a needs b needs c needs a"), "{found:?}");
    let later = "journey: x\nsteps:\n\
        - {id: a, get: http://x, needs: [b.B]}\n- {id: b, get: http://x, emit: B}\n";
    assert!(mistakes(later)[0].contains("b comes after this step"), "{:?}", mistakes(later));
}

#[test]
fn rules_that_can_not_be_meant_are_told() {
    for (rules, told) in [
        ("[]", "steps[0].poll.when: there are no rules"),
        ("[{if: {$.a: 1}, do: continue}]", "steps[0].poll.when: no rule ends it"),
        ("[{do: inject, emit: A}]", "steps[0].poll.when: no rule ends it"),
        ("[{do: done}, {if: {$.a: 1}, do: error}]", "steps[0].poll.when[0]: it fits every answer"),
        ("[{if: {}, do: done}]", "steps[0].poll.when[0].if: it is empty"),
        ("[{if: [], do: done}]", "steps[0].poll.when[0].if: it holds for no answer"),
        ("[{if: {error: []}, do: done}]", "steps[0].poll.when[0].if.error: true is expected, or"),
        ("[{if: {error: timout}, do: done}]", "did you mean timeout?"),
        (
            "[{if: {error: true, status: 404}, do: done}]",
            "steps[0].poll.when[0].if.error: where there is no answer, nothing else can hold",
        ),
    ] {
        let text = format!(
            "journey: x\nsteps: [{{id: a, get: http://x, poll: {{get: http://x, every: 1s, within: 2s, when: {rules}}}}}]\n"
        );
        let found = mistakes(&text).join("\n");
        assert!(found.contains(told), "{rules}\n  told: {found}\n  expected: {told}");
    }
}

#[test]
fn what_is_no_journey_is_refused() {
    for text in ["", "---\n", "[]", "just text", "journey: x\nsteps: []", "\t- x"] {
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
    for text in ["a: &a [*a]", "journey: x\n---\njourney: y\n"] {
        let both = mistakes(text);
        assert_eq!(both.len(), 2, "of its shape, and of its YAML: {text}: {both:?}");
    }
}

#[test]
fn a_number_where_texts_are_expected_is_told_to_stand_in_quotes() {
    for (text, told) in [
        ("emit: 5", "steps[0].emit: a number or a bool is no text; put it in quotes"),
        (
            "expect: {body_contains: 404}",
            "steps[0].expect.body_contains: a number or a bool is no text",
        ),
    ] {
        let text = format!("journey: x\nsteps: [{{id: a, get: http://x, {text}}}]\n");
        let found = mistakes(&text).join("\n");
        assert!(found.contains(told), "{found}");
    }
    let found = mistakes("journey: x\nvars: {inf: .inf}\nstps: []\n").join("\n");
    assert!(found.contains("vars.inf: infinity and what is no number have no JSON"), "{found}");
    assert!(found.contains("stps: there is no such key"), "{found}");
}

#[test]
fn a_template_without_quotes_does_not_hide_what_else_is_wrong() {
    let text = "journey: x\nevery: 5\nvars: {base: a, base: b}\nsteps:\n- id: a\n  get: {{ base }}/x\n  expct: {}\n";
    let found = mistakes(text).join("\n");
    for told in [
        "2:8: every: 5 has no unit",
        "3:17: vars.base: the key \"base\" stands there twice",
        "6:8: steps[0].get: a template stands in quotes",
        "7:3: steps[0].expct: there is no such key; did you mean expect?",
    ] {
        assert!(found.contains(told), "{told} in\n{found}");
    }
}

/// Each level stands for ten of the one below it.
#[test]
fn a_bomb_of_anchors_is_refused() {
    for (levels, is_refused) in [(4, false), (5, true), (9, true)] {
        let mut text = "journey: x\nsteps: []\nvars:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..levels {
            let below = vec![format!("*a{}", level - 1); 10].join(",");
            text.push_str(&format!("  a{level}: &a{level} [{below}]\n"));
        }
        let found = mistakes(&text);
        let told = if is_refused { "too large or too deep" } else { "there are no steps" };
        assert!(found[0].contains(told), "{levels}: {found:?}");
    }
}

#[test]
fn what_is_too_deep_or_too_long_is_refused() {
    let nested =
        |depth| format!("journey: x\nvars: {{a: {}{}}}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(mistakes(&nested(1_000))[0].contains("recursion limit"));
    let deep = nested(MAX_DEPTH);
    assert!(mistakes(&deep)[0].contains("too large or too deep"), "{:?}", mistakes(&deep));
    let long = format!("journey: x\n# {}", "x".repeat(MAX_FILE_BYTES));
    assert!(mistakes(&long)[0].contains("longer than"));
    let steps: String = (0..101).map(|n| format!("- {{id: s{n}, get: http://x}}\n")).collect();
    let many = mistakes(&format!("journey: x\nsteps:\n{steps}"));
    assert!(many[0].contains("there are 101 steps, and there may be 100"), "{many:?}");
}

#[test]
fn captures_that_sound_secret_are_secret() {
    let text = "journey: x\nsteps:\n- id: a\n  get: http://x\n  capture:\n    access_token: $.t\n    \
        id: $.id\n    pin: {path: $.pin, secret: true}\n    session_count: {path: $.n, secret: false}\n";
    let journey = Journey::parse(text).unwrap();
    let secret: Vec<_> =
        journey.steps[0].captures.iter().map(|one| (one.name.as_str(), one.is_secret)).collect();
    assert_eq!(
        secret,
        [("access_token", true), ("id", false), ("pin", true), ("session_count", false)]
    );
}

#[test]
fn a_service_that_is_named_twice_is_crossed_once() {
    let text =
        GOOD.replace("touches: [payments]", "touches: [payments, Orders, ' PAYMENTS ', orders]");
    assert_eq!(Journey::parse(&text).unwrap().touches, ["payments", "Orders"]);
}
