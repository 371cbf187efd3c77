//! The fields of a text line. Values come from outside: whatever could break the line or command
//! the terminal is written as an escape. The subscriber itself does so for messages only, and not
//! for line breaks.

use std::fmt::{self, Write};

use tracing::field::Field;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{self, Writer};

/// Writes `message name=value name=value`.
pub fn fields() -> impl for<'writer> FormatFields<'writer> + Send + Sync + 'static {
    format::debug_fn(|writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug| {
        if field.name() != "message" {
            let (dim, plain) =
                if writer.has_ansi_escapes() { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
            write!(writer, "{dim}{}={plain}", field.name())?;
        }
        write!(Escaping(writer), "{value:?}")
    })
    .delimited(" ")
}

/// Whether a character could break a line or change what a terminal shows around it.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        // Line and paragraph separators, and the marks that turn the direction of reading.
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

struct Escaping<'a, W>(&'a mut W);

impl<W: Write> Write for Escaping<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !text.contains(is_unsafe) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|character| {
            if is_unsafe(character) {
                write!(self.0, "{}", character.escape_default())
            } else {
                self.0.write_char(character)
            }
        })
    }
}
