//! What the room holds: users with roles, and who is calling.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::email::Email;

/// How long a session lives.
pub const SESSION_TIME: Duration = Duration::from_hours(14 * 24);
/// How long an invite can be accepted.
pub const INVITE_TIME: Duration = Duration::from_hours(7 * 24);
/// How long the link to the first account works.
pub const SETUP_TIME: Duration = Duration::from_hours(24);
/// Sessions of one user; beyond it the oldest ends.
pub const MAX_SESSIONS: i64 = 50;
/// API tokens of one user.
pub const MAX_TOKENS: i64 = 50;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Each of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word for it, in the API and in the database.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text { $($word => Ok(Self::$variant),)+ _ => Err(UnknownWord(stringify!($name))) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

/// The database holds a word that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("the database holds an unknown {0}; was it written by a newer Mainstay?")]
pub struct UnknownWord(pub(crate) &'static str);

words! {
    /// What a user may do; each may also do what those before it may.
    Role {
        /// Reads everything, and keeps an own account.
        Viewer = "viewer",
        /// Also changes what is watched.
        Editor = "editor",
        /// Also decides who may do what.
        Admin = "admin",
    }
}

words! {
    /// Whether a user may sign in.
    UserStatus {
        /// May.
        Active = "active",
        /// May not.
        Disabled = "disabled",
    }
}

words! {
    /// What an API token may do, within its owner's role.
    Scope {
        /// Reads.
        Read = "read",
        /// Reads and changes.
        Write = "write",
        /// Speaks for a worker's agent, and nothing else.
        Agent = "agent",
    }
}

words! {
    /// Where a request for access stands.
    RequestStatus {
        /// Nobody has looked at it.
        New = "new",
        /// Somebody has written to them.
        Contacted = "contacted",
        /// They were invited.
        Approved = "approved",
        /// They were not.
        Rejected = "rejected",
    }
}

words! {
    /// Where an invite stands.
    InviteStatus {
        /// It can be accepted.
        Pending = "pending",
        /// It was.
        Accepted = "accepted",
        /// It is too old.
        Expired = "expired",
        /// It was taken back.
        Revoked = "revoked",
    }
}

/// Whom a call comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub user: Identity,
    /// How the user was known.
    pub means: Means,
}

/// The user, as every answer names one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Identity {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The e-mail address.
    #[schema(value_type = String, example = "ada@example.com")]
    pub email: Email,
    /// What the user may do.
    pub role: Role,
}

/// How a caller was known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Means {
    /// By the cookie of a session.
    Session {
        /// The session.
        id: Id,
        /// When it ends.
        expires_at: Timestamp,
    },
    /// By an API token.
    Token {
        /// The token's id.
        id: Id,
        /// What it may do.
        scope: Scope,
    },
}

/// Where a call came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The client's address.
    pub address: Option<IpAddr>,
    /// What the client calls itself.
    pub user_agent: Option<String>,
    /// The request, as the log names it.
    pub request_id: Option<String>,
}

/// Who acts, for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A signed-in user, or a token of theirs.
    Caller(Caller),
    /// Somebody at the machine.
    Cli,
    /// Anybody.
    Public,
}

/// Who acts, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Who.
    pub actor: Actor,
    /// From where.
    pub source: Source,
}

impl By {
    /// Somebody at the machine.
    #[must_use]
    pub fn cli() -> Self {
        Self { actor: Actor::Cli, source: Source::default() }
    }

    /// Anybody.
    #[must_use]
    pub const fn public(source: Source) -> Self {
        Self { actor: Actor::Public, source }
    }

    /// A signed-in user.
    #[must_use]
    pub const fn caller(caller: Caller, source: Source) -> Self {
        Self { actor: Actor::Caller(caller), source }
    }

    /// The user who acts, if one does.
    #[must_use]
    pub fn user(&self) -> Option<&Identity> {
        match &self.actor {
            Actor::Caller(caller) => Some(&caller.user),
            Actor::Cli | Actor::Public => None,
        }
    }
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAsk {
    /// The last item of the part before.
    pub after: Option<Id>,
    /// How many items.
    pub limit: u32,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<Id>,
}

impl<T> Part<T> {
    /// Made from one item more than was asked for, whose presence tells that there is more.
    pub(crate) fn cut(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> Id) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().map(id).filter(|_| more);
        Self { items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_by_what_they_may() {
        assert!(Role::Viewer < Role::Editor && Role::Editor < Role::Admin);
    }

    #[test]
    fn every_word_is_read_back() {
        for &role in Role::ALL {
            assert_eq!(role.name().parse::<Role>().unwrap(), role);
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
        for &scope in Scope::ALL {
            assert_eq!(scope.name().parse::<Scope>().unwrap(), scope);
        }
        assert!("root".parse::<Role>().is_err());
    }
}
