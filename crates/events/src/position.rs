//! Where a follower stands in its streams: `<epoch>.<org_seq>.<user_seq>`, the id of each event.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::stream::Stream;

/// The longest epoch.
const MAX_EPOCH: usize = 32;

/// A place in the streams of one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub(crate) epoch: Arc<str>,
    pub(crate) org_seq: i64,
    pub(crate) user_seq: i64,
}

/// A text that is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a position; positions look like 0123456789abcdef.17.4")]
pub struct PositionError;

impl Position {
    /// The number of the last event of the organisation's stream.
    #[must_use]
    pub const fn org(&self) -> i64 {
        self.org_seq
    }

    /// The place in one of the two streams.
    pub(crate) const fn seq(&self, stream: Stream) -> i64 {
        match stream {
            Stream::Org => self.org_seq,
            Stream::User(_) => self.user_seq,
        }
    }

    pub(crate) const fn seq_mut(&mut self, stream: Stream) -> &mut i64 {
        match stream {
            Stream::Org => &mut self.org_seq,
            Stream::User(_) => &mut self.user_seq,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.epoch, self.org_seq, self.user_seq)
    }
}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next().ok_or(PositionError);
        let (epoch, org, user) = (next()?, next()?, next()?);
        let is_epoch = (1..=MAX_EPOCH).contains(&epoch.len())
            && epoch.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_epoch {
            return Err(PositionError);
        }
        Ok(Self { epoch: epoch.into(), org_seq: seq(org)?, user_seq: seq(user)? })
    }
}

/// Digits only, so that one place has one spelling.
fn seq(text: &str) -> Result<i64, PositionError> {
    let is_number =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_number { text.parse().map_err(|_| PositionError) } else { Err(PositionError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back() {
        for text in ["0123456789abcdef.17.4", "a.0.0", "a.9223372036854775807.1"] {
            assert_eq!(text.parse::<Position>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "a",
            "a.1",
            "a.1.",
            "a..1",
            "a.1.1.1",
            "g.1.1",
            "A.1.1",
            "a.-1.1",
            "a.+1.1",
            "a.01.1",
            "a.1 .1",
            "a.9223372036854775808.1",
            "a.1.1\n",
            "ä.1.1",
            "000000000000000000000000000000000.1.1",
            "1e3.1e3.1",
        ] {
            assert_eq!(text.parse::<Position>(), Err(PositionError), "{text:?}");
        }
    }
}
