//! What the agents of the world answer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock as _, Id, SystemClock};
use mainstay_fleet::agents::{Asked, LoadedNet, NetResult, NetResults, answer};
use mainstay_fleet::{AgentDoor, AgentError, AgentHealth, Agents, NetOrder};

use super::World;

impl Agents for World {
    fn health<'a>(&'a self, door: &'a AgentDoor) -> Asked<'a, AgentHealth> {
        async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.asked_at.lock().unwrap().push(self.clock.moment());
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(now, Ordering::SeqCst);
            let panics = std::mem::take(&mut self.inner.lock().unwrap().panics);
            assert!(!panics, "a mistake in this program");
            let time = self.inner.lock().unwrap().answer_time;
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
            while self.inner.lock().unwrap().hangs == Some(door.worker) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            let answered = self.answering(door, |rig| {
                let loaded =
                    |(id, generation): (&Id, &i64)| LoadedNet { id: *id, generation: *generation };
                Ok(AgentHealth {
                    agent: answer::AGENT.to_owned(),
                    status: rig.status.to_owned(),
                    worker_id: rig.worker,
                    boot_id: rig.boot,
                    generation: rig.generation,
                    policy: None,
                    loaded_nets: rig.nets.iter().map(loaded).collect(),
                    checks_run: 0,
                    uptime_s: 0,
                })
            });
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            answered
        }
        .boxed()
    }

    fn load<'a>(&'a self, door: &'a AgentDoor, net: &'a NetOrder) -> Asked<'a, ()> {
        let refuses = self.inner.lock().unwrap().refuses_nets;
        let loaded = self.answering(door, |rig| {
            if refuses {
                return Err(AgentError::Refused("no such journey".to_owned()));
            }
            match rig.nets.get(&net.id) {
                Some(known) if *known > net.generation => {
                    Err(AgentError::Stale { current: Some(*known) })
                }
                _ => {
                    rig.nets.insert(net.id, net.generation);
                    Ok(())
                }
            }
        });
        async move { loaded }.boxed()
    }

    fn unload<'a>(&'a self, door: &'a AgentDoor, net: Id, generation: i64) -> Asked<'a, ()> {
        async move {
            while self.inner.lock().unwrap().keeps == Some(door.worker) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            self.answering(door, |rig| match rig.nets.get(&net) {
                Some(known) if *known > generation => {
                    Err(AgentError::Stale { current: Some(*known) })
                }
                _ => {
                    rig.nets.remove(&net);
                    Ok(())
                }
            })
        }
        .boxed()
    }

    fn results<'a>(&'a self, door: &'a AgentDoor, net: Id, after: u64) -> Asked<'a, NetResults> {
        let found = self.answering(door, |rig| {
            if let Some(lie) = &rig.lie {
                rig.fetched += 1;
                return lie(net, after, rig.boot);
            }
            if !rig.nets.contains_key(&net) {
                return Err(AgentError::NoSuchNet);
            }
            rig.fetched += 1;
            let mine = rig.found.entry(net).or_default();
            mine.retain(|one| one.seq > after);
            let results: Vec<NetResult> = mine.iter().take(rig.page).cloned().collect();
            let has_more = results.len() < mine.len();
            let (boot_id, now) = (rig.boot, Some(SystemClock::new().now()));
            Ok(NetResults { boot_id, now, results, has_more, dropped: 0 })
        });
        async move { found }.boxed()
    }
}
