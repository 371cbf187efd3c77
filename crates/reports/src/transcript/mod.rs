//! What was said in the call: a `.txt` or `.vtt` file as numbered lines. Pure.
//!
//! Nothing of a transcript is trusted to be well-formed: what can't be read as it should be is read as
//! text, and counted. Only what is hardly text at all is refused.

mod decode;
mod lines;
mod text;
mod timecode;
mod vtt;

use lines::Lines;
use mainstay_base::replace_nul;

pub use lines::Line;
pub(crate) use lines::is_gap;
pub use timecode::Timecode;

/// The most characters of a transcript, with the number, timecode and speaker of each line: so much is told
/// to a model. Of a longer one the middle is left out.
pub const MAX_CHARACTERS: usize = 400_000;

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
    /// The lines in order, at least one, numbered from 1; numbers are missing where lines are left out.
    pub lines: Vec<Line>,
    /// Cues that could not be read as such; their text is kept.
    pub broken_cues: usize,
    /// How many lines in the middle are left out.
    pub left_out: usize,
}

/// A file that is no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// Nothing but notes, headings, and what is drawn as nothing.
    #[error("the file holds nothing that was said; upload the transcript of the call")]
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
        let broken_cues = lines.broken_cues;
        let (lines, left_out) = lines.kept();
        if lines.is_empty() {
            return Err(TranscriptError::Empty);
        }
        Ok(Self { lines, broken_cues, left_out })
    }
}

/// The lines of a text, whichever way they end.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('\r'))
}

#[cfg(test)]
mod tests;
