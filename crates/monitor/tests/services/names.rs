//! Aliases and links: what they change of dependencies that are known.

use std::time::Duration;

use mainstay_base::Id;
use mainstay_monitor::aliases::{Alias, AliasName, AliasesError, CanonicalName, Linked};
use mainstay_store::{Dialect, Row, Sql, StoreError};
use mainstay_testkit::{TestDatabase, each_database};
use serde_json::json;
use tokio::sync::Notify;

use crate::house::House;

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";

fn alias(text: &str) -> AliasName {
    AliasName::parse(text).unwrap()
}

fn canonical(text: &str) -> CanonicalName {
    CanonicalName::parse(text).unwrap()
}

impl House {
    pub(crate) async fn alias(&self, name: &str, to: &str) -> Result<Alias, AliasesError> {
        let (aliases, name, to) = (&self.aliases, alias(name), canonical(to));
        self.events.write(async |tx, out| aliases.create(tx, out, name, to).await).await
    }

    pub(crate) async fn change_alias(
        &self,
        id: Id,
        name: Option<&str>,
        to: Option<&str>,
    ) -> Result<Alias, AliasesError> {
        let (aliases, name, to) = (&self.aliases, name.map(alias), to.map(canonical));
        self.events.write(async |tx, out| aliases.change(tx, out, id, name, to).await).await
    }

    pub(crate) async fn delete_alias(&self, id: Id) -> Result<Alias, AliasesError> {
        let aliases = &self.aliases;
        self.events.write(async |tx, out| aliases.delete(tx, out, id).await).await
    }

    async fn link(&self, dependency: Id, to: Option<Id>) -> Result<Linked, AliasesError> {
        let aliases = &self.aliases;
        self.events.write(async |tx, out| aliases.link(tx, out, dependency, to).await).await
    }

    /// `name canonical_name canonical_key` of each dependency.
    pub(crate) async fn known(&self) -> Vec<String> {
        let rows = self
            .rows("SELECT name, canonical_name, canonical_key FROM dependencies ORDER BY id")
            .await;
        let text = |row: &Row, column| row.get::<String>(column).unwrap();
        let columns = ["name", "canonical_name", "canonical_key"];
        rows.iter().map(|row| columns.map(|column| text(row, column)).join("|")).collect()
    }

    async fn revisions(&self) -> Vec<i64> {
        let rows =
            self.rows("SELECT dependency_revision FROM service_states ORDER BY service_no").await;
        rows.iter().map(|row| row.get("dependency_revision").unwrap()).collect()
    }
}

/// On PostgreSQL, until so many wait for somebody's lock.
pub(crate) async fn wait(house: &House, many: i64) {
    for _ in 0..1_000 {
        let waiting = house
            .row(
                "SELECT count(*) AS n FROM pg_stat_activity
                 WHERE wait_event_type = 'Lock' AND datname = current_database()",
            )
            .await;
        if waiting.get::<i64>("n").unwrap() >= many {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("too few wait");
}

/// SQLite has one writer at a time: there is nobody to wait for in a ring.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_changes_aliases_and_who_records_never_wait_for_each_other_in_a_ring() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    house.service("Orders").await;
    house.dependency("Orders", "db", "1").await;
    let made = beside_a_recorder(&house, house.alias("db", "Main")).await;
    beside_a_recorder(&house, house.change_alias(made.id, None, Some("Primary"))).await;
    assert_eq!(house.known().await, ["db|Primary|primary"]);
    beside_a_recorder(&house, house.delete_alias(made.id)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_change_aliases_at_once_go_one_after_the_other() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let house = House::new(&database).await;
    house.service("Orders").await;
    house.dependency("Orders", "db", "1").await;
    house.dependency("Orders", "cache", "2").await;
    let (one, other) =
        (house.alias("db", "Main").await.unwrap(), house.alias("cache", "Fast").await.unwrap());
    let (held, go_on) = (Notify::new(), Notify::new());
    let holding = house.db.write(async |tx| {
        let touch = "UPDATE service_states SET poll_seq = poll_seq + 1";
        tx.execute(&Sql::same("test.touch", touch), &[]).await?;
        held.notify_one();
        go_on.notified().await;
        Ok::<_, StoreError>(())
    });
    let changing = async {
        held.notified().await;
        let letting_go = async {
            wait(&house, 2).await;
            go_on.notify_one();
        };
        tokio::join!(
            house.change_alias(one.id, None, Some("Primary")),
            house.delete_alias(other.id),
            letting_go
        )
    };
    let (holding, (changed, deleted, ())) = tokio::join!(holding, changing);
    holding.unwrap();
    changed.unwrap();
    deleted.unwrap();
    assert_eq!(house.known().await, ["db|Primary|primary", "cache|cache|cache"]);
}

/// Changes aliases while somebody records as the recorder does: its services first, then the aliases,
/// then dependencies.
pub(crate) async fn beside_a_recorder<T, E: std::fmt::Debug>(
    house: &House,
    changing: impl Future<Output = Result<T, E>>,
) -> T {
    let (held, go_on) = (Notify::new(), Notify::new());
    let recording = house.db.write(async |tx| {
        let touch = "UPDATE service_states SET poll_seq = poll_seq + 1";
        tx.execute(&Sql::same("test.touch", touch), &[]).await?;
        held.notify_one();
        go_on.notified().await;
        tx.fetch_all(&Sql::same("test.aliases", "SELECT alias FROM aliases"), &[]).await?;
        let write = "UPDATE dependencies SET code = code + 1";
        tx.execute(&Sql::same("test.write", write), &[]).await
    });
    let changing = async {
        held.notified().await;
        changing.await
    };
    let letting_go = async {
        wait(house, 1).await;
        go_on.notify_one();
    };
    let (recorded, changed, ()) = tokio::join!(recording, changing, letting_go);
    recorded.unwrap();
    changed.unwrap()
}

each_database! {
    async fn dependencies_that_are_known_follow_an_alias_at_once(database: &TestDatabase) {
        let house = House::new(database).await;
        for name in ["Orders", "Shop", "Gone"] {
            house.service(name).await;
        }
        house.dependency("Orders", "db", "1").await;
        house.dependency("Orders", "DB", "2").await;
        house.dependency("Shop", "db", "3").await;
        let gone = house.row("SELECT id FROM services WHERE name = 'Gone'").await.get("id").unwrap();
        house.dependency("Gone", "db", "4").await;
        house.delete(gone).await.unwrap();
        let before = house.changes().await.len();
        let made = house.alias("db", " Main Database").await.unwrap();
        let main = "db|Main Database|main database";
        assert_eq!(house.known().await, [main, "DB|DB|db", main, main], "names are exact");
        assert_eq!(
            house.changes().await[before..],
            ["alias db Main Database", "alias db Main Database"],
            "what was removed is no news"
        );
        assert_eq!(house.revisions().await, [1, 1, 2], "the removal counted too");
        let told = house.events().await;
        let fields = json!({"alias": "db", "canonical_name": "Main Database"});
        assert_eq!(told.last(), Some(&("alias:updated".to_owned(), fields)));

        house.change_alias(made.id, None, Some("Store")).await.unwrap();
        assert_eq!(house.known().await[0], "db|Store|store");
        assert_eq!(house.changes().await.last().unwrap(), "alias Main Database Store");
        house.change_alias(made.id, Some("DB"), None).await.unwrap();
        assert_eq!(house.known().await[..2], ["db|db|db", "DB|Store|store"]);
        let events = house.told().await.len();
        house.change_alias(made.id, Some("DB"), Some("Store")).await.unwrap();
        assert_eq!(house.told().await.len(), events, "the same again is no change");
        house.delete_alias(made.id).await.unwrap();
        assert_eq!(house.known().await, ["db|db|db", "DB|DB|db", "db|db|db", "db|db|db"]);
        assert_eq!(house.changes().await.last().unwrap(), "alias Store DB");
    }

    async fn a_name_has_one_alias(database: &TestDatabase) {
        let house = House::new(database).await;
        let first = house.alias("db", "Database").await.unwrap();
        let second = house.alias("DB", "Database").await.unwrap();
        assert!(matches!(house.alias("db", "Other").await, Err(AliasesError::Taken)));
        let changed = house.change_alias(second.id, Some("db"), None).await;
        assert!(matches!(changed, Err(AliasesError::Taken)));
        let listed = house.aliases.list(None, 10).await.unwrap();
        let mut ids = [first.id, second.id];
        ids.sort_by_key(|id| std::cmp::Reverse(id.to_string()));
        assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), ids);
        assert_eq!(house.aliases.list(Some(ids[0]), 10).await.unwrap().len(), 1);
        house.delete_alias(first.id).await.unwrap();
        assert!(matches!(house.delete_alias(first.id).await, Err(AliasesError::NotFound)));
        assert!(matches!(house.change_alias(first.id, None, None).await, Err(AliasesError::NotFound)));
        house.change_alias(second.id, Some("db"), None).await.unwrap();
    }

    async fn aliases_have_a_bound(database: &TestDatabase) {
        let house = House::new(database).await;
        house.execute(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10000)
             INSERT INTO aliases (id, alias, canonical_name, created_at, updated_at)
             SELECT '019a8b3c-0000-7000-8000-' || (100000000000 + n), 'a' || n, 'x', 1, 1 FROM t",
        )
        .await;
        assert!(matches!(house.alias("one", "more").await, Err(AliasesError::TooMany)));
        house.delete_alias("019a8b3c-0000-7000-8000-100000000001".parse().unwrap()).await.unwrap();
        house.alias("one", "more").await.unwrap();
    }

    async fn a_dependency_is_linked_to_another_service(database: &TestDatabase) {
        let house = House::new(database).await;
        let (orders, shop) = (house.service("Orders").await, house.service("Shop").await);
        let other = house.service("Other").await;
        let dependency = house.dependency("Shop", "orders", "1").await;
        let before = (house.changes().await.len(), house.told().await.len());
        let linked = house.link(dependency, Some(orders)).await.unwrap();
        assert_eq!((linked.dependency_name.as_str(), linked.service_name.as_str()), ("orders", "Shop"));
        house.link(dependency, Some(orders)).await.unwrap();
        let shown = house.views.dependency(dependency).await.unwrap().unwrap();
        assert_eq!(shown.linked_service_id, Some(orders));
        house.link(dependency, Some(other)).await.unwrap();
        house.link(dependency, None).await.unwrap();
        house.link(dependency, None).await.unwrap();
        assert_eq!(
            house.changes().await[before.0..],
            [format!("link - {orders}"), format!("link {orders} {other}"), format!("link {other} -")]
        );
        let told = house.events().await;
        assert_eq!(told.len() - before.1, 3, "what was so already is no news");
        let fields = json!({"service_id": shop.to_string(), "service_name": "Shop"});
        assert_eq!(told.last(), Some(&("service:updated".to_owned(), fields)));
        let nobody: Id = NOBODY.parse().unwrap();
        assert!(matches!(house.link(dependency, Some(shop)).await, Err(AliasesError::SelfLink)));
        assert!(matches!(house.link(dependency, Some(nobody)).await, Err(AliasesError::NoService)));
        assert!(matches!(house.link(nobody, Some(orders)).await, Err(AliasesError::NoDependency)));
        house.delete(orders).await.unwrap();
        assert!(matches!(house.link(dependency, Some(orders)).await, Err(AliasesError::NoService)));
        house.delete(shop).await.unwrap();
        assert!(matches!(house.link(dependency, Some(other)).await, Err(AliasesError::NoDependency)));
    }
}
