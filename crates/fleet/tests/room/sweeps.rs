//! The health loop.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_fleet::{
    FailureCode, NetOperation, Pace, ProviderError, ProviderKind, WorkerOperation,
};
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

    async fn one_whose_record_can_not_be_read_keeps_nobody_else_from_being_looked_after(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let (odd, dead) = (house.ready(user, "odd").await, house.ready(user, "dead").await);
        house.loaded(user, "a", odd).await;
        house.loaded(user, "b", dead).await;
        let late = house.ready(user, "late").await;
        running.stop().await;
        house.begin(user, late, WorkerOperation::Stop).await.unwrap();
        house.execute("UPDATE workers SET machine = '{' WHERE name IN ('odd', 'late')").await;
        house.execute("UPDATE workers SET operation_deadline = 1 WHERE name = 'late'").await;
        house.execute("INSERT INTO machine_orders (name, provider, worker_id, since, look_at, looks)
            VALUES ('what', 'fly', 'x', 0, 0, 0)").await;
        house.world.crash(dead);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, dead).await, "error unloaded");
        let listed = house.fleet.list_workers(user, None, 200).await.unwrap().items;
        let shown: Vec<_> = listed.iter().map(|crew| (crew.worker.name.as_str(), crew.worker.status.name())).collect();
        assert_eq!(shown, [("late", "error"), ("dead", "error"), ("odd", "error")]);
        for crew in [&listed[2], &house.fleet.find_worker(user, odd).await.unwrap()] {
            let reason = crew.worker.reason.as_deref().unwrap_or_default();
            assert!(reason.contains("its record can't be read") && reason.contains("worker_unreadable"), "{reason}");
        }
    }

    async fn an_agent_that_says_it_is_not_well_is_not(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        house.world.ail(worker, "failing");
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        let reason = house.fleet.find_worker(user, worker).await.unwrap().worker.reason;
        assert!(reason.as_deref().unwrap().contains("its agent says that it is failing"), "{reason:?}");
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        house.world.ail(worker, "ok");
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!(house.stands(user, worker).await, "ready loaded");
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
        house.world.sleep(worker, false);
        house.sweep(&mut engine).await;
        assert_eq!(house.world.asked().0, asked);
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        house.world.sleep(worker, true);
        house.sweep(&mut engine).await;
        assert_eq!(house.world.asked().0, asked);
        assert_eq!(house.stands(user, worker).await, "ready unloaded");
        running.stop().await;
    }

    async fn what_is_loaded_on_a_sprite_that_was_cold_stays_loaded(database: &TestDatabase) {
        let world = World::new(ProviderKind::Sprite);
        let house = House::with(database, world, Arc::default(), quick()).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        let net = house.loaded(user, "a", worker).await;
        house.loaded(user, "b", worker).await;
        let mut engine = house.engine();
        let word = async || house.fleet.find_worker(user, worker).await.unwrap().worker.provider_state;
        house.world.sleep(worker, true);
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready unloaded unloaded");
        assert_eq!(word().await.as_deref(), Some("cold"));
        // The load wakes it, in another run of its agent.
        house.cast(user, net, NetOperation::Load).await.unwrap();
        let told = house.told(user).await.len();
        for _ in 0..2 {
            house.sweep(&mut engine).await;
            assert_eq!(house.stands(user, worker).await, "ready loaded unloaded");
            assert_eq!(house.world.holds(worker).len(), 1);
            assert_eq!(word().await.as_deref(), Some("running"));
        }
        // The same where nobody has seen that it slept.
        house.world.sleep(worker, true);
        house.cast(user, net, NetOperation::Load).await.unwrap();
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded unloaded");
        assert_eq!(house.words_after(user, told).await, ["net loaded load", "net loaded"]);
        running.stop().await;
    }

    async fn what_is_loaded_after_a_reboot_that_nobody_saw_stays_loaded(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "a", worker).await;
        let net = house.net(user, "b", Some(worker)).await;
        house.world.reboot(worker);
        house.cast(user, net, NetOperation::Load).await.unwrap();
        for _ in 0..2 {
            house.sweep(&mut house.engine()).await;
            assert_eq!(house.stands(user, worker).await, "ready unloaded loaded");
        }
        assert_eq!(house.world.holds(worker).len(), 1);
        running.stop().await;
    }

    async fn one_that_invents_nets_and_keeps_them_is_waited_for_by_nobody_else(database: &TestDatabase) {
        // Longer than this test waits for anything.
        let pace = Pace { probe: Duration::from_mins(10), ..quick() };
        let house = House::with(database, World::new(ProviderKind::Fly), Arc::default(), pace).await;
        let running = house.run();
        let user = house.user().await;
        let workers = crowd(&house, user, 6).await;
        house.world.invent_nets(workers[1], 3);
        house.world.keep_nets(workers[1]);
        house.world.crash(workers[0]);
        let mut engine = house.engine();
        let known = async {
            let dying = async {
                while house.stands(user, workers[0]).await != "error unloaded" {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let known = tokio::time::timeout(Duration::from_secs(30), dying).await;
            house.world.let_go();
            known
        };
        let (swept, known) = tokio::join!(house.sweep(&mut engine), known);
        assert_eq!((known, swept.failed), (Ok(()), 1));
        assert_eq!(house.world.holds(workers[1]).len(), 1, "it is told all the same");
        running.stop().await;
    }

    async fn trouble_of_the_provider_changes_nothing_and_is_shown(database: &TestDatabase) {
        let world = World::new(ProviderKind::Sprite);
        let house = House::with(database, world, Arc::default(), quick()).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "n", worker).await;
        let mut engine = house.engine();
        house.sweep(&mut engine).await;
        let before = house.told(user).await.len();
        for error in [
            ProviderError::Unreachable("503".to_owned()),
            ProviderError::Denied("401".to_owned()),
            ProviderError::Throttled { retry_after: Duration::from_secs(9) },
            ProviderError::Ambiguous("408".to_owned()),
            ProviderError::Invalid("404; check SPRITES_API_URL".to_owned()),
        ] {
            house.world.fail(Call::Look, std::slice::from_ref(&error));
            house.sweep(&mut engine).await;
            let crew = house.fleet.find_worker(user, worker).await.unwrap();
            assert_eq!(crew.worker.reason, Some(error.to_string()));
            assert_eq!(house.stands(user, worker).await, "ready loaded", "{error}");
        }
        house.sweep(&mut engine).await;
        assert_eq!(house.fleet.find_worker(user, worker).await.unwrap().worker.reason, None);
        assert_eq!(house.words_after(user, before).await, Vec::<String>::new());
        running.stop().await;
    }

    async fn a_provider_that_says_nothing_is_not_a_worker_that_says_nothing(database: &TestDatabase) {
        let world = World::new(ProviderKind::Sprite);
        let pace = Pace { probe: Duration::from_millis(200), ..quick() };
        let house = House::with(database, world, Arc::default(), pace).await;
        let running = house.run();
        let user = house.user().await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "n", worker).await;
        let mut engine = house.engine();
        let before = house.told(user).await.len();
        house.world.silence_provider();
        for _ in 0..2 {
            house.sweep(&mut engine).await;
            assert_eq!(house.stands(user, worker).await, "ready loaded");
        }
        let reason = house.fleet.find_worker(user, worker).await.unwrap().worker.reason;
        let told = "the provider sprite did not say within 200 ms how the machine is";
        assert_eq!(reason.as_deref(), Some(told));
        let checked = house.operate(user, worker, WorkerOperation::HealthCheck).await;
        assert_eq!(checked.unwrap_err().code, FailureCode::ProviderUnavailable);
        house.world.heal_provider();
        house.sweep(&mut engine).await;
        assert_eq!(house.fleet.find_worker(user, worker).await.unwrap().worker.reason, None);
        let words = house.words_after(user, before).await;
        assert!(words.iter().all(|word| word.starts_with("worker ready")), "{words:?}");
        running.stop().await;
    }

    async fn who_died_is_known_before_who_hangs_was_waited_for(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let workers = crowd(&house, user, 6).await;
        let mut engine = house.engine();
        house.world.crash(workers[0]);
        house.world.hang(workers[1]);
        let known = async {
            while house.stands(user, workers[0]).await != "error unloaded" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(house.stands(user, workers[1]).await, "ready loaded", "nobody knows yet");
            house.world.let_go();
        };
        let (swept, ()) = tokio::join!(house.sweep(&mut engine), known);
        assert_eq!((swept.failed, swept.is_braked), (1, false));
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

    async fn those_that_are_due_a_little_later_come_into_the_same_sweep(database: &TestDatabase) {
        let (house, running) = House::running(database).await;
        let user = house.user().await;
        let workers = crowd(&house, user, 4).await;
        let mut engine = house.engine();
        assert_eq!(house.sweep(&mut engine).await.looked, 4);
        // Those that somebody asked a moment ago are not asked again.
        house.advance(Duration::from_secs(5));
        house.execute("UPDATE workers SET probe_at = 0 WHERE name = 'w0'").await;
        assert_eq!(engine.sweep().await.unwrap().looked, 1);
        // All fail, and are due at times of their own, as after looks of several instances: one sweep
        // sees them all, and doubts itself.
        house.advance(Duration::from_secs(20));
        house.execute("UPDATE workers SET probe_at = 0 WHERE name = 'w1'").await;
        workers.iter().for_each(|worker| house.world.cut(*worker, true));
        house.world.fail(Call::List, &[ProviderError::Unreachable("cut off".to_owned())]);
        let swept = engine.sweep().await.unwrap();
        assert_eq!((swept.looked, swept.failed, swept.is_braked), (4, 4, true));
        assert_eq!(standing(&house, user, &workers).await, ["ready loaded"; 4]);
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
        let asked = house.world.asked().0;
        house.world.panic_once();
        let task = house.engine().start(stop.clone());
        while house.world.asked().0 == asked {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // A sweep that panicked is not the last.
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
