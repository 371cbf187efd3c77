//! Writes reports without a model: for tests and the demo. The same transcript makes the same report,
//! each claim with real words of it.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Llm, LlmAnswer, LlmError, LlmRequest};
use crate::prompt;
use crate::transcript::{MAX_SPEAKER, Timecode};

/// What it calls itself.
pub const MODEL: &str = "fake";

/// The most claims of each kind.
const MAX_CLAIMS: usize = 5;

/// The most entries of the timeline.
const MAX_TIMELINE: usize = 12;

/// The most characters of a quote, and of what is said about it.
const MAX_QUOTE: usize = 300;

/// The most bytes of a time until when something is to be done.
const MAX_DUE: usize = 60;

/// The most characters of the title.
const MAX_TITLE: usize = 120;

/// Words that give a kind of claim away.
const CAUSES: &[&str] =
    &["because", "caused", "root cause", "due to", "turned out", "the problem was"];
const FACTORS: &[&str] =
    &["no alert", "slow", "missing", "nobody", "took too long", "late", "retry"];
const HELPED: &[&str] =
    &["good", "well", "quick", "rolled back", "rollback worked", "helped", "recovered"];
const ACTIONS: &[&str] = &["i will", "i'll", "we need to", "we should", "action", "todo", "let's"];
const QUESTIONS: &[&str] = &["why ", "not sure", "unclear", "don't know", "do we know"];
const IMPACT: &[&str] =
    &["customers", "users", "requests", "orders", "errors", "checkout", "failed"];

/// Words for how bad it was, the worst first.
const SEVERITIES: [(&str, &[&str]); 3] = [
    ("critical", &["outage", "everything is down", "data loss", "sev1", "all customers"]),
    ("high", &["down", "sev2", "failing", "unavailable"]),
    ("medium", &["degraded", "slow", "errors", "sev3"]),
];

/// Things that systems lean on.
const DEPENDENCIES: [&str; 12] = [
    "postgres",
    "database",
    "redis",
    "kafka",
    "queue",
    "cache",
    "dns",
    "payment",
    "gateway",
    "load balancer",
    "storage",
    "auth",
];

/// Writes reports without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeLlm;

impl Llm for FakeLlm {
    fn answer<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmAnswer, LlmError>> {
        let json = report(&request.prompt.user);
        let raw = json.to_string();
        Box::pin(std::future::ready(Ok(LlmAnswer { json, raw, model: MODEL.to_owned() })))
    }
}

/// The report of the transcript in a prompt.
#[must_use]
pub fn report(user: &str) -> Value {
    let said: Vec<Said<'_>> = prompt::transcript_lines(user).filter_map(Said::read).collect();
    let timed = || said.iter().filter(|one| one.timecode.is_some());
    let mut timecodes = said.iter().filter_map(|one| one.timecode);
    let first = timecodes.next();
    let last = timecodes.next_back().or(first);
    json!({
        "title": title(&said),
        "summary": summary(&said),
        "impact": impact(&said),
        "severity": severity(&said),
        "started_at": first,
        "ended_at": last,
        "timeline": timed().take(MAX_TIMELINE).map(Said::entry).collect::<Vec<_>>(),
        "root_causes": claims(&said, CAUSES),
        "contributing_factors": claims(&said, FACTORS),
        "what_went_well": claims(&said, HELPED),
        "actions": with(&said, ACTIONS).map(Said::action).collect::<Vec<_>>(),
        "affected_dependencies": dependencies(&said),
        "open_questions": questions(&said),
    })
}

/// A line of the transcript as it stands in the prompt.
#[derive(Clone, Copy)]
struct Said<'a> {
    timecode: Option<&'a str>,
    speaker: Option<&'a str>,
    text: &'a str,
}

impl<'a> Said<'a> {
    /// `L12 [00:01:02] Alice: …`.
    fn read(line: &'a str) -> Option<Self> {
        let (number, rest) = line.split_once(' ')?;
        // What was left out has no number.
        number.strip_prefix('L')?.parse::<u32>().ok()?;
        let coded = rest.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let coded = coded.filter(|(code, _)| Timecode::parse(code).is_some());
        let (timecode, rest) = coded.map_or((None, rest), |(code, rest)| (Some(code), rest));
        let named = rest.split_once(": ").filter(|(name, _)| name.split(' ').count() <= 4);
        let (speaker, text) = named.map_or((None, rest), |(name, text)| (Some(name), text));
        let speaker = speaker.map(|name| shortened(name.trim(), MAX_SPEAKER));
        let speaker = speaker.filter(|name| !name.is_empty());
        let text = shortened(text.trim(), MAX_QUOTE);
        (!text.is_empty()).then_some(Self { timecode, speaker, text })
    }

    fn holds(&self, words: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        words.iter().any(|word| text.contains(word))
    }

    fn evidence(&self) -> Value {
        json!([{ "quote": self.text, "timecode": self.timecode }])
    }

    /// The sentence that holds one of the words; all of it where none does.
    fn sentence(&self, words: &[&str]) -> &'a str {
        let mut sentences = self.text.split_inclusive(['.', '?', '!']).map(str::trim);
        let held = sentences.find(|one| Self { text: *one, ..*self }.holds(words));
        held.unwrap_or(self.text)
    }

    fn claim(&self, words: &[&str]) -> Value {
        json!({ "text": self.sentence(words), "evidence": self.evidence() })
    }

    fn entry(&self) -> Value {
        json!({ "at": self.timecode, "what": self.text, "evidence": self.evidence() })
    }

    fn action(&self) -> Value {
        let (owner, action, due) = (self.speaker, self.text, self.due());
        json!({ "owner": owner, "action": action, "due": due, "evidence": self.evidence() })
    }

    /// Until when, in the words of the call: what follows its last "by".
    fn due(&self) -> Option<&'a str> {
        let (_, rest) = self.text.rsplit_once(" by ")?;
        let due = rest.trim().trim_end_matches(['.', '!']);
        (!due.is_empty() && due.len() <= MAX_DUE).then_some(due)
    }
}

fn title(said: &[Said<'_>]) -> String {
    let told = with(said, IMPACT).next().or(said.first());
    let told = told.map_or("what was said in the call", |one| one.sentence(IMPACT));
    let told = told.trim_end_matches('.');
    format!("Incident: {}", shortened(told, MAX_TITLE))
}

fn summary(said: &[Said<'_>]) -> String {
    let (count, cause) = (said.len(), with(said, CAUSES).next());
    let told =
        format!("The call has {count} lines. This report was written without a language model.");
    match cause {
        Some(cause) => format!("{told} The cause that was named: {}", cause.sentence(CAUSES)),
        None => format!("{told} No cause was named."),
    }
}

fn impact(said: &[Said<'_>]) -> Value {
    match with(said, IMPACT).next() {
        Some(one) => one.claim(IMPACT),
        None => json!({ "text": "Nobody said who noticed.", "evidence": [] }),
    }
}

fn severity(said: &[Said<'_>]) -> &'static str {
    let worst = SEVERITIES.iter().find(|(_, words)| said.iter().any(|one| one.holds(words)));
    worst.map_or("unknown", |(severity, _)| severity)
}

fn claims(said: &[Said<'_>], words: &[&str]) -> Vec<Value> {
    with(said, words).map(|one| one.claim(words)).collect()
}

fn questions(said: &[Said<'_>]) -> Vec<Value> {
    let open = said.iter().filter(|one| one.text.ends_with('?') || one.holds(QUESTIONS));
    open.take(MAX_CLAIMS)
        .map(|one| json!({ "question": one.text, "evidence": one.evidence() }))
        .collect()
}

fn dependencies(said: &[Said<'_>]) -> Vec<Value> {
    let first =
        |name: &'static str| said.iter().find(|one| one.holds(&[name])).map(|one| (name, one));
    let found = DEPENDENCIES.into_iter().filter_map(first).take(MAX_CLAIMS);
    found
        .map(|(name, one)| json!({ "name": name, "effect": one.text, "evidence": one.evidence() }))
        .collect()
}

fn with<'a, 'b>(said: &'a [Said<'b>], words: &'a [&str]) -> impl Iterator<Item = &'a Said<'b>> {
    said.iter().filter(|one| one.holds(words)).take(MAX_CLAIMS)
}

fn shortened(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::Prompt;
    use crate::schema;
    use crate::transcript::{Transcript, TranscriptForm};
    use proptest::prelude::*;

    const CALL: &str = "00:00:05 Alice: checkout is down for all customers\n\
        00:01:10 Bob: the database pool is full because a migration held locks\n\
        00:04:00 Alice: I will raise the pool size today\n\
        00:05:30 Bob: do we know why the alert was late?\n\
        00:06:00 Carol: the rollback worked and it recovered\n";

    fn written(text: &[u8]) -> Option<Value> {
        let transcript = Transcript::parse(text, TranscriptForm::Text).ok()?;
        Some(report(&Prompt::new(&transcript, None).user))
    }

    fn quotes(value: &Value, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(object) => {
                if let Some(quote) = object.get("quote").and_then(Value::as_str) {
                    found.push((quote.to_owned(), object["timecode"].clone()));
                }
                object.values().for_each(|one| quotes(one, found));
            }
            Value::Array(items) => items.iter().for_each(|one| quotes(one, found)),
            _ => {}
        }
    }

    #[test]
    fn it_writes_a_report_with_real_quotes_and_their_timecodes() {
        let report = written(CALL.as_bytes()).unwrap();
        assert_eq!(schema::validate(&report), Ok(()));
        assert_eq!(report["severity"], "critical");
        assert_eq!(report["root_causes"][0]["evidence"][0]["timecode"], "00:01:10");
        assert_eq!(report["actions"][0]["owner"], "Alice");
        assert_eq!(
            (&report["started_at"], &report["ended_at"]),
            (&"00:00:05".into(), &"00:06:00".into())
        );
        assert_eq!(report["affected_dependencies"][0]["name"], "database");
        assert_eq!(report["timeline"].as_array().map(Vec::len), Some(5));
        assert_eq!(report["open_questions"].as_array().map(Vec::len), Some(1));
        let mut found = Vec::new();
        quotes(&report, &mut found);
        assert!(found.len() > 8);
        for (quote, timecode) in found {
            let line = CALL.lines().find(|line| line.ends_with(&quote)).unwrap();
            assert!(line.starts_with(timecode.as_str().unwrap()), "{quote}");
        }
    }

    #[test]
    fn it_tells_the_sentence_that_says_it_and_until_when_somebody_will_act() {
        let call = "00:00:05 Ada: Hello all. Customers see errors. It is late.\n\
            00:01:00 Bob: I will fix it by the end of the month.\n\
            00:02:00 Bob: I will look into it.\n";
        let report = written(call.as_bytes()).unwrap();
        assert_eq!(report["title"], "Incident: Customers see errors");
        assert_eq!(report["impact"]["text"], "Customers see errors.");
        assert_eq!(report["actions"][0]["due"], "the end of the month");
        assert!(report["actions"][1]["due"].is_null());
    }

    #[test]
    fn the_same_call_makes_the_same_report() {
        assert_eq!(written(CALL.as_bytes()), written(CALL.as_bytes()));
        assert_ne!(written(CALL.as_bytes()), written(b"Alice: hello"));
    }

    #[test]
    fn what_only_looks_like_a_timecode_or_a_speaker_breaks_no_schema() {
        let (long, name) = ("x".repeat(60), "y".repeat(300));
        let call = format!("[{long}] the pool is full\n{name}: I will fix it\n : i will too\n");
        let report = written(call.as_bytes()).unwrap();
        assert_eq!(schema::validate(&report), Ok(()));
        assert_eq!(report["timeline"], json!([]), "nothing has a time");
    }

    proptest! {
        #[test]
        fn any_transcript_makes_a_report(text in "(?s).{0,400}", words in "([a-z]{1,8}(: |\\? |\n| down because )){0,60}", marks in "(\\[|\\] |[a-z]{1,90}|\n|: | |00:01:02 |i will |by ){0,40}") {
            for given in [text.as_bytes(), words.as_bytes(), marks.as_bytes()] {
                if let Some(report) = written(given) {
                    prop_assert_eq!(schema::validate(&report), Ok(()));
                }
            }
        }
    }
}
