//! Which log an event belongs to.

use std::fmt;

use mainstay_base::Id;

/// An ordered, gapless log of events. The order of the streams is the order in which a write takes
/// their counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// The organisation's: everybody may read it.
    Org,
    /// One user's own.
    User(Id),
}

impl Stream {
    /// The kind of stream, for metrics: never an id.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Org => "org",
            Self::User(_) => "user",
        }
    }

    /// The stream of a name such as `user:<id>`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name.split_once(':') {
            None if name == "org" => Some(Self::Org),
            Some(("user", id)) => id.parse().ok().map(Self::User),
            _ => None,
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Org => formatter.write_str("org"),
            Self::User(id) => write!(formatter, "user:{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        let user = Stream::User("01a1e102-8087-7707-8707-070707070707".parse().unwrap());
        for stream in [Stream::Org, user] {
            assert_eq!(Stream::parse(&stream.to_string()), Some(stream));
        }
        for name in ["", "org:", "user", "user:", "user:1", "team:1"] {
            assert_eq!(Stream::parse(name), None, "{name}");
        }
    }
}
