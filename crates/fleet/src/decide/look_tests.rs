use super::*;
use crate::decide::begin;
use crate::decide::fixture::{NOW, crew, id, net as a_net};
use crate::model::{NetOperation, WorkerOperation};

fn health(boot: u32, nets: &[(u32, i64)]) -> AgentHealth {
    AgentHealth {
        agent: crate::agents::answer::AGENT.to_owned(),
        status: "ok".to_owned(),
        worker_id: id(100),
        boot_id: id(boot),
        generation: 5,
        policy: None,
        loaded_nets: nets
            .iter()
            .map(|&(number, generation)| LoadedNet { id: id(number), generation })
            .collect(),
        checks_run: 0,
        uptime_s: 1,
    }
}

fn founds() -> Vec<(&'static str, Look)> {
    let word = || "x".to_owned();
    vec![
        ("well", Look::answered(health(400, &[(1, 2)]))),
        ("lost", Look::Lost(word())),
        ("gone", Look::Gone(word())),
        ("asleep", Look::Asleep { provider_state: word() }),
        ("cold", Look::Cold { provider_state: word() }),
        ("unknown", Look::Unknown(word())),
    ]
}

/// The look is asked for: of a crew that nothing else is done to.
fn asked(crew: &Crew) -> Crew {
    let mut next = begin::worker(crew, WorkerOperation::HealthCheck, id(9), NOW).unwrap();
    next.worker.generation += 1;
    next
}

#[test]
fn the_table_of_statuses() {
    use WorkerStatus::{Error, Ready, Stopped};
    for status in [Ready, Stopped, Error] {
        for (word, found) in founds() {
            for asker in [Asker::Loop, Asker::Person] {
                let state = if status == Ready { LoadState::Loaded } else { LoadState::Unloaded };
                let resting = crew(status, &[a_net(1, state)]);
                let before = if asker == Asker::Person { asked(&resting) } else { resting };
                let after = look(&before, &before, &found, asker, NOW).unwrap().crew;
                assert_eq!(before.check_step(&after), Ok(()), "{status:?} {word}");
                let wanted = match (status, word, asker) {
                    (Ready, "lost" | "gone", _) | (Stopped, "gone", _) => Error,
                    (Error, "well", Asker::Person) => Ready,
                    _ => status,
                };
                assert_eq!(after.worker.status, wanted, "{status:?} {word} {asker:?}");
                let is_loaded = after.nets[0].load_state == LoadState::Loaded;
                let stays = status == Ready && matches!(word, "well" | "asleep" | "unknown");
                assert_eq!(is_loaded, stays, "{status:?} {word} {asker:?}");
                assert_eq!(after.worker.operation, None);
                let failed = after.worker.ended.is_some_and(|ended| ended.failure.is_some());
                assert_eq!(failed, asker == Asker::Person && word == "unknown", "{word}");
                let lost = status == Error || word == "gone" && status != Error;
                if lost && word == "gone" && status != Error {
                    assert_eq!(after.worker.machine, None);
                }
            }
        }
    }
}

#[test]
fn a_net_that_is_unloaded_meanwhile_ends_with_its_worker_unavailable() {
    for found in [Look::Lost("x".to_owned()), Look::Gone("x".to_owned())] {
        let resting = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
        let before = begin::net(&resting, id(1), NetOperation::Unload, id(9), NOW).unwrap();
        let after = look(&before, &before, &found, Asker::Loop, NOW).unwrap().crew;
        let ended = after.nets[0].ended.clone().and_then(|ended| ended.failure).unwrap();
        assert_eq!(ended.code, FailureCode::WorkerUnavailable, "{found:?}");
    }
}

#[test]
fn what_agrees_changes_nothing_but_when_it_was_seen() {
    let before =
        crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded), a_net(2, LoadState::Unloaded)]);
    let found = Look::answered(health(400, &[(1, 2)]));
    let after = look(&before, &before, &found, Asker::Loop, NOW).unwrap();
    let mut wanted = before.clone();
    wanted.worker.last_seen_at = Some(NOW);
    assert_eq!(after, Reconciled { crew: wanted, strays: vec![] });
}

#[test]
fn each_net_is_what_the_agent_says() {
    use LoadState::{Error, Loaded, Unloaded};
    // The state and what was cast, what the agent holds, and what becomes of it; whether that is a stray.
    for (state, cast, held, wanted, is_stray) in [
        (Loaded, Some(2), Some(2), Loaded, false),
        (Loaded, Some(2), None, Unloaded, false),
        (Loaded, Some(2), Some(1), Unloaded, true),
        (Unloaded, None, None, Unloaded, false),
        (Unloaded, None, Some(2), Unloaded, true),
        (Unloaded, Some(2), Some(2), Loaded, false),
        (Error, Some(2), Some(2), Loaded, false),
        (Error, Some(2), None, Error, false),
        (Error, None, Some(2), Error, true),
    ] {
        let mut one = a_net(1, state);
        one.cast_generation = cast;
        let before = crew(WorkerStatus::Ready, &[one, a_net(2, Loaded)]);
        let mut nets = vec![(2, 2)];
        nets.extend(held.map(|generation| (1, generation)));
        let found = Look::answered(health(400, &nets));
        let after = look(&before, &before, &found, Asker::Loop, NOW).unwrap();
        let told = format!("{state:?} {cast:?} {held:?}");
        assert_eq!(before.check_step(&after.crew), Ok(()), "{told}");
        assert_eq!(after.crew.nets[0].load_state, wanted, "{told}");
        assert_eq!(after.crew.nets[1], before.nets[1], "net by net: {told}");
        assert_eq!(!after.strays.is_empty(), is_stray, "{told}");
    }
}

#[test]
fn another_run_of_the_agent_has_in_memory_only_what_it_was_given_itself() {
    let nets = [1, 2, 3].map(|number| a_net(number, LoadState::Loaded));
    let before = crew(WorkerStatus::Ready, &nets);
    // The first was loaded since; of the second it holds another number, and of the third nothing.
    let found = Look::answered(health(401, &[(1, 2), (2, 1)]));
    let after = look(&before, &before, &found, Asker::Loop, NOW).unwrap();
    let states = after.crew.nets.iter().map(|net| (net.load_state, net.cast_generation));
    let lost = (LoadState::Unloaded, None);
    assert_eq!(states.collect::<Vec<_>>(), [(LoadState::Loaded, Some(2)), lost, lost]);
    assert_eq!(after.crew.worker.boot_id, Some(id(401)));
    assert_eq!(after.strays, [LoadedNet { id: id(2), generation: 1 }]);
    let again = look(&after.crew, &after.crew, &found, Asker::Loop, NOW).unwrap();
    assert_eq!(again.crew.nets, after.crew.nets, "and the next look changes nothing");
}

#[test]
fn what_is_loaded_on_one_that_was_cold_stays_loaded() {
    let before =
        crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded), a_net(2, LoadState::Loaded)]);
    let cold = Look::Cold { provider_state: "cold".to_owned() };
    let slept = look(&before, &before, &cold, Asker::Loop, NOW).unwrap().crew;
    assert_eq!((slept.worker.boot_id, slept.nets[0].cast_generation), (None, None));
    // The load wakes it, and another run begins.
    let mut loaded = slept.clone();
    loaded.nets[0].cast_generation = Some(6);
    loaded.nets[0].becomes(LoadState::Loaded, None, NOW);
    let found = Look::answered(health(401, &[(1, 6)]));
    let after = look(&loaded, &loaded, &found, Asker::Loop, NOW).unwrap();
    assert_eq!((after.crew.nets, after.strays), (loaded.nets, vec![]));
    assert_eq!(after.crew.worker.boot_id, Some(id(401)));
}

#[test]
fn an_agent_of_another_order_is_not_ours() {
    let before = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    for (worker, generation) in [(100, 4), (100, 6), (101, 5)] {
        let mut theirs = health(400, &[(1, 2)]);
        (theirs.worker_id, theirs.generation) = (id(worker), generation);
        let after = look(&before, &before, &Look::answered(theirs), Asker::Loop, NOW).unwrap();
        assert_eq!(after.crew.worker.status, WorkerStatus::Error, "{worker} {generation}");
        assert_eq!(after.strays, []);
    }
    let failed = asked(&crew(WorkerStatus::Error, &[]));
    let mut theirs = health(400, &[]);
    theirs.generation = 4;
    let after = look(&failed, &failed, &Look::answered(theirs), Asker::Person, NOW).unwrap();
    assert_eq!(after.crew.worker.status, WorkerStatus::Error, "nor does it bring the worker back");
}

#[test]
fn who_asks_how_a_worker_in_error_is_reads_what_is_wrong_now() {
    let mut failed = crew(WorkerStatus::Error, &[]);
    failed.worker.reason = Some("what once was".to_owned());
    let asleep = "its machine is x: asking its agent would wake it, so nobody knows whether that is well; \
                  check it again while it runs, or retry it";
    let cold = "its machine is x, and what its agent had in memory is lost; retry it";
    let of = |worker, generation| {
        let mut theirs = health(400, &[]);
        (theirs.worker_id, theirs.generation) = (id(worker), generation);
        Look::answered(theirs)
    };
    let foreign = format!("the agent that answers is of another worker ({})", id(101));
    let word = || "x".to_owned();
    for (found, reason) in [
        (Look::answered(health(400, &[])), None),
        (Look::Lost(word()), Some("x")),
        (Look::Gone(word()), Some("x")),
        (Look::Asleep { provider_state: word() }, Some(asleep)),
        (Look::Cold { provider_state: word() }, Some(cold)),
        (Look::Unknown(word()), Some("what once was")),
        (of(100, 4), Some("the agent that answers is of generation 4, and 5 was ordered")),
        (of(101, 5), Some(foreign.as_str())),
    ] {
        let asked = asked(&failed);
        let after = look(&asked, &asked, &found, Asker::Person, NOW).unwrap().crew.worker;
        assert_eq!(after.reason.as_deref(), reason, "{found:?}");
        assert_eq!(after.machine, failed.worker.machine, "a retry ends what is left of it");
        let silent = look(&failed, &failed, &found, Asker::Loop, NOW).unwrap().crew.worker;
        assert_eq!(silent.reason, failed.worker.reason, "nobody asked: {found:?}");
    }
    // Of one that has no machine nothing was asked: why it has none stays.
    failed.worker.machine = None;
    let asked = asked(&failed);
    let found = Look::Gone("there is no machine".to_owned());
    let after = look(&asked, &asked, &found, Asker::Person, NOW).unwrap().crew.worker;
    assert_eq!(after.reason.as_deref(), Some("what once was"));
}

#[test]
fn a_worker_that_has_changed_since_is_left_alone() {
    let then = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    let mut now = then.clone();
    now.worker.generation += 1;
    for (word, found) in founds() {
        assert_eq!(look(&then, &now, &found, Asker::Loop, NOW), None, "{word}");
    }
}

#[test]
fn a_net_that_has_changed_since_is_left_alone() {
    let then =
        crew(WorkerStatus::Ready, &[a_net(1, LoadState::Unloaded), a_net(2, LoadState::Loaded)]);
    let mut now = then.clone();
    now.nets[0] = a_net(1, LoadState::Loaded);
    now.nets[0].generation += 2;
    now.nets.push(a_net(3, LoadState::Loaded));
    for found in [health(400, &[(2, 2)]), health(401, &[(1, 1), (3, 1)])] {
        let after = look(&then, &now, &Look::answered(found), Asker::Loop, NOW).unwrap();
        assert_eq!(after.crew.nets[0], now.nets[0]);
        assert_eq!(after.crew.nets[2], now.nets[2]);
        assert_eq!(after.strays, []);
    }
    let cold = Look::Cold { provider_state: "cold".to_owned() };
    let after = look(&then, &now, &cold, Asker::Loop, NOW).unwrap();
    assert_eq!(after.crew.nets[0], now.nets[0]);
}

#[test]
fn a_net_that_is_being_loaded_is_left_alone() {
    let ready = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    let busy = begin::net(&ready, id(1), NetOperation::Load, id(9), NOW).unwrap();
    let after =
        look(&busy, &busy, &Look::answered(health(401, &[(1, 1)])), Asker::Loop, NOW).unwrap();
    assert_eq!((&after.crew.nets, after.strays), (&busy.nets, vec![]));
}

#[test]
fn what_was_lost_for_a_while_and_still_holds_its_nets_has_them_again() {
    let ready = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    let lost = look(&ready, &ready, &Look::Lost("x".to_owned()), Asker::Loop, NOW).unwrap().crew;
    assert_eq!(lost.nets[0].load_state, LoadState::Unloaded);
    let found = Look::answered(health(400, &[(1, 2)]));
    let asked = asked(&lost);
    let after = look(&asked, &asked, &found, Asker::Person, NOW).unwrap();
    assert_eq!(asked.check_step(&after.crew), Ok(()));
    assert_eq!(after.crew.worker.status, WorkerStatus::Ready);
    assert_eq!(after.crew.nets[0].load_state, LoadState::Loaded);
}

#[test]
fn a_net_that_nobody_knows_is_a_stray() {
    let ready = crew(WorkerStatus::Ready, &[]);
    let found = Look::answered(health(400, &[(8, 1)]));
    let after = look(&ready, &ready, &found, Asker::Loop, NOW).unwrap();
    assert_eq!(after.strays, [LoadedNet { id: id(8), generation: 1 }]);
}

#[test]
fn trouble_of_the_provider_is_a_warning_until_it_is_over() {
    for status in [WorkerStatus::Ready, WorkerStatus::Stopped] {
        let before = crew(status, &[]);
        let trouble = Look::Unknown("the provider can't be reached".to_owned());
        let warned = look(&before, &before, &trouble, Asker::Loop, NOW).unwrap().crew;
        assert_eq!(warned.worker.status, status);
        assert_eq!(warned.worker.reason.as_deref(), Some("the provider can't be reached"));
        assert!(!warned.worker.is_told_apart(&before.worker), "nothing has changed");
        let asleep = Look::Asleep { provider_state: "warm".to_owned() };
        let over = look(&warned, &warned, &asleep, Asker::Loop, NOW).unwrap().crew;
        assert_eq!(over.worker.reason, None);
    }
}

#[test]
fn the_word_of_the_provider_is_kept_whenever_it_was_asked() {
    let mut before = crew(WorkerStatus::Ready, &[]);
    for (found, word) in [
        (Look::Asleep { provider_state: "warm".to_owned() }, "warm"),
        (Look::answered(health(400, &[])).while_it_is("running".to_owned()), "running"),
        (Look::Cold { provider_state: "cold".to_owned() }, "cold"),
        (Look::answered(health(400, &[])), "cold"),
        (Look::answered(health(400, &[])).while_it_is("running".to_owned()), "running"),
    ] {
        before = look(&before, &before, &found, Asker::Loop, NOW).unwrap().crew;
        assert_eq!(before.worker.provider_state.as_deref(), Some(word), "{found:?}");
    }
    let mut theirs = health(400, &[]);
    theirs.generation = 4;
    let found = Look::answered(theirs).while_it_is("running".to_owned());
    let lost = look(&before, &before, &found, Asker::Loop, NOW).unwrap().crew;
    assert_eq!(lost.worker.provider_state, None, "not of one whose agent is not ours");
}

#[test]
fn the_loop_is_heard_under_an_operation_only_while_that_waits() {
    let resting = crew(WorkerStatus::Ready, &[a_net(1, LoadState::Loaded)]);
    let mut busy = begin::worker(&resting, WorkerOperation::Stop, id(9), NOW).unwrap();
    for (word, found) in founds() {
        assert_eq!(look(&busy, &busy, &found, Asker::Loop, NOW), None, "{word}");
    }
    busy.worker.reason = Some("503".to_owned());
    for (word, found) in founds() {
        let after = look(&busy, &busy, &found, Asker::Loop, NOW).unwrap().crew;
        assert_eq!(busy.check_step(&after), Ok(()), "{word}");
        assert_eq!(after.worker.operation, busy.worker.operation, "{word}");
        let is_lost = matches!(word, "lost" | "gone");
        assert_eq!(after.worker.status == WorkerStatus::Error, is_lost, "{word}");
        let reason = if is_lost { "x" } else { "503" };
        assert_eq!(after.worker.reason.as_deref(), Some(reason), "{word}");
    }
}
