//! The lines that a prompt tells of, and whether a quote and its time are those of one of them. Pure.

use std::ops::RangeInclusive;

use mainstay_base::Timestamp;
use serde_json::Value;

use crate::prompt::RecordedEntry;
use crate::transcript::{Line, Timecode, Transcript};

/// A quote of fewer characters, white space apart, shows nothing: it stands in every second line. Only one
/// that is all of its line may be shorter.
const MIN_QUOTE: usize = 8;

/// How many seconds the time of a quote may be off: fractions are dropped, and cues begin early.
const OFF_SECONDS: i64 = 5;

/// The same for what was recorded, which people tell by the minute.
const RECORDED_OFF_SECONDS: i64 = 60;

/// The fewest characters of a time that may stand in the words of a line themselves.
const MIN_TIME: usize = 4;

const DAY_SECONDS: i64 = 24 * 3_600;

/// A line that a model was told, as it was said or recorded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ToldLine {
    /// What, without our number, its time and who said it; white space is folded.
    text: String,
    speaker: Option<String>,
    /// When, as seconds of the call or of the day: nobody can tell which of the two a timecode is.
    when: Vec<RangeInclusive<i64>>,
    recorded: Option<Timestamp>,
}

/// What was said, line by line.
pub(crate) fn said(transcript: &Transcript) -> Vec<ToldLine> {
    let mut next_codes = Vec::with_capacity(transcript.lines.len());
    let mut next = None;
    for line in transcript.lines.iter().rev() {
        next = line.timecode.as_ref().or(next);
        next_codes.push(next);
    }
    let mut before = None;
    let lines = transcript.lines.iter().zip(next_codes.into_iter().rev());
    lines
        .map(|(line, next)| {
            before = line.timecode.as_ref().or(before);
            ToldLine::said(line, before, next)
        })
        .collect()
}

/// An entry of the recorded timeline, with its words as they are told.
pub(crate) fn recorded(entry: &RecordedEntry, what: &str) -> ToldLine {
    let second = entry.at.as_millis().div_euclid(1_000).rem_euclid(DAY_SECONDS);
    let when = vec![around(&(second..=second), RECORDED_OFF_SECONDS)];
    ToldLine { text: folded(what), speaker: None, when, recorded: Some(entry.at) }
}

/// White space as single spaces.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl ToldLine {
    /// A line without a timecode was said between those around it.
    fn said(line: &Line, before: Option<&Timecode>, next: Option<&Timecode>) -> Self {
        let when = match (&line.timecode, before.or(next), next.or(before)) {
            (Some(code), ..) => readings(code),
            (None, Some(from), Some(to)) => {
                let begins = before.map_or(Some(0), |_| first_second(from));
                let ends = first_second(to);
                begins.zip(ends).map(|(from, to)| from..=to).into_iter().collect()
            }
            (None, ..) => Vec::new(),
        };
        let when = when.iter().map(|span| around(span, OFF_SECONDS)).collect();
        let (text, speaker) = (folded(&line.text), line.speaker.as_deref().map(folded));
        Self { text, speaker, when, recorded: None }
    }

    /// Whether a quote stands in it, and enough of it. Who said it may stand before.
    pub(crate) fn holds(&self, quote: &str) -> bool {
        let named = self.speaker.as_deref().and_then(|name| quote.strip_prefix(name));
        let words = named.and_then(|rest| rest.strip_prefix(':')).unwrap_or(quote).trim();
        self.text.contains(words) && (is_long(words) || core(words) == core(&self.text))
    }

    /// Whether a time that a report gives is that of the line, or stands in it.
    pub(crate) fn is_at(&self, time: &str) -> bool {
        let time = time.trim_matches(|one: char| one.is_whitespace() || "[]()".contains(one));
        if time.chars().count() >= MIN_TIME && self.text.contains(time) {
            return true;
        }
        if let Some((recorded, at)) = self.recorded.zip(timestamp(time)) {
            let apart = recorded.as_millis().abs_diff(at.as_millis());
            return apart <= RECORDED_OFF_SECONDS.unsigned_abs().saturating_mul(1_000);
        }
        // Of a span the beginning, and of `9:05 PM` the figures.
        let first = time.split([' ', '-', '–', '—']).next().unwrap_or_default();
        let Some(code) = Timecode::parse(first) else { return false };
        let told = readings(&code);
        told.iter().any(|told| self.when.iter().any(|when| overlap(told, when)))
    }
}

/// The seconds that a timecode may mean: `21:04` is minutes and seconds of the call, or a minute of the day;
/// `75:30` can only be of the call.
fn readings(code: &Timecode) -> Vec<RangeInclusive<i64>> {
    let text = code.to_string();
    let parts: Vec<i64> = text.split(':').filter_map(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [hours, minutes, seconds] => {
            let second = hours * 3_600 + minutes * 60 + seconds;
            vec![second..=second]
        }
        [first, second] => {
            let (call, day) = (first * 60 + second, first * 3_600 + second * 60);
            let is_of_day = day < DAY_SECONDS;
            [call..=call].into_iter().chain(is_of_day.then_some(day..=day + 59)).collect()
        }
        _ => Vec::new(),
    }
}

fn first_second(code: &Timecode) -> Option<i64> {
    readings(code).first().map(|span| *span.start())
}

fn around(span: &RangeInclusive<i64>, seconds: i64) -> RangeInclusive<i64> {
    span.start() - seconds..=span.end() + seconds
}

fn overlap(one: &RangeInclusive<i64>, other: &RangeInclusive<i64>) -> bool {
    one.start() <= other.end() && other.start() <= one.end()
}

fn timestamp(text: &str) -> Option<Timestamp> {
    serde_json::from_value(Value::from(text)).ok()
}

/// Looks no further than it must: it is asked of every line.
fn is_long(words: &str) -> bool {
    words.chars().filter(|one| !one.is_whitespace()).take(MIN_QUOTE).count() == MIN_QUOTE
}

/// A text without what stands around its words; all of it where there are none.
fn core(text: &str) -> &str {
    match text.trim_matches(|one: char| !one.is_alphanumeric()) {
        "" => text,
        words => words,
    }
}
