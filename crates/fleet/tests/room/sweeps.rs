//! The health loop.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_fleet::providers::machine::MachineState;
use mainstay_fleet::{NetOperation, Pace, ProviderError, ProviderKind, WorkerOperation};
use mainstay_testkit::each_database;
use tokio_util::sync::CancellationToken;

use crate::house::{House, quick};
use crate::world::{Call, World};

/// So many ready workers, each with a loaded net.
async fn crowd(house: &House, user: Id, count: usize) -> Vec<Id> {
    let mut workers = Vec::new();
    for number in 0..count {
        let worker = house.ready(user, &format!("w{number}")).await;
        house.loaded(user, &format!("n{number}"), worker).await;
        workers.push(worker);
    }
    workers
}

async fn standing(house: &House, user: Id, workers: &[Id]) -> Vec<String> {
    let mut stands = Vec::new();
    for worker in workers {
        stands.push(house.stands(user, *worker).await);
    }
    stands
}

each_database! {
    async fn a_dead_worker_is_found_and_its_nets_are_told_of(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        house.loaded(user, "b", worker).await;
        let mut engine = house.engine();
        let before = house.told(user).await.len();
        house.sweep(&mut engine).await;
        assert_eq!(house.words_after(user, before).await, Vec::<String>::new(), "nothing changed");
        house.world.crash(worker);
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded unloaded");
        house.sweep(&mut engine).await;
        assert_eq!(
            house.words_after(user, before).await,
            ["worker error", "net unloaded", "net unloaded"]
        );
        running.stop().await;
    }

    async fn one_that_answers_the_second_time_is_well(database: &TestDatabase) {
        let world = World::new(ProviderKind::Fly);
        let pace = Pace {
            confirm_least: Duration::from_millis(200),
            confirm_most: Duration::from_millis(250),
            ..quick()
        };
        let house = House::with(database, world, Arc::default(), pace).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.world.cut(worker, true);
        let asked = house.world.asked().0;
        let mut engine = house.engine();
        let healing = async {
            while house.world.asked().0 == asked {
                tokio::task::yield_now().await;
            }
            house.world.cut(worker, false);
        };
        let (swept, ()) = tokio::join!(house.sweep(&mut engine), healing);
        assert_eq!((swept.failed, house.stands(user, worker).await), (0, "ready".to_owned()));
        running.stop().await;
    }

    async fn a_gone_machine_is_believed_at_once_and_the_brake_is_not_for_it(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let workers = crowd(&house, user, 4).await;
        for worker in &workers {
            house.world.vanish(*worker);
        }
        let swept = house.sweep(&mut house.engine()).await;
        assert!(!swept.is_braked);
        assert_eq!(standing(&house, user, &workers).await, ["error unloaded"; 4]);
        running.stop().await;
    }

    async fn when_most_fail_at_once_the_next_sweep_must_agree(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let workers = crowd(&house, user, 4).await;
        let down = vec![ProviderError::Unreachable("x".to_owned()); 50];
        for call in [Call::List, Call::Look] {
            house.world.fail(call, &down);
        }
        for worker in &workers {
            house.world.cut(*worker, true);
        }
        let before = house.told(user).await.len();
        let mut engine = house.engine();
        let swept = house.sweep(&mut engine).await;
        assert_eq!((swept.asked, swept.failed, swept.is_braked), (4, 4, true));
        assert_eq!(house.words_after(user, before).await, Vec::<String>::new());
        house.world.cut(workers[0], false);
        house.sweep(&mut engine).await;
        let wanted = ["ready loaded", "error unloaded", "error unloaded", "error unloaded"];
        assert_eq!(standing(&house, user, &workers).await, wanted);
        running.stop().await;
    }

    async fn who_reaches_a_provider_is_not_cut_off(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let workers = crowd(&house, user, 3).await;
        for worker in &workers {
            house.world.cut(*worker, true);
        }
        let swept = house.sweep(&mut house.engine()).await;
        assert!(!swept.is_braked);
        assert_eq!(standing(&house, user, &workers).await, ["error unloaded"; 3]);
        running.stop().await;
    }

    async fn what_the_agent_says_is_reconciled_net_by_net(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let one = house.loaded(user, "a", worker).await;
        house.loaded(user, "b", worker).await;
        let mut engine = house.engine();
        house.world.forget(worker, one);
        let before = house.told(user).await.len();
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready unloaded loaded");
        assert_eq!(house.words_after(user, before).await, ["net unloaded"]);
        house.world.reboot(worker);
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready unloaded unloaded");
        house.cast(user, one, NetOperation::Load).await.unwrap();
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded unloaded");
        running.stop().await;
    }

    async fn a_sprite_that_sleeps_is_not_woken_and_a_cold_one_has_forgotten(database: &TestDatabase) {
        let world = World::new(ProviderKind::Sprite);
        let house = House::with(database, world, Arc::default(), quick()).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        let mut engine = house.engine();
        let asked = house.world.asked().0;
        let down = ProviderError::Throttled { retry_after: Duration::from_secs(1) };
        house.world.fail(Call::Look, &[down]);
        house.sweep(&mut engine).await;
        house.world.become_state(worker, MachineState::Asleep);
        house.sweep(&mut engine).await;
        assert_eq!(house.world.asked().0, asked);
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        house.world.become_state(worker, MachineState::Cold);
        house.sweep(&mut engine).await;
        assert_eq!(house.world.asked().0, asked);
        assert_eq!(house.stands(user, worker).await, "ready unloaded");
        running.stop().await;
    }

    async fn each_worker_is_asked_by_one_instance(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        crowd(&house, user, 6).await;
        house.execute("UPDATE workers SET probe_at = 0").await;
        let other = House::with(database, house.world.clone(), Arc::default(), quick()).await;
        let before = house.world.asked().0;
        let (mut one, mut two) = (house.engine(), other.engine());
        let (one, two) = tokio::join!(one.sweep(), two.sweep());
        assert_eq!(one.unwrap().looked + two.unwrap().looked, 6);
        assert_eq!(house.world.asked().0 - before, 6);
        running.stop().await;
    }

    async fn few_are_asked_at_once_and_nothing_is_told_without_a_change(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        for number in 0..60 {
            house.ready(user, &format!("w{number}")).await;
        }
        let before = house.told(user).await.len();
        house.world.answer_after(Duration::from_millis(20));
        let peak_before = house.world.asked().1;
        let swept = house.sweep(&mut house.engine()).await;
        assert_eq!((swept.looked, swept.failed), (60, 0));
        let peak = house.world.asked().1.max(peak_before);
        assert!((2..=20).contains(&peak), "{peak}");
        assert_eq!(house.told(user).await.len(), before);
        let seen = house.fleet.list_workers(user, None, 200).await.unwrap();
        assert!(seen.items.iter().all(|crew| crew.worker.last_seen_at.is_some()));
        running.stop().await;
    }

    async fn the_loop_turns_by_itself_and_stops_cleanly(database: &TestDatabase) {
        let world = World::new(ProviderKind::Fly);
        let pace = Pace { confirm_most: Duration::from_millis(2), ..quick() };
        let pace = pace.with_sweep(Duration::from_millis(100));
        let house = House::with(database, world, Arc::default(), pace).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let stop = CancellationToken::new();
        let task = house.engine().start(stop.clone());
        house.world.crash(worker);
        for _ in 0..500 {
            if house.stands(user, worker).await == "error" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(house.stands(user, worker).await, "error");
        stop.cancel();
        tokio::time::timeout(Duration::from_secs(10), task.finished()).await.unwrap();
        house.operate(user, worker, WorkerOperation::Destroy).await.unwrap();
        running.stop().await;
    }
}
