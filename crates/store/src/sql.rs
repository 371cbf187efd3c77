//! A statement: its name, and its text for each database.

/// Which database speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The embedded one.
    Sqlite,
    /// The one for several instances.
    Postgres,
}

impl Dialect {
    /// The name as people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A named statement. The name (`room.what`) stands in errors and metrics; the text is static, so
/// that nothing from outside can ever be part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sql {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

impl Sql {
    /// One text for both databases: the usual case.
    #[must_use]
    pub const fn same(name: &'static str, text: &'static str) -> Self {
        Self { name, sqlite: text, postgres: text }
    }

    /// A text for each, where the dialects differ.
    #[must_use]
    pub const fn pair(name: &'static str, sqlite: &'static str, postgres: &'static str) -> Self {
        Self { name, sqlite, postgres }
    }

    /// The statement's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The text for `dialect`.
    #[must_use]
    pub const fn text(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// How each kind of transaction begins.
pub(crate) struct Begin {
    pub(crate) write: &'static str,
    pub(crate) read: &'static str,
}
