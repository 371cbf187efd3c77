//! Which database holds the state.

use std::path::PathBuf;

use mainstay_base::Secret;
use mainstay_base::secret::MASK;
use url::Url;

use super::data::DATA_DIR;
use super::layers::Layers;
use super::postgres;
use super::problem::Reason;
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// The database's address.
pub const URL: Setting = Setting {
    key: "database.url",
    variables: &["DATABASE_URL", "MAINSTAY_DATABASE"],
    flag: Some("--database"),
    kind: Kind::Text,
    fallback: Fallback::Derived { make: beside_data, shown: "sqlite:DATA_DIR/mainstay.db" },
    mask: Some(masked),
    help: "Database: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME",
};

/// The way past a pooler.
pub const DIRECT_URL: Setting = Setting {
    key: "database.direct_url",
    variables: &["DATABASE_DIRECT_URL", "MAINSTAY_DATABASE_DIRECT"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(masked),
    help: "PostgreSQL's own address when database.url leads through a transaction pooler such as PgBouncer",
};

/// How many connections are kept.
pub const CONNECTIONS: Setting = Setting {
    key: "database.connections",
    variables: &["MAINSTAY_DATABASE_CONNECTIONS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("10"),
    mask: None,
    help: "Most connections to the database, 2 to 100",
};

/// The file's name inside the data folder.
const SQLITE_FILE: &str = "mainstay.db";

/// Options of an address that are no secret. The values of others are masked.
const SHOWN_OPTIONS: [&str; 6] = ["application_name", "dbname", "host", "port", "sslmode", "user"];

/// Which database, and how many connections to it.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// SQLite or PostgreSQL.
    pub kind: DatabaseKind,
    /// PostgreSQL's own address, when the other one leads through a transaction pooler.
    pub direct_url: Option<Secret<String>>,
    /// The most connections that are kept.
    pub connections: u32,
}

/// The kind of database with its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseKind {
    /// One file on this machine.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// A PostgreSQL server.
    Postgres {
        /// The whole address with its password.
        url: Secret<String>,
        /// The address without its password: for logs and errors.
        shown: String,
    },
}

/// Reads the database settings.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<DatabaseConfig> {
    let kind = reader.required(&URL, parse);
    let direct_url = reader.optional(&DIRECT_URL, direct);
    let connections = reader.required(&CONNECTIONS, |text| number(text, 2..=100));
    let (kind, direct_url) = (kind?, direct_url?);
    if let (DatabaseKind::Sqlite { .. }, Some(_)) = (&kind, &direct_url) {
        reader.warn("database.direct_url is not used: this database is SQLite".to_owned());
    }
    Some(DatabaseConfig { kind, direct_url, connections: connections? })
}

fn direct(text: &str) -> Result<Secret<String>, Reason> {
    match parse(text)? {
        DatabaseKind::Postgres { url, .. } => Ok(url),
        DatabaseKind::Sqlite { .. } => {
            Err("is not PostgreSQL; give postgres://USER:PASSWORD@HOST/NAME or remove it".into())
        }
    }
}

/// Tells SQLite from PostgreSQL and checks the address. No reason repeats the text: it is a secret.
fn parse(text: &str) -> Result<DatabaseKind, Reason> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("sqlite:") {
        return sqlite(rest);
    }
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        let shown = show(&postgres_address(text)?);
        return Ok(DatabaseKind::Postgres { url: Secret::new(text.to_owned()), shown });
    }
    Err("is not a database; give sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME".into())
}

fn sqlite(rest: &str) -> Result<DatabaseKind, Reason> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.starts_with(':') {
        return Err("keeps nothing over a restart; name a file: sqlite:PATH".into());
    }
    // A question mark in a folder's name is no option.
    if path.rsplit_once('?').is_some_and(|(_, end)| end.contains('=') && !end.contains('/')) {
        return Err("has options after \"?\", which Mainstay sets itself; remove them".into());
    }
    super::reader::path(path).map(|path| DatabaseKind::Sqlite { path })
}

/// A password with a bare `/`, `?`, `#` or `@` reads as another address. Refusing those keeps a
/// piece of it from being shown as a host or a name.
fn postgres_address(text: &str) -> Result<Url, Reason> {
    let wrong = || -> Reason {
        "is not a PostgreSQL address; give postgres://USER:PASSWORD@HOST:PORT/NAME and write \
         special characters of the password as %XX"
            .into()
    };
    let url = Url::parse(text).map_err(|_| wrong())?;
    let is_odd = |text: &str| text.contains(['@', ':', '/']);
    let name = url.path().strip_prefix('/').unwrap_or_default();
    let odd_option = url.query_pairs().any(|(key, _)| is_odd(&key));
    if url.fragment().is_some() || is_odd(name) || odd_option {
        return Err(wrong());
    }
    let has_host = url.host_str().is_some_and(|host| !host.is_empty());
    if !has_host && !url.query_pairs().any(|(key, _)| key == "host") {
        return Err(wrong());
    }
    postgres::check_options(&url)?;
    Ok(url)
}

fn show(url: &Url) -> String {
    let user = match (url.username(), url.password()) {
        ("", None) => String::new(),
        (user, None) => format!("{user}@"),
        (user, Some(_)) => format!("{user}:{MASK}@"),
    };
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let options: Vec<_> = url.query_pairs().map(|(key, value)| option(&key, &value)).collect();
    let query = if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
    format!("{}://{user}{host}{port}{}{query}", url.scheme(), url.path())
}

fn option(key: &str, value: &str) -> String {
    let shown = if SHOWN_OPTIONS.contains(&key) { value } else { MASK };
    format!("{key}={shown}")
}

fn masked(text: &str) -> String {
    match parse(text) {
        Ok(DatabaseKind::Postgres { shown, .. }) => shown,
        Ok(DatabaseKind::Sqlite { .. }) => text.to_owned(),
        Err(_) => MASK.to_owned(),
    }
}

/// Spelled so that [`sqlite`] finds the same path again, whatever the folder's name begins with.
fn beside_data(layers: &Layers) -> String {
    let folder = layers.get(&DATA_DIR).map_or("", |value| value.text.as_str());
    let path = PathBuf::from(folder).join(SQLITE_FILE).display().to_string();
    if path.starts_with("//") {
        format!("sqlite:/{}", path.trim_start_matches('/'))
    } else if path.starts_with(':') {
        format!("sqlite:./{path}")
    } else {
        format!("sqlite:{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_file_is_found_in_every_spelling() {
        for (text, path) in [
            ("sqlite:mainstay.db", "mainstay.db"),
            ("sqlite:./a b.db", "./a b.db"),
            ("sqlite:/var/lib/m.db", "/var/lib/m.db"),
            ("sqlite:///var/lib/m.db", "/var/lib/m.db"),
            ("sqlite://m.db", "m.db"),
            ("sqlite:what?/is=it/m.db", "what?/is=it/m.db"),
            ("sqlite:a?b=c/m.db", "a?b=c/m.db"),
        ] {
            assert_eq!(parse(text), Ok(DatabaseKind::Sqlite { path: path.into() }), "{text}");
        }
    }

    #[test]
    fn the_default_file_lies_in_the_data_folder_however_it_is_named() {
        use crate::config::{load, testing::input};
        for folder in ["data", "./data/", "/srv", "//srv", ":memory:", "a?b=c", " x ", "sqlite:"] {
            let given = input(vec![(&DATA_DIR, folder.to_owned())], &[], "");
            let kind = load(given).expect(folder).config.database.kind;
            let DatabaseKind::Sqlite { path } = kind else { panic!("{folder}") };
            let path = path.strip_prefix("./").unwrap_or(&path);
            let expected = PathBuf::from(folder).join("mainstay.db");
            assert_eq!(path, expected.strip_prefix("./").unwrap_or(&expected));
        }
    }

    #[test]
    fn the_password_is_masked_and_the_rest_stays_visible() {
        for (text, expected) in [
            ("postgres://me:hunter2@db:5433/main", "postgres://me:[secret]@db:5433/main"),
            ("postgres://me%40db:hunter2@db/main", "postgres://me%40db:[secret]@db/main"),
            ("postgres://me:hun@ter2@db/main", "postgres://me:[secret]@db/main"),
            ("postgresql://me@db/main", "postgresql://me@db/main"),
            ("postgres://db/main", "postgres://db/main"),
            ("postgres://me:p%40ss@[::1]/main", "postgres://me:[secret]@[::1]/main"),
            (
                "postgres://me@db/main?sslmode=require&password=hunter2&sslkey=k",
                "postgres://me@db/main?sslmode=require&password=[secret]&sslkey=[secret]",
            ),
            ("postgres:///main?host=/run/postgresql", "postgres:///main?host=/run/postgresql"),
        ] {
            let Ok(kind) = parse(text) else { panic!("{text}") };
            let debug = format!("{kind:?}");
            let DatabaseKind::Postgres { url, shown } = kind else { panic!("{text}") };
            assert_eq!(url.expose(), text);
            assert_eq!(shown, expected);
            assert_eq!(masked(text), expected);
            assert!(!debug.contains("hunter2"), "{debug}");
        }
    }

    #[test]
    fn what_is_no_database_is_refused_without_repeating_it() {
        for text in [
            "",
            "mainstay.db",
            "mysql://u:hunter2@h/d",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:a.db?mode=ro",
            "postgres://",
            "postgres:///main",
            "postgres://u:hunter2/x@h/d",
            "postgres://u:12/hunter2@h/d",
            "postgres://u:12?hunter2@h/d",
            "postgres://u:12#hunter2@h/d",
            "postgres://h:99999/hunter2",
            "postgres://u@h/d?pasword=hunter2",
            "postgres://u@h/d?sslmode=hunter2",
        ] {
            let reason = parse(text).expect_err(text).to_string();
            assert!(!reason.contains("hunter2"), "{reason}");
            assert_eq!(masked(text), MASK, "{text}");
        }
    }
}
