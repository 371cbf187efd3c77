//! Where a blob stands.

use std::fmt;
use std::sync::Arc;

/// The longest key, in bytes.
pub const MAX_KEY: usize = 512;

/// The longest segment of a key, in bytes: file systems hold no longer name.
pub const MAX_SEGMENT: usize = 255;

/// A key such as `users/7/files/9/original.txt`: segments of `[A-Za-z0-9._-]`, none of them empty, `.`
/// or `..`. So it is a path below any folder and an object of any storage, as it stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobKey(Arc<str>);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlobKeyError {
    /// Longer than a key may be.
    #[error("longer than {MAX_KEY} bytes, or than {MAX_SEGMENT} between two slashes; shorten it")]
    TooLong,
    /// A segment that is empty, `.` or `..`.
    #[error("a part between slashes is empty, \".\" or \"..\"; give each a name")]
    Segment,
    /// Another character.
    #[error("a character beside letters, digits, \".\", \"_\" and \"-\"; leave it out")]
    Character,
}

impl BlobKey {
    /// Checks a text.
    ///
    /// # Errors
    /// [`BlobKeyError`] when it is no key.
    pub fn new(text: &str) -> Result<Self, BlobKeyError> {
        if text.len() > MAX_KEY {
            return Err(BlobKeyError::TooLong);
        }
        text.split('/').try_for_each(check_segment)?;
        Ok(Self(text.into()))
    }

    /// The key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for BlobKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BlobKey({})", self.0)
    }
}

fn check_segment(segment: &str) -> Result<(), BlobKeyError> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if matches!(segment, "" | "." | "..") {
        Err(BlobKeyError::Segment)
    } else if segment.len() > MAX_SEGMENT {
        Err(BlobKeyError::TooLong)
    } else if segment.bytes().all(is_fit) {
        Ok(())
    } else {
        Err(BlobKeyError::Character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_segments_of_plain_characters() {
        let longest = format!("{}/{}", "a".repeat(MAX_SEGMENT), "b".repeat(MAX_SEGMENT));
        for key in ["a", "users/7/files/9/original.txt", "a.b/-_/..c", longest.as_str()] {
            assert_eq!(BlobKey::new(key).map(|key| key.to_string()), Ok(key.to_owned()));
        }
    }

    #[test]
    fn tricks_are_refused() {
        let long = "a/".repeat(MAX_KEY / 2) + "b";
        let wide = "a".repeat(MAX_SEGMENT + 1);
        for (text, error) in [
            ("", BlobKeyError::Segment),
            ("/", BlobKeyError::Segment),
            ("/etc/passwd", BlobKeyError::Segment),
            ("a//b", BlobKeyError::Segment),
            ("a/", BlobKeyError::Segment),
            ("../a", BlobKeyError::Segment),
            ("a/../../b", BlobKeyError::Segment),
            ("a/./b", BlobKeyError::Segment),
            ("a\\..\\b", BlobKeyError::Character),
            ("a/%2e%2e/b", BlobKeyError::Character),
            ("a\0b", BlobKeyError::Character),
            ("a b", BlobKeyError::Character),
            ("a#1", BlobKeyError::Character),
            ("a?x=1", BlobKeyError::Character),
            ("\u{2024}\u{2024}/a", BlobKeyError::Character),
            ("ä", BlobKeyError::Character),
            (&long, BlobKeyError::TooLong),
            (&wide, BlobKeyError::TooLong),
        ] {
            assert_eq!(BlobKey::new(text), Err(error), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_key_never_leaves_its_folder(text in "[a./_-]{0,24}") {
            if let Ok(key) = BlobKey::new(&text) {
                let path = std::path::Path::new("root").join(key.as_str());
                let is_plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
                prop_assert!(path.components().all(is_plain));
                prop_assert_eq!(path.components().count(), 1 + key.segments().count());
            }
        }
    }
}
