//! What people do to workers, and what becomes of it when the world fails.

use std::time::Duration;

use mainstay_fleet::providers::Conflict;
use mainstay_fleet::{
    Category, FailureCode, FleetError, NetOperation, ProviderError, Refusal, Waited,
    WorkerOperation, WorkerStatus,
};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, SECOND, new_id};
use crate::world::Call;

fn unreachable() -> ProviderError {
    ProviderError::Unreachable("connection refused".to_owned())
}

each_database! {
    async fn a_worker_goes_through_its_life_and_tells_of_it(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        for (kind, status) in [
            (WorkerOperation::Provision, WorkerStatus::Ready),
            (WorkerOperation::Stop, WorkerStatus::Stopped),
            (WorkerOperation::Start, WorkerStatus::Ready),
            (WorkerOperation::Destroy, WorkerStatus::Pending),
            (WorkerOperation::Destroy, WorkerStatus::Pending),
        ] {
            let crew = house.operate(user, worker, kind).await.unwrap().unwrap();
            assert_eq!(crew.worker.status, status, "{kind:?}");
            assert_eq!(crew.worker.operation, None);
        }
        assert_eq!(house.world.machines(worker), 0);
        assert_eq!(house.operate(user, worker, WorkerOperation::Delete).await.unwrap(), None);
        let gone = house.fleet.find_worker(user, worker).await;
        assert!(matches!(gone, Err(FleetError::NoSuchWorker)));
        assert_eq!(
            house.words_after(user, 0).await,
            [
                "worker pending", "worker provisioning provision", "worker ready",
                "worker ready stop", "worker stopped", "worker stopped start", "worker ready",
                "worker ready destroy", "worker pending", "worker pending destroy", "worker pending",
                "worker pending delete", "worker_removed",
            ]
        );
        let first = &house.told(user).await[0];
        assert_eq!((&first["worker_id"], &first["status"]), (&json!(worker), &json!("pending")));
        running.stop().await;
    }

    async fn stop_on_a_gone_machine_is_an_error_that_says_so(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        house.loaded(user, "b", worker).await;
        house.world.vanish(worker);
        let before = house.told(user).await.len();
        let failure = house.operate(user, worker, WorkerOperation::Stop).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::WorkerGone);
        assert!(failure.detail.contains("no longer exists"), "{}", failure.detail);
        assert_eq!(house.stands(user, worker).await, "error unloaded unloaded");
        assert_eq!(
            house.words_after(user, before).await,
            ["worker ready stop", "worker error", "net unloaded", "net unloaded"]
        );
        running.stop().await;
    }

    async fn destroy_on_a_gone_machine_is_a_success(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        house.world.vanish(worker);
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "pending unloaded");
        running.stop().await;
    }

    async fn delete_ends_the_machine_and_unassigns_the_nets(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "a", worker).await;
        house.world.fail(Call::Destroy, &[unreachable(), unreachable(), unreachable(), unreachable()]);
        let failure = house.operate(user, worker, WorkerOperation::Delete).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::ProviderUnavailable);
        assert_eq!(house.stands(user, worker).await, "ready loaded", "the machine goes first");
        assert_eq!(house.operate(user, worker, WorkerOperation::Delete).await.unwrap(), None);
        assert_eq!(house.world.machines(worker), 0);
        let net = house.fleet.find_net(user, net).await.unwrap().net;
        assert_eq!((net.worker_id, net.load_state.name()), (None, "unloaded"));
        running.stop().await;
    }

    async fn where_a_machine_stands_is_known_whatever_was_ordered(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        house.world.make_in("ams");
        let worker = house.ready(user, "w").await;
        let seen = house.fleet.find_worker(user, worker).await.unwrap().worker;
        assert_eq!((seen.region.as_ref(), seen.stands_in()), (None, Some("ams")));
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        let seen = house.fleet.find_worker(user, worker).await.unwrap().worker;
        assert_eq!(seen.stands_in(), None);
        running.stop().await;
    }

    async fn an_ambiguous_answer_never_makes_two_machines(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        house.world.make_before_failing();
        house.world.fail(Call::Create, &[ProviderError::Ambiguous("408".to_owned()), unreachable()]);
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        assert_eq!(house.world.machines(worker), 1);
        running.stop().await;
    }

    async fn what_an_order_left_behind_is_destroyed(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        house.world.make_before_failing();
        let denied = ProviderError::Denied("401".to_owned());
        house.world.fail(Call::Create, &[denied]);
        let failure = house.operate(user, worker, WorkerOperation::Provision).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::ProviderDenied);
        assert_eq!(house.stands(user, worker).await, "error");
        house.world.heal_provider();
        assert_eq!(house.world.machines(worker), 1, "nobody has written it down");
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        assert_eq!(house.world.machines(worker), 0);
        running.stop().await;
    }

    async fn retry_replaces_the_machine(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let first = house.fleet.find_worker(user, worker).await.unwrap().worker.machine.unwrap();
        house.world.crash(worker);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.status(user, worker).await, WorkerStatus::Error);
        house.operate(user, worker, WorkerOperation::Retry).await.unwrap();
        let second = house.fleet.find_worker(user, worker).await.unwrap().worker.machine.unwrap();
        assert_ne!(first.id, second.id);
        assert_eq!(house.world.machines(worker), 1);
        running.stop().await;
    }

    async fn the_providers_trouble_leaves_the_worker_as_it_is(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        let conflict = ProviderError::Conflict { kind: Conflict::NameTaken, detail: String::new() };
        let down = vec![unreachable(); 4];
        for (errors, code) in [
            (&down[..], FailureCode::ProviderUnavailable),
            (&[ProviderError::Denied("401".to_owned())][..], FailureCode::ProviderDenied),
            (&[conflict][..], FailureCode::ProviderConflict),
        ] {
            house.world.fail(Call::Stop, errors);
            let failure = house.operate(user, worker, WorkerOperation::Stop).await.unwrap_err();
            assert_eq!(failure.code, code);
            assert_eq!(house.stands(user, worker).await, "ready loaded", "{code:?}");
        }
        running.stop().await;
    }

    async fn a_throttled_operation_goes_on_later(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.world.fail(Call::Stop, &[ProviderError::Throttled { retry_after: SECOND / 2 }]);
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        assert_eq!(house.status(user, worker).await, WorkerStatus::Stopped);
        running.stop().await;
    }

    async fn a_stop_ends_although_somebody_finds_the_worker_silent_meanwhile(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "n", worker).await;
        running.stop().await;
        let unload = house.begin_net(user, net, NetOperation::Unload).await.unwrap();
        let stop = house.begin(user, worker, WorkerOperation::Stop).await.unwrap();
        house.world.cut(worker, true);
        // It is done only after the unload has found the worker silent.
        house.world.fail(Call::Stop, &[ProviderError::Throttled { retry_after: 30 * SECOND }]);
        let running = house.run();
        let waited = house.fleet.wait_for_net(user, net, unload).await.unwrap();
        assert!(matches!(waited, Waited::Failed(..)), "{waited:?}");
        house.until_put_off(stop).await;
        assert_eq!(house.stands(user, worker).await, "error error");
        house.advance(31 * SECOND);
        let waited = house.fleet.wait_for_worker(user, worker, stop).await.unwrap();
        assert!(matches!(waited, Waited::Done(_)), "{waited:?}");
        assert_eq!(house.stands(user, worker).await, "stopped unloaded");
        running.stop().await;
    }

    async fn an_operation_that_nobody_ends_is_ended(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        let operation = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        let mut engine = house.engine();
        assert_eq!(house.sweep(&mut engine).await.overdue, 0);
        house.advance(WorkerOperation::Provision.limit() + 31 * SECOND);
        assert_eq!(house.sweep(&mut engine).await.overdue, 1);
        assert_eq!(house.status(user, worker).await, WorkerStatus::Error);
        let waited = house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
        let Waited::Failed(_, failure) = waited else { panic!("{waited:?}") };
        assert_eq!(failure.code, FailureCode::TimedOut);
        let job = house.jobs.find(operation).await.unwrap().unwrap();
        assert!(job.status.is_finished(), "{job:?}");
    }

    async fn one_that_begins_too_late_is_not_begun(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        let operation = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        house.advance(WorkerOperation::Provision.limit() + SECOND);
        let running = house.run();
        let waited = house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
        let Waited::Failed(crew, failure) = waited else { panic!("{waited:?}") };
        assert_eq!((failure.code, crew.worker.status), (FailureCode::TimedOut, WorkerStatus::Error));
        running.stop().await;
    }

    async fn what_takes_longer_than_a_caller_waits_goes_on(database: &TestDatabase) {
        let world = crate::world::World::new(mainstay_fleet::ProviderKind::Fly);
        let patience = Duration::from_millis(30);
        let pace = mainstay_fleet::Pace { patience, ..crate::house::quick() };
        let house = House::with(database, world, std::sync::Arc::default(), pace).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        let operation = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        let waited = house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
        let Waited::Underway(crew) = waited else { panic!("{waited:?}") };
        assert_eq!(crew.worker.operation.unwrap().id, operation);
    }

    async fn what_is_stale_taken_or_anothers_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, other) = (house.user().await, house.user().await);
        let worker = house.worker(user, "w").await;
        let taken = house.worker_of(user, "w", Category::Persistent).await;
        assert!(matches!(taken, Err(FleetError::NameTaken)), "{taken:?}");
        assert!(house.worker_of(other, "w", Category::Persistent).await.is_ok());
        let provision = WorkerOperation::Provision;
        for (user, worker) in [(other, worker), (user, new_id())] {
            let refused = house.begin(user, worker, provision).await;
            assert!(matches!(refused, Err(FleetError::NoSuchWorker)), "{refused:?}");
        }
        let stale = house.write(async |tx, out| {
            house.fleet.begin(tx, out, (user, worker), provision, Some(7)).await
        });
        match stale.await {
            Err(FleetError::StaleWorker(crew)) => assert_eq!(crew.worker.generation, 1),
            other => panic!("{other:?}"),
        }
        let fine = house.write(async |tx, out| {
            house.fleet.begin(tx, out, (user, worker), provision, Some(1)).await
        });
        fine.await.unwrap();
        let busy = house.begin(user, worker, WorkerOperation::HealthCheck).await;
        let Err(FleetError::Refused { refusal, .. }) = busy else { panic!("{busy:?}") };
        assert_eq!(refusal, Refusal::WorkerBusy(provision));
        let told = house.words_after(user, 0).await;
        assert_eq!(told, ["worker pending", "worker provisioning provision"]);
    }

    async fn destroy_calls_off_what_makes_the_machine(database: &TestDatabase) {
        // Nobody carries anything out yet.
        let house = House::new(database).await;
        let user = house.user().await;
        for (name, kind) in [("w", WorkerOperation::Destroy), ("v", WorkerOperation::Delete)] {
            let worker = house.worker(user, name).await;
            let making = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
            for other in [WorkerOperation::Provision, WorkerOperation::HealthCheck] {
                house.begin(user, worker, other).await.unwrap_err();
            }
            let stale = house.write(async |tx, out| {
                house.fleet.begin(tx, out, (user, worker), kind, Some(7)).await
            });
            assert!(matches!(stale.await, Err(FleetError::StaleWorker(_))), "it goes on");
            let ending = house.begin(user, worker, kind).await.unwrap();
            let called_off = house.fleet.wait_for_worker(user, worker, making).await.unwrap();
            let Waited::Failed(crew, failure) = called_off else { panic!("{called_off:?}") };
            assert!(failure.detail.contains("called off"), "{failure:?}");
            assert_eq!(crew.worker.operation.map(|one| one.id), Some(ending));
            let running = house.run();
            match house.fleet.wait_for_worker(user, worker, ending).await.unwrap() {
                Waited::Done(crew) => assert_eq!(crew.worker.status, WorkerStatus::Pending),
                Waited::Removed => assert_eq!(kind, WorkerOperation::Delete),
                other => panic!("{other:?}"),
            }
            assert_eq!(house.world.machines(worker), 0);
            running.stop().await;
        }
    }

    async fn a_machine_whose_making_was_called_off_is_destroyed_too(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.worker(user, "w").await;
        // The machine is made, and its agent does not answer yet.
        house.world.answer_after(60 * SECOND);
        let making = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
        while house.world.machines(worker) == 0 {
            tokio::time::sleep(SECOND / 500).await;
        }
        let ended = house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        assert_eq!(ended.unwrap().worker.status, WorkerStatus::Pending);
        assert_eq!(house.world.machines(worker), 0);
        let seen = house.fleet.wait_for_worker(user, worker, making).await.unwrap();
        assert!(!matches!(seen, Waited::Underway(_)), "{seen:?}");
        house.world.answer_after(SECOND / 1_000);
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        assert_eq!(house.world.machines(worker), 1);
        running.stop().await;
    }

    async fn an_ephemeral_worker_is_not_stopped(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.worker_of(user, "w", Category::Ephemeral).await.unwrap().worker.id;
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        let refused = house.begin(user, worker, WorkerOperation::Stop).await;
        let Err(FleetError::Refused { refusal, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal, Refusal::NotPersistent);
        running.stop().await;
    }

    async fn a_health_check_brings_a_worker_back(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        house.world.cut(worker, true);
        let check = WorkerOperation::HealthCheck;
        house.operate(user, worker, check).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        house.world.cut(worker, false);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded", "the loop brings nobody back");
        house.world.pretend_generation(worker, 1);
        let reason = async || house.fleet.find_worker(user, worker).await.unwrap().worker.reason.unwrap_or_default();
        assert!(reason().await.contains("connection refused"), "{}", reason().await);
        house.operate(user, worker, check).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "error unloaded", "nor does a stranger");
        assert!(reason().await.contains("of generation 1"), "what is wrong now: {}", reason().await);
        house.world.pretend_generation(worker, 2);
        house.operate(user, worker, check).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        running.stop().await;
    }

    async fn a_health_check_looks_again_at_a_worker_that_changed_meanwhile(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let before = house.world.asked().0;
        house.world.hang(worker);
        let operation = house.begin(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        while house.world.asked().0 == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        house.execute("UPDATE workers SET generation = generation + 1").await;
        house.world.let_go();
        let ended = house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
        assert!(matches!(ended, Waited::Done(_)), "{ended:?}");
        assert_eq!(house.world.asked().0, before + 2);
        assert_eq!(house.jobs_tried_again().await, 0);
        running.stop().await;
    }

    async fn lists_come_in_pages_and_are_ones_own(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, other) = (house.user().await, house.user().await);
        for number in 0..5 {
            house.worker(user, &format!("w{number}")).await;
            house.net(user, &format!("n{number}"), None).await;
        }
        house.worker(other, "theirs").await;
        let first = house.fleet.list_workers(user, None, 3).await.unwrap();
        let rest = house.fleet.list_workers(user, first.next, 3).await.unwrap();
        let names = first.items.iter().chain(&rest.items).map(|crew| crew.worker.name.clone());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!((names.join(" "), rest.next), ("w0 w1 w2 w3 w4".to_owned(), None));
        let first = house.fleet.list_nets(user, None, 4).await.unwrap();
        let rest = house.fleet.list_nets(user, first.next, 4).await.unwrap();
        assert_eq!((first.items.len(), rest.items.len(), rest.next), (4, 1, None));
    }
}
