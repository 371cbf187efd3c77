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
#[derive(Debug, Clone)]
pub struct Answer {
    /// A strong tag in quotes, the same on every instance that has the same content.
    pub etag: String,
    /// JSON.
    pub plain: Bytes,
    /// The same, compressed by gzip; `None` when it is short.
    pub gzip: Option<Bytes>,
}

impl Answer {
    /// Writes a value out. It takes a while for a large one.
    ///
    /// # Errors
    /// When the value can't be written as JSON.
    pub fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        let plain = serde_json::to_vec(value)?;
        let etag = format!("\"{:016x}\"", fingerprint(&plain));
        let gzip = (plain.len() >= LEAST_PACKED).then(|| packed(&plain)).flatten();
        Ok(Self { etag, plain: plain.into(), gzip })
    }
}

/// Fast rather than small: it is made anew with every change of the graph.
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
        assert_eq!(answer.etag, Answer::of(&long).unwrap().etag);
        let short = Answer::of(&"short").unwrap();
        assert_ne!(answer.etag, short.etag);
        assert!(short.gzip.is_none());
    }
}
