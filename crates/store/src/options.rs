//! Where the database is, and the bounds of using it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Secret};

use crate::sql::Dialect;

/// How long a caller waits for the writer or a connection before it is told that the database is
/// busy.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(5);

/// How many connections are opened at most.
pub const DEFAULT_CONNECTIONS: u32 = 10;

/// How long PostgreSQL may take to answer before its connection counts as dead: longer than its own
/// limit for a statement (30 s), which tells more.
pub const DEFAULT_ANSWER_LIMIT: Duration = Duration::from_secs(35);

/// Which database.
#[derive(Debug, Clone)]
pub enum Target {
    /// A file.
    Sqlite {
        /// The file; its folder must exist.
        path: PathBuf,
    },
    /// A server.
    Postgres {
        /// `postgres://user:password@host/database`.
        url: Secret<String>,
    },
}

impl Target {
    /// Which database speaks there.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite { .. } => Dialect::Sqlite,
            Self::Postgres { .. } => Dialect::Postgres,
        }
    }
}

/// Everything that opening a database needs.
#[derive(Clone)]
pub struct StoreOptions {
    /// Which database.
    pub target: Target,
    /// PostgreSQL's address past a pooler, for what needs a session of its own (LISTEN); without
    /// one, the target's.
    pub direct: Option<Secret<String>>,
    /// How many connections are opened at most (2 or more).
    pub connections: u32,
    /// The longest wait for the writer or a connection.
    pub wait: Duration,
    /// The longest wait for an answer of PostgreSQL; then the connection is closed.
    pub answer_limit: Duration,
    /// The time of SQLite; PostgreSQL has its own.
    pub clock: Arc<dyn Clock>,
}

impl StoreOptions {
    /// The usual bounds.
    #[must_use]
    pub fn new(target: Target, clock: Arc<dyn Clock>) -> Self {
        Self {
            target,
            direct: None,
            connections: DEFAULT_CONNECTIONS,
            wait: DEFAULT_WAIT,
            answer_limit: DEFAULT_ANSWER_LIMIT,
            clock,
        }
    }

    /// How long an answer is waited for. SQLite runs in this process: it can't fall silent.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.target.dialect() {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(self.answer_limit),
        }
    }

    /// Whether the connections lead through a transaction pooler, past which there is another way.
    pub(crate) fn is_pooled(&self) -> bool {
        self.direct.is_some() && self.target.dialect() == Dialect::Postgres
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreOptions")
            .field("target", &self.target)
            .field("connections", &self.connections)
            .field("wait", &self.wait)
            .field("answer_limit", &self.answer_limit)
            .finish_non_exhaustive()
    }
}
