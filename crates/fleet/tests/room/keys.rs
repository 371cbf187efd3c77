//! What the databases themselves refuse, whoever asks.

use mainstay_store::{Sql, StoreError, values};
use mainstay_testkit::each_database;

use crate::house::House;

async fn refused(house: &House, sql: &'static str, id: mainstay_base::Id) -> bool {
    let sql = Sql::same("test.break", sql);
    let written: Result<u64, StoreError> =
        house.db.write(async |tx| tx.execute(&sql, values![id]).await).await;
    written.is_err()
}

each_database! {
    async fn no_statement_breaks_the_rules(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let (user, other) = (house.user().await, house.user().await);
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "a", worker).await;
        let idle = house.net(user, "b", None).await;
        let theirs = house.worker(other, "w").await;
        for (sql, id) in [
            ("UPDATE workers SET status = 'error' WHERE id = $1", worker),
            ("UPDATE workers SET status = 'provisioning' WHERE id = $1", theirs),
            ("UPDATE workers SET status = 'gone' WHERE id = $1", theirs),
            ("UPDATE workers SET operation = 'stop' WHERE id = $1", theirs),
            ("DELETE FROM workers WHERE id = $1", worker),
            ("UPDATE nets SET worker_id = NULL WHERE id = $1", net),
            ("UPDATE nets SET load_state = 'loaded' WHERE id = $1", idle),
            ("UPDATE nets SET load_state = 'error' WHERE id = $1", idle),
        ] {
            assert!(refused(&house, sql, id).await, "{sql}");
        }
        let sql = Sql::same("test.steal", "UPDATE nets SET worker_id = $2 WHERE id = $1");
        let stolen: Result<u64, StoreError> =
            house.db.write(async |tx| tx.execute(&sql, values![idle, theirs]).await).await;
        assert!(stolen.is_err(), "a net is for a worker of the same owner");
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        let fine = "UPDATE nets SET load_state = 'unloaded' WHERE id = $1";
        assert!(!refused(&house, fine, net).await);
        assert!(!refused(&house, "UPDATE workers SET status = 'error' WHERE id = $1", worker).await);
        assert!(!refused(&house, "DELETE FROM users WHERE id = $1", user).await, "with all of it");
        running.stop().await;
    }
}
