//! How SQLite goes about what people wait for.

use mainstay_store::{Db, Dialect, Sql, migrate, values};
use mainstay_testkit::TestDatabase;

use super::services::{BY_NAME, BY_NAME_DOWN, ONE};
use super::{
    activity, board, changes, dependencies, histories, now, services, strips, version, wallboard,
    words,
};

const ANALYZE: Sql = Sql::same("test.analyze", "ANALYZE");
const SERVICES: Sql = Sql::same(
    "test.services",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2000)
     INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms, timeout_ms,
       header_names, is_active, revision, generation, created_at, updated_at)
     SELECT 'id' || n, 's' || n, 's' || n, 'http://a.example/', 'status', 5000, 100, '[]', 1, n, 1, 1, 1
     FROM t",
);

/// With the first `count` of what these statements take.
async fn plan(db: &Db, statement: &Sql, count: usize) -> Vec<String> {
    let nothing = None::<&str>;
    let all = values![1_i64, nothing, nothing, nothing, 0_i64, 1_i64, 51_i64, nothing];
    mainstay_testkit::plan(db, statement, &all[..count]).await
}

async fn with_and_without_counts(check: impl AsyncFn(&Db)) {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let db = database.open().await;
    migrate::up(&db).await.unwrap();
    check(&db).await;
    db.write(async |tx| tx.execute(&SERVICES, &[]).await).await.unwrap();
    db.write(async |tx| tx.execute(&ANALYZE, &[]).await).await.unwrap();
    // A session reads the counts when it begins.
    let fresh = database.open().await;
    check(&fresh).await;
    fresh.close().await;
    db.close().await;
}

#[tokio::test]
async fn a_page_by_name_reads_the_index_of_names_and_sorts_only_what_it_shows() {
    with_and_without_counts(async |db| {
        for statement in [&BY_NAME, &BY_NAME_DOWN] {
            let plan = plan(db, statement, 7).await;
            let by_index = |line: &String| line.contains("services_by_name");
            assert!(plan.iter().any(by_index), "{}: {plan:#?}", statement.name());
            let sorts = plan.iter().filter(|line| line.contains("TEMP B-TREE")).count();
            assert!(sorts <= 1, "only the rows of the page: {plan:#?}");
        }
        let plan = plan(db, &ONE, 2).await;
        assert!(plan.iter().all(|line| line.starts_with("SEARCH")), "{plan:#?}");
    })
    .await;
}

#[tokio::test]
async fn histories_and_timelines_are_found_by_their_keys() {
    with_and_without_counts(async |db| {
        for (statement, count, index) in [
            (&histories::POLLS, 3, "poll_history_by_service"),
            (&histories::ERRORS, 3, "dependency_errors_by_dependency"),
            (&histories::ERRORS, 3, "changes_by_dependency (dependency_no=?)"),
            (&words::WORDS, 2, "x USING INDEX dependency_errors_by_dependency (dependency_no=?)"),
            (&words::WORDS, 2, "dependencies_by_id (id=?)"),
            (&words::POLL, 2, "poll_history_by_service"),
            (&changes::SAID, 4, "changes_by_dependency"),
            (&changes::STALE, 4, "changes_by_staleness"),
            (&changes::STALE_BEFORE, 2, "changes_by_staleness"),
            (&activity::UNSTABLE, 2, "changes_by_time"),
            (
                &activity::OF_SERVICE,
                8,
                "changes_by_service (service_no=? AND number>? AND number<?)",
            ),
            (
                &activity::FIRST_LEFT_OF_SERVICE,
                4,
                "COVERING INDEX changes_by_service (service_no=? AND number>? AND number<?)",
            ),
            (&activity::FIRST_LEFT, 3, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (&activity::RECENT, 7, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (&activity::NEWEST, 2, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (&now::REPORTS, 1, "dependencies_by_id (id=?)"),
            (&now::SERVICES, 1, "s USING INTEGER PRIMARY KEY (rowid=?)"),
            (&dependencies::SOME, 2, "dependencies_by_id (id=?)"),
        ] {
            let plan = plan(db, statement, count).await;
            assert!(
                plan.iter().any(|line| line.contains(index)),
                "{}: {plan:#?}",
                statement.name()
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_board_reads_each_service_once_and_what_it_leans_on_by_key() {
    with_and_without_counts(async |db| {
        let lines = plan(db, &board::LINES, 3).await;
        assert!(lines.iter().any(|line| line.contains("services_by_name")), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("TEMP B-TREE")), "{lines:#?}");
        let wall = plan(db, &wallboard::PAGE, 4).await;
        let by_service = |line: &String| line.contains("dependencies_by_name (service_no=?)");
        assert!(wall.iter().any(by_service), "{wall:#?}");
        assert!(!wall.iter().any(|line| line.contains("TEMP B-TREE")), "{wall:#?}");
        let version = plan(db, &version::VERSION, 0).await;
        let scans = |line: &&String| line.starts_with("SCAN ") && *line != "SCAN CONSTANT ROW";
        assert_eq!(version.iter().filter(scans).count(), 0, "{version:#?}");
    })
    .await;
}

#[tokio::test]
async fn names_are_looked_up_one_by_one() {
    with_and_without_counts(async |db| {
        let names = plan(db, &services::NAMES, 1).await;
        let by_name = |line: &String| line.contains("services_by_name (name_key=?)");
        assert!(names.iter().any(by_name), "{names:#?}");
    })
    .await;
}

#[tokio::test]
async fn strips_read_only_the_changes_of_their_services_and_of_their_day() {
    with_and_without_counts(async |db| {
        let turns = plan(db, &strips::TURNS, 3).await;
        let by_key =
            |line: &String| line.contains("changes_by_service_status (service_no=? AND at>?)");
        assert!(turns.iter().any(by_key), "{turns:#?}");
        let services = plan(db, &strips::SERVICES, 2).await;
        assert!(
            services.iter().any(|line| line.contains("services_by_id (id=?)")),
            "{services:#?}"
        );
    })
    .await;
}
