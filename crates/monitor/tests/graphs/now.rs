//! What is broken now, and because of what.

use mainstay_monitor::views::board::kept::HOLDS_FOR;
use mainstay_monitor::views::{MISSING_SHOWN_FOR, Views};
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, up};

impl House {
    fn views(&self) -> Views {
        let clock = std::sync::Arc::clone(&self.clock);
        Views::new(self.db.clone(), clock, MISSING_SHOWN_FOR).with_graphs(self.graphs.clone())
    }
}

async fn now(views: &Views) -> Value {
    serde_json::from_slice(&views.now().await.unwrap().plain).unwrap()
}

fn failing(name: &str, message: &str) -> Value {
    json!({
        "name": name, "healthy": false, "errorMessage": message, "impact": "Nobody can pay",
        "contact": {"slack": "#pay"}, "description": "The books",
    })
}

each_database! {
    async fn a_cause_that_others_find_well_still_says_whom_to_ask(database: &TestDatabase) {
        let house = House::new(database).await;
        let views = house.views();
        let (ledger, shop) = (house.service("Ledger").await, house.service("Shop").await);
        let well = json!({
            "name": "ledger", "healthy": true, "impact": "No books", "contact": {"slack": "#books"},
        });
        house.answers(&shop, &json!([well])).await;
        house.answers(&ledger, &json!([up("db")])).await;
        house.fails(&ledger).await;
        let cause = now(&views).await["items"][0].clone();
        assert_eq!(cause["nodes"][0]["name"], "Ledger");
        assert_eq!((&cause["contradicted"], &cause["reporter_count"]), (&json!(true), &json!(0)));
        assert_eq!(cause["reported_by"], json!([]));
        assert_eq!(cause["contact"], json!({"slack": "#books"}));
        assert_eq!(cause["impact"], "No books");
        let named = |id: &str, name: &str, status: &str| {
            json!({"id": id, "kind": "service", "name": name, "status": status})
        };
        let (by, of) = (shop.id.to_string(), ledger.id.to_string());
        let dispute = json!({
            "by": named(&by, "Shop", "healthy"), "of": named(&of, "Ledger", "down"), "says": "healthy",
        });
        assert_eq!(cause["disputes"], json!([dispute]));
    }

    async fn who_finds_it_failing_is_heard_before_others(database: &TestDatabase) {
        let house = House::new(database).await;
        let (first, second) = (house.service("Ahead").await, house.service("Behind").await);
        let well = json!({
            "name": "db", "healthy": true, "impact": "Nothing much", "contact": {"slack": "#calm"},
            "description": "A store",
        });
        let hurt = json!({"name": "db", "healthy": false, "impact": "No books"});
        house.answers(&first, &json!([well])).await;
        house.answers(&second, &json!([hurt])).await;
        let cause = now(&house.views()).await["items"][0].clone();
        assert_eq!(cause["nodes"][0]["id"], "external:db");
        assert_eq!((&cause["impact"], &cause["description"]), (&json!("No books"), &json!("A store")));
        assert_eq!(cause["contact"], json!({"slack": "#calm"}));
        assert_eq!(cause["team"], Value::Null);
    }

    async fn a_service_that_is_wrong_about_another_says_about_whom(database: &TestDatabase) {
        let house = House::new(database).await;
        let (ledger, shop) = (house.service("Ledger").await, house.service("Shop").await);
        house.execute("UPDATE services SET team = 'Pay' WHERE name = 'Shop'").await;
        house.answers(&ledger, &json!([up("db")])).await;
        house.answers(&shop, &json!([failing("ledger", "refused")])).await;
        let cause = now(&house.views()).await["items"][0].clone();
        assert_eq!((&cause["nodes"][0]["name"], &cause["team"]), (&json!("Shop"), &json!("Pay")));
        let dispute = &cause["disputes"][0];
        assert_eq!((&dispute["by"]["name"], &dispute["of"]["name"]), (&json!("Shop"), &json!("Ledger")));
        assert_eq!((&dispute["says"], &dispute["of"]["status"]), (&json!("down"), &json!("healthy")));
    }

    async fn root_causes_come_with_why_and_whom_they_hurt(database: &TestDatabase) {
        let house = House::new(database).await;
        let views = house.views();
        assert_eq!(now(&views).await["counts"]["services"], 0);
        let (ledger, shop) = (house.service("Ledger").await, house.service("Shop").await);
        let (alone, idle) = (house.service("Alone").await, house.service("Idle").await);
        house.answers(&alone, &json!([up("cache")])).await;
        house.answers(&shop, &json!([up("ledger")])).await;
        house.answers(&ledger, &json!([failing("db", "<b>refused</b>")])).await;
        // Whoever asks after an event is told of it.
        let told = now(&views).await;
        let counts = json!({
            "root_causes": 1, "root_services": 0, "affected": 1, "healthy": 2, "unknown": 1,
            "inactive": 0, "services": 4,
        });
        assert_eq!(told["counts"], counts);
        let cause = &told["items"][0];
        for (field, value) in [
            ("node_count", json!(1)),
            ("status", json!("down")),
            ("hurts", json!(2)),
            ("affected", json!(1)),
            ("error_message", json!("<b>refused</b>")),
            ("impact", json!("Nobody can pay")),
            ("contact", json!({"slack": "#pay"})),
            ("description", json!("The books")),
            ("reporter_count", json!(1)),
            ("service_ids", json!([ledger.id])),
        ] {
            assert_eq!(cause[field], value, "{field}");
        }
        assert_eq!(cause["nodes"][0]["id"], "external:db");
        let reporter = json!({
            "service_id": ledger.id, "service_name": "Ledger",
            "dependency_id": house.dependency("db").await, "status": "down",
        });
        assert_eq!(cause["reported_by"], json!([reporter]));
        let hurt = json!([
            {"id": ledger.id, "name": "Ledger", "status": "degraded", "affected": true, "distance": 1, "via": "external:db"},
            {"id": shop.id, "name": "Shop", "status": "healthy", "affected": false, "distance": 2, "via": ledger.id},
        ]);
        assert_eq!(cause["hurt"], hurt);
        assert_eq!(told["is_cut"], false);

        house.fails(&alone).await;
        let told = now(&views).await;
        assert_eq!(told["counts"]["root_causes"], 2);
        assert_eq!(told["counts"]["root_services"], 1);
        let last = &told["items"][1];
        assert_eq!((&last["nodes"][0]["name"], &last["hurts"]), (&json!("Alone"), &json!(0)));
        assert_eq!(last["error_message"], "too slow");
        assert_eq!(last["service_ids"], json!([alone.id]));

        let board: Value = serde_json::from_slice(&views.board().await.unwrap().plain).unwrap();
        let causes: Vec<_> = board["items"].as_array().unwrap().iter().map(|one| &one["cause"]).collect();
        assert_eq!(causes, [&json!("root"), &Value::Null, &json!("affected"), &Value::Null]);
        drop(idle);
        house.answers(&ledger, &json!([up("db")])).await;
        house.answers(&alone, &json!([up("cache")])).await;
        let told = now(&views).await;
        assert_eq!((&told["items"], &told["counts"]["root_causes"]), (&json!([]), &json!(0)));
    }

    async fn counts_and_causes_are_of_one_source(database: &TestDatabase) {
        let house = House::new(database).await;
        let views = house.views();
        let (ledger, idle) = (house.service("Ledger").await, house.service("Idle").await);
        house.answers(&ledger, &json!([failing("db", "refused")])).await;
        house.execute("UPDATE services SET is_active = 0 WHERE name = 'Idle'").await;
        // Nobody has polled it for long, and nobody has noted that yet.
        house.execute("UPDATE service_states SET next_poll_at = 1").await;
        let counts = now(&views).await["counts"].clone();
        let count = |name: &str| counts[name].as_u64().unwrap();
        let all = count("root_services") + count("affected") + count("healthy") + count("unknown") + count("inactive");
        assert_eq!((all, count("services"), count("inactive")), (2, 2, 1), "{counts}");
        assert_eq!(count("unknown"), 1, "{counts}");
        let board: Value = serde_json::from_slice(&views.board().await.unwrap().plain).unwrap();
        let ledger = &board["items"][1];
        assert_eq!((&ledger["status"], &ledger["cause"]), (&json!("unknown"), &Value::Null));
        drop(idle);
    }

    async fn its_tag_speaks_of_what_is_shown_and_not_of_the_moment(database: &TestDatabase) {
        let house = House::new(database).await;
        let views = house.views();
        let ledger = house.service("Ledger").await;
        house.answers(&ledger, &json!([failing("db", "refused")])).await;
        let first = views.now().await.unwrap();
        house.advance(HOLDS_FOR);
        let second = views.now().await.unwrap();
        assert!(!std::sync::Arc::ptr_eq(&first, &second), "it was built again");
        assert_eq!(first.tag, second.tag);
    }

    async fn an_answer_that_holds_is_not_built_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let views = house.views();
        let ledger = house.service("Ledger").await;
        let first = views.now().await.unwrap();
        assert_eq!(views.now().await.unwrap(), first);
        house.answers(&ledger, &json!([failing("db", "refused")])).await;
        assert_ne!(views.now().await.unwrap().tag, first.tag);
    }
}
