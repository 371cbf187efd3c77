//! What a follower asks for, and how its place is judged.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use mainstay_base::Id;

use crate::event::is_kind;
use crate::position::Position;
use crate::record::follow::Counters;
use crate::stream::Stream;

/// The most kinds that a follower may name.
pub const MAX_KINDS: usize = 64;

/// What a follower asks for.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Whose stream is meant by "the user's own". Nobody's is read without it.
    pub user: Option<Id>,
    /// Which streams.
    pub streams: Streams,
    /// Only events of these kinds.
    pub kinds: Option<Kinds>,
    /// Where the follower stands, as it said it (`Last-Event-ID`).
    pub after: Option<String>,
}

/// Which streams are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// The organisation's.
    pub org: bool,
    /// The user's own.
    pub user: bool,
}

impl Default for Streams {
    fn default() -> Self {
        Self { org: true, user: true }
    }
}

/// A bounded set of kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds(Arc<BTreeSet<String>>);

/// Kinds that are none, or too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a list of kinds of events; name 1 to {MAX_KINDS}, each of lower-case letters, digits, underscores and colons"
)]
pub struct KindsError;

impl Kinds {
    /// The set of `kinds`.
    ///
    /// # Errors
    /// [`KindsError`] when one is no kind, or there are none or too many.
    pub fn new<'a>(kinds: impl IntoIterator<Item = &'a str>) -> Result<Self, KindsError> {
        let mut set = BTreeSet::new();
        for kind in kinds {
            if !is_kind(kind) || set.len() >= MAX_KINDS {
                return Err(KindsError);
            }
            set.insert(kind.to_owned());
        }
        if set.is_empty() { Err(KindsError) } else { Ok(Self(Arc::new(set))) }
    }

    /// Whether `kind` is in it.
    #[must_use]
    pub fn contains(&self, kind: &str) -> bool {
        self.0.contains(kind)
    }
}

/// How a stream was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// From where the follower stood: nothing is missing.
    Resumed,
    /// From now on: the follower fetches the state.
    Snapshot,
    /// From now on, because the follower's place is of no use: it fetches the state anew.
    Reset {
        /// What is wrong with it.
        reason: ResetReason,
    },
}

/// Why a follower's place is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// It is no position at all.
    Garbage,
    /// It is of another database, or of a copy.
    Epoch,
    /// It lies ahead of what was ever written.
    Future,
    /// What came after it is no longer kept.
    Floor,
}

impl fmt::Display for ResetReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Garbage => "garbage",
            Self::Epoch => "epoch",
            Self::Future => "future",
            Self::Floor => "floor",
        })
    }
}

impl Ask {
    /// The stream of the organisation, if it is asked for.
    pub(crate) fn org(&self) -> Option<Stream> {
        self.streams.org.then_some(Stream::Org)
    }

    /// The user's own stream, if it is asked for and there is a user.
    pub(crate) fn own(&self) -> Option<Stream> {
        self.user.filter(|_| self.streams.user).map(Stream::User)
    }

    /// Every stream whose counter the position holds, asked for or not.
    pub(crate) fn counted(&self) -> Vec<Stream> {
        [Some(Stream::Org), self.user.map(Stream::User)].into_iter().flatten().collect()
    }

    /// Judges where the follower stands against the counters, and gives the place to begin at.
    pub(crate) fn judge(&self, counters: &Counters) -> (Opening, Position) {
        let now = self.now(counters);
        let Some(raw) = &self.after else { return (Opening::Snapshot, now) };
        let Ok(after) = raw.parse::<Position>() else {
            return (Opening::Reset { reason: ResetReason::Garbage }, now);
        };
        if after.epoch != now.epoch {
            return (Opening::Reset { reason: ResetReason::Epoch }, now);
        }
        let places = [(self.org(), after.org_seq), (self.own(), after.user_seq)];
        for (stream, seq) in places {
            let Some(counter) = stream.map(|stream| counters.of(stream)) else { continue };
            if seq > counter.last_seq {
                return (Opening::Reset { reason: ResetReason::Future }, now);
            }
            if seq < counter.floor_seq {
                return (Opening::Reset { reason: ResetReason::Floor }, now);
            }
        }
        (Opening::Resumed, after)
    }

    /// The place behind everything that was written.
    fn now(&self, counters: &Counters) -> Position {
        let user_seq = self.user.map_or(0, |id| counters.of(Stream::User(id)).last_seq);
        let org_seq = counters.of(Stream::Org).last_seq;
        Position { epoch: Arc::clone(&counters.epoch), org_seq, user_seq }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_kinds_is_bounded_and_checked() {
        let many: Vec<_> = (0..=MAX_KINDS).map(|number| format!("kind_{number}")).collect();
        let names = || many.iter().map(String::as_str);
        assert_eq!(Kinds::new(names()), Err(KindsError));
        let most = Kinds::new(names().take(MAX_KINDS)).unwrap();
        assert!(most.contains("kind_0") && !most.contains("kind_64"));
        assert_eq!(Kinds::new([]), Err(KindsError));
        assert_eq!(Kinds::new(["ok", "NOT"]), Err(KindsError));
    }
}
