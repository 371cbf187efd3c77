//! Many connections that enter and leave in one transaction.

use std::collections::{BTreeSet, HashMap, HashSet};

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, StoreError, Tx};
use tokio::sync::oneshot;

use super::{Entered, Owner};
use crate::error::EventsError;
use crate::record::connections::{self, Entry, Member};

/// A connection at the desk.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) owner: Owner,
    pub(super) id: Id,
    pub(super) max: u32,
    pub(super) reply: oneshot::Sender<Result<Entered, EventsError>>,
}

impl Request {
    pub(super) fn key(&self) -> (String, String) {
        (self.owner.to_string(), self.id.to_string())
    }
}

/// What a batch has changed.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Who lives now, by owner and id; who does not was superseded before.
    pub(super) live: HashMap<(String, String), i64>,
    pub(super) superseded: Vec<Member>,
    pub(super) taken_over: Vec<Member>,
}

impl Outcome {
    /// The owners somebody else has to be told about.
    pub(super) fn owners(&self) -> BTreeSet<&str> {
        let ended = self.superseded.iter().chain(&self.taken_over);
        ended.map(|member| member.owner.as_str()).collect()
    }
}

/// Splits off the requests that name the same connection as a newer one, which takes their place.
pub(super) fn split_doubles(requests: Vec<Request>) -> (Vec<Request>, Vec<Request>) {
    let mut seen = HashSet::new();
    let (mut newest, older): (Vec<_>, Vec<_>) =
        requests.into_iter().rev().partition(|request| seen.insert(request.key()));
    newest.reverse();
    (newest, older)
}

/// Enters `requests` and frees `leaving`; shows that the instance lives when `beats`.
pub(super) async fn write(
    db: &Db,
    instance: Id,
    requests: &[Request],
    leaving: &[i64],
    beats: bool,
) -> Result<Outcome, StoreError> {
    db.write(async |tx| {
        let now = tx.now().await?;
        if beats {
            connections::beat(tx, instance, now).await?;
        }
        let mut outcome = Outcome::default();
        let entries: Vec<_> = requests.iter().map(entry).collect();
        if !entries.is_empty() {
            outcome = enter(tx, instance, entries, now).await?;
        }
        if !leaving.is_empty() {
            connections::leave(tx, leaving).await?;
        }
        Ok(outcome)
    })
    .await
}

async fn enter(
    tx: &mut Tx,
    instance: Id,
    mut entries: Vec<Entry>,
    now: Timestamp,
) -> Result<Outcome, StoreError> {
    let batch = json(&entries);
    connections::lock_owners(tx, &batch).await?;
    let refused = connections::superseded(tx, &batch).await?;
    if !refused.is_empty() {
        let refused: HashSet<_> = refused.into_iter().map(|one| (one.owner, one.id)).collect();
        entries.retain(|Entry(owner, id, _)| !refused.contains(&(owner.clone(), id.clone())));
    }
    let batch = json(&entries);
    let taken_over = connections::take_over(tx, &batch).await?;
    let made = connections::insert(tx, &batch, instance).await?;
    let live = made.into_iter().map(|one| ((one.owner, one.id), one.number)).collect();
    let superseded = connections::supersede(tx, &batch, now).await?;
    Ok(Outcome { live, superseded, taken_over })
}

fn entry(request: &Request) -> Entry {
    let (owner, id) = request.key();
    Entry(owner, id, request.max)
}

fn json(entries: &[Entry]) -> String {
    // Texts and numbers always have a JSON form.
    serde_json::to_string(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::{IdSource, SystemClock, SystemRng};
    use std::sync::Arc;

    #[test]
    fn of_those_with_one_name_the_newest_is_kept_and_the_order_stays() {
        let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let (owner, one, other) = (Owner::User(ids.next()), ids.next(), ids.next());
        let request = |id, max| Request { owner, id, max, reply: oneshot::channel().0 };
        let requests =
            vec![request(one, 1), request(other, 2), request(one, 3), request(ids.next(), 4)];
        let (newest, older) = split_doubles(requests);
        assert_eq!(newest.iter().map(|one| one.max).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(older.iter().map(|one| one.max).collect::<Vec<_>>(), [1]);
    }
}
