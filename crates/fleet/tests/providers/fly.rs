//! What is Fly's own when all is well: its pace, its leases, its ways of stopping and of ending.

use std::sync::Arc;
use std::time::Duration;

use mainstay_fleet::agents::Agents as _;
use mainstay_fleet::providers::fly::FlyPace;
use mainstay_fleet::providers::{
    Conflict, Departure, Fly, HostStatus, Machine, MachineState, Order, Provider as _,
    ProviderError, Rest,
};
use mainstay_standins::fly::{ErrorShape, FlyOptions, FlyServer};
use mainstay_testkit::FakeClock;

use crate::{PATIENCE, agents, door, fly, fly_options, fly_pair, fly_server, fly_settings, order};

pub(crate) async fn running(provider: &Fly, order: &Order) -> Machine {
    let made = provider.create(order).await.unwrap();
    let seen = provider.wait(&made, Rest::Running, PATIENCE).await.unwrap();
    assert_eq!(seen.state, MachineState::Running);
    seen.machine
}

pub(crate) fn count(server: &FlyServer, line: &str) -> usize {
    server.asked().iter().filter(|asked| asked.ends_with(line)).count()
}

#[tokio::test]
async fn every_change_is_made_under_a_lease_that_is_given_back() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    provider.start(&machine).await.unwrap();
    provider.destroy(&machine).await.unwrap();
    let change = |method: &str, path: &str| {
        matches!(
            (method, path.rsplit('/').next().unwrap_or_default()),
            ("POST", "start" | "stop") | ("DELETE", _)
        )
    };
    let questions = server.questions();
    let changes: Vec<_> =
        questions.iter().filter(|asked| change(&asked.method, &asked.line())).collect();
    let told: Vec<String> = changes.iter().map(|asked| asked.line()).collect();
    for wanted in ["/stop", "/start", "/lease", machine.id.as_str()] {
        assert!(told.iter().any(|line| line.ends_with(wanted)), "{wanted}: {told:?}");
    }
    for question in changes {
        assert!(question.header("fly-machine-lease-nonce").is_some(), "{question}");
    }
    let (taken, given_back) = (
        questions
            .iter()
            .filter(|one| one.method == "POST" && one.line().ends_with("/lease"))
            .count(),
        questions
            .iter()
            .filter(|one| one.method == "DELETE" && one.line().ends_with("/lease"))
            .count(),
    );
    assert_eq!((taken, given_back), (3, 2), "the last went with its machine");
}

#[tokio::test]
async fn a_machine_that_somebody_else_holds_is_left_alone() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    server.lease_away(&machine.id, 30);
    for outcome in [
        provider.stop(&machine).await,
        provider.start(&machine).await.map(drop),
        provider.destroy(&machine).await.map(drop),
    ] {
        let Err(ProviderError::Conflict { kind, detail }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(kind, Conflict::Leased);
        assert!(detail.contains("lease currently held"), "{detail}");
    }
    assert_eq!(count(&server, "/stop"), 0);
}

#[tokio::test]
async fn a_machine_that_we_hold_ourselves_is_taken_over_and_never_told_as_somebody_elses() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    // Taken, and the answer never came: whoever asked has nothing to give back.
    server.switch(|switches| switches.leases_lost = 1);
    let error = provider.stop(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Ambiguous(_)), "{error}");
    provider.stop(&machine).await.unwrap();
    assert_eq!(count(&server, "/stop"), 1);
    let machine = running(&provider, &order(2)).await;
    server.switch(|switches| switches.leases_lost = 1);
    provider.destroy(&machine).await.unwrap();
}

#[tokio::test]
async fn a_stop_is_answered_before_it_is_done_and_the_wait_names_the_instance() {
    let options = FlyOptions { stop_reads: 6, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let provider = fly(fly_settings(&server, &options));
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Stopping);
    let seen = provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    assert_eq!(seen.state, MachineState::Stopped);
    let questions = server.questions();
    let wait = questions.iter().rfind(|asked| asked.line().ends_with("/wait")).unwrap();
    assert_eq!(wait.parameter("state"), Some("stopped"));
    assert_eq!(wait.parameter("instance_id"), machine.run.as_deref());
}

#[tokio::test]
async fn a_wait_that_runs_out_says_what_is_there() {
    let options = FlyOptions { start_reads: 100_000, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let provider = fly(fly_settings(&server, &options));
    let machine = provider.create(&order(1)).await.unwrap();
    let limit = Duration::from_millis(900);
    let seen = provider.wait(&machine, Rest::Running, limit).await.unwrap();
    assert_eq!((seen.state, seen.provider_state.as_str()), (MachineState::Starting, "created"));
}

/// What Fly says of itself: a stop lingers for up to 8 s.
#[test]
fn a_start_is_tried_for_15_seconds() {
    let pace = FlyPace::default();
    assert_eq!(pace.start_for, Duration::from_secs(15));
    assert!(pace.start_every <= Duration::from_millis(250));
}

#[tokio::test]
async fn no_wait_is_longer_than_fly_takes() {
    let options = FlyOptions { start_reads: 100_000, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let provider = fly(fly_settings(&server, &options));
    let machine = provider.create(&order(1)).await.unwrap();
    let waiting = provider.wait(&machine, Rest::Running, Duration::from_mins(10));
    let asked = async {
        loop {
            let questions = server.questions();
            match questions.into_iter().find(|asked| asked.line().ends_with("/wait")) {
                Some(wait) => return wait,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    tokio::select! {
        wait = asked => assert_eq!(wait.parameter("timeout"), Some("60")),
        ended = waiting => panic!("it asked for nothing: {ended:?}"),
    }
}

#[tokio::test]
async fn a_start_is_tried_again_while_the_machine_lingers_after_its_stop() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    let seen = provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    assert_eq!(seen.provider_state, "stopped", "it says so, and refuses to start all the same");
    provider.start(&machine).await.unwrap();
    assert_eq!(count(&server, "/start"), 3);
}

#[tokio::test]
async fn a_start_is_tried_again_in_whatever_shape_it_is_refused() {
    for shape in ErrorShape::ALL {
        let options = FlyOptions { shape, ..fly_options() };
        let server = fly_server(options.clone()).await;
        let provider = fly(fly_settings(&server, &options));
        let machine = running(&provider, &order(1)).await;
        provider.stop(&machine).await.unwrap();
        provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
        provider.start(&machine).await.unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        assert_eq!(count(&server, "/start"), 3, "{shape:?}");
    }
}

#[tokio::test]
async fn a_start_that_is_refused_for_too_long_is_a_conflict() {
    let options = FlyOptions { lingering_starts: 1_000, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    settings.pace.start_for = Duration::from_secs(4);
    let provider = fly(settings);
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    let refused = provider.start(&machine).await.unwrap_err();
    let is_lingering = matches!(refused, ProviderError::Conflict { kind: Conflict::Lingering, .. });
    assert!(is_lingering, "{refused}");
    assert!(refused.to_string().contains("still active"), "{refused}");
}

#[tokio::test]
async fn only_what_is_asked_for_is_listed() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    running(&provider, &order(2)).await;
    let before = server.questions().len();
    let listed = provider.list_of(order(1).worker).await.unwrap();
    assert_eq!(listed.iter().map(|seen| &seen.machine.id).collect::<Vec<_>>(), [&machine.id]);
    provider.answers().await.unwrap();
    let asked: Vec<_> = server.questions().drain(before..).collect();
    let of: Vec<_> = asked.iter().map(|one| one.parameter("metadata.mainstay_worker")).collect();
    let worker = order(1).worker.to_string();
    assert_eq!(of, [Some(worker.as_str()), Some("nobody")]);
    server.switch(|switches| switches.no_app = true);
    let error = provider.answers().await.unwrap_err();
    assert!(error.to_string().contains("FLY_APP"), "{error}");
}

#[tokio::test]
async fn a_start_from_a_state_that_has_none_is_not_tried_again() {
    let options = FlyOptions { stop_reads: 100_000, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let provider = fly(fly_settings(&server, &options));
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    let refused = provider.start(&machine).await.unwrap_err();
    assert!(matches!(refused, ProviderError::Conflict { kind: Conflict::State, .. }), "{refused}");
    assert!(refused.to_string().contains("from current state"), "{refused}");
    assert_eq!(count(&server, "/start"), 1);
}

#[tokio::test]
async fn only_a_machine_that_lingers_is_tried_again_by_a_start() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    let before = server.asked().len();
    server.switch(|switches| switches.everything = Some((503, "boom".to_owned())));
    let refused = provider.start(&machine).await.unwrap_err();
    assert!(matches!(refused, ProviderError::Unreachable(_)), "{refused}");
    assert_eq!(server.asked().len(), before + 1, "{:?}", server.asked());
}

/// Somebody else uses the same app.
#[tokio::test]
async fn a_limit_with_its_time_is_kept_to() {
    let options = fly_options();
    // However long this takes, no time passes there.
    let server = FlyServer::start(options.clone(), Arc::new(FakeClock::new())).await.unwrap();
    let (one, other) = (fly_settings(&server, &options), fly_settings(&server, &options));
    let (one, other) = (fly(one), fly(other));
    let machine = running(&one, &order(1)).await;
    server.switch(|switches| switches.retry_after = Some(7));
    let mut errors = Vec::new();
    for _ in 0..7 {
        errors.extend(one.look(&machine).await.err());
        errors.extend(other.look(&machine).await.err());
    }
    let wanted = ProviderError::Throttled { retry_after: Duration::from_secs(7) };
    assert!(!errors.is_empty() && errors.iter().all(|error| *error == wanted), "{errors:?}");
}

#[tokio::test]
async fn we_keep_within_what_fly_takes() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    for _ in 0..12 {
        provider.look(&machine).await.unwrap();
    }
    for _ in 0..3 {
        provider.stop(&machine).await.unwrap();
    }
    assert!(server.asked().len() > 20);
}

#[tokio::test]
async fn a_host_out_of_reach_is_told_and_its_machine_runs_on_until_it_is_back() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    server.switch(|switches| switches.unreachable.push(machine.id.clone()));
    let seen = provider.look(&machine).await.unwrap();
    assert_eq!(seen.host, HostStatus::Unreachable);
    let refused = provider.stop(&machine).await.unwrap_err();
    assert!(matches!(refused, ProviderError::Unreachable(_)), "{refused}");
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Leaving));
    let leaving = provider.look(&machine).await.unwrap();
    assert_eq!(leaving.state, MachineState::Leaving);
    agents().health(&door(1, &machine)).await.expect("it runs, so its word must be fenced off");
    server.switch(|switches| switches.unreachable.clear());
    for _ in 0..3 {
        let _ = provider.look(&machine).await;
    }
    let gone = provider.look(&machine).await.unwrap_err();
    assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
    assert_eq!(agents().health(&door(1, &machine)).await.unwrap_err().code(), "unreachable");
}

#[tokio::test]
async fn a_machine_whose_lease_times_out_can_be_destroyed_all_the_same() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    server.switch(|switches| switches.leases_time_out = true);
    let refused = provider.stop(&machine).await.unwrap_err();
    assert!(matches!(refused, ProviderError::Ambiguous(_)), "{refused}");
    provider.destroy(&machine).await.unwrap();
    for _ in 0..3 {
        let _ = provider.look(&machine).await;
    }
    let gone = provider.look(&machine).await.unwrap_err();
    assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
}

#[tokio::test]
async fn a_crash_is_told_from_a_stop_with_its_reason() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    // It is started again by Fly as often as it was ordered, and then no more.
    for _ in 0..3 {
        server.crash(&machine.id, true).await;
        assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Starting);
        let seen = provider.wait(&machine, Rest::Running, PATIENCE).await.unwrap();
        assert_eq!(seen.state, MachineState::Running);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    server.crash(&machine.id, true).await;
    let seen = provider.look(&machine).await.unwrap();
    let exit = seen.exit.unwrap();
    assert_eq!((seen.state, seen.provider_state.as_str()), (MachineState::Failed, "stopped"));
    assert!(exit.oom_killed && !exit.requested && exit.code == Some(137), "{exit:?}");
}

#[tokio::test]
async fn what_is_ephemeral_is_gone_with_its_crash() {
    let (server, provider) = fly_pair().await;
    let order = Order { is_ephemeral: true, ..order(1) };
    let machine = running(&provider, &order).await;
    server.crash(&machine.id, false).await;
    let gone = provider.look(&machine).await.unwrap_err();
    assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
}
