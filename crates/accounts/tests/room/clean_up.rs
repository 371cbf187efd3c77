//! What is over is removed, a bounded part at a time.

use std::time::Duration;

use mainstay_accounts::{AuditFilter, Role, SESSION_TIME, Scope, TokenAsk};
use mainstay_store::{Sql, StoreError, values};
use mainstay_testkit::each_database;

use crate::access_requests::filled;
use crate::house::{ALL, House, source};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);

each_database! {
    async fn what_is_over_goes_and_what_is_not_stays(database: &TestDatabase) {
        let house = House::new(database).await;
        let accounts = &house.accounts;
        accounts.setup_token().await.unwrap();
        let admin = house.admin().await;
        house.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        let ask = |name: &str, lives| TokenAsk { name: name.to_owned(), scope: Scope::Read, lives };
        accounts.create_token(&admin.caller, ask("short", Some(DAY)), source()).await.unwrap();
        accounts.create_token(&admin.caller, ask("for ever", None), source()).await.unwrap();
        let form = filled(&house, "bob@example.com");
        house.clock.advance(Duration::from_secs(5));
        accounts.request_access(form, source()).await.unwrap();
        let limit = mainstay_accounts::Limit { name: "x", count: 1, window: Duration::from_secs(60) };
        accounts.limits().take("ada", &limit).await.unwrap();
        let count = async |table: &'static str| house.count(table).await;
        assert_eq!(accounts.clean_up(KEPT).await.unwrap(), 0, "nothing is over yet");
        house.clock.advance(SESSION_TIME);
        accounts.clean_up(KEPT).await.unwrap();
        assert_eq!(count("SELECT count(*) AS n FROM sessions").await, 0);
        assert_eq!(count("SELECT count(*) AS n FROM rate_limit_buckets").await, 0);
        assert_eq!(count("SELECT count(*) AS n FROM invites").await, 1, "still shown as expired");
        assert_eq!(count("SELECT count(*) AS n FROM api_tokens").await, 2);
        house.clock.advance(40 * DAY);
        accounts.clean_up(KEPT).await.unwrap();
        assert_eq!(count("SELECT count(*) AS n FROM invites").await, 0);
        assert_eq!(accounts.tokens(admin.caller.user.id, ALL).await.unwrap().items[0].name, "for ever");
        assert_eq!(count("SELECT count(*) AS n FROM access_requests").await, 1, "requests stay as long as the audit log");
        assert!(!accounts.audit_log(&AuditFilter::default(), ALL).await.unwrap().items.is_empty());
        house.clock.advance(KEPT);
        accounts.clean_up(KEPT).await.unwrap();
        assert!(accounts.audit_log(&AuditFilter::default(), ALL).await.unwrap().items.is_empty());
        assert_eq!(count("SELECT count(*) AS n FROM access_requests").await, 0);
    }

    async fn one_round_removes_a_bounded_number(database: &TestDatabase) {
        let house = House::new(database).await;
        let many = Sql::pair(
            "test.many",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100600)
             INSERT INTO rate_limit_buckets SELECT 'x', 's' || i, $1, 1 FROM n",
            "INSERT INTO rate_limit_buckets SELECT 'x', 's' || i, $1, 1 FROM generate_series(1, 100600) AS i",
        );
        house.db.write(async |tx| { tx.execute(&many, values![0_i64]).await?; Ok::<_, StoreError>(()) }).await.unwrap();
        assert_eq!(house.accounts.clean_up(KEPT).await.unwrap(), 100_000);
        assert_eq!(house.accounts.clean_up(KEPT).await.unwrap(), 600);
    }
}
