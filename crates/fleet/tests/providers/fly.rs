//! What is Fly's own when all is well: its pace, its leases, its ways of stopping and of ending.

use std::time::Duration;

use mainstay_fleet::agents::Agents as _;
use mainstay_fleet::providers::{
    Conflict, Departure, Fly, HostStatus, Machine, MachineState, Order, Provider as _,
    ProviderError, Rest,
};
use mainstay_standins::fly::{FlyOptions, FlyServer};

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
    let changes = ["POST stop", "DELETE lease"];
    for question in server.questions().iter().filter(|question| {
        let last = question.path.last().map(String::as_str).unwrap_or_default();
        changes.contains(&format!("{} {last}", question.method).as_str())
    }) {
        assert!(question.header("fly-machine-lease-nonce").is_some(), "{question}");
    }
    assert_eq!((count(&server, "/lease"), count(&server, "/stop")), (2, 1));
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
async fn a_start_that_is_refused_for_too_long_is_a_conflict() {
    let options = FlyOptions { lingering_starts: 1_000, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    settings.pace.start_for = Duration::from_millis(500);
    let provider = fly(settings);
    let machine = running(&provider, &order(1)).await;
    provider.stop(&machine).await.unwrap();
    provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
    let refused = provider.start(&machine).await.unwrap_err();
    assert!(matches!(refused, ProviderError::Conflict { kind: Conflict::State, .. }), "{refused}");
    assert!(refused.to_string().contains("still active"), "{refused}");
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
