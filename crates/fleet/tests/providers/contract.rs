//! What every provider holds to.

use std::sync::Arc;
use std::time::Duration;

use mainstay_fleet::agents::Agents as _;
use mainstay_fleet::agents::card::ProcessId;
use mainstay_fleet::providers::{
    Departure, Machine, MachineState, Provider, ProviderError, ProviderKind, Rest,
};
use mainstay_standins::fly::FlyServer;
use mainstay_standins::sprites::SpriteServer;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{
    PATIENCE, agents, clock, door, fly_pair, order, process_settings, processes, sprite_pair,
};

/// A provider, and the world that it acts on.
struct House {
    provider: Arc<dyn Provider>,
    world: World,
    _folder: TempDir,
}

enum World {
    Process,
    Fly(FlyServer),
    Sprite(SpriteServer),
}

impl House {
    async fn of(kind: ProviderKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (provider, world): (Arc<dyn Provider>, World) = match kind {
            ProviderKind::Process => {
                (Arc::new(processes(process_settings(folder.path(), ""))), World::Process)
            }
            ProviderKind::Fly => {
                let (server, provider) = fly_pair().await;
                (Arc::new(provider), World::Fly(server))
            }
            ProviderKind::Sprite => {
                let (server, provider) = sprite_pair(clock()).await;
                (Arc::new(provider), World::Sprite(server))
            }
        };
        Self { provider, world, _folder: folder }
    }

    /// Makes a machine, and waits until it runs.
    async fn running(&self, number: u32) -> Machine {
        let made = self.provider.create(&order(number)).await.unwrap();
        let seen = self.provider.wait(&made, Rest::Running, PATIENCE).await.unwrap();
        assert_eq!(seen.state, MachineState::Running, "{seen:?}");
        seen.machine
    }

    /// Takes a machine away behind the provider's back.
    async fn take_away(&self, machine: &Machine) {
        match &self.world {
            World::Process => {
                let pid = machine.run.as_deref().unwrap().split('-').next().unwrap();
                let pid: i32 = pid.parse().unwrap();
                kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
                while ProcessId::of(pid).is_some() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            World::Fly(server) => server.reap(&machine.id).await,
            World::Sprite(server) => server.remove(machine.name.as_str()),
        }
    }

    /// What ending one that is not there comes to: sprites are known by names, and others have names too.
    fn not_there(&self) -> Departure {
        match self.world {
            World::Process | World::Fly(_) => Departure::Gone,
            World::Sprite(_) => Departure::Missing,
        }
    }

    /// Ends what a test leaves behind.
    async fn end(&self, machine: &Machine) {
        self.provider.destroy(machine).await.unwrap();
    }
}

macro_rules! each_provider {
    ($(async fn $name:ident($house:ident: &House) $body:block)*) => {
        mod process {
            use super::*;
            $(#[tokio::test] async fn $name() { super::$name(&House::of(ProviderKind::Process).await).await; })*
        }
        mod fly {
            use super::*;
            $(#[tokio::test] async fn $name() { super::$name(&House::of(ProviderKind::Fly).await).await; })*
        }
        mod sprite {
            use super::*;
            $(#[tokio::test] async fn $name() { super::$name(&House::of(ProviderKind::Sprite).await).await; })*
        }
        $(async fn $name($house: &House) $body)*
    };
}

each_provider! {
    async fn the_same_order_never_makes_two(house: &House) {
        let first = house.running(1).await;
        let again = house.provider.create(&order(1)).await.unwrap();
        assert_eq!((&again.id, &again.name), (&first.id, &first.name));
        let other = house.provider.create(&order(2)).await.unwrap();
        assert_ne!(other.id, first.id);
        let listed = house.provider.list().await.unwrap();
        let mut names: Vec<_> = listed.into_iter().map(|seen| seen.machine.name).collect();
        names.sort();
        let mut expected = vec![first.name.clone(), other.name.clone()];
        expected.sort();
        assert_eq!(names, expected);
        house.end(&first).await;
        house.end(&other).await;
    }

    async fn what_a_list_shows_can_be_ended(house: &House) {
        let machine = house.running(1).await;
        let listed = house.provider.list().await.unwrap();
        for seen in &listed {
            house.provider.destroy(&seen.machine).await.unwrap();
        }
        let mut looked = house.provider.look(&machine).await;
        // One that is leaving is gone after some looks.
        for _ in 0..10 {
            if looked.is_err() {
                break;
            }
            looked = house.provider.look(&machine).await;
        }
        assert!(matches!(looked, Err(ProviderError::Gone(_))), "{looked:?}");
    }

    async fn its_agent_answers_and_no_other(house: &House) {
        let machine = house.running(1).await;
        let health = agents().health(&door(1, &machine)).await.unwrap();
        assert_eq!((health.worker_id, health.generation), (order(1).worker, 1));
        let mut wrong = door(1, &machine);
        wrong.worker = order(2).worker;
        assert_eq!(agents().health(&wrong).await.unwrap_err().code(), "foreign");
        house.end(&machine).await;
    }

    async fn it_stops_and_starts_again_with_an_empty_memory(house: &House) {
        let machine = house.running(1).await;
        let before = agents().health(&door(1, &machine)).await.unwrap();
        house.provider.stop(&machine).await.unwrap();
        let seen = house.provider.wait(&machine, Rest::Stopped, PATIENCE).await.unwrap();
        assert_eq!(seen.state, MachineState::Stopped);
        house.provider.stop(&machine).await.unwrap();
        let started = house.provider.start(&machine).await.unwrap();
        let seen = house.provider.wait(&started, Rest::Running, PATIENCE).await.unwrap();
        assert_eq!((seen.state, &seen.machine.id), (MachineState::Running, &machine.id));
        let after = agents().health(&door(1, &seen.machine)).await.unwrap();
        assert_ne!(before.boot_id, after.boot_id);
        house.end(&seen.machine).await;
    }

    async fn a_start_of_one_that_runs_is_fine(house: &House) {
        let machine = house.running(1).await;
        let started = house.provider.start(&machine).await.unwrap();
        assert_eq!(started.id, machine.id);
        house.end(&started).await;
    }

    async fn what_is_destroyed_is_gone_however_often(house: &House) {
        let machine = house.running(1).await;
        assert_eq!(house.provider.destroy(&machine).await, Ok(Departure::Gone));
        let gone = house.provider.look(&machine).await.unwrap_err();
        assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
        assert_eq!(house.provider.destroy(&machine).await, Ok(house.not_there()));
        assert_eq!(house.provider.list().await.unwrap(), []);
        let again = house.running(1).await;
        house.end(&again).await;
    }

    async fn what_went_by_itself_is_gone_and_not_an_error_of_ours(house: &House) {
        let machine = house.running(1).await;
        house.take_away(&machine).await;
        for outcome in [
            house.provider.look(&machine).await.map(drop),
            house.provider.stop(&machine).await,
            house.provider.start(&machine).await.map(drop),
        ] {
            assert!(matches!(outcome, Err(ProviderError::Gone(_))), "{outcome:?}");
        }
        assert_eq!(house.provider.destroy(&machine).await, Ok(house.not_there()));
    }
}
