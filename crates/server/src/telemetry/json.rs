//! JSON lines without a raw control character. JSON itself escapes those below 0x20 only, and a
//! terminal that shows the log obeys the others too.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use super::text::is_unsafe;

/// Makes writers that take one JSON line each.
#[derive(Debug)]
pub struct JsonLines<M>(pub M);

/// Takes one JSON line.
#[derive(Debug)]
pub struct JsonLine<W>(W);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for JsonLines<M> {
    type Writer = JsonLine<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        JsonLine(self.0.make_writer())
    }
}

impl<W: Write> Write for JsonLine<W> {
    /// The subscriber hands over a whole line at once, so no character is cut in two.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(escaped(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Outside of a string JSON holds none of these, so that an escape is always right. The line's own
/// end stays.
fn escaped(line: &str) -> Cow<'_, str> {
    let must_go = |character: char| character != '\n' && is_unsafe(character);
    if !line.contains(must_go) {
        return Cow::Borrowed(line);
    }
    let mut clean = String::with_capacity(line.len());
    for character in line.chars() {
        if must_go(character) {
            // Writing to a String does not fail; all of these are below U+10000.
            let _ = write!(clean, "\\u{:04x}", u32::from(character));
        } else {
            clean.push(character);
        }
    }
    Cow::Owned(clean)
}
