//! A file with a journey.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context as _;
use mainstay_journeys::bounds::MAX_FILE_BYTES;
use mainstay_journeys::{Journey, Mistake};

use super::words::clean;
use crate::output::write_stderr;

/// Reads a journey; `-` is standard input. What is wrong with it is told on standard error, a line for
/// each mistake: then there is none. So is what is doubtful.
pub(super) fn journey(path: &Path) -> anyhow::Result<Option<Journey>> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let bytes =
        if is_stdin { bounded(io::stdin().lock()) } else { File::open(path).and_then(bounded) };
    let bytes = bytes.with_context(|| format!("{name} can't be read; check the path"))?;
    // What is too long was cut anywhere, perhaps within a letter; that it is too long is told first.
    let text = if bytes.len() > MAX_FILE_BYTES {
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        let text = String::from_utf8(bytes).ok();
        text.with_context(|| format!("{name} is not UTF-8; save it as such"))?
    };
    match Journey::parse(&text) {
        Ok(journey) => {
            write_stderr(&listed(&format!("warning: {name}"), &journey.doubts(&text)));
            Ok(Some(journey))
        }
        Err(mistakes) => {
            write_stderr(&listed(&name, &mistakes));
            Ok(None)
        }
    }
}

fn listed(name: &str, mistakes: &[Mistake]) -> String {
    // A key or a value may hold what would move the cursor.
    let lines = mistakes.iter().map(|mistake| format!("{}\n", clean(&format!("{name}:{mistake}"))));
    lines.collect()
}

/// One byte more than there may be tells that there are too many.
fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    source.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
