#![cfg(test)]
//! No test of this crate sleeps for real: whatever waits for time to pass does so under paused time.

use std::fs;
use std::path::{Path, PathBuf};

/// What waits for the machine's own clock.
const REAL: [&str; 4] = ["thread::sleep", "park_timeout", "recv_timeout", "wait_timeout"];
/// What waits for tokio's clock, which a test has to pause.
const OF_TOKIO: [&str; 3] = ["sleep(", "timeout(", "interval("];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

/// The tests of a file: their attribute and what stands behind it, to the end of the function.
fn tests(text: &str) -> Vec<(&str, &str)> {
    let begins = text.match_indices("#[").map(|(at, _)| &text[at..]);
    let begins =
        begins.filter(|rest| rest.starts_with("#[tokio::test") || rest.starts_with("#[test]"));
    let parts = begins.map(|rest| {
        let body = rest.find("\n}").map_or(rest, |end| &rest[..end]);
        body.split_once(']').unwrap()
    });
    parts.collect()
}

/// Whether a function of this name is called, and not one whose name only ends so.
fn calls(body: &str, call: &str) -> bool {
    let before = body.match_indices(call).map(|(at, _)| body[..at].chars().next_back());
    let mut before = before.map(Option::unwrap_or_default);
    before.any(|letter| !letter.is_alphanumeric() && letter != '_')
}

/// What is wrong with a file.
fn sleeping(text: &str) -> Vec<String> {
    let real = REAL.iter().filter(|call| text.contains(**call)).map(|call| (*call).to_owned());
    let unpaused = tests(text).into_iter().filter(|(how, _)| !how.contains("start_paused = true"));
    let waiting = unpaused.filter(|(_, body)| OF_TOKIO.iter().any(|call| calls(body, call)));
    real.chain(waiting.map(|(how, body)| format!("{how}] {body}"))).collect()
}

#[test]
fn no_test_of_this_crate_sleeps_for_real() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = home.join("tests/no_sleep.rs");
    let files: Vec<_> = [sources(&home.join("tests")), sources(&home.join("src"))].concat();
    assert!(files.contains(&own) && files.len() > 40, "{}", files.len());
    for file in files.iter().filter(|file| **file != own) {
        let found = sleeping(&fs::read_to_string(file).unwrap());
        assert!(found.is_empty(), "{}: {found:#?}", file.display());
    }
}

#[test]
fn what_sleeps_for_real_is_found() {
    for (text, is_found) in [
        ("#[tokio::test]\nasync fn a() {\n    sleep(1.s()).await;\n}\n", true),
        (
            "#[tokio::test(start_paused = true)]\nasync fn a() {\n    sleep(1.s()).await;\n}\n",
            false,
        ),
        ("#[tokio::test(flavor = \"multi_thread\")]\nasync fn a() {\n    b();\n}\n", false),
        ("#[test]\nfn a() {\n    std::thread::sleep(b);\n}\n", true),
    ] {
        assert_eq!(!sleeping(text).is_empty(), is_found, "{text}");
    }
}
