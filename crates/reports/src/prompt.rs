//! What the model is asked. Pure.
//!
//! Transcript and timeline are data between marks. Each of their lines begins with a number of ours, so
//! that no line of theirs can be a mark.

use std::fmt::{self, Write as _};

use mainstay_base::Timestamp;

use crate::transcript::{Line, Transcript};

/// Which prompt is asked.
pub const VERSION: &str = "v1";

/// The most characters of the transcript in a prompt. Of a longer one the middle is left out.
pub const MAX_TRANSCRIPT: usize = 400_000;

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
}

/// What Mainstay recorded while the incident went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTimeline {
    /// From when.
    pub from: Timestamp,
    /// To when.
    pub to: Timestamp,
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
        let (timeline, said) = (timeline_text(timeline), transcript_text(transcript));
        let user = [before, timeline.trim_end(), between, said.trim_end(), after].concat();
        Self { system: SYSTEM.to_owned(), user }
    }
}

/// The lines between the marks of a prompt's transcript: what was asked about.
pub fn transcript_lines(user: &str) -> impl Iterator<Item = &str> {
    let (begin, end) = TRANSCRIPT_MARKS;
    user.lines().skip_while(move |line| *line != begin).skip(1).take_while(move |line| *line != end)
}

/// The lines that a prompt tells of, of the transcript and of the recorded timeline: each has a number.
pub(crate) fn told_lines(user: &str) -> impl Iterator<Item = &str> {
    let is_told = |line: &&str| {
        let mut bytes = line.bytes();
        let numbered = matches!(bytes.next(), Some(b'L' | b'R'));
        numbered && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
    };
    user.lines().filter(is_told)
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
    let lines: Vec<String> = transcript.lines.iter().map(line_text).collect();
    let mut text = joined(&lines, MAX_TRANSCRIPT, |left| {
        format!("L- [{left} lines in the middle of the call are left out here]")
    });
    if transcript.is_cut {
        text.push_str("L- [the transcript goes on; its rest is left out]\n");
    }
    text
}

fn line_text(line: &Line) -> String {
    let mut text = format!("L{}", line.number);
    // Writing to a text can't fail.
    if let Some(code) = line.timecode {
        let _ = write!(text, " [{code}]");
    }
    if let Some(speaker) = &line.speaker {
        let _ = write!(text, " {speaker}:");
    }
    text.push(' ');
    text.push_str(&line.text);
    text
}

fn timeline_text(timeline: Option<&RecordedTimeline>) -> String {
    let Some(timeline) = timeline else {
        return "R- [nothing was recorded for this call]".to_owned();
    };
    let mut text = format!("R- [recorded from {} to {}]\n", timeline.from, timeline.to);
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
        }
    }
    if timeline.entries.is_empty() {
        text.push_str("R- [nothing happened in this time]\n");
    }
    text
}

fn entry_text(what: &str) -> String {
    let clean = what.chars().map(|one| if one.is_control() { ' ' } else { one });
    clean.take(MAX_ENTRY).collect()
}

/// Lines of at most so many characters together; what is left out is the middle.
fn joined(lines: &[String], most: usize, left_out: impl FnOnce(usize) -> String) -> String {
    let size = |line: &String| line.chars().count().saturating_add(1);
    let whole: usize = lines.iter().map(size).fold(0, usize::saturating_add);
    if whole <= most {
        return lines.iter().fold(String::new(), |text, line| text + line + "\n");
    }
    let fitting = |lines: &mut dyn Iterator<Item = &String>| {
        let mut room = most / 2;
        lines
            .take_while(|line| {
                let fits = size(line) <= room;
                room = room.saturating_sub(size(line));
                fits
            })
            .count()
    };
    let (head, tail) = (fitting(&mut lines.iter()), fitting(&mut lines.iter().rev()));
    let from = lines.len().saturating_sub(tail).max(head);
    let mut text = String::new();
    for line in lines.get(..head).unwrap_or_default() {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&left_out(from.saturating_sub(head)));
    text.push('\n');
    for line in lines.get(from..).unwrap_or_default() {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
