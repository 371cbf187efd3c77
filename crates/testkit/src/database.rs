//! A clean database for each test, of each kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstay_base::{Clock, IdSource, Secret, SystemClock, SystemRng};
use mainstay_store::{Db, Dialect, StoreError, StoreOptions, Target, migrate, testing};
use tempfile::TempDir;

/// Names the PostgreSQL server that tests may make databases on.
pub const SERVER_VARIABLE: &str = "MAINSTAY_TEST_DATABASE_URL";

/// A clean database that is gone when the test ends.
#[derive(Debug)]
pub struct TestDatabase {
    target: Target,
    keep: Keep,
}

#[derive(Debug)]
enum Keep {
    Folder { _folder: TempDir },
    Server { url: String, name: String },
}

impl TestDatabase {
    /// A clean database of `dialect` with nobody's data; its schema may be up already.
    ///
    /// # Panics
    /// When it can't be made.
    pub async fn new(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Sqlite => Self::sqlite(),
            Dialect::Postgres => {
                let (url, name) = (server(), fresh_name());
                let made = testing::create_migrated_database(&url, &name, &|address| {
                    Box::pin(bring_up(address))
                });
                Self::postgres(made.await.expect("a clean database"), url, name)
            }
        }
    }

    /// A database of `dialect` in which there is nothing at all.
    ///
    /// # Panics
    /// When it can't be made.
    pub async fn empty(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Sqlite => Self::sqlite(),
            Dialect::Postgres => {
                let (url, name) = (server(), fresh_name());
                let made = testing::create_database(&url, &name).await;
                Self::postgres(made.expect("an empty database"), url, name)
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The address as `--database` takes it.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.target {
            Target::Sqlite { path } => format!("sqlite:{}", path.display()),
            Target::Postgres { url } => url.expose().clone(),
        }
    }

    /// The same PostgreSQL database by way of a proxy at `host:port`.
    ///
    /// # Panics
    /// On SQLite, which has no address.
    #[must_use]
    pub fn through(&self, proxy: &str) -> Target {
        let url = self.address();
        let (before, after) = url.split_once('@').expect("the address of a server");
        let (_, path) = after.split_once('/').expect("an address with a database");
        Target::Postgres { url: Secret::new(format!("{before}@{proxy}/{path}")) }
    }

    /// `host:port` of the PostgreSQL server.
    ///
    /// # Panics
    /// On SQLite, which has no address.
    #[must_use]
    pub fn server_address(&self) -> String {
        let url = self.address();
        let (_, after) = url.split_once('@').expect("the address of a server");
        after.split('/').next().unwrap_or_default().to_owned()
    }

    /// The file of an SQLite database.
    ///
    /// # Panics
    /// On PostgreSQL, which has none.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.target {
            Target::Sqlite { path } => path,
            Target::Postgres { .. } => panic!("a PostgreSQL database has no file"),
        }
    }

    /// Opens it with the machine's clock.
    ///
    /// # Panics
    /// When it can't be opened.
    pub async fn open(&self) -> Db {
        self.open_with(Arc::new(SystemClock::new()), |_| {}).await
    }

    /// Opens it with a clock and changed options.
    ///
    /// # Panics
    /// When it can't be opened.
    pub async fn open_with(
        &self,
        clock: Arc<dyn Clock>,
        change: impl FnOnce(&mut StoreOptions),
    ) -> Db {
        let mut options = StoreOptions::new(self.target.clone(), clock);
        change(&mut options);
        Db::open(options).await.expect("the test's database opens")
    }

    /// Opens it and brings its schema up.
    ///
    /// # Panics
    /// When that fails.
    pub async fn open_migrated(&self) -> Db {
        let db = self.open().await;
        migrate::up(&db).await.expect("a clean database migrates");
        db
    }

    fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path: PathBuf = folder.path().join("mainstay.db");
        Self { target: Target::Sqlite { path }, keep: Keep::Folder { _folder: folder } }
    }

    const fn postgres(address: String, url: String, name: String) -> Self {
        let target = Target::Postgres { url: Secret::new(address) };
        Self { target, keep: Keep::Server { url, name } }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Keep::Server { url, name } = &self.keep {
            let (url, name) = (url.clone(), name.clone());
            // The test's own runtime may be gone or blocked, so the dropping has one of its own.
            let dropping = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    let _ = runtime.block_on(testing::drop_database(&url, &name));
                }
            });
            let _ = dropping.join();
        }
    }
}

/// Runs a test on SQLite and on PostgreSQL, each with a clean database:
/// `each_database! { async fn name(database: &TestDatabase) { … } }`. With `empty;` before the first there is not
/// even a schema.
#[macro_export]
macro_rules! each_database {
    (empty; $($rest:tt)+) => { $crate::each_database! { @empty $($rest)+ } };
    (@$made:ident $($(#[$attribute:meta])* async fn $name:ident($database:ident: &TestDatabase) $body:block)+) => {
        $(
            $(#[$attribute])*
            mod $name {
                #[allow(unused_imports, reason = "a test may need nothing of its file")]
                use super::*;

                async fn on($database: &$crate::TestDatabase) $body

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn sqlite() {
                    on(&$crate::TestDatabase::$made(mainstay_store::Dialect::Sqlite).await).await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn postgres() {
                    on(&$crate::TestDatabase::$made(mainstay_store::Dialect::Postgres).await).await;
                }
            }
        )+
    };
    ($($rest:tt)+) => { $crate::each_database! { @new $($rest)+ } };
}

async fn bring_up(address: String) -> Result<(), StoreError> {
    let target = Target::Postgres { url: Secret::new(address) };
    let db = Db::open(StoreOptions::new(target, Arc::new(SystemClock::new()))).await?;
    let migrated = migrate::up(&db).await;
    db.close().await;
    migrated.map(drop)
}

fn server() -> String {
    std::env::var(SERVER_VARIABLE).unwrap_or_else(|_| {
        panic!(
            "{SERVER_VARIABLE} is not set: run `./scripts/test`, or `eval \"$(./scripts/postgres start)\"` before `cargo test`"
        )
    })
}

/// Unlike any other, also of a test that was killed before it could drop its own.
fn fresh_name() -> String {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    format!("mainstay_test_{}", ids.next().to_string().replace('-', "_"))
}
