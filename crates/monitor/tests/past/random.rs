//! Histories that nobody thought of: every moment of them is told as it was.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_monitor::aliases::CanonicalName;
use mainstay_monitor::past::history::MAX_SPAN;
use mainstay_monitor::services::Patch;
use mainstay_testkit::each_database;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::house::{House, LONG, body, undrawn};
use crate::scrubber::told;

const STEPS: usize = 90;
/// Spans of a story that are gone through.
const SPANS: usize = 25;
const NAMES: [&str; 6] = ["db", "cache", "queue", "mail", "search", "Payments"];

/// Numbers without an order, the same ones for a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        let next =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 = next;
        usize::try_from(next >> 33).unwrap() % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }
}

/// A world that goes on at random.
struct Story<'a> {
    house: &'a House,
    chance: Chance,
    services: Vec<Id>,
    aliases: Vec<Id>,
    count: usize,
    /// From when on what was noted may have been changed by results that came late.
    changed_from: Option<Timestamp>,
}

impl Story<'_> {
    async fn step(&mut self) {
        match self.chance.below(23) {
            0 | 1 if self.services.len() < 6 => {
                self.count += 1;
                self.services.push(self.house.add(&format!("s{}", self.count)).await);
            }
            2 => {
                self.count += 1;
                let patch = Patch { name: Some(format!("n{}", self.count)), ..Patch::default() };
                self.change(patch).await;
            }
            3 => {
                let is_active = self.chance.below(3) > 0;
                self.change(Patch { is_active: Some(is_active), ..Patch::default() }).await;
            }
            4 if self.services.len() > 2 => {
                let index = self.chance.below(self.services.len());
                let gone = self.services.swap_remove(index);
                self.house.delete(gone).await;
            }
            5 | 6 => self.alias().await,
            7 | 8 => self.link().await,
            9 => {
                if let Some(id) = self.chance.one_of(&self.services) {
                    self.house.poll(id, None).await;
                }
            }
            10 => {
                // What is missing for long is closed.
                self.house.pass_to_the_hour();
                self.house.upkeep.run_once(&CancellationToken::new()).await.unwrap();
            }
            11 => self.nobody_polls().await,
            12 | 13 => self.answer_late().await,
            _ => self.answer().await,
        }
    }

    /// A service is polled, then nobody polls it for a while, and somebody may look or not.
    async fn nobody_polls(&mut self) {
        let Some(id) = self.chance.one_of(&self.services) else { return };
        self.house.poll_again_in(id, Some(body(&[("db", 0)])), Duration::from_secs(30)).await;
        self.house.pass(Duration::from_hours(2));
        match self.chance.below(2) {
            0 => self.house.look_for_overdue().await,
            _ => drop(self.house.poll(id, Some(body(&[("db", 1)]))).await),
        }
    }

    /// A result that had to wait for up to five minutes.
    async fn answer_late(&mut self) {
        let Some(id) = self.chance.one_of(&self.services) else { return };
        let back = i64::try_from(self.chance.below(300_000)).unwrap();
        let at = Timestamp::from_millis(self.house.now().as_millis() - back);
        let state = i64::try_from(self.chance.below(3)).unwrap();
        let answer = (self.chance.below(4) > 0).then(|| body(&[("db", state), ("mail", 0)]));
        self.house.poll_at(id, answer, at, LONG).await;
        self.changed_from = Some(at);
    }

    async fn change(&mut self, patch: Patch) {
        if let Some(id) = self.chance.one_of(&self.services) {
            self.house.change(id, patch).await;
        }
    }

    async fn answer(&mut self) {
        let Some(id) = self.chance.one_of(&self.services) else { return };
        let mut named = Vec::new();
        for name in NAMES {
            if self.chance.below(3) > 0 {
                named.push((name, i64::try_from(self.chance.below(3)).unwrap()));
            }
        }
        self.house.poll(id, Some(body(&named))).await;
    }

    async fn alias(&mut self) {
        let (house, canonical) = (self.house, ["Store", "DB", "Bus"][self.chance.below(3)]);
        let aliases = &house.aliases;
        match self.chance.below(3) {
            0 => {
                let name = NAMES[self.chance.below(NAMES.len())];
                let taken = house
                    .number(&format!("SELECT count(*) AS v FROM aliases WHERE alias = '{name}'"))
                    .await;
                if taken == 0 {
                    self.aliases.push(house.alias(name, canonical).await);
                }
            }
            1 => {
                let Some(id) = self.chance.one_of(&self.aliases) else { return };
                let to = Some(CanonicalName::parse(canonical).unwrap());
                let changed =
                    house.events.write(async |tx, out| aliases.change(tx, out, id, None, to).await);
                changed.await.unwrap();
            }
            _ => {
                if self.aliases.is_empty() {
                    return;
                }
                let index = self.chance.below(self.aliases.len());
                let id = self.aliases.swap_remove(index);
                let deleted = house.events.write(async |tx, out| aliases.delete(tx, out, id).await);
                deleted.await.unwrap();
            }
        }
    }

    async fn link(&mut self) {
        let rows = self.house.rows(
            "SELECT d.id, s.id AS service FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
             WHERE d.removed_at IS NULL AND s.removed_at IS NULL ORDER BY d.number",
        );
        let open: Vec<(Id, Id)> = rows
            .await
            .iter()
            .map(|row| (row.get("id").unwrap(), row.get("service").unwrap()))
            .collect();
        let Some((dependency, own)) = self.chance.one_of(&open) else { return };
        let to = self.chance.one_of(&self.services).filter(|to| *to != own);
        let to = if self.chance.below(3) == 0 { None } else { to };
        self.house.link(dependency, to).await;
    }
}

async fn check(house: &House, seed: u64) {
    let mut story = Story {
        house,
        chance: Chance(seed),
        services: Vec::new(),
        aliases: Vec::new(),
        count: 0,
        changed_from: None,
    };
    let mut noted: Vec<(Timestamp, Vec<String>, Value)> = Vec::new();
    for _ in 0..STEPS {
        story.step().await;
        if let Some(from) = story.changed_from.take() {
            noted.retain(|(at, ..)| *at < from);
        }
        house.pass(Duration::from_secs(30));
        noted.push((house.now(), house.live().await, house.graph().await));
        house.pass(Duration::from_secs(31));
        let hours = [0, 0, 0, 1, 3, 25][story.chance.below(6)];
        house.pass(Duration::from_hours(hours));
        house.look().await;
    }
    house.pass(Duration::from_hours(1));
    let frames =
        house.number("SELECT count(*) AS v FROM past_keyframes WHERE at IS NOT NULL").await;
    assert!(frames >= 3, "keyframes are part of the story: {frames}");
    let graphs = house.graphs(&house.stop);
    for (index, (at, live, graph)) in noted.iter().enumerate() {
        assert_eq!(
            &house.naive(*at).await,
            live,
            "seed {seed}, step {index}: changes say what was"
        );
        assert_eq!(&house.at(*at).await, live, "seed {seed}, step {index}: and keyframes do");
        let moment = house.past.at(*at).await.unwrap();
        let then = undrawn(&graphs.then(moment, None).await.unwrap());
        assert_eq!(&then, graph, "seed {seed}, step {index}: and so was the graph");
    }
    let since = house.past.at(house.now()).await.unwrap().since.unwrap();
    let moments: Vec<_> = noted.iter().map(|(at, ..)| *at).filter(|at| *at >= since).collect();
    for _ in 0..SPANS {
        let mut three = [0; 3].map(|_| moments[story.chance.below(moments.len())]);
        three.sort();
        let [from, between, to] = three;
        let span = house.span(from, from.plus(to.since(from).min(MAX_SPAN))).await;
        for at in [from, between, to].into_iter().filter(|at| at.since(from) <= MAX_SPAN) {
            let moment = house.past.at(at).await.unwrap().state;
            assert_eq!(span.at(at), told(&moment), "seed {seed}: {at} in the span from {from}");
        }
    }
    for service in &story.services {
        let told = house.past.uptime_of_service(*service).await.unwrap().unwrap();
        for window in told.windows {
            let sums = [window.healthy_ms, window.degraded_ms, window.down_ms, window.unknown_ms];
            let counted = house.counted(*service, window.from, window.to).await;
            assert_eq!(sums, counted, "seed {seed}: {} of {service}", window.window);
        }
    }
}

each_database! {
    async fn every_moment_is_told_as_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        check(&house, 1).await;
    }

    async fn every_moment_of_another_story_too(database: &TestDatabase) {
        let house = House::new(database).await;
        check(&house, 20_261_116).await;
    }

    async fn every_moment_of_a_third_one(database: &TestDatabase) {
        let house = House::new(database).await;
        check(&house, 424_242).await;
    }
}
