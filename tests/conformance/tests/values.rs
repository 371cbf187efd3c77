//! What goes in comes out, alike on both databases.
#![cfg(test)]

use mainstay_base::{Id, IdSource, SystemClock, SystemRng, Timestamp};
use mainstay_conformance_tests::{create, insert};
use mainstay_store::{Sql, StoreError, values};
use mainstay_testkit::each_database;
use std::sync::Arc;

const WRITE_ALL: Sql = Sql::same(
    "test.write_all",
    "INSERT INTO thing (id, name, amount, share, raw) VALUES ($1, $2, $3, $4, $5)",
);
const READ_ALL: Sql =
    Sql::same("test.read_all", "SELECT name, amount, share, raw FROM thing WHERE id = $1");
const NAMES: Sql = Sql::same("test.names", "SELECT name FROM thing ORDER BY name NULLS LAST, id");
const NAMES_NULL_FIRST: Sql =
    Sql::same("test.names", "SELECT name FROM thing ORDER BY name DESC NULLS FIRST, id");

each_database! {
    empty;
    async fn every_type_is_read_back_as_it_was_written(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let raw: &[u8] = &[0, 255, 7];
        db.write(async |tx| {
            tx.execute(&WRITE_ALL, values![1_i64, "ä\u{1F980}'\"\\", i64::MIN, 0.1_f64, raw]).await
        }).await.unwrap();
        let row = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap();
        assert_eq!(row.get::<String>("name").unwrap(), "ä\u{1F980}'\"\\");
        assert_eq!(row.get::<i64>("amount").unwrap(), i64::MIN);
        assert_eq!(row.get::<f64>("share").unwrap().to_bits(), 0.1_f64.to_bits());
        assert_eq!(row.get::<Vec<u8>>("raw").unwrap(), raw);
    }

    async fn a_null_of_every_type_is_taken_and_read_as_none(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        db.write(async |tx| {
            let nothing = values![1_i64, None::<&str>, None::<i64>, None::<f64>, None::<&[u8]>];
            tx.execute(&WRITE_ALL, nothing).await
        }).await.unwrap();
        let row = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap();
        assert_eq!(row.get::<Option<String>>("name").unwrap(), None);
        assert_eq!(row.get::<Option<i64>>("amount").unwrap(), None);
        assert_eq!(row.get::<Option<f64>>("share").unwrap(), None);
        assert_eq!(row.get::<Option<Vec<u8>>>("raw").unwrap(), None);
        assert!(matches!(row.get::<String>("name"), Err(StoreError::Column { .. })));
    }

    async fn ids_times_and_bools_have_one_form(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let id = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next();
        let at = Timestamp::from_millis(1_794_776_400_007);
        db.write(async |tx| {
            tx.execute(&WRITE_ALL, values![1_i64, id, at, None::<f64>, None::<&[u8]>]).await?;
            tx.execute(&WRITE_ALL, values![2_i64, None::<Id>, true, None::<f64>, None::<&[u8]>]).await
        }).await.unwrap();
        let row = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap();
        assert_eq!(row.get::<Id>("name").unwrap(), id);
        assert_eq!(row.get::<Timestamp>("amount").unwrap(), at);
        assert!(matches!(row.get::<bool>("amount"), Err(StoreError::Column { .. })));
        let row = db.fetch_one(&READ_ALL, values![2_i64]).await.unwrap();
        assert!(row.get::<bool>("amount").unwrap());
        assert_eq!(row.get::<Option<Id>>("name").unwrap(), None);
    }

    async fn a_nul_is_refused_alike_and_says_where(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let refused = insert(&db, 1, Some("a\0b")).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::NulInText { statement: "test.insert", position: 2 }),
            "{refused}"
        );
        insert(&db, 1, Some(&mainstay_base::replace_nul("a\0b"))).await.unwrap();
    }

    async fn a_number_that_is_none_is_refused_alike(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let refused = db.write(async |tx| {
            let row = values![1_i64, "a", None::<i64>, f64::NAN, None::<&[u8]>];
            tx.execute(&WRITE_ALL, row).await
        }).await.unwrap_err();
        assert!(matches!(refused, StoreError::NotANumber { position: 4, .. }), "{refused}");
    }

    async fn text_sorts_by_its_bytes_and_nulls_stand_where_they_are_told(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let names = ["b", "A", "a", "B", "ä", "Z", "_", "a b", "ab", ""];
        for (id, name) in names.iter().enumerate() {
            insert(&db, i64::try_from(id).unwrap(), Some(name)).await.unwrap();
        }
        insert(&db, 99, None).await.unwrap();
        let mut sorted: Vec<Option<String>> = names.iter().map(|name| Some((*name).to_owned())).collect();
        sorted.sort();
        sorted.push(None);
        let read = |rows: Vec<mainstay_store::Row>| -> Vec<Option<String>> {
            rows.iter().map(|row| row.get("name").unwrap()).collect()
        };
        assert_eq!(read(db.fetch_all(&NAMES, &[]).await.unwrap()), sorted);
        sorted.reverse();
        assert_eq!(read(db.fetch_all(&NAMES_NULL_FIRST, &[]).await.unwrap()), sorted);
    }

    async fn a_wrong_column_is_an_error_that_names_it(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        insert(&db, 1, Some("x")).await.unwrap();
        let row = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap();
        let missing = row.get::<i64>("nowhere").unwrap_err().to_string();
        assert!(missing.contains("`nowhere`"), "{missing}");
        let mistyped = row.get::<i64>("name").unwrap_err().to_string();
        assert!(mistyped.contains("`name`") && mistyped.contains("a whole number"), "{mistyped}");
    }

    async fn one_text_runs_upserts_returning_ctes_and_windows(database: &TestDatabase) {
        const UPSERT: Sql = Sql::same(
            "test.upsert",
            "INSERT INTO thing (id, name, amount) VALUES ($1, $2, $3)
             ON CONFLICT (id) DO UPDATE SET amount = thing.amount + excluded.amount
             RETURNING amount",
        );
        const RANKED: Sql = Sql::same(
            "test.ranked",
            "WITH big AS (SELECT id, amount FROM thing WHERE amount > $1)
             SELECT id, row_number() OVER (ORDER BY amount DESC) AS place FROM big ORDER BY place",
        );
        let db = database.open().await;
        create(&db).await.unwrap();
        let amount = db.write(async |tx| {
            tx.fetch_one(&UPSERT, values![1_i64, "a", 5_i64]).await?;
            tx.fetch_one(&UPSERT, values![2_i64, "b", 9_i64]).await?;
            tx.fetch_one(&UPSERT, values![1_i64, "a", 7_i64]).await?.get::<i64>("amount")
        }).await.unwrap();
        assert_eq!(amount, 12);
        let rows = db.fetch_all(&RANKED, values![0_i64]).await.unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row.get("id").unwrap()).collect();
        assert_eq!(ids, [1, 2]);
    }

    async fn an_answer_without_a_row_and_one_with_too_many_are_errors(database: &TestDatabase) {
        const SERIES: Sql = Sql::same(
            "test.series",
            "WITH RECURSIVE series (n) AS (
               SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < $1
             ) SELECT n FROM series",
        );
        let db = database.open().await;
        create(&db).await.unwrap();
        let none = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap_err();
        assert!(matches!(none, StoreError::NoRow { statement: "test.read_all" }), "{none}");
        let most = i64::try_from(mainstay_store::MAX_ROWS).unwrap();
        assert_eq!(db.fetch_all(&SERIES, values![most]).await.unwrap().len(), mainstay_store::MAX_ROWS);
        let many = db.fetch_all(&SERIES, values![most + 1]).await.unwrap_err();
        assert!(matches!(many, StoreError::TooManyRows { .. }), "{many}");
        db.ping().await.unwrap();
    }

    async fn a_broken_rule_is_told_by_its_kind(database: &TestDatabase) {
        const CREATE_CHILD: Sql = Sql::pair(
            "test.create_child",
            "CREATE TABLE child (thing INTEGER NOT NULL REFERENCES thing (id), size INTEGER CHECK (size > 0)) STRICT",
            "CREATE TABLE child (thing BIGINT NOT NULL REFERENCES thing (id), size BIGINT CHECK (size > 0))",
        );
        const INSERT_CHILD: Sql =
            Sql::same("test.insert_child", "INSERT INTO child (thing, size) VALUES ($1, $2)");
        let db = database.open().await;
        create(&db).await.unwrap();
        db.write(async |tx| tx.execute(&CREATE_CHILD, &[]).await).await.unwrap();
        insert(&db, 1, None).await.unwrap();
        assert!(matches!(insert(&db, 1, None).await, Err(StoreError::Unique { .. })));
        let child = async |thing: Option<i64>, size: i64| {
            db.write(async |tx| tx.execute(&INSERT_CHILD, values![thing, size]).await).await
        };
        assert!(matches!(child(Some(2), 1).await, Err(StoreError::Reference { .. })));
        assert!(matches!(child(Some(1), 0).await, Err(StoreError::Check { .. })));
        assert!(matches!(child(None, 1).await, Err(StoreError::Check { .. })));
        assert_eq!(child(Some(1), 1).await.unwrap(), 1);
    }

    async fn reading_one_row_of_a_change_still_changes_all(database: &TestDatabase) {
        const RAISE: Sql = Sql::same("test.raise", "UPDATE thing SET amount = 7 RETURNING id");
        const RAISED: Sql =
            Sql::same("test.raised", "SELECT count(*) AS count FROM thing WHERE amount = 7");
        let db = database.open().await;
        create(&db).await.unwrap();
        for id in 1..=3 {
            insert(&db, id, None).await.unwrap();
        }
        db.write(async |tx| tx.fetch_one(&RAISE, &[]).await.map(drop)).await.unwrap();
        assert_eq!(db.fetch_one(&RAISED, &[]).await.unwrap().get::<i64>("count").unwrap(), 3);
    }

    async fn an_empty_text_is_not_null(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        insert(&db, 1, Some("")).await.unwrap();
        let row = db.fetch_one(&READ_ALL, values![1_i64]).await.unwrap();
        assert_eq!(row.get::<Option<String>>("name").unwrap(), Some(String::new()));
    }

    async fn many_values_travel_in_one_placeholder(database: &TestDatabase) {
        const MANY: Sql = Sql::pair(
            "test.many",
            "SELECT n.value AS number, t.value AS text FROM json_each($1) AS n
             JOIN json_each($2) AS t ON t.key = n.key ORDER BY n.key",
            "SELECT n.number, n.text FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY
             AS n (number, text, place) ORDER BY n.place",
        );
        let db = database.open().await;
        let numbers = vec![i64::MIN, -1, 0, i64::MAX];
        let texts: Vec<String> = ["", "'\"\\", "ä\u{1F980}", "null"].map(str::to_owned).into();
        let rows = db.write_all(&MANY, values![&numbers, &texts]).await.unwrap();
        let read: Vec<(i64, String)> =
            rows.iter().map(|row| (row.get("number").unwrap(), row.get("text").unwrap())).collect();
        assert_eq!(read, numbers.into_iter().zip(texts).collect::<Vec<_>>());
        let (none, nul) = (Vec::<i64>::new(), vec!["a\0b".to_owned()]);
        assert!(db.fetch_all(&MANY, values![&none, &Vec::<String>::new()]).await.unwrap().is_empty());
        let refused = db.fetch_all(&MANY, values![&none, &nul]).await.unwrap_err();
        assert!(matches!(refused, StoreError::NulInText { position: 2, .. }), "{refused}");
    }
}
