//! The lines of a transcript. Of more than a prompt has room for, the middle is left out here, and nowhere
//! else: how a call begins and how it ends tells most.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};

use super::timecode::Timecode;
use super::{MAX_CHARACTERS, MAX_LINE, MAX_SPEAKER};
use crate::name::has_words;

/// One line of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// When it was said, as it is written.
    pub timecode: Option<Timecode>,
    /// Who said it.
    pub speaker: Option<String>,
    /// What was said, on one line, never empty.
    pub text: String,
}

/// Lines in the making: the first ones, and the last ones of those after them.
#[derive(Default)]
pub(super) struct Lines {
    first: Vec<Line>,
    last: VecDeque<Line>,
    /// Characters of both, as they are told.
    first_size: usize,
    last_size: usize,
    /// Lines so far, those that were left out too.
    count: usize,
    pub(super) broken_cues: usize,
}

impl Lines {
    /// Adds what one speaker said at one time, in as many lines as it needs: in none where nothing of it can be
    /// seen.
    pub(super) fn add(&mut self, timecode: Option<&Timecode>, speaker: Option<&str>, text: &str) {
        let text = one_line(text);
        if !has_words(&text) {
            return;
        }
        let speaker = speaker.map(one_line).filter(|speaker| has_words(speaker));
        let speaker = speaker.map(|speaker| speaker.chars().take(MAX_SPEAKER).collect::<String>());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = rest.char_indices().nth(MAX_LINE).map_or(rest.len(), |(end, _)| end);
            let (part, more) = rest.split_at(end);
            self.count = self.count.saturating_add(1);
            let (timecode, speaker) = (timecode.cloned(), speaker.clone());
            let (number, text) = (self.count, part.to_owned());
            self.keep(Line { number, timecode, speaker, text });
            rest = more.trim_start();
        }
    }

    /// The lines that are kept, and how many are not.
    pub(super) fn kept(self) -> (Vec<Line>, usize) {
        let mut lines = self.first;
        lines.extend(self.last);
        let left_out = self.count.saturating_sub(lines.len());
        (lines, left_out)
    }

    fn keep(&mut self, line: Line) {
        let size = line.size();
        let with = self.first_size.saturating_add(size);
        if self.last.is_empty() && with <= MAX_CHARACTERS / 2 {
            self.first_size = with;
            self.first.push(line);
            return;
        }
        self.last_size = self.last_size.saturating_add(size);
        self.last.push_back(line);
        let room = MAX_CHARACTERS.saturating_sub(self.first_size);
        while self.last_size > room {
            let Some(oldest) = self.last.pop_front() else { return };
            self.last_size = self.last_size.saturating_sub(oldest.size());
        }
    }
}

impl Line {
    /// Characters of it as it is told, with the end of the line.
    fn size(&self) -> usize {
        self.to_string().chars().count().saturating_add(1)
    }
}

/// `L12 [00:01:02] Alice: …`, as a model is told.
impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "L{}", self.number)?;
        if let Some(code) = &self.timecode {
            write!(formatter, " [{code}]")?;
        }
        if let Some(speaker) = &self.speaker {
            write!(formatter, " {speaker}:")?;
        }
        formatter.write_char(' ')?;
        formatter.write_str(&self.text)
    }
}

/// Without what was said: that belongs into no log.
impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Line");
        shown
            .field("number", &self.number)
            .field("timecode", &self.timecode)
            .finish_non_exhaustive()
    }
}

/// Whether a character is white space, ends a line by any standard, or controls something.
pub(crate) fn is_gap(one: char) -> bool {
    one.is_whitespace() || one.is_control()
}

/// Runs of gaps as one space each.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
