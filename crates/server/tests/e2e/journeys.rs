//! `mainstay journey` by the real binary, against the payment service that stands in.

use std::path::Path;
use std::process::Output;

use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::Value;

use crate::process::mainstay;

/// The journey of the guide, as it stands there.
const AUTHORISE: &str = include_str!("../../../journeys/tests/journeys/authorise.yaml");

/// Runs `journey` with these arguments while the service answers.
async fn journey(
    folder: &Path,
    text: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    let file = folder.join("journey.yaml");
    std::fs::write(&file, text).unwrap();
    let mut command = mainstay(folder);
    command.arg("journey").args(arguments).envs(variables.iter().copied());
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let Output { status, stdout, stderr } = ended;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// The guide's journey in a mode: its exit code and its record.
async fn authorise(settling: Settling, mode: &str) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(settling).await.unwrap();
    let base = format!("base={}", server.base_url());
    // Under load an answer may take longer, and the deadline of half a minute is long for a test.
    let text = AUTHORISE.replace("within: 800ms", "within: 10s");
    let text = text.replace("within: 30s", "within: 3s");
    let arguments = ["run", "journey.yaml", "--mode", mode, "--var", &base, "--json"];
    let (code, out, error) = journey(folder.path(), &text, &arguments, &[]).await;
    assert_eq!(error, "");
    (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}")))
}

fn events(record: &Value) -> Vec<&str> {
    let events = record["events"].as_array().unwrap();
    events.iter().map(|event| event["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_passes_in_all_four_modes() {
    for mode in ["halt", "record", "log", "disabled"] {
        let (code, record) = authorise(Settling::Reviews { looks: 1 }, mode).await;
        assert_eq!(code, Some(0), "{mode}: {record:#}");
        assert_eq!(
            events(&record),
            ["AuthorizationCreated", "PendingReview", "Approved"],
            "{mode}"
        );
        assert_eq!(record["pollers"][0]["poll_count"], 3, "{mode}");
        assert_eq!(record["failures"], serde_json::json!([]), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_payment_is_judged_by_the_mode() {
    for (mode, expected, failures) in
        [("halt", 1, 1), ("record", 1, 2), ("log", 0, 2), ("disabled", 0, 0)]
    {
        let (code, record) = authorise(Settling::Declines, mode).await;
        assert_eq!(code, Some(expected), "{mode}: {record:#}");
        assert_eq!(events(&record), ["AuthorizationCreated"], "{mode}");
        assert_eq!(record["failures"].as_array().unwrap().len(), failures, "{mode}");
        assert_eq!(record["steps"][1]["state"], "skipped", "{mode}");
        assert_eq!(record["pollers"][0]["error"], "insufficient funds", "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hangs_garbles_or_never_settles_fails() {
    for (settling, kind, told) in [
        (Settling::Hangs, "timeout", "did not settle: its time was over after 3"),
        (Settling::NeverSettles, "timeout", "did not settle: its time was over after 3"),
        (Settling::Garbles, "poller", "no rule fits the answer: status 200, no JSON"),
    ] {
        let (code, record) = authorise(settling, "halt").await;
        assert_eq!(code, Some(1), "{settling:?}: {record:#}");
        let failure = &record["failures"][0];
        assert_eq!(failure["kind"], kind, "{failure}");
        assert!(failure["message"].as_str().unwrap().contains(told), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_lines_tell_how_it_goes_and_junit_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(Settling::Approves { after: 1 }).await.unwrap();
    let base = format!("base={}", server.base_url());
    let text = AUTHORISE.replace("within: 800ms", "within: 10s");
    let arguments = ["run", "journey.yaml", "--var", &base, "--junit", "out.xml"];
    let (code, out, error) = journey(folder.path(), &text, &arguments, &[]).await;
    assert_eq!((code, error.as_str()), (Some(0), ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    let starts = [
        "ok     create: POST http://127.0.0.1:",
        "event  AuthorizationCreated from create",
        "ok     create, polling",
        "event  Approved from create",
        "ok     charge: POST http://127.0.0.1:",
        "authorise a payment: passed in ",
    ];
    assert_eq!(lines.len(), starts.len(), "{out}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert!(!out.contains('\u{1b}'), "{out}");
    let xml = std::fs::read_to_string(folder.path().join("out.xml")).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"0\""), "{xml}");
    assert!(xml.contains("name=\"create (poll)\""), "{xml}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_is_told_with_its_place_and_ends_with_2_or_1() {
    let folder = tempfile::tempdir().unwrap();
    let text = AUTHORISE.replace("expect: { status: 201, json", "expct: { status: 201, json");
    let told = "journey.yaml:10:5: steps[0].expct: there is no such key; did you mean expect?\n";
    let (code, out, error) = journey(folder.path(), &text, &["run", "journey.yaml"], &[]).await;
    assert_eq!((code, out.as_str(), error.as_str()), (Some(2), "", told));
    let (code, out, error) = journey(folder.path(), &text, &["check", "journey.yaml"], &[]).await;
    assert_eq!((code, out.as_str(), error.as_str()), (Some(1), "", told));
    let (code, out, _) = journey(folder.path(), AUTHORISE, &["check", "journey.yaml"], &[]).await;
    assert_eq!((code, out.as_str()), (Some(0), "journey.yaml: fine, 2 steps\n"));
    let (code, _, error) = journey(folder.path(), AUTHORISE, &["check", "none.yaml"], &[]).await;
    assert_eq!(code, Some(2));
    assert!(error.contains("none.yaml can't be read; check the path"), "{error}");
}

const SECRETIVE: &str = "journey: x\nvars: {base: null, n: 1}\nsteps:\n\
    - id: a\n  get: '{{ base }}/echo'\n  headers: {X-Key: '{{ secret.KEY }}'}\n  \
      expect: {json: {headers: {x-key: other}}}\n";

#[tokio::test(flavor = "multi_thread")]
async fn secrets_come_from_the_environment_and_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let base = format!("base={}", server.base_url());
    let secret = [("MAINSTAY_SECRET_KEY", "hunter2")];
    for json in [&["--json"][..], &[]] {
        let arguments = [&["run", "journey.yaml", "--var", &base], json].concat();
        let (code, out, error) = journey(folder.path(), SECRETIVE, &arguments, &secret).await;
        assert_eq!(code, Some(1), "{out}{error}");
        assert!(!out.contains("hunter2") && !error.contains("hunter2"), "{out}{error}");
        assert!(out.contains("[secret]"), "{out}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_given_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, told) in [
        (&["run", "journey.yaml"][..], "mainstay: variables have no value; give --var base=…\n"),
        (
            &["run", "journey.yaml", "--var", "base=http://127.0.0.1:1"],
            "mainstay: secrets are not set; set MAINSTAY_SECRET_KEY\n",
        ),
        (
            &["run", "journey.yaml", "--var", "bas=x"],
            "mainstay: --var: the journey has no variable bas; did you mean base?\n",
        ),
    ] {
        let (code, _, error) = journey(folder.path(), SECRETIVE, arguments, &[]).await;
        assert_eq!((code, error.as_str()), (Some(2), told));
    }
}
