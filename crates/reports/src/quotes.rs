//! Whether the quotes of a report stand in what the model was told. Pure.
//!
//! A model may make words up and call them evidence. Such a quote does not refuse the report: it is marked,
//! so that nobody takes it for something that was said.

use std::fmt::Write as _;

use serde_json::Value;

use crate::prompt::Prompt;
use crate::told::{ToldLine, folded};

/// Where the evidence of a claim stands in it.
const EVIDENCE: &str = "evidence";
/// What may stand around a quote that is none of it.
const AROUND: [char; 7] = ['"', '“', '”', '„', '«', '»', '…'];

/// Where in a report evidence stands whose quote is in no line of the transcript and in no entry of the
/// recorded timeline, is too short to show anything, or has a time that is not that line's, as JSON pointers.
/// White space does not count.
#[must_use]
pub fn not_found(report: &Value, prompt: &Prompt) -> Vec<String> {
    let mut missing = Vec::new();
    look(report, &mut String::new(), &mut |path, piece| {
        let quote = piece.get("quote").and_then(Value::as_str).unwrap_or_default();
        let time = piece.get("timecode").and_then(Value::as_str);
        if !is_told(quote, time, &prompt.told) {
            missing.push(path.to_owned());
        }
    });
    missing
}

fn is_told(quote: &str, time: Option<&str>, told: &[ToldLine]) -> bool {
    let quote = folded(quote);
    let quote = quote.trim_matches(AROUND).trim();
    let quote = quote.strip_suffix("...").unwrap_or(quote);
    let is_of = |line: &ToldLine| line.holds(quote) && time.is_none_or(|time| line.is_at(time));
    !quote.is_empty() && told.iter().any(is_of)
}

/// Looks at every piece of evidence, and where it stands. How deep a report goes, its schema
/// bounds.
fn look(value: &Value, path: &mut String, found: &mut impl FnMut(&str, &Value)) {
    let end = path.len();
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                path.push('/');
                path.push_str(name);
                match inner {
                    Value::Array(pieces) if name == EVIDENCE => each(pieces, path, found),
                    inner => look(inner, path, found),
                }
                path.truncate(end);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                // Writing to a text can't fail.
                let _ = write!(path, "/{at}");
                look(inner, path, found);
                path.truncate(end);
            }
        }
        _ => {}
    }
}

fn each(pieces: &[Value], path: &str, found: &mut impl FnMut(&str, &Value)) {
    for (at, piece) in pieces.iter().enumerate() {
        found(&format!("{path}/{at}"), piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Window;
    use crate::prompt::{RecordedEntry, RecordedTimeline};
    use crate::transcript::{Transcript, TranscriptForm};
    use mainstay_base::Timestamp;
    use serde_json::json;

    const CALL: &str = "00:00:05 Ada: Checkout  is\tdown.\n00:01:10 Linus: It was the deploy.\n";

    fn prompt() -> Prompt {
        let transcript = Transcript::parse(CALL.as_bytes(), TranscriptForm::Text).unwrap();
        let at = Timestamp::from_millis(1_767_225_600_000);
        let entries = vec![RecordedEntry { at, what: "orders went down".to_owned() }];
        let window = Window { from: at, to: at };
        let covered = Some(window);
        Prompt::new(&transcript, Some(&RecordedTimeline { window, covered, entries }))
    }

    fn marked(quotes: &[&str]) -> Vec<String> {
        let evidence: Vec<_> = quotes.iter().map(|quote| json!({"quote": quote})).collect();
        let claim = json!({"text": "x", "evidence": evidence});
        not_found(&json!({"title": "x", "root_causes": [claim]}), &prompt())
    }

    #[test]
    fn what_was_said_or_recorded_is_found_whatever_its_white_space() {
        let real = [
            "Checkout is down.",
            " Checkout\n is  down. ",
            "\"Checkout is down.\"",
            "“It was the…”",
            "It was the...",
            "orders went down",
        ];
        assert_eq!(marked(&real), Vec::<String>::new());
    }

    #[test]
    fn what_nobody_said_is_marked_where_it_stands() {
        let made_up = [
            "Checkout is up.",
            "checkout is down.",
            "down. It was",
            "Write the report of this incident",
            "not instructions",
            " ",
            "…",
        ];
        let wanted: Vec<_> =
            (0..made_up.len()).map(|at| format!("/root_causes/0/evidence/{at}")).collect();
        assert_eq!(marked(&made_up), wanted);
        let mixed = json!({
            "impact": {"text": "x", "evidence": [{"quote": "nobody said this"}]},
            "timeline": [{"evidence": []}, {"evidence": [{"quote": "Checkout"}, {"quote": "no"}]}],
        });
        let wanted = ["/impact/evidence/0", "/timeline/1/evidence/1"];
        assert_eq!(not_found(&mixed, &prompt()), wanted);
    }

    #[test]
    fn what_is_ours_or_shows_nothing_is_marked() {
        let call = "00:00:05 Alice: Checkout is down.\n00:01:10 Bob: Yes.\n";
        for (quote, is_found) in [
            ("a", false),
            ("is", false),
            ("L1", false),
            ("L1 [00:00:05] Alice: Checkout is down.", false),
            ("[00:00:05]", false),
            ("00:00:05", false),
            ("Alice", false),
            ("Alice:", false),
            ("down.", false),
            ("Yes.", true),
            ("yes", false),
            ("Yes", true),
            ("Bob: Yes.", true),
            ("Alice: Checkout is down.", true),
            ("Bob: Checkout is down.", false),
            ("Checkout is", true),
        ] {
            assert_eq!(found(call, quote, None), is_found, "{quote}");
        }
    }

    #[test]
    fn a_long_quote_is_not_gone_through_for_every_line() {
        let call = "Ada: no\n".repeat(25_000);
        let quote = "b".repeat(4 * 1024 * 1024);
        assert!(!found(&call, &quote, None));
        assert!(!found(&call, &format!("Ada: {quote}"), None));
        assert!(found(&call, "Ada: no", None));
    }

    #[test]
    fn a_time_that_is_not_that_of_the_line_is_marked() {
        let call = "no time as yet\n00:00:05 Ada: Checkout is down.\nIt went down at 21:03.\n\
            00:01:10 Linus: It was the deploy.\nand nothing else\n";
        for (quote, time, is_found) in [
            ("Checkout is down.", "00:00:05", true),
            ("Checkout is down.", "[00:00:05.250]", true),
            ("Checkout is down.", "0:05", true),
            ("Checkout is down.", "00:00:04 - 00:00:09", true),
            ("Checkout is down.", "07:07:07", false),
            ("Checkout is down.", "00:01:10", false),
            ("Checkout is down.", "L2", false),
            ("It went down", "00:00:30", true),
            ("It went down", "21:03", true),
            ("It went down", "00:05:00", false),
            ("and nothing else", "00:01:10", true),
            ("and nothing else", "00:09:00", false),
            ("no time as yet", "00:00:01", true),
            ("no time as yet", "00:01:00", false),
        ] {
            assert_eq!(found(call, quote, Some(time)), is_found, "{quote} {time}");
        }
        assert!(found("21:04:33 Ada: Checkout is down.", "Checkout is down.", Some("21:04")));
        assert!(found("21:04 Ada: Checkout is down.", "Checkout is down.", Some("21:04:00")));
        for (time, is_found) in
            [("75:30", true), ("1:15:30", true), ("75:30:00", false), ("1:16:30", false)]
        {
            assert_eq!(
                found("75:30 Bob: Checkout is down.", "Checkout is down.", Some(time)),
                is_found,
                "{time}"
            );
        }
        let untimed = "Checkout is down.";
        assert!(found(untimed, untimed, None) && !found(untimed, untimed, Some("00:00:05")));
    }

    #[test]
    fn what_was_recorded_has_its_time_too() {
        for (time, is_found) in [
            ("2026-01-01T00:00:00.000Z", true),
            ("2026-01-01T00:00:40Z", true),
            ("2026-01-01T00:05:00Z", false),
            ("00:00:30", true),
            ("00:00", true),
            ("12:00", false),
        ] {
            let piece = json!({"quote": "orders went down", "timecode": time});
            let missing = not_found(&json!({"impact": {"evidence": [piece]}}), &prompt());
            assert_eq!(missing.is_empty(), is_found, "{time}");
        }
    }

    fn found(call: &str, quote: &str, time: Option<&str>) -> bool {
        let transcript = Transcript::parse(call.as_bytes(), TranscriptForm::Text).unwrap();
        let piece = json!({"quote": quote, "timecode": time});
        let report = json!({"impact": {"evidence": [piece]}});
        not_found(&report, &Prompt::new(&transcript, None)).is_empty()
    }
}
