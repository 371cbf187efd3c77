//! What is Sprites' own: sleep, lost memory, names that come back, streams.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_fleet::NetOrder;
use mainstay_fleet::agents::Agents as _;
use mainstay_fleet::providers::{
    Conflict, Departure, Machine, MachineState, Provider as _, ProviderError, Rest, Sprites,
};
use mainstay_standins::sprites::SpriteServer;
use mainstay_testkit::FakeClock;
use serde_json::json;

use crate::{PATIENCE, agents, clock, door, key, order, sprite_pair, sprite_settings, worker};

const AGENT: &str = "mainstay-agent";

async fn house() -> (Arc<FakeClock>, SpriteServer, Sprites, Machine) {
    let clock = Arc::new(FakeClock::new());
    let (server, provider) = sprite_pair(Arc::clone(&clock) as _).await;
    let machine = provider.create(&order(1)).await.unwrap();
    (clock, server, provider, machine)
}

#[tokio::test]
async fn the_api_is_asked_first_and_one_that_sleeps_is_not_woken() {
    let (clock, server, provider, machine) = house().await;
    assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Running);
    let asked = server.agent(machine.name.as_str(), AGENT).unwrap().asked();
    for (idle, state) in [(31, MachineState::Asleep), (300, MachineState::Cold)] {
        clock.advance(Duration::from_secs(idle));
        let seen = provider.look(&machine).await.unwrap();
        assert_eq!(seen.state, state);
    }
    let (sprite, _) = server.sprite(machine.name.as_str()).unwrap();
    assert_eq!(sprite.wakes(), 0);
    assert_eq!(server.agent(machine.name.as_str(), AGENT).unwrap().asked(), asked);
}

#[tokio::test]
async fn one_that_was_cold_has_forgotten_its_nets_and_one_that_was_warm_has_not() {
    let (clock, server, _, machine) = house().await;
    let door = door(1, &machine);
    let net = NetOrder { id: worker(9), generation: 3, definition: json!({}) };
    agents().load(&door, &net).await.unwrap();
    let before = agents().health(&door).await.unwrap();
    clock.advance(Duration::from_secs(60));
    let warm = agents().health(&door).await.unwrap();
    assert_eq!((warm.boot_id, warm.loaded_nets.len()), (before.boot_id, 1));
    clock.advance(Duration::from_secs(600));
    let cold = agents().health(&door).await.unwrap();
    assert_eq!(cold.loaded_nets, []);
    assert_ne!(cold.boot_id, before.boot_id);
    assert_eq!(server.sprite(machine.name.as_str()).unwrap().0.wakes(), 2);
}

#[tokio::test]
async fn a_name_that_came_back_is_another_sprite_and_is_left_alone() {
    let (_, server, provider, machine) = house().await;
    server.remove(machine.name.as_str());
    let other = provider.create(&order(1)).await.unwrap();
    assert_eq!(other.name, machine.name);
    assert_ne!(other.id, machine.id);
    for outcome in [
        provider.look(&machine).await.map(drop),
        provider.stop(&machine).await,
        provider.start(&machine).await.map(drop),
    ] {
        let Err(ProviderError::Gone(why)) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("another sprite"), "{why}");
    }
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Gone));
    assert_eq!(provider.look(&other).await.unwrap().state, MachineState::Running);
}

#[tokio::test]
async fn stopped_is_that_its_service_is_and_not_a_word_of_the_provider() {
    let (_, server, provider, machine) = house().await;
    provider.stop(&machine).await.unwrap();
    let seen = provider.look(&machine).await.unwrap();
    assert_eq!((seen.state, seen.provider_state.as_str()), (MachineState::Stopped, "running"));
    assert!(
        server
            .asked()
            .contains(&format!("POST /v1/sprites/{}/services/{AGENT}/stop", machine.name))
    );
    assert_eq!(agents().health(&door(1, &machine)).await.unwrap_err().code(), "unreachable");
}

#[tokio::test]
async fn a_create_whose_answer_was_lost_is_found_by_its_name() {
    let (server, provider) = sprite_pair(clock()).await;
    server.switch(|switches| switches.creates_lost = 1);
    let machine = provider.create(&order(1)).await.unwrap();
    let seen = provider.wait(&machine, Rest::Running, PATIENCE).await.unwrap();
    assert_eq!(seen.state, MachineState::Running);
    assert_eq!(provider.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn limits_are_told_with_their_time_and_a_full_account_is_a_conflict() {
    let (server, provider) = sprite_pair(clock()).await;
    server.switch(|switches| switches.limited = Some(7));
    let error = provider.create(&order(1)).await.unwrap_err();
    assert_eq!(error, ProviderError::Throttled { retry_after: Duration::from_secs(7) });
    server.switch(|switches| (switches.limited, switches.is_full) = (None, true));
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Conflict { kind: Conflict::Capacity, .. }), "{error}");
}

#[tokio::test]
async fn a_stream_that_ends_in_the_middle_is_settled_by_a_look_at_the_service() {
    let (_, server, provider, machine) = house().await;
    server.switch(|switches| switches.streams_cut = true);
    provider.stop(&machine).await.unwrap();
    assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Stopped);
    provider.start(&machine).await.unwrap();
    assert_eq!(provider.look(&machine).await.unwrap().state, MachineState::Running);
}

#[tokio::test]
async fn a_service_that_somebody_removed_is_defined_again_by_a_start() {
    let (_, server, provider, machine) = house().await;
    provider.stop(&machine).await.unwrap();
    let _ = server.agent(machine.name.as_str(), AGENT).unwrap();
    let url = format!("{}/v1/sprites/{}/services/{AGENT}", server.base_url(), machine.name);
    let web = agents::web();
    let bearer = Secret::new("Bearer sprites-standin-token".to_owned());
    let request = mainstay_outbound::WebRequest::delete("test", &url.parse().unwrap());
    let removed = web.fetch(&request.header("Authorization", bearer).build().unwrap()).await;
    assert_eq!(removed.unwrap().status, 204);
    provider.start(&machine).await.unwrap();
    agents().health(&door(1, &machine)).await.unwrap();
}

#[tokio::test]
async fn a_sprite_of_another_organisation_may_run_on() {
    let (_, server, provider, machine) = house().await;
    server.switch(|switches| switches.is_elsewhere = true);
    assert_eq!(provider.list().await.unwrap(), []);
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Missing));
    server.switch(|switches| switches.is_elsewhere = false);
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Gone));
}

/// The spec promises no id there.
#[tokio::test]
async fn what_a_list_shows_without_an_id_is_ended_by_its_name() {
    let (_, server, provider, machine) = house().await;
    let listed = provider.list().await.unwrap();
    assert_eq!((listed[0].machine.id.as_str(), &listed[0].machine.name), ("", &machine.name));
    assert_eq!(provider.destroy(&listed[0].machine).await, Ok(Departure::Gone));
    let deleted = format!("DELETE /v1/sprites/{}", machine.name);
    assert!(server.asked().contains(&deleted), "{:?}", server.asked());
    assert!(server.sprite(machine.name.as_str()).is_none());
}

#[tokio::test]
async fn lists_of_many_pages_are_read_to_their_end() {
    let (server, provider) = sprite_pair(clock()).await;
    for number in 0..120 {
        provider.create(&order(number)).await.unwrap();
    }
    assert_eq!(provider.list().await.unwrap().len(), 120);
    assert_eq!(server.asked().iter().filter(|asked| *asked == "GET /v1/sprites").count(), 3);
}

#[tokio::test]
async fn a_wrong_token_is_denied_and_never_told() {
    let (server, _) = sprite_pair(clock()).await;
    let provider = Sprites::new(sprite_settings(&server, "hunter2"), key(), clock()).unwrap();
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Denied(_)), "{error}");
    assert!(!format!("{error} {error:?} {provider:?}").contains("hunter2"));
}

#[tokio::test]
async fn trouble_of_the_providers_own_says_nothing_of_the_machine() {
    let (_, server, provider, machine) = house().await;
    for (status, body) in [(500, "boom"), (503, ""), (200, "<html>"), (200, "{\"name\":\"other\"}")]
    {
        server.switch(|switches| switches.everything = Some((status, body.to_owned())));
        let error = provider.look(&machine).await.unwrap_err();
        assert!(matches!(error, ProviderError::Unreachable(_)), "{status} {body}: {error}");
    }
}
