//! Machines that nobody has: of orders that were called off or whose answer never came, while lists lie.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_fleet::providers::Conflict;
use mainstay_fleet::{
    FailureCode, FleetError, NetOperation, NetPatch, Pace, ProviderError, ProviderKind, Waited,
    WorkerOperation, WorkerStatus,
};
use mainstay_store::Sql;
use mainstay_testkit::each_database;

use crate::house::{House, quick};
use crate::world::{Call, World};

/// A worker in error, for whom a machine was made that nobody has written down and no list shows.
async fn haunted(house: &House, user: Id) -> Id {
    let worker = house.worker(user, "w").await;
    house.world.make_before_failing();
    house.world.fail(Call::Create, &[ProviderError::Denied("401".to_owned())]);
    house.operate(user, worker, WorkerOperation::Provision).await.unwrap_err();
    house.world.heal_provider();
    house.world.hide_machines();
    assert_eq!(
        (house.status(user, worker).await, house.world.machines(worker)),
        (WorkerStatus::Error, 1)
    );
    worker
}

/// How many orders are looked for.
async fn open_orders(house: &House) -> i64 {
    let sql = Sql::same("test.orders", "SELECT count(*) AS n FROM machine_orders");
    house.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
}

each_database! {
    async fn what_no_list_showed_is_ended_when_one_does(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        for kind in [WorkerOperation::Destroy, WorkerOperation::Delete] {
            let worker = haunted(&house, user).await;
            house.operate(user, worker, kind).await.unwrap();
            let mut engine = house.engine();
            assert_eq!(house.sweep(&mut engine).await.leftovers, 0);
            assert_eq!(house.world.machines(worker), 1, "that it is not listed says nothing");
            house.world.heal_provider();
            assert_eq!(house.sweep(&mut engine).await.leftovers, 1, "{kind:?}");
            assert_eq!(house.world.machines(worker), 0, "{kind:?}");
            assert_eq!(house.sweep(&mut engine).await.leftovers, 0, "it is forgotten then");
            if kind == WorkerOperation::Destroy {
                house.operate(user, worker, WorkerOperation::Delete).await.unwrap();
            }
        }
        running.stop().await;
    }

    async fn an_order_that_was_refused_is_looked_for_by_nobody(database: &TestDatabase) {
        let full = ProviderError::Conflict { kind: Conflict::Capacity, detail: "full".to_owned() };
        let refusals =
            [ProviderError::Invalid("422".to_owned()), ProviderError::Denied("401".to_owned()), full];
        let world = World::new(ProviderKind::Fly);
        let pace = Pace { orders_arrive: Duration::from_secs(3_600), ..quick() };
        let house = House::with(database, world, Arc::default(), pace).await;
        let running = house.run();
        let user = house.user().await;
        for refusal in refusals {
            let worker = house.worker(user, refusal.code()).await;
            house.world.fail(Call::Create, std::slice::from_ref(&refusal));
            house.operate(user, worker, WorkerOperation::Provision).await.unwrap_err();
            house.world.fail(Call::Create, std::slice::from_ref(&refusal));
            house.operate(user, worker, WorkerOperation::Retry).await.unwrap_err();
            house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
            assert_eq!(open_orders(&house).await, 0, "{refusal}");
        }
        running.stop().await;
    }

    async fn an_order_that_is_refused_after_a_doubt_is_looked_for(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let refused = ProviderError::Invalid("422".to_owned());
        let doubt = ProviderError::Ambiguous("408".to_owned());
        let worker = house.worker(user, "w").await;
        house.world.fail(Call::Create, &[doubt, refused.clone()]);
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap_err();
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        assert_eq!(open_orders(&house).await, 1);
        // Somebody gave it before, and did not live to hear the answer.
        let worker = house.worker(user, "v").await;
        running.stop().await;
        house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        house.execute("UPDATE workers SET ordered_by = operation_id").await;
        house.world.fail(Call::Create, &[refused]);
        let running = house.run();
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        assert_eq!(open_orders(&house).await, 2);
        running.stop().await;
    }

    async fn what_a_retry_could_not_see_is_ended_and_its_own_machine_is_not(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = haunted(&house, user).await;
        house.operate(user, worker, WorkerOperation::Retry).await.unwrap();
        assert_eq!(house.world.machines(worker), 2, "nobody could know");
        house.world.heal_provider();
        let mut engine = house.engine();
        for leftovers in [1, 0] {
            assert_eq!(house.sweep(&mut engine).await.leftovers, leftovers);
            assert_eq!(house.world.machines(worker), 1);
            assert_eq!(house.stands(user, worker).await, "ready");
        }
        running.stop().await;
    }

    async fn a_later_operation_looks_again_too(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        for (kind, machines) in [(WorkerOperation::Provision, 1), (WorkerOperation::Destroy, 0)] {
            let worker = haunted(&house, user).await;
            house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
            house.world.heal_provider();
            house.operate(user, worker, kind).await.unwrap();
            assert_eq!(house.world.machines(worker), machines, "{kind:?}");
            assert_eq!(house.sweep(&mut house.engine()).await.leftovers, 0, "{kind:?}");
            house.operate(user, worker, WorkerOperation::Delete).await.unwrap();
        }
        running.stop().await;
    }

    async fn what_is_only_promised_to_be_ended_stays_an_open_order(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        for kind in [WorkerOperation::Delete, WorkerOperation::Destroy, WorkerOperation::Retry] {
            let worker = house.ready(user, kind.name()).await;
            let machines = usize::from(kind == WorkerOperation::Retry);
            if kind == WorkerOperation::Retry {
                house.world.cut(worker, true);
                house.sweep(&mut house.engine()).await;
                house.world.cut(worker, false);
            }
            house.world.only_promise();
            house.operate(user, worker, kind).await.unwrap();
            let mut engine = house.engine();
            assert_eq!(house.sweep(&mut engine).await.leftovers, 0, "{kind:?}");
            assert_eq!((house.world.machines(worker), open_orders(&house).await), (1 + machines, 1));
            house.world.heal_provider();
            house.sweep(&mut engine).await;
            assert_eq!(house.world.machines(worker), 1 + machines, "it is left to its host");
            // Its host is back, and knows nothing of the order.
            house.world.outlive(worker);
            assert_eq!(house.sweep(&mut engine).await.leftovers, 1, "{kind:?}");
            assert_eq!((house.world.machines(worker), open_orders(&house).await), (machines, 0));
        }
        running.stop().await;
    }

    async fn a_leftover_that_is_only_promised_to_be_ended_is_looked_for_on(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = haunted(&house, user).await;
        house.operate(user, worker, WorkerOperation::Delete).await.unwrap();
        house.world.heal_provider();
        house.world.only_promise();
        let mut engine = house.engine();
        assert_eq!(house.sweep(&mut engine).await.leftovers, 0);
        assert_eq!((house.world.machines(worker), open_orders(&house).await), (1, 1));
        house.world.vanish(worker);
        assert_eq!(house.sweep(&mut engine).await.leftovers, 0);
        assert_eq!(open_orders(&house).await, 1, "that it is not listed says nothing");
        running.stop().await;
    }

    async fn one_that_can_not_be_ended_is_tried_again(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = haunted(&house, user).await;
        house.operate(user, worker, WorkerOperation::Delete).await.unwrap();
        house.world.heal_provider();
        house.world.fail(Call::Destroy, &[ProviderError::Unreachable("503".to_owned())]);
        let mut engine = house.engine();
        for (leftovers, machines) in [(0, 1), (1, 0)] {
            assert_eq!(house.sweep(&mut engine).await.leftovers, leftovers);
            assert_eq!(house.world.machines(worker), machines);
        }
        running.stop().await;
    }

    async fn a_worker_of_a_provider_that_is_no_more_is_forgotten_with_what_it_leaves(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "n", worker).await;
        let machine = house.fleet.find_worker(user, worker).await.unwrap().worker.machine.unwrap();
        running.stop().await;
        let refused = house.write(async |tx, out| {
            house.fleet.forget_worker(tx, out, (user, worker), None).await
        });
        let refused = refused.await;
        assert!(matches!(refused, Err(FleetError::NotForgotten(ProviderKind::Fly))), "{refused:?}");
        let world = World::new(ProviderKind::Sprite);
        let other = House::with(database, world, Arc::default(), quick()).await;
        let running = other.run();
        let failure = other.operate(user, worker, WorkerOperation::Delete).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::NotConfigured);
        let told = format!("?forget=true, which leaves behind {}", machine.name);
        assert!(failure.detail.contains(&told), "{}", failure.detail);
        let forgetting = other.write(async |tx, out| {
            other.fleet.forget_worker(tx, out, (user, worker), None).await
        });
        assert_eq!(forgetting.await.unwrap(), [machine.name]);
        let gone = other.fleet.find_worker(user, worker).await;
        assert!(matches!(gone, Err(FleetError::NoSuchWorker)), "{gone:?}");
        let net = other.fleet.find_net(user, net).await.unwrap().net;
        assert_eq!((net.worker_id, net.load_state.name()), (None, "unloaded"));
        running.stop().await;
        assert_eq!(house.sweep(&mut house.engine()).await.leftovers, 1, "where it is set up again");
        assert_eq!(house.world.machines(worker), 0);
    }

    async fn what_was_overtaken_is_told_by_its_job(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        let making = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        let running = house.run();
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        let waited = house.fleet.wait_for_worker(user, worker, making).await.unwrap();
        // A quick runner may have made it before it was called off.
        match waited {
            Waited::Failed(_, failure) => assert_eq!(failure.code, FailureCode::CalledOff),
            Waited::Done(_) => assert_eq!(house.jobs_failed().await, 0),
            other => panic!("{other:?}"),
        }
        running.stop().await;
    }

    async fn an_agent_is_told_at_once_what_is_not_its_any_more(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let moved = house.loaded(user, "a", worker).await;
        let removed = house.loaded(user, "b", worker).await;
        let stays = house.loaded(user, "c", worker).await;
        let (fleet, patch) = (&house.fleet, NetPatch { worker_id: Some(None), ..NetPatch::default() });
        let moving = house
            .write(async |tx, out| fleet.change_net(tx, out, (user, moved), patch, None).await);
        moving.await.unwrap();
        let removing =
            house.write(async |tx, out| fleet.remove_net(tx, out, (user, removed), None).await);
        removing.await.unwrap();
        for _ in 0..500 {
            if house.world.holds(worker).len() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let held: Vec<Id> = house.world.holds(worker).into_iter().map(|(net, _)| net).collect();
        assert_eq!(held, [stays], "without a sweep");
        house.cast(user, stays, NetOperation::Unload).await.unwrap();
        running.stop().await;
    }
}
