//! What was said in the call: a `.txt` or `.vtt` file as numbered lines. Pure.
//!
//! Nothing of a transcript is trusted to be well-formed: what can't be read as it should be is read as
//! text, and counted. Only what is hardly text at all is refused.

mod decode;
mod text;
mod timecode;
mod vtt;

use mainstay_base::replace_nul;

pub use timecode::Timecode;

/// The most lines of a transcript.
pub const MAX_LINES: usize = 50_000;

/// The most characters of a line; a longer one becomes several.
pub const MAX_LINE: usize = 2_000;

/// The most characters of the name of a speaker.
pub const MAX_SPEAKER: usize = 80;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptForm {
    /// Plain text.
    Text,
    /// Cues with their times.
    WebVtt,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The lines in order, at least one, numbered from 1.
    pub lines: Vec<Line>,
    /// Cues that could not be read as such; their text is kept.
    pub broken_cues: usize,
    /// Whether lines beyond [`MAX_LINES`] were left out.
    pub is_cut: bool,
}

/// One line of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// When it was said, from the beginning of the call.
    pub timecode: Option<Timecode>,
    /// Who said it.
    pub speaker: Option<String>,
    /// What was said, on one line, never empty.
    pub text: String,
}

/// A file that is no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// Nothing but white space.
    #[error("the file holds no words, only white space; upload the transcript of the call")]
    Empty,
    /// Bytes that are no text.
    #[error("the file is no text; save the transcript as text (UTF-8) and upload that")]
    NotText,
}

impl TranscriptForm {
    /// The form by the ending of a file's name, without its dot.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "vtt" => Some(Self::WebVtt),
            _ => None,
        }
    }
}

impl TranscriptError {
    /// The word for it on jobs and files.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty_original_transcript",
            Self::NotText => "original_not_text",
        }
    }
}

impl Transcript {
    /// Reads a file, whatever its bytes are.
    ///
    /// # Errors
    /// [`TranscriptError`] when nothing was said, or the file is none that words are in.
    pub fn parse(bytes: &[u8], form: TranscriptForm) -> Result<Self, TranscriptError> {
        let text = decode::text(bytes).ok_or(TranscriptError::NotText)?;
        let text = replace_nul(text.strip_prefix('\u{FEFF}').unwrap_or(&text));
        let mut lines = Lines::default();
        match form {
            TranscriptForm::Text => text::read(&text, &mut lines),
            TranscriptForm::WebVtt => vtt::read(&text, &mut lines),
        }
        if lines.lines.is_empty() {
            return Err(TranscriptError::Empty);
        }
        let Lines { lines, broken_cues, is_cut } = lines;
        Ok(Self { lines, broken_cues, is_cut })
    }
}

/// Without what was said: that belongs into no log.
impl std::fmt::Debug for Line {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Line");
        shown
            .field("number", &self.number)
            .field("timecode", &self.timecode)
            .finish_non_exhaustive()
    }
}

/// Lines in the making.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    broken_cues: usize,
    is_cut: bool,
}

impl Lines {
    /// Adds what one speaker said at one time, in as many lines as it needs.
    fn add(&mut self, timecode: Option<Timecode>, speaker: Option<&str>, text: &str) {
        let text = one_line(text);
        let speaker = speaker.map(one_line).filter(|speaker| !speaker.is_empty());
        let speaker = speaker.map(|speaker| speaker.chars().take(MAX_SPEAKER).collect::<String>());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            if self.lines.len() >= MAX_LINES {
                self.is_cut = true;
                return;
            }
            let end = rest.char_indices().nth(MAX_LINE).map_or(rest.len(), |(end, _)| end);
            let (part, more) = rest.split_at(end);
            let number = self.lines.len().saturating_add(1);
            let (speaker, text) = (speaker.clone(), part.to_owned());
            self.lines.push(Line { number, timecode, speaker, text });
            rest = more.trim_start();
        }
    }
}

/// Runs of white space and control characters as one space each.
fn one_line(text: &str) -> String {
    let is_gap = |one: char| one.is_whitespace() || one.is_control();
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The lines of a text, whichever way they end.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('\r'))
}

#[cfg(test)]
mod tests;
