//! The one task that enters and frees connections, and looks after those of this instance.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_store::StoreError;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::Entered;
use super::batch::{self, Outcome, Request};
use super::members::{Ending, Members};
use crate::doorbell::{Doorbell, Heard, Topic};
use crate::error::EventsError;
use crate::measure;
use crate::record::connections;
use crate::tools::{Tools, within_limit};
use crate::trouble::Trouble;

/// Connections that one transaction enters.
const TOGETHER: usize = 512;
/// Memberships that one statement looks at.
const LOOK_TOGETHER: usize = 4_096;
/// How often all memberships are looked at, should a bell be lost.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often an instance with connections shows that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How long freeing what is left may take when the instance stops.
const LAST_LEAVE: Duration = Duration::from_secs(1);
/// Tries of a batch that met another one.
const TRIES: usize = 3;

pub(super) struct Desk {
    tools: Tools,
    doorbell: Doorbell,
    members: Arc<Members>,
    /// When the instance last showed that it lives.
    beaten: Option<Moment>,
    writing: Trouble,
    looking: Trouble,
}

impl Desk {
    pub(super) const fn new(tools: Tools, doorbell: Doorbell, members: Arc<Members>) -> Self {
        let writing = Trouble::new("entering and freeing connections");
        let looking = Trouble::new("looking at connections");
        Self { tools, doorbell, members, beaten: None, writing, looking }
    }

    /// Runs until the stop; then frees what this instance held.
    pub(super) async fn run(mut self, mut waiting: mpsc::Receiver<Request>) {
        let stop = self.tools.stop.clone();
        stop.run_until_cancelled(self.serve(&mut waiting)).await;
        let held = self.members.numbers(None);
        self.members.put_back(held);
        // Whatever stays is removed as of a dead instance.
        let _ = tokio::time::timeout(LAST_LEAVE, self.write(Vec::new())).await;
    }

    async fn serve(&mut self, waiting: &mut mpsc::Receiver<Request>) {
        let mut ears = self.doorbell.listen(Topic::Connections);
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let members = Arc::clone(&self.members);
        loop {
            let mut requests = Vec::new();
            tokio::select! {
                count = waiting.recv_many(&mut requests, TOGETHER) => {
                    if count == 0 {
                        return;
                    }
                    self.write(requests).await;
                }
                () = members.left() => self.write(Vec::new()).await,
                heard = ears.heard() => self.look(heard).await,
                _ = looks.tick() => self.look_at_all().await,
            }
        }
    }

    /// Enters `requests`, with whoever left meanwhile.
    async fn write(&mut self, requests: Vec<Request>) {
        let leaving = self.members.take_leaving();
        if requests.is_empty() && leaving.is_empty() {
            return;
        }
        let (newest, older) = batch::split_doubles(requests);
        match self.try_write(&newest, &leaving).await {
            Ok(outcome) => {
                self.tell(&outcome);
                for request in older {
                    self.answer_taken_over(request, &outcome);
                }
                for request in newest {
                    self.answer(request, &outcome);
                }
            }
            Err(error) => {
                self.members.put_back(leaving);
                let error = Arc::new(error);
                for request in newest.into_iter().chain(older) {
                    // Whoever stopped waiting needs no answer.
                    let _ = request.reply.send(Err(EventsError::Together(Arc::clone(&error))));
                }
            }
        }
    }

    async fn try_write(
        &mut self,
        requests: &[Request],
        leaving: &[i64],
    ) -> Result<Outcome, StoreError> {
        let now = self.tools.clock.moment();
        let beats = self.beaten.is_none_or(|beaten| now.since(beaten) >= BEAT_EVERY);
        let mut tries = 1;
        let outcome = loop {
            let writing =
                batch::write(&self.tools.db, self.tools.instance, requests, leaving, beats);
            match within_limit(writing).await {
                Err(StoreError::Conflict { .. }) if tries < TRIES => tries += 1,
                other => break other,
            }
        };
        self.writing.ended(&outcome);
        let outcome = outcome?;
        if beats {
            self.beaten = Some(now);
        }
        Ok(outcome)
    }

    /// Ends whoever the batch ended here, and rings for those elsewhere.
    fn tell(&self, outcome: &Outcome) {
        measure::superseded(u64::try_from(outcome.superseded.len()).unwrap_or(u64::MAX));
        for member in &outcome.superseded {
            self.members.end(member.number, Ending::Superseded);
        }
        for member in &outcome.taken_over {
            self.members.end(member.number, Ending::TakenOver);
        }
        for owner in outcome.owners() {
            self.doorbell.ring(Topic::Connections, owner);
        }
    }

    /// A membership that nobody waits for any more is dropped, and so frees its row.
    fn answer(&self, request: Request, outcome: &Outcome) {
        let key = request.key();
        let entered = match outcome.live.get(&key) {
            Some(number) => {
                let membership = self.members.add(key.0, request.id, *number);
                // Two of one batch may be one too many.
                if outcome.superseded.iter().any(|member| member.number == *number) {
                    self.members.end(*number, Ending::Superseded);
                }
                Entered::Live(membership)
            }
            None => Entered::Superseded,
        };
        let _ = request.reply.send(Ok(entered));
    }

    /// A newer one of the same batch and name has its place, or was refused as it would have been.
    fn answer_taken_over(&self, request: Request, outcome: &Outcome) {
        let entered = match outcome.live.get(&request.key()) {
            Some(_) => Entered::Live(self.members.taken_over(request.id)),
            None => Entered::Superseded,
        };
        let _ = request.reply.send(Ok(entered));
    }

    async fn look(&self, heard: Heard) {
        let numbers = match &heard {
            Heard::Keys(owners) => self.members.numbers(Some(owners)),
            Heard::Anything => self.members.numbers(None),
        };
        for asked in numbers.chunks(LOOK_TOGETHER) {
            let looking = connections::look(&self.tools.db, self.tools.instance, asked);
            let found = within_limit(looking).await;
            self.looking.ended(&found);
            let Ok(found) = found else { return };
            self.members.apply(asked, &found);
        }
    }

    async fn look_at_all(&mut self) {
        self.look(Heard::Anything).await;
        let now = self.tools.clock.moment();
        let is_due = self.beaten.is_some_and(|beaten| now.since(beaten) >= BEAT_EVERY);
        if is_due {
            self.beat().await;
        }
    }

    /// Shows that the instance lives, and frees rows that it holds for nobody: of an entry whose
    /// commit was not heard of.
    async fn beat(&mut self) {
        let held = within_limit(connections::held(&self.tools.db, self.tools.instance)).await;
        self.looking.ended(&held);
        let Ok(held) = held else { return };
        let live: HashSet<i64> = self.members.numbers(None).into_iter().collect();
        let lost: Vec<_> = held.into_iter().filter(|number| !live.contains(number)).collect();
        // It is tried again with the next look.
        let _ = self.try_write(&[], &lost).await;
    }
}
