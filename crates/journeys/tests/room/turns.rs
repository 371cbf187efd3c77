//! Failing, and what ends it: whoever hears all that is told knows which journeys are failing.

use mainstay_standins::payments::Settling;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::House;

each_database! {
    async fn a_failing_journey_that_is_switched_off_is_set_aside_and_fails_anew_when_switched_on(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::Refuses);
        let id = house.keep(&house.source("Pay", "touches: [Payments]")).await.unwrap();
        let runner = house.runner();
        let failed = house.run(id).await.run;
        house.switch(id, false).await;
        house.switch(id, false).await;
        assert_eq!(house.journeys.failing().await.unwrap(), []);
        // What is run by hand meanwhile is nobody's failure.
        house.run(id).await;
        house.switch(id, true).await;
        assert_eq!(house.journeys.failing().await.unwrap().len(), 1);
        house.payments.settle(Settling::Approves { after: 0 });
        house.run(id).await;
        runner.stop().await;
        assert_eq!(house.kinds().await, [
            "journey:run_finished failed",
            "journey:failed",
            "journey:set_aside",
            "journey:run_finished failed",
            "journey:failed",
            "journey:run_finished passed",
            "journey:recovered",
        ]);
        let told = house.told().await;
        let (aside, again) = (&told[2], &told[4]);
        assert_eq!((&aside["reason"], &aside["touches"]), (&json!("switched_off"), &json!(["Payments"])));
        assert!(aside["failing_since"].is_string() && aside["journey_name"] == "Pay", "{aside}");
        assert_eq!((&again["touches"], &again["message"]), (&json!(["Payments"]), &json!(failed.message)));
    }

    async fn a_failing_journey_that_is_deleted_is_set_aside(database: &TestDatabase) {
        let house = House::new(database).await;
        let working = house.keep(&house.source("Works", "")).await.unwrap();
        let failing = house.keep(&house.source("Pay", "touches: [Payments]")).await.unwrap();
        let runner = house.runner();
        house.run(working).await;
        house.payments.settle(Settling::Refuses);
        house.run(failing).await;
        runner.stop().await;
        house.remove(working).await;
        house.remove(failing).await;
        let kinds = house.kinds().await;
        assert_eq!(kinds[2..], ["journey:failed", "journey:set_aside"]);
        assert_eq!(house.told().await[3]["reason"], "removed");
    }

    async fn one_that_is_off_and_fails_is_told_once_it_is_switched_on(database: &TestDatabase) {
        let house = House::new(database).await;
        let source = house.source("Pay", "touches: [Payments]").replace("amount: 1", "amount: \"{{ secret.NONE }}\"");
        let id = house.keep(&source).await.unwrap();
        house.switch(id, false).await;
        let runner = house.runner();
        house.run(id).await;
        runner.stop().await;
        assert_eq!(house.kinds().await, ["journey:run_finished failed"]);
        house.switch(id, true).await;
        let told = house.told().await;
        assert_eq!((&told[1]["type"], &told[1]["touches"]), (&json!("journey:failed"), &json!([])), "it could not begin");
        house.remove(id).await;
        assert_eq!(house.told().await[2]["touches"], json!([]));
    }
}
