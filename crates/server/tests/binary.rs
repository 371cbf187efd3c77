//! The real binary: what it prints and how it exits, where that needs no database.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn mainstay(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command.args(arguments).current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_version_starts_with_the_packages() {
    let folder = folder();
    let (code, out, _) = run(&mut mainstay(folder.path(), &["--version"]));
    assert_eq!(code, Some(0));
    assert_eq!(out, format!("mainstay {}\n", mainstay::VERSION));
    assert!(mainstay::VERSION.starts_with(env!("CARGO_PKG_VERSION")), "{out}");
}

#[test]
fn with_and_without_serve_the_same_configuration_is_shown() {
    let folder = folder();
    std::fs::write(folder.path().join("mainstay.toml"), "[log]\nlevel = 'warn'\n").unwrap();
    let arguments = ["serve", "--listen", "[::1]:0", "--print-config"];
    let mut command = mainstay(folder.path(), &arguments);
    command.env("DATABASE_URL", "postgres://me:hunter2@db/main");
    let (code, out, error) = run(&mut command);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    for line in [
        "http.listen = \"[::1]:0\" # --listen",
        "database.url = \"postgres://me:[secret]@db/main\" # DATABASE_URL",
        "log.level = \"warn\" # mainstay.toml:2",
        "data_dir = \"./mainstay-data\" # default",
    ] {
        assert!(out.lines().any(|shown| shown == line), "{line}\n{out}");
    }
    let mut without = mainstay(folder.path(), &arguments[1..]);
    without.env("DATABASE_URL", "postgres://me:hunter2@db/main");
    assert_eq!(run(&mut without).1, out);
    assert!(!folder.path().join("mainstay-data").exists(), "printing makes no folder");
}

#[test]
fn wrong_use_is_2_and_says_what_to_do() {
    let folder = folder();
    for (arguments, part) in [
        (&["serve", "--lisen", "x"][..], "--listen"),
        (&["fly"], "unrecognized subcommand"),
        (&["migrate"], "Usage: mainstay migrate"),
        (&["migrate", "down", "0"], "0 is not in 1..=10000"),
        (&["backup"], "<FILE>"),
        (&["--listen", "7373"], "mainstay: http.listen from --listen: \"7373\" is not an address"),
        (
            &["serve", "--config", "no.toml"],
            "mainstay: the configuration file \"no.toml\" is not there",
        ),
        (&["serve", "--log-level", "inof"], "did you mean info?"),
    ] {
        let (code, out, error) = run(&mut mainstay(folder.path(), arguments));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?} {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
        assert!(!error.contains("panicked") && !error.contains("stack backtrace"), "{error}");
    }
}

#[test]
fn a_wrong_environment_is_2_and_is_told_whole() {
    let folder = folder();
    let mut command = mainstay(folder.path(), &["migrate", "status"]);
    command.env("MAINSTAY_LISTN", "x").env("DATABASE_URL", "mysql://u:hunter2@h/d");
    command.env("RUST_BACKTRACE", "1");
    let (code, _, error) = run(&mut command);
    assert_eq!(code, Some(2));
    assert_eq!(
        error,
        "mainstay: the configuration has 2 problems:\n  \
         - MAINSTAY_LISTN in the environment is not a setting; did you mean MAINSTAY_LISTEN?\n  \
         - database.url from DATABASE_URL: the value is not a database; give sqlite:PATH or \
         postgres://USER:PASSWORD@HOST/NAME\n"
    );
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let folder = folder();
    for arguments in [&["--print-config"][..], &["--help"], &["--version"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = mainstay(folder.path(), arguments);
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
    }
}

#[test]
fn a_log_that_nobody_reads_does_not_end_the_program() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let arguments = ["migrate", "up", "--database", "sqlite:missing/mainstay.db"];
    let mut command = mainstay(folder.path(), &arguments);
    // Either of these makes it log before it finds that there is no database.
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1").env("MAINSTAY_LOG", "trace");
    let status = command.stdout(Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2), "a panic would be 101");
}
