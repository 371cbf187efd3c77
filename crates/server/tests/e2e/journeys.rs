//! `mainstay journey` by the real binary, against the payment service that stands in.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

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
    authorise_within("30s", settling, mode).await
}

/// The same, with a poll that has so much time.
async fn authorise_within(within: &str, settling: Settling, mode: &str) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(settling).await.unwrap();
    let base = format!("base={}", server.base_url());
    // Under load an answer may take longer.
    let text = AUTHORISE.replace("within: 800ms", "within: 10s");
    let text = text.replace("within: 30s", &format!("within: {within}"));
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
    for (settling, within, kind, told) in [
        (Settling::Hangs, "1s", "timeout", "did not settle: its time was over"),
        (Settling::NeverSettles, "1s", "timeout", "did not settle: its time was over"),
        (Settling::Garbles, "30s", "poller", "no rule fits the answer: status 200, no JSON"),
    ] {
        for (mode, expected) in [("halt", 1), ("record", 1), ("log", 0), ("disabled", 0)] {
            let (code, record) = authorise_within(within, settling, mode).await;
            assert_eq!(code, Some(expected), "{settling:?} {mode}: {record:#}");
            assert_eq!(events(&record), ["AuthorizationCreated"], "{settling:?} {mode}");
            let Some(failure) = record["failures"].get(0) else {
                assert_eq!(mode, "disabled", "{record:#}");
                continue;
            };
            assert_eq!(failure["kind"], kind, "{failure}");
            assert!(failure["message"].as_str().unwrap().contains(told), "{failure}");
        }
    }
}

/// A service that hangs does not end the polling by itself: `within` does, or `max_polls`.
#[tokio::test(flavor = "multi_thread")]
async fn a_poll_outlives_requests_that_hang_and_ends_as_on_timeout_says() {
    for (on_timeout, expected, kinds) in [("fail", 1, &["timeout"][..]), ("ignore", 0, &[])] {
        let folder = tempfile::tempdir().unwrap();
        let server = PaymentServer::start(Settling::Hangs).await.unwrap();
        let base = format!("base={}", server.base_url());
        let text = AUTHORISE.replace("within: 800ms", "within: 10s");
        let text =
            text.replace("within: 30s", "timeout: 300ms\n      max_polls: 2\n      within: 30s");
        let text = text.replace("on_timeout: fail", &format!("on_timeout: {on_timeout}"));
        let text = text.split("  - id: charge").next().unwrap();
        let arguments = ["run", "journey.yaml", "--mode", "halt", "--var", &base, "--json"];
        let (code, out, error) = journey(folder.path(), text, &arguments, &[]).await;
        assert_eq!((code, error.as_str()), (Some(expected), ""), "{out}");
        let record: Value = serde_json::from_str(&out).unwrap();
        let failures = record["failures"].as_array().unwrap();
        let told: Vec<_> = failures.iter().map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(told, kinds, "{record:#}");
        assert_eq!(record["pollers"][0]["poll_count"], 2, "{record:#}");
    }
}

/// Waits (bounded) until the service was asked for something.
async fn until_asked(server: &PaymentServer) {
    for _ in 0..1_200 {
        if server.created() > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the journey has not begun");
}

/// Ctrl-C, and what a pipeline sends when it gives up.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_tells_how_far_it_came() {
    for (signal, json) in [("INT", &["--json"][..]), ("TERM", &[])] {
        let folder = tempfile::tempdir().unwrap();
        let server = PaymentServer::start(Settling::NeverSettles).await.unwrap();
        let base = format!("base={}", server.base_url());
        let text = AUTHORISE.replace("within: 800ms", "within: 10s");
        std::fs::write(folder.path().join("journey.yaml"), &text).unwrap();
        let mut command = mainstay(folder.path());
        command.args(["journey", "run", "journey.yaml", "--junit", "out.xml", "--var", &base]);
        command.args(json).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let id = child.id().to_string();
        until_asked(&server).await;
        let killed = Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap();
        assert!(killed.success());
        let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
        let Output { status, stdout, stderr } = ended.await.unwrap();
        let out = String::from_utf8(stdout).unwrap();
        assert_eq!(status.code(), Some(1), "{out} {}", String::from_utf8_lossy(&stderr));
        let told = if json.is_empty() { "the run was cancelled" } else { r#""kind":"cancelled""# };
        assert!(out.contains(told), "{out}");
        let xml = std::fs::read_to_string(folder.path().join("out.xml")).unwrap();
        assert!(xml.contains("the run was cancelled"), "{xml}");
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
        "event  Approved from create",
        "ok     create, polling",
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

#[tokio::test(flavor = "multi_thread")]
async fn every_file_is_checked_and_one_that_is_too_long_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    // Cut anywhere, it is no UTF-8: each of its letters is two bytes, and the comment begins at an odd place.
    let long = format!("#{}\n", "ä".repeat(200_000));
    std::fs::write(folder.path().join("long.yaml"), long).unwrap();
    let arguments = ["check", "none.yaml", "long.yaml", "journey.yaml"];
    let (code, out, error) = journey(folder.path(), AUTHORISE, &arguments, &[]).await;
    assert_eq!((code, out.as_str()), (Some(2), "journey.yaml: fine, 2 steps\n"));
    let told: Vec<&str> = error.lines().collect();
    assert_eq!(told.len(), 2, "{error}");
    assert!(told[0].starts_with("mainstay: none.yaml can't be read; check the path"), "{error}");
    assert_eq!(told[1], "long.yaml:1:1: the file is longer than 262144 bytes; split it");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_report_can_be_written_what_came_of_the_run_is_told_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(Settling::Approves { after: 0 }).await.unwrap();
    let base = format!("base={}", server.base_url());
    let text = AUTHORISE.replace("within: 800ms", "within: 10s");
    // It can be opened, and there is no room in it.
    let arguments = ["run", "journey.yaml", "--var", &base, "--json", "--junit", "/dev/full"];
    let (code, out, error) = journey(folder.path(), &text, &arguments, &[]).await;
    assert_eq!(code, Some(2));
    assert!(error.starts_with("mainstay: /dev/full can't be written; check --junit"), "{error}");
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(record["outcome"], "passed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_can_not_be_opened_is_told_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = PaymentServer::start(Settling::Approves { after: 0 }).await.unwrap();
    let base = format!("base={}", server.base_url());
    let arguments = ["run", "journey.yaml", "--var", &base, "--json", "--junit", "none/out.xml"];
    let (code, out, error) = journey(folder.path(), AUTHORISE, &arguments, &[]).await;
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.starts_with("mainstay: none/out.xml can't be written; check --junit"), "{error}");
    // Who only looks leaves nothing behind: this run can't begin.
    let arguments = ["run", "journey.yaml", "--var", "none=1", "--junit", "out.xml"];
    let (code, _, _) = journey(folder.path(), AUTHORISE, &arguments, &[]).await;
    assert_eq!((code, folder.path().join("out.xml").exists()), (Some(2), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_that_outlasts_its_run_is_warned_of_and_the_check_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    let text = AUTHORISE.replace("within: 30s", "within: 20m");
    let (code, out, error) = journey(folder.path(), &text, &["check", "journey.yaml"], &[]).await;
    assert_eq!((code, out.as_str()), (Some(0), "journey.yaml: fine, 2 steps\n"));
    let told =
        "warning: journey.yaml:16:15: steps[0].poll.within: 20m is longer than the whole run";
    assert!(error.starts_with(told), "{error}");
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
    for var in ["base", "=x"] {
        let arguments = ["run", "journey.yaml", "--var", var];
        let (code, _, error) = journey(folder.path(), SECRETIVE, &arguments, &[]).await;
        assert_eq!(code, Some(2));
        assert!(error.contains("write it as NAME=VALUE"), "{error}");
    }
}
