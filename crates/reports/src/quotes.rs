//! Whether the quotes of a report stand in what the model was told. Pure.
//!
//! A model may make words up and call them evidence. Such a quote does not refuse the report: it is marked,
//! so that nobody takes it for something that was said.

use std::fmt::Write as _;

use serde_json::Value;

use crate::prompt::{self, Prompt};

/// Where the evidence of a claim stands in it.
const EVIDENCE: &str = "evidence";
/// What may stand around a quote that is none of it.
const AROUND: [char; 7] = ['"', '“', '”', '„', '«', '»', '…'];

/// Where in a report evidence stands whose quote is in no line of the transcript and in no entry of the
/// recorded timeline, as JSON pointers. White space does not count.
#[must_use]
pub fn not_found(report: &Value, prompt: &Prompt) -> Vec<String> {
    let told: Vec<String> = prompt::told_lines(&prompt.user).map(folded).collect();
    let told = told.join("\n");
    let mut missing = Vec::new();
    look(report, &mut String::new(), &mut |path, quote| {
        let quote = folded(quote);
        let quote = quote.trim_matches(AROUND).trim();
        let quote = quote.strip_suffix("...").unwrap_or(quote);
        if quote.is_empty() || !told.contains(quote) {
            missing.push(path.to_owned());
        }
    });
    missing
}

/// Looks at every piece of evidence: where it stands, and its quote. How deep a report goes, its schema
/// bounds.
fn look(value: &Value, path: &mut String, found: &mut impl FnMut(&str, &str)) {
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

fn each(pieces: &[Value], path: &str, found: &mut impl FnMut(&str, &str)) {
    for (at, piece) in pieces.iter().enumerate() {
        let quote = piece.get("quote").and_then(Value::as_str).unwrap_or_default();
        found(&format!("{path}/{at}"), quote);
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{RecordedEntry, RecordedTimeline};
    use crate::transcript::{Transcript, TranscriptForm};
    use mainstay_base::Timestamp;
    use serde_json::json;

    const CALL: &str = "00:00:05 Ada: Checkout  is\tdown.\n00:01:10 Linus: It was the deploy.\n";

    fn prompt() -> Prompt {
        let transcript = Transcript::parse(CALL.as_bytes(), TranscriptForm::Text).unwrap();
        let at = Timestamp::from_millis(1_767_225_600_000);
        let entries = vec![RecordedEntry { at, what: "orders went down".to_owned() }];
        Prompt::new(&transcript, Some(&RecordedTimeline { from: at, to: at, entries }))
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
}
