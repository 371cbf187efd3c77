//! What people do to nets, and what becomes of it when the worker fails.

use mainstay_base::Id;
use mainstay_fleet::model::net::MAX_NETS_PER_WORKER;
use mainstay_fleet::{
    Definition, FailureCode, FleetError, NetName, NetOperation, NetPatch, Refusal, Waited,
    WorkerOperation,
};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::House;

each_database! {
    async fn a_net_is_loaded_and_unloaded(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let before = house.told(user).await.len();
        let net = house.loaded(user, "a", worker).await;
        assert_eq!(house.world.holds(worker), [(net, 2)]);
        house.cast(user, net, NetOperation::Unload).await.unwrap();
        assert_eq!(house.world.holds(worker), []);
        assert_eq!(
            house.words_after(user, before).await,
            ["net unloaded", "net unloaded load", "net loaded", "net loaded unload", "net unloaded"]
        );
        running.stop().await;
    }

    async fn a_load_that_finds_the_worker_dead_tells_of_all(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        for kind in NetOperation::ALL {
            let user = house.user().await;
            let worker = house.ready(user, "w").await;
            let net = house.loaded(user, "a", worker).await;
            house.loaded(user, "b", worker).await;
            house.loaded(user, "c", worker).await;
            house.world.crash(worker);
            let before = house.told(user).await.len();
            let failure = house.cast(user, net, kind).await.unwrap_err();
            assert_eq!(failure.code, FailureCode::WorkerUnavailable);
            assert_eq!(house.stands(user, worker).await, "error error unloaded unloaded");
            let told = house.words_after(user, before).await;
            let began = format!("net loaded {}", kind.name());
            let wanted = [began.as_str(), "worker error", "net error", "net unloaded", "net unloaded"];
            assert_eq!(told, wanted, "{kind:?}");
        }
        running.stop().await;
    }

    async fn a_net_that_the_agent_refuses_is_in_error_alone(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        let net = house.net(user, "b", Some(worker)).await;
        house.world.refuse_nets();
        let failure = house.cast(user, net, NetOperation::Load).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::NetRefused);
        assert_eq!(house.stands(user, worker).await, "ready loaded error");
        running.stop().await;
    }

    async fn a_net_that_moves_or_changes_is_unloaded(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (one, two) = (house.ready(user, "one").await, house.ready(user, "two").await);
        let net = house.loaded(user, "a", one).await;
        let change = async |patch: NetPatch| {
            house
                .write(async |tx, out| {
                    house.fleet.change_net(tx, out, (user, net), patch, None).await
                })
                .await
                .unwrap()
                .net
        };
        let named = NetPatch { name: NetName::parse("b").ok(), ..NetPatch::default() };
        assert_eq!(change(named).await.load_state.name(), "loaded", "a name is only a name");
        let moved = change(NetPatch { worker_id: Some(Some(two)), ..NetPatch::default() }).await;
        assert_eq!((moved.worker_id, moved.load_state.name()), (Some(two), "unloaded"));
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.world.holds(one), [], "the loop takes it away there");
        house.cast(user, net, NetOperation::Load).await.unwrap();
        let definition = Definition::new(json!({"services": ["x"]})).ok();
        let changed = change(NetPatch { definition, ..NetPatch::default() }).await;
        assert_eq!(changed.load_state.name(), "unloaded");
        let nowhere = change(NetPatch { worker_id: Some(None), ..NetPatch::default() }).await;
        assert_eq!((nowhere.worker_id, nowhere.load_state.name()), (None, "unloaded"));
        running.stop().await;
    }

    async fn what_nets_run_is_read_only_where_it_is_needed(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        // Whoever read it would fail.
        house.execute("UPDATE nets SET definition = 'none'").await;
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        let listed = house.fleet.list_workers(user, None, 10).await.unwrap();
        assert_eq!(listed.items[0].nets.len(), 1);
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "stopped unloaded");
        running.stop().await;
    }

    async fn a_net_that_is_renamed_while_its_load_waits_stays_loaded(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        running.stop().await;
        let net = house.net(user, "a", Some(worker)).await;
        let operation = house.begin_net(user, net, NetOperation::Load).await.unwrap();
        let patch = NetPatch { name: NetName::parse("b").ok(), ..NetPatch::default() };
        let renaming = house.write(async |tx, out| {
            house.fleet.change_net(tx, out, (user, net), patch, None).await
        });
        renaming.await.unwrap();
        let running = house.run();
        let waited = house.fleet.wait_for_net(user, net, operation).await.unwrap();
        assert!(matches!(waited, Waited::Done(_)), "{waited:?}");
        assert_eq!(house.world.holds(worker), [(net, 2)]);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        running.stop().await;
    }

    async fn a_net_of_a_full_worker_can_be_changed_and_no_other_comes(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let (full, other) = (house.worker(user, "full").await, house.worker(user, "other").await);
        let net = house.net(user, "n", Some(full)).await;
        for number in 1..MAX_NETS_PER_WORKER {
            house.net(user, &format!("n{number}"), Some(full)).await;
        }
        let change = async |net: Id, name: &str, worker: Id| {
            let name = NetName::parse(name).ok();
            let patch = NetPatch { name, worker_id: Some(Some(worker)), ..NetPatch::default() };
            let changing = house.write(async |tx, out| {
                house.fleet.change_net(tx, out, (user, net), patch, None).await
            });
            changing.await
        };
        assert_eq!(change(net, "renamed", full).await.unwrap().net.name, "renamed");
        let newcomer = house.net(user, "newcomer", Some(other)).await;
        let refused = change(newcomer, "newcomer", full).await;
        assert!(matches!(refused, Err(FleetError::WorkerFull)), "{refused:?}");
        change(net, "renamed", other).await.unwrap();
        change(newcomer, "newcomer", full).await.expect("there is a place now");
    }

    async fn what_can_not_be_loaded_is_refused(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let (user, other) = (house.user().await, house.user().await);
        let nobody = house.net(user, "a", None).await;
        let refused = house.begin_net(user, nobody, NetOperation::Load).await;
        let Err(FleetError::Refused { refusal, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal, Refusal::NotAssigned);
        let theirs = house.begin_net(other, nobody, NetOperation::Load).await;
        assert!(matches!(theirs, Err(FleetError::NoSuchNet)), "{theirs:?}");
        let worker = house.worker(user, "w").await;
        let waiting = house.net(user, "b", Some(worker)).await;
        let refused = house.begin_net(user, waiting, NetOperation::Load).await;
        assert!(matches!(refused, Err(FleetError::Refused { .. })), "{refused:?}");
        let patch = NetPatch { worker_id: Some(Some(house.worker(other, "w").await)), ..NetPatch::default() };
        let stolen = house.write(async |tx, out| {
            house.fleet.change_net(tx, out, (user, nobody), patch, None).await
        });
        assert!(matches!(stolen.await, Err(FleetError::NoSuchWorker)));
        let stale = house.write(async |tx, out| {
            house.fleet.remove_net(tx, out, (user, nobody), Some(9)).await
        });
        assert!(matches!(stale.await, Err(FleetError::StaleNet(_))));
        running.stop().await;
    }

    async fn a_deleted_net_is_gone_and_its_worker_drops_it(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "a", worker).await;
        let removing = house.write(async |tx, out| {
            house.fleet.remove_net(tx, out, (user, net), None).await
        });
        removing.await.unwrap();
        assert!(matches!(house.fleet.find_net(user, net).await, Err(FleetError::NoSuchNet)));
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.world.holds(worker), []);
        running.stop().await;
    }

    async fn what_is_loading_ends_with_its_worker(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let running = house.run();
        let worker = house.ready(user, "w").await;
        running.stop().await;
        let net = house.net(user, "a", Some(worker)).await;
        let operation = house.begin_net(user, net, NetOperation::Load).await.unwrap();
        house.world.crash(worker);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        let waited = house.fleet.wait_for_net(user, net, operation).await.unwrap();
        let Waited::Failed(_, failure) = waited else { panic!("{waited:?}") };
        assert_eq!(failure.code, FailureCode::WorkerUnavailable);
        // The job that comes too late changes nothing.
        let told = house.told(user).await.len();
        let running = house.run();
        for _ in 0..500 {
            if house.jobs.find(operation).await.unwrap().unwrap().status.is_finished() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(house.jobs.find(operation).await.unwrap().unwrap().status.is_finished());
        assert_eq!(house.told(user).await.len(), told);
        house.operate(user, worker, WorkerOperation::Retry).await.unwrap();
        running.stop().await;
    }
}
