//! Log lines: what they hold, and that no text from outside breaks one.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay::config::log::filter;
use mainstay::telemetry::style::Style;
use mainstay::telemetry::{log_layer, subscriber};
use mainstay_base::{Clock, Moment, Timestamp};
use tracing_subscriber::fmt::MakeWriter;

const TEXT: Style = Style::Text { color: false };
const COLOR: Style = Style::Text { color: true };

/// Line breaks, colours, a C1 command, a bell, a turn of direction, quotes.
const HOSTILE: &str = "a\nb\r\n\u{1b}[31mred\u{9b}31m\u{7f}\u{7}\u{202e}\u{2028}\"q\" {}";

struct NewYear;

impl Clock for NewYear {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_798_761_600_007)
    }
    fn moment(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Memory {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn logged(style: Style, level: &str, action: impl FnOnce()) -> String {
    let memory = Memory::default();
    let layer = log_layer(style, Arc::new(NewYear), memory.clone());
    tracing::subscriber::with_default(subscriber(filter(level).unwrap(), vec![layer]), action);
    String::from_utf8(memory.0.lock().unwrap().clone()).unwrap()
}

fn hostile() {
    let error = io::Error::other(HOSTILE);
    let span = tracing::info_span!("request", path = %HOSTILE, quoted = HOSTILE);
    let _entered = span.enter();
    span.record("path", tracing::field::display(HOSTILE));
    tracing::info!(
        shown = %HOSTILE,
        debugged = ?HOSTILE,
        plain = HOSTILE,
        error = &error as &dyn std::error::Error,
        "{HOSTILE}"
    );
}

#[test]
fn a_text_line_is_read_at_a_glance() {
    let text = logged(TEXT, "info", || {
        let span = tracing::info_span!("request", id = 7);
        let _entered = span.enter();
        tracing::info!(target: "mainstay::http", status = 200, route = "/healthz", "answered");
    });
    assert_eq!(
        text,
        "2027-01-01T00:00:00.007Z  INFO request{id=7}: mainstay::http: answered status=200 route=\"/healthz\"\n"
    );
}

#[test]
fn a_json_line_holds_everything_in_one_object() {
    let text = logged(Style::Json, "info", || {
        let outer = tracing::info_span!("connection", peer = "::1");
        let _outer = outer.enter();
        let inner = tracing::info_span!("request", id = 7);
        let _inner = inner.enter();
        tracing::warn!(target: "mainstay::http", status = 500, "answered");
    });
    assert_eq!(text.lines().count(), 1);
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        line,
        serde_json::json!({
            "timestamp": "2027-01-01T00:00:00.007Z",
            "level": "WARN",
            "target": "mainstay::http",
            "message": "answered",
            "status": 500,
            "spans": [{"name": "connection", "peer": "::1"}, {"name": "request", "id": 7}],
        })
    );
}

#[test]
fn hostile_text_never_breaks_a_line_nor_commands_a_terminal() {
    for style in [TEXT, Style::Json] {
        let text = logged(style, "info", hostile);
        let (line, end) = text.split_at(text.len() - 1);
        assert_eq!(end, "\n");
        assert!(!line.contains(char::is_control), "{style:?} {line:?}");
        assert!(!line.contains(['\u{202e}', '\u{2028}']), "{style:?} {line:?}");
    }
}

#[test]
fn with_colours_the_only_commands_are_our_own() {
    let text = logged(COLOR, "info", hostile);
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains('\u{1b}'));
    assert!(!text.contains("\u{1b}[31m"), "{text:?}");
    assert!(!text.contains(['\u{9b}', '\u{7}', '\r', '\u{202e}']), "{text:?}");
}

#[test]
fn json_keeps_the_hostile_text_itself() {
    let line: serde_json::Value =
        serde_json::from_str(&logged(Style::Json, "info", hostile)).unwrap();
    for field in ["message", "shown", "plain", "error"] {
        assert_eq!(line[field], HOSTILE, "{field}");
    }
    assert_eq!(line["spans"][0]["quoted"], HOSTILE);
}

#[test]
fn without_colours_there_is_no_escape_code() {
    assert!(!logged(TEXT, "info", || tracing::error!(x = 1, "no")).contains('\u{1b}'));
}

#[test]
fn the_filter_decides_what_is_written() {
    let log = || {
        tracing::info!(target: "mainstay_store", "kept");
        tracing::info!(target: "mainstay_http", "dropped");
        tracing::error!(target: "mainstay_http", "kept");
    };
    let text = logged(TEXT, "warn,mainstay_store=info", log);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(!text.contains("dropped"), "{text}");
    assert_eq!(logged(TEXT, "off", log), "");
}
