//! The filters of our own, in place of those of minijinja that make much out of little when they are
//! told to, or when they are put one behind the other. What each makes is bounded while it is made.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;

use minijinja::{Error, ErrorKind, State, Value};

use crate::bounds::{MAX_RENDERED, MAX_TRIMMED};
use crate::text::CUT;

/// JSON without spaces. It takes no indent: one without a bound fills the memory.
pub(crate) fn tojson(value: &Value) -> Result<String, Error> {
    defined(value)?;
    json(value).map_err(|error| match error {
        Unwritten::TooLong => too_long(),
        Unwritten::Other => {
            Error::new(ErrorKind::BadSerialization, "it holds something that JSON can't")
        }
    })
}

/// The value as a text. A list within a text within a list doubles what escapes its signs.
pub(crate) fn string(state: &State<'_, '_>, value: &Value) -> Result<Value, Error> {
    if value.is_undefined() || value.as_str().is_some() {
        return minijinja::filters::string(state, value);
    }
    let mut text = Bounded::default();
    write!(text, "{value}").map_err(|_| too_long())?;
    text.into_text().map(Value::from).map_err(|_| too_long())
}

/// Escapes for an address.
pub(crate) fn urlencode(value: &Value) -> Result<String, Error> {
    defined(value)?;
    let text = minijinja::filters::urlencode(value)?;
    if text.len() > MAX_RENDERED { Err(too_long()) } else { Ok(text) }
}

/// Without white space, or without these letters, at both ends.
#[expect(clippy::needless_pass_by_value, reason = "minijinja hands over texts in this way")]
pub(crate) fn trim(text: Cow<'_, str>, letters: Option<Cow<'_, str>>) -> Result<String, Error> {
    let Some(letters) = letters else { return Ok(text.trim().to_owned()) };
    let letters: Vec<char> = letters.chars().take(MAX_TRIMMED.saturating_add(1)).collect();
    if letters.len() > MAX_TRIMMED {
        let why = format!("trim takes no more than {MAX_TRIMMED} letters");
        return Err(Error::new(ErrorKind::InvalidOperation, why));
    }
    Ok(text.trim_matches(letters.as_slice()).to_owned())
}

/// Why there is no JSON.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// It would be too long.
    TooLong,
    /// It can't be written.
    Other,
}

/// A value as JSON, of which no more is made than may be.
pub(crate) fn json(value: &Value) -> Result<String, Unwritten> {
    let mut text = Bounded::default();
    let written = serde_json::to_writer(&mut text, value);
    written.map_err(|error| if error.is_io() { Unwritten::TooLong } else { Unwritten::Other })?;
    text.into_text().map_err(|_| Unwritten::Other)
}

/// How much of a value is there to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// All of it: it is short.
    Whole,
    /// The beginning of its JSON, with the sign that it was cut there: a secret may have been cut with it.
    Cut(String),
}

/// The beginning of a value that is longer than so many bytes. No more of it is made.
pub(crate) fn beginning(value: &impl serde::Serialize, most: usize) -> Beginning {
    let mut text = Bounded { bytes: Vec::new(), most };
    if serde_json::to_writer(&mut text, value).is_ok() {
        return Beginning::Whole;
    }
    Beginning::Cut(format!("{}{CUT}", String::from_utf8_lossy(&text.bytes)))
}

/// Takes no more than so many bytes: those that fit of what does not.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Default for Bounded {
    fn default() -> Self {
        Self { bytes: Vec::new(), most: MAX_RENDERED }
    }
}

impl Bounded {
    fn into_text(self) -> Result<String, std::string::FromUtf8Error> {
        String::from_utf8(self.bytes)
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.bytes.len());
        if bytes.len() > room {
            self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        io::Write::write_all(self, text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// What has no value is an error, and not an empty text.
fn defined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() { Err(ErrorKind::UndefinedError.into()) } else { Ok(()) }
}

fn too_long() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("it becomes longer than {MAX_RENDERED} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;

    #[test]
    fn half_a_secret_at_the_end_of_a_long_value_is_hidden_too() {
        let mut mask = Mask::default();
        mask.hide("hunter2").unwrap();
        let Beginning::Cut(text) = beginning(&["hunter2", "hunter2"], 16) else { panic!() };
        assert_eq!(mask.text(&text), "[\"[secret]\",\"[secret]…");
        assert_eq!(beginning(&["hunter2"], 16), Beginning::Whole);
    }
}
