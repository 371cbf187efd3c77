//! An answer as bytes, plain and packed, with a tag made from its content.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::known::fingerprint;

/// What is shorter is not packed.
const LEAST_PACKED: usize = 1_024;

/// An answer that was written out once, for everybody who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// A word for its content: the same on every instance that would answer the same.
    pub tag: String,
    /// JSON.
    pub plain: Bytes,
    /// The same, compressed by gzip; `None` when it is short.
    pub gzip: Option<Bytes>,
}

/// An answer that could not be written out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It can't be written as JSON.
    #[error("an answer could not be written as JSON; the log of this instance says more")]
    Json(#[from] serde_json::Error),
    /// This instance is stopping.
    #[error("this instance is stopping; ask again")]
    Stopping,
}

impl Answer {
    /// Writes a value out. It takes a while for a large one: see [`Answer::written`].
    ///
    /// # Errors
    /// [`AnswerError::Json`].
    pub fn of(value: &impl Serialize) -> Result<Self, AnswerError> {
        let plain = serde_json::to_vec(value)?;
        let tag = format!("{:016x}", fingerprint(&plain));
        let gzip = (plain.len() >= LEAST_PACKED).then(|| packed(&plain)).flatten();
        Ok(Self { tag, plain: plain.into(), gzip })
    }

    /// Makes a value and writes it out, off the threads that answer everybody.
    ///
    /// # Errors
    /// As [`Answer::of`], or [`AnswerError::Stopping`].
    pub async fn written<T: Serialize>(
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, AnswerError> {
        let writing = tokio::task::spawn_blocking(move || Self::of(&make()));
        writing.await.map_err(|_| AnswerError::Stopping)?
    }
}

/// Fast rather than small: it is made anew with every change.
fn packed(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).ok()?;
    Some(encoder.finish().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_long_answer_is_packed_and_the_tag_goes_by_content() {
        let long = vec!["the same words"; 200];
        let answer = Answer::of(&long).unwrap();
        let mut read = String::new();
        let packed = answer.gzip.clone().unwrap();
        flate2::read::GzDecoder::new(&*packed).read_to_string(&mut read).unwrap();
        assert_eq!(read.as_bytes(), &*answer.plain);
        assert!(packed.len() < answer.plain.len() / 10);
        assert_eq!(answer.tag, Answer::of(&long).unwrap().tag);
        let short = Answer::of(&"short").unwrap();
        assert_ne!(answer.tag, short.tag);
        assert!(short.gzip.is_none());
    }
}
