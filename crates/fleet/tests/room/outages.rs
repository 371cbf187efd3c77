//! Providers in trouble: what waits for them, what is shown, and what is believed only when it is said twice.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_fleet::{Pace, ProviderError, ProviderKind, WorkerOperation, WorkerStatus};
use mainstay_testkit::{TestDatabase, each_database};

use crate::house::{House, Running, quick};
use crate::world::{Call, World};

fn down() -> ProviderError {
    ProviderError::Unreachable("503".to_owned())
}

fn gone() -> ProviderError {
    ProviderError::Gone("404".to_owned())
}

async fn of(database: &TestDatabase, kind: ProviderKind, pace: Pace) -> (House, Running, Id) {
    let house = House::with(database, World::new(kind), Arc::default(), pace).await;
    let running = house.run();
    let user = house.user().await;
    (house, running, user)
}

async fn reason(house: &House, user: Id, worker: Id) -> Option<String> {
    house.fleet.find_worker(user, worker).await.unwrap().worker.reason
}

each_database! {
    async fn an_operation_waits_for_its_provider_while_it_has_time(database: &TestDatabase) {
        let pace = Pace { outage: Duration::from_millis(20), ..quick() };
        let (house, running, user) = of(database, ProviderKind::Fly, pace).await;
        let worker = house.worker(user, "w").await;
        // More often than one attempt asks.
        house.world.fail(Call::Create, &vec![down(); 11]);
        house.operate(user, worker, WorkerOperation::Provision).await.unwrap();
        let alone = ProviderError::LeftAlone { retry_after: Duration::from_millis(30) };
        house.world.fail(Call::Stop, &[alone.clone(), alone, down()]);
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        assert_eq!(house.status(user, worker).await, WorkerStatus::Stopped);
        running.stop().await;
    }

    async fn what_keeps_an_operation_waiting_is_shown_until_it_goes_on(database: &TestDatabase) {
        let pace = Pace { outage: Duration::from_secs(30), ..quick() };
        let (house, running, user) = of(database, ProviderKind::Fly, pace).await;
        let busy = ProviderError::Throttled { retry_after: Duration::from_secs(20) };
        for error in [down(), busy] {
            let worker = house.worker(user, &error.to_string()).await;
            house.world.fail(Call::Create, &vec![error.clone(); 4]);
            let making = house.begin(user, worker, WorkerOperation::Provision).await.unwrap();
            house.until_put_off(making).await;
            assert_eq!(reason(&house, user, worker).await, Some(error.to_string()));
            house.world.heal_provider();
            house.advance(Duration::from_secs(31));
            house.fleet.wait_for_worker(user, worker, making).await.unwrap();
            assert_eq!(house.stands(user, worker).await, "ready");
            assert_eq!(reason(&house, user, worker).await, None);
            let words = house.words_after(user, 0).await;
            let last = words.len().saturating_sub(3);
            assert_eq!(words[last..], ["worker pending", "worker provisioning provision", "worker ready"]);
        }
        running.stop().await;
    }

    async fn what_kept_an_operation_waiting_is_not_shown_when_it_has_failed(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let worker = house.ready(user, "w").await;
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        house.world.fail(Call::Start, &vec![down(); 4]);
        let failure = house.operate(user, worker, WorkerOperation::Start).await.unwrap_err();
        assert_eq!(failure.detail, down().to_string());
        assert_eq!(house.stands(user, worker).await, "stopped");
        assert_eq!(reason(&house, user, worker).await, None, "nobody would take it back");
        running.stop().await;
    }

    async fn one_whose_operation_waits_is_looked_at_all_the_same(database: &TestDatabase) {
        let pace = Pace { outage: Duration::from_secs(30), ..quick() };
        let (house, running, user) = of(database, ProviderKind::Fly, pace).await;
        for (kind, then) in [
            (WorkerOperation::Stop, "stopped unloaded"),
            (WorkerOperation::Destroy, "pending unloaded"),
        ] {
            let worker = house.ready(user, kind.name()).await;
            house.loaded(user, kind.name(), worker).await;
            let call = if kind == WorkerOperation::Stop { Call::Stop } else { Call::Destroy };
            house.world.fail(call, &vec![down(); 4]);
            let operation = house.begin(user, worker, kind).await.unwrap();
            house.until_put_off(operation).await;
            let mut engine = house.engine();
            assert_eq!(house.sweep(&mut engine).await.looked, 1);
            assert_eq!(house.stands(user, worker).await, "ready loaded", "it answers");
            assert_eq!(reason(&house, user, worker).await, Some(down().to_string()), "it waits");
            let before = house.told(user).await.len();
            house.world.crash(worker);
            house.sweep(&mut engine).await;
            assert_eq!(house.stands(user, worker).await, "error unloaded");
            let told = reason(&house, user, worker).await.unwrap();
            assert!(told.contains("connection refused"), "{told}");
            let wanted = [format!("worker error {}", kind.name()), "net unloaded".to_owned()];
            assert_eq!(house.words_after(user, before).await, wanted);
            house.world.heal_provider();
            house.advance(Duration::from_secs(31));
            house.fleet.wait_for_worker(user, worker, operation).await.unwrap();
            assert_eq!(house.stands(user, worker).await, then);
        }
        running.stop().await;
    }

    async fn one_that_something_is_done_to_is_left_to_whoever_does_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let running = house.run();
        let worker = house.ready(user, "w").await;
        running.stop().await;
        // What was shown before it began is not what it waits for.
        house.world.fail(Call::List, &[down(), down()]);
        let mut engine = house.engine();
        house.sweep(&mut engine).await;
        assert_eq!(reason(&house, user, worker).await, Some(down().to_string()));
        house.begin(user, worker, WorkerOperation::Stop).await.unwrap();
        house.world.cut(worker, true);
        assert_eq!(house.sweep(&mut engine).await.looked, 0);
        assert_eq!(house.stands(user, worker).await, "ready");
    }

    async fn a_provider_is_asked_while_the_agent_says_nothing(database: &TestDatabase) {
        let silence = Duration::from_millis(20);
        let (house, running, user) = of(database, ProviderKind::Fly, Pace { silence, ..quick() }).await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "n", worker).await;
        // What is sent to a machine that is no more is lost, not refused.
        house.world.hang(worker);
        house.world.vanish(worker);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        let told = reason(&house, user, worker).await.unwrap();
        assert!(told.starts_with("the machine no longer exists"), "{told}");
        running.stop().await;
    }

    async fn a_silent_agent_is_told_with_what_its_provider_says(database: &TestDatabase) {
        let (silence, probe) = (Duration::from_millis(20), Duration::from_millis(400));
        let pace = Pace { silence, probe, ..quick() };
        let (house, running, user) = of(database, ProviderKind::Fly, pace).await;
        let worker = house.ready(user, "w").await;
        house.world.hang(worker);
        house.sweep(&mut house.engine()).await;
        assert_eq!(house.stands(user, worker).await, "error");
        let told = reason(&house, user, worker).await.unwrap();
        assert!(told.starts_with("nobody answered") && told.contains("fly says"), "{told}");
        running.stop().await;
    }

    async fn what_keeps_a_provider_from_answering_is_known_until_it_answers(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let trouble = || house.fleet.providers().of(ProviderKind::Fly).unwrap().trouble();
        let worker = house.ready(user, "w").await;
        assert_eq!(trouble(), None);
        let denied = ProviderError::Denied("401".to_owned());
        let alone = ProviderError::LeftAlone { retry_after: Duration::from_mins(10) };
        house.world.fail(Call::Stop, std::slice::from_ref(&denied));
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap_err();
        let told = trouble().unwrap();
        assert_eq!((told.code, &told.detail), ("denied", &denied.to_string()));
        house.world.fail(Call::Stop, &[alone]);
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap_err();
        assert_eq!(trouble(), Some(told), "why it is left alone is told, and since when it is so");
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        assert_eq!(trouble(), None);
        running.stop().await;
    }

    async fn trouble_of_fly_is_shown_although_the_agent_answers(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "n", worker).await;
        let mut engine = house.engine();
        let before = house.told(user).await.len();
        let denied = ProviderError::Denied("401".to_owned());
        house.world.fail(Call::List, std::slice::from_ref(&denied));
        house.sweep(&mut engine).await;
        assert_eq!(reason(&house, user, worker).await, Some(denied.to_string()));
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        house.sweep(&mut engine).await;
        assert_eq!(reason(&house, user, worker).await, Some(denied.to_string()), "not asked yet");
        house.advance(Duration::from_secs(11));
        house.sweep(&mut engine).await;
        assert_eq!(reason(&house, user, worker).await, None);
        assert_eq!(house.words_after(user, before).await, Vec::<String>::new());
        house.world.fail(Call::Look, &[down()]);
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!(reason(&house, user, worker).await, Some(down().to_string()));
        running.stop().await;
    }

    async fn what_the_provider_says_stands_beside_the_silence_of_the_agent(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let (one, other) = (house.ready(user, "w").await, house.ready(user, "v").await);
        let mut engine = house.engine();
        house.world.crash(one);
        house.sweep(&mut engine).await;
        let told = reason(&house, user, one).await.unwrap();
        assert!(told.contains("connection refused; fly says that its machine is failed"), "{told}");
        house.world.crash(other);
        house.world.fail(Call::Look, &vec![down(); 9]);
        house.sweep(&mut engine).await;
        let told = reason(&house, user, other).await.unwrap();
        let wanted = format!("connection refused; fly does not say how its machine is: {}", down());
        assert!(told.contains(&wanted), "{told}");
        running.stop().await;
    }

    async fn gone_is_believed_only_when_it_is_said_twice(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Sprite, quick()).await;
        let worker = house.ready(user, "w").await;
        house.loaded(user, "n", worker).await;
        let mut engine = house.engine();
        house.world.fail(Call::Look, &[gone()]);
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "ready loaded");
        house.world.fail(Call::Stop, &[gone()]);
        house.operate(user, worker, WorkerOperation::Stop).await.unwrap();
        house.operate(user, worker, WorkerOperation::Start).await.unwrap();
        house.world.fail(Call::Look, &[gone(), gone()]);
        house.sweep(&mut engine).await;
        assert_eq!(house.stands(user, worker).await, "error unloaded");
        running.stop().await;
    }

    async fn the_brake_tells_everybody_once(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let mut workers = Vec::new();
        for number in 0..3 {
            workers.push(house.ready(user, &format!("w{number}")).await);
        }
        for call in [Call::List, Call::Look] {
            house.world.fail(call, &vec![down(); 50]);
        }
        workers.iter().for_each(|worker| house.world.cut(*worker, true));
        let mut engine = house.engine();
        for _ in 0..3 {
            house.sweep(&mut engine).await;
        }
        let told = house.told_everybody(user).await;
        let told: Vec<_> =
            told.iter().filter(|event| event["type"] == "fleet_mass_failure").collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((&told[0]["asked"], &told[0]["failed"]), (&3.into(), &3.into()));
        running.stop().await;
    }

    async fn that_most_fail_is_told_to_whoever_comes_later_until_it_is_over(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let mut workers = Vec::new();
        for number in 0..3 {
            workers.push(house.ready(user, &format!("w{number}")).await);
        }
        let cut = |is_cut| workers.iter().for_each(|worker| house.world.cut(*worker, is_cut));
        let fail = || [Call::List, Call::Look].map(|call| house.world.fail(call, &vec![down(); 50]));
        let told = async || {
            let told = house.told_everybody(user).await;
            let told = told.iter().map(|event| event["type"].as_str().unwrap().to_owned());
            told.filter(|kind| kind.starts_with("fleet_mass")).collect::<Vec<_>>()
        };
        let (mut engine, mut other) = (house.engine(), house.engine());
        house.sweep(&mut engine).await;
        assert_eq!(house.fleet.mass_failure().await.unwrap(), None);
        cut(true);
        fail();
        house.sweep(&mut engine).await;
        let failure = house.fleet.mass_failure().await.unwrap().unwrap();
        assert_eq!((failure.asked, failure.failed), (3, 3));
        // Another instance, which finds nobody due, knows nothing against it.
        house.execute("UPDATE workers SET probe_at = 9000000000000000").await;
        other.sweep().await.unwrap();
        assert_eq!(house.fleet.mass_failure().await.unwrap(), Some(failure));
        cut(false);
        house.world.heal_provider();
        house.sweep(&mut engine).await;
        assert_eq!(house.fleet.mass_failure().await.unwrap(), None);
        let over = ["fleet_mass_failure", "fleet_mass_failure_over"];
        assert_eq!(told().await, over);
        // Whoever pulled it died: what nobody holds any more is not shown, and let go by whoever comes.
        cut(true);
        fail();
        house.sweep(&mut house.engine()).await;
        assert!(house.fleet.mass_failure().await.unwrap().is_some());
        house.execute("UPDATE fleet_brake SET seen_at = 1").await;
        assert_eq!(house.fleet.mass_failure().await.unwrap(), None);
        house.execute("UPDATE workers SET probe_at = 9000000000000000").await;
        other.sweep().await.unwrap();
        assert_eq!(told().await, [over, over].concat());
        running.stop().await;
    }

    async fn the_word_of_fly_is_kept_by_one_list_of_all_and_tells_nobody(database: &TestDatabase) {
        let (house, running, user) = of(database, ProviderKind::Fly, quick()).await;
        let worker = house.ready(user, "w").await;
        let word = async || house.fleet.find_worker(user, worker).await.unwrap().worker.provider_state;
        let mut engine = house.engine();
        house.execute("UPDATE workers SET provider_state = 'of old'").await;
        let before = house.told(user).await.len();
        house.sweep(&mut engine).await;
        assert_eq!(word().await.as_deref(), Some("running"));
        assert_eq!(house.told(user).await.len(), before, "it is no change of the worker");
        // What a list leaves out is not gone, and its word stays.
        house.execute("UPDATE workers SET provider_state = 'of old'").await;
        house.world.hide_machines();
        house.advance(Duration::from_secs(11));
        house.sweep(&mut engine).await;
        assert_eq!((house.stands(user, worker).await, word().await.as_deref()), ("ready".to_owned(), Some("of old")));
        // Where it comes back, it has a word again.
        house.world.heal_provider();
        house.world.cut(worker, true);
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!((house.stands(user, worker).await, word().await), ("error".to_owned(), None));
        house.world.cut(worker, false);
        house.operate(user, worker, WorkerOperation::HealthCheck).await.unwrap();
        assert_eq!((house.stands(user, worker).await, word().await.as_deref()), ("ready".to_owned(), Some("running")));
        running.stop().await;
    }

    async fn looks_are_spread(database: &TestDatabase) {
        let pace = Pace { spread: Duration::from_millis(800), ..quick() };
        let (house, running, user) = of(database, ProviderKind::Fly, pace).await;
        for number in 0..12 {
            house.ready(user, &format!("w{number}")).await;
        }
        // Where nobody goes on for a second, all are due at once: then it is looked again.
        let mut spread = Duration::ZERO;
        for _ in 0..5 {
            assert_eq!(house.sweep(&mut house.engine()).await.looked, 12);
            let asked = house.world.last_asked(12);
            spread = spread.max(asked.last().unwrap().since(asked[0]));
            if spread >= Duration::from_millis(200) {
                break;
            }
        }
        assert!(spread >= Duration::from_millis(200), "{spread:?}");
        running.stop().await;
    }
}
