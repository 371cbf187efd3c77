//! A panic is one structured line. Alone in its file: the hook belongs to the whole process.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::io;
use std::sync::{Arc, Mutex};

use mainstay::config::log::filter;
use mainstay::telemetry::style::Style;
use mainstay::telemetry::{log_layer, panic, subscriber};
use mainstay_base::SystemClock;

#[test]
fn a_panic_is_logged_as_one_line_with_its_place() {
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let memory = Arc::clone(&written);
    let writer = move || Memory(Arc::clone(&memory));
    let layer = log_layer(Style::Json, Arc::new(SystemClock::new()), writer);
    let outcome =
        tracing::subscriber::with_default(subscriber(filter("info").unwrap(), vec![layer]), || {
            panic::log_panics();
            let outcome = std::panic::catch_unwind(|| panic!("lost\nthe {}", "thread"));
            drop(std::panic::take_hook());
            outcome
        });
    assert!(outcome.is_err());

    let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["level"], "ERROR");
    assert_eq!(line["target"], "mainstay::panic");
    assert_eq!(line["message"], "panicked: lost\nthe thread");
    let location = line["location"].as_str().unwrap();
    assert!(location.contains("tests/panics.rs:"), "{location}");
}

struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
