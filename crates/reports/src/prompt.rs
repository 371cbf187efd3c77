//! What the model is asked. Pure.
//!
//! Transcript and timeline are data between marks. Each of their lines begins with a number of ours, so
//! that no line of theirs can be a mark.

use std::fmt::{self, Write as _};

use mainstay_base::Timestamp;

use crate::model::Window;
use crate::told::{self, ToldLine};
use crate::transcript::{Transcript, is_gap};

/// Which prompt is asked.
pub const VERSION: &str = "v1";

/// The most entries of the recorded timeline in a prompt. Of more the middle ones are left out.
pub const MAX_ENTRIES: usize = 500;

/// The most characters of an entry.
pub const MAX_ENTRY: usize = 300;

/// What the lines of the transcript stand between.
pub const TRANSCRIPT_MARKS: (&str, &str) =
    ("=====BEGIN TRANSCRIPT=====", "=====END TRANSCRIPT=====");

const SYSTEM: &str = include_str!("../prompts/v1.system.md");
const USER: &str = include_str!("../prompts/v1.user.md");

/// What the model is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What it is to do.
    pub system: String,
    /// What it is to do it with.
    pub user: String,
    /// Lines of the transcript that are not in it.
    pub lines_left_out: usize,
    /// Each line of it that was said or recorded.
    pub(crate) told: Vec<ToldLine>,
}

/// What Mainstay recorded while the incident went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTimeline {
    /// The time that was asked about.
    pub window: Window,
    /// Of which part of it there are records; `None` when there are none. What was in the rest is not
    /// known: that it holds no entry does not mean that nothing happened.
    pub covered: Option<Window>,
    /// What happened, in order.
    pub entries: Vec<RecordedEntry>,
}

/// One thing that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEntry {
    /// When.
    pub at: Timestamp,
    /// What, in one line.
    pub what: String,
}

impl Prompt {
    /// Asks for the report of a call.
    #[must_use]
    pub fn new(transcript: &Transcript, timeline: Option<&RecordedTimeline>) -> Self {
        // One after the other, so that nothing in the one is taken for the place of the other.
        let (before, rest) = USER.split_once("{{timeline}}").unwrap_or((USER, ""));
        let (between, after) = rest.split_once("{{transcript}}").unwrap_or((rest, ""));
        let mut told = told::said(transcript);
        let recorded = timeline_text(timeline, &mut told);
        let said = transcript_text(transcript);
        let user = [before, recorded.trim_end(), between, said.trim_end(), after].concat();
        Self { system: SYSTEM.to_owned(), user, lines_left_out: transcript.left_out, told }
    }
}

/// The lines between the marks of a prompt's transcript: what was asked about.
pub fn transcript_lines(user: &str) -> impl Iterator<Item = &str> {
    let (begin, end) = TRANSCRIPT_MARKS;
    user.lines().skip_while(move |line| *line != begin).skip(1).take_while(move |line| *line != end)
}

/// Without its texts: they belong into no log.
impl fmt::Debug for Prompt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Prompt");
        shown
            .field("system_bytes", &self.system.len())
            .field("user_bytes", &self.user.len())
            .finish()
    }
}

fn transcript_text(transcript: &Transcript) -> String {
    let (mut text, mut before) = (String::new(), 0_usize);
    for line in &transcript.lines {
        if line.number > before.saturating_add(1) {
            let left = transcript.left_out;
            let _ = writeln!(text, "L- [{left} lines in the middle of the call are left out here]");
        }
        // Writing to a text can't fail.
        let _ = writeln!(text, "{line}");
        before = line.number;
    }
    text
}

fn timeline_text(timeline: Option<&RecordedTimeline>, told: &mut Vec<ToldLine>) -> String {
    let Some(timeline) = timeline else {
        return "R- [nobody said when the incident was: what was recorded is not told]".to_owned();
    };
    let mut text = coverage_text(timeline);
    let count = timeline.entries.len();
    let left = count.saturating_sub(MAX_ENTRIES);
    let head = if left == 0 { count } else { MAX_ENTRIES / 2 };
    for (at, entry) in timeline.entries.iter().enumerate() {
        if at == head && left > 0 {
            let _ = writeln!(text, "R- [{left} entries are left out here]");
        }
        if at < head || at >= head.saturating_add(left) {
            let what = entry_text(&entry.what);
            let _ = writeln!(text, "R{} [{}] {what}", at.saturating_add(1), entry.at);
            told.push(told::recorded(entry, &what));
        }
    }
    if timeline.entries.is_empty() && timeline.covered.is_some() {
        text.push_str("R- [nothing changed in the recorded time]\n");
    }
    text
}

/// Which time there are records of, and that what was in the rest is not known.
fn coverage_text(RecordedTimeline { window, covered, .. }: &RecordedTimeline) -> String {
    let Window { from, to } = window;
    match covered {
        None => format!(
            "R- [there are no records from {from} to {to}: whether anything changed then is not known]\n"
        ),
        Some(covered) if covered.from > *from => format!(
            "R- [there are no records from {from} to {}: whether anything changed then is not known]\nR- [recorded from {} to {}]\n",
            covered.from, covered.from, covered.to
        ),
        Some(covered) => format!("R- [recorded from {} to {}]\n", covered.from, covered.to),
    }
}

fn entry_text(what: &str) -> String {
    let clean = what.chars().map(|one| if is_gap(one) { ' ' } else { one });
    clean.take(MAX_ENTRY).collect()
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
