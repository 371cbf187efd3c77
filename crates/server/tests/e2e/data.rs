//! Migrations, crashes, backup and restore, as an operator does them.

use std::path::Path;

use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;

use crate::client::request;
use crate::people::{set_up, signed};
use crate::process::{Server, database_file, mainstay, run, run_well};

fn migrate(folder: &Path, address: &str, action: &[&str]) -> String {
    let arguments: Vec<&str> = ["migrate"].iter().chain(action).copied().collect();
    run_well(folder, &[&arguments, &["--database", address][..]].concat())
}

async fn up_down_up(dialect: Dialect) {
    let database = TestDatabase::empty(dialect).await;
    let folder = tempfile::tempdir().unwrap();
    let (folder, address) = (folder.path(), database.address());
    assert!(migrate(folder, &address, &["status"]).contains("pending"));
    assert!(migrate(folder, &address, &["up"]).contains("applied 1 installation"));
    assert!(migrate(folder, &address, &["status"]).contains("applied 20"));
    assert!(migrate(folder, &address, &["down", "9999"]).contains("at schema version 0"));
    assert!(migrate(folder, &address, &["down"]).contains("nothing to do"));
    assert!(migrate(folder, &address, &["up"]).contains("applied 1 installation"));
    assert!(migrate(folder, &address, &["up"]).contains("nothing to do"));
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_go_up_down_and_up_on_sqlite() {
    up_down_up(Dialect::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_go_up_down_and_up_on_postgres() {
    up_down_up(Dialect::Postgres).await;
}

async fn two_at_once(dialect: Dialect) {
    let database = TestDatabase::empty(dialect).await;
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = mainstay(folder.path());
        command.args(["migrate", "up", "--database", &database.address()]);
        command.spawn().unwrap()
    };
    let mut both = [start(), start()];
    for one in &mut both {
        assert_eq!(one.wait().unwrap().code(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_migrate_at_once_both_succeed_on_sqlite() {
    two_at_once(Dialect::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_migrate_at_once_both_succeed_on_postgres() {
    two_at_once(Dialect::Postgres).await;
}

#[test]
fn looking_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run_well(folder.path(), &["migrate", "status"]).contains("pending"));
    assert!(run_well(folder.path(), &["migrate", "down"]).contains("nothing to do"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_serves_on_postgres_and_never_logs_the_password() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let address = database.address();
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start_with(folder.path(), &["--database", &address, "--log-level", "trace"]);
    let session = signed(&server.address, &set_up(&server));
    let system = request(&server.address, "GET", "/api/system", &session).json();
    assert_eq!(system["database"]["kind"], "postgres");
    let password = address.split(['@', ':']).nth(2).unwrap();
    assert!(password.len() > 8, "the test's server has a password");
    assert!(!server.log().iter().any(|line| line.contains(password)));
    server.stop();
}

#[test]
fn a_database_that_is_newer_than_the_binary_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    run_well(folder.path(), &["migrate", "up"]);
    make_newer(&database_file(folder.path()));
    let before = std::fs::read(database_file(folder.path())).unwrap();
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate", "up"], &["migrate", "down"]]
    {
        let (code, _, error) = run(folder.path(), command);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains("schema version 9999") && error.contains("untouched"), "{error}");
    }
    assert_eq!(std::fs::read(database_file(folder.path())).unwrap(), before);
}

/// SQLite would take such a name for an address.
#[test]
fn a_name_that_looks_like_an_address_is_a_name() {
    let folder = tempfile::tempdir().unwrap();
    run_well(folder.path(), &["migrate", "up"]);
    run_well(folder.path(), &["backup", "file:copy.db"]);
    assert!(std::fs::metadata(folder.path().join("file:copy.db")).unwrap().len() > 0);
    run_well(folder.path(), &["migrate", "up", "--database", "sqlite:file:other.db"]);
    assert!(std::fs::metadata(folder.path().join("file:other.db")).unwrap().len() > 0);
}

#[test]
fn killed_in_the_middle_it_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Server::start(folder.path());
    let installation = first.logged("installation");
    first.signal("KILL");
    first.wait();
    let second = Server::start(folder.path());
    assert_eq!(second.logged("installation"), installation);
    second.stop();
}

/// The drill of docs/runbooks/backup-restore.md: the commands there are these.
#[test]
fn a_backup_taken_while_serving_comes_back_on_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let installation = server.logged("installation");
    let told = run_well(folder.path(), &["backup", "monday.db"]);
    assert!(told.contains("monday.db holds the database at schema version 18"), "{told}");
    let (code, _, error) = run(folder.path(), &["restore", "monday.db"]);
    assert_eq!(code, Some(2), "it is served: {error}");
    server.stop();

    let other = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("monday.db"), other.path().join("monday.db")).unwrap();
    run_well(other.path(), &["restore", "monday.db"]);
    // Without the pepper of before, every session would be unknown: it says so instead.
    let (code, _, error) = run(other.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("another TOKEN_HASH_PEPPER"), "{error}");
    let pepper = "mainstay-data/token-hash-pepper";
    std::fs::copy(folder.path().join(pepper), other.path().join(pepper)).unwrap();
    let restored = Server::start(other.path());
    assert_eq!(restored.logged("installation"), installation);
    restored.stop();

    let again = run_well(other.path(), &["restore", "monday.db"]);
    assert!(again.contains("before-restore"), "what was there is kept: {again}");
}

/// Writes the row that a newer Mainstay would have left.
fn make_newer(path: &Path) {
    use mainstay_base::SystemClock;
    use mainstay_store::{Db, Sql, StoreOptions, Target};
    const FUTURE: Sql = Sql::same(
        "test.future",
        "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, 'future', 'x', 0)",
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let target = Target::Sqlite { path: path.to_owned() };
        let options = StoreOptions::new(target, std::sync::Arc::new(SystemClock::new()));
        let db = Db::open(options).await.unwrap();
        db.write(async |tx| tx.execute(&FUTURE, &[]).await).await.unwrap();
        db.close().await;
    });
}
