//! New rows. Among unfinished rows of a kind there is one for each subject, so enqueueing twice is a
//! success that gives the row that is there.

use std::collections::{HashMap, HashSet};

use mainstay_base::{Id, IdSource};
use mainstay_store::{Dialect, Row, Sql, StoreError, Tx, values};
use serde_json::json;

use super::{Book, millis};
use crate::error::JobsError;
use crate::model::{Due, Enqueued, MAX_DELAY, NewJob};
use crate::text::Traceparent;
use crate::trace;

/// How often an enqueueing looks again when the row it met has just finished.
const LOOKS: usize = 5;

macro_rules! columns {
    () => {
        "INSERT INTO jobs (id, kind, subject, status, priority, payload, attempts, max_attempts,
           crashes, started, traceparent, created_at, next_run_at, claim_at) "
    };
}
/// The later of now and a given time, or now and a wait.
macro_rules! unless_taken {
    () => {
        " ON CONFLICT (kind, subject) WHERE claim_at IS NOT NULL AND subject IS NOT NULL
          DO NOTHING RETURNING id"
    };
}

const ONE: Sql = Sql::pair(
    "jobs.enqueue",
    concat!(
        columns!(),
        "VALUES ($2, $3, $4, 'queued', $5, $6, 0, $7, 0, 0, $8, $1,
           coalesce($9, $1 + $10), coalesce($9, $1 + $10))",
        unless_taken!()
    ),
    concat!(
        columns!(),
        "SELECT $2, $3, $4, 'queued', $5, $6, 0, $7, 0, 0, $8, t.now,
           coalesce($9, t.now + $10), coalesce($9, t.now + $10)
         FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1 AS now) AS t",
        unless_taken!()
    ),
);
const THERE: Sql = Sql::same(
    "jobs.enqueued_already",
    "SELECT id FROM jobs WHERE kind = $1 AND subject = $2 AND claim_at IS NOT NULL",
);
const ALL_THERE: Sql = Sql::pair(
    "jobs.all_enqueued_already",
    "SELECT kind, subject, id FROM jobs WHERE claim_at IS NOT NULL
       AND kind IN (SELECT value FROM json_each($1))
       AND subject IN (SELECT value FROM json_each($2))",
    "SELECT kind, subject, id FROM jobs WHERE claim_at IS NOT NULL
       AND kind = ANY ($1) AND subject = ANY ($2)",
);
const MANY_SQLITE: Sql = Sql::same(
    "jobs.enqueue_many",
    concat!(
        columns!(),
        "SELECT value ->> 'id', value ->> 'kind', value ->> 'subject', 'queued',
           value ->> 'priority', value ->> 'payload', 0, value ->> 'max_attempts', 0, 0,
           value ->> 'traceparent', $1, coalesce(value ->> 'at', $1 + (value ->> 'wait')),
           coalesce(value ->> 'at', $1 + (value ->> 'wait'))
         FROM json_each($2) WHERE true",
        unless_taken!()
    ),
);
/// An absent text travels as an empty one, an absent time as -1: neither is ever given.
const MANY_POSTGRES: Sql = Sql::same(
    "jobs.enqueue_many",
    concat!(
        columns!(),
        "SELECT n.id, n.kind, nullif(n.subject, ''), 'queued', n.priority, n.payload, 0,
           n.max_attempts, 0, 0, nullif(n.traceparent, ''), t.now,
           coalesce(nullif(n.at, -1), t.now + n.wait), coalesce(nullif(n.at, -1), t.now + n.wait)
         FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[],
           $8::text[], $9::bigint[], $10::bigint[])
             AS n (id, kind, subject, priority, payload, max_attempts, traceparent, at, wait),
           (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1 AS now) AS t",
        unless_taken!()
    ),
);

/// A new job with its id, checked and ready to be written.
#[derive(Debug)]
pub(crate) struct Draft {
    id: Id,
    job: NewJob,
    payload: String,
    traceparent: Option<Traceparent>,
}

impl Draft {
    /// Of a job whose bounds were checked.
    pub(crate) fn new(ids: &IdSource, job: NewJob, payload: String) -> Self {
        let traceparent = match &job.traceparent {
            Some(text) => Traceparent::parse(text),
            None => trace::current(),
        };
        Self { id: ids.next(), job, payload, traceparent }
    }

    fn trace(&self) -> Option<&str> {
        self.traceparent.as_ref().map(Traceparent::as_str)
    }

    fn about(&self) -> (&str, Option<&str>) {
        (self.job.kind.as_str(), self.job.subject.as_deref())
    }

    fn at(&self) -> Option<i64> {
        match self.job.due {
            Due::At(at) => Some(at.as_millis().max(0)),
            Due::Now | Due::After(_) => None,
        }
    }

    fn wait(&self) -> i64 {
        match self.job.due {
            Due::After(wait) => millis(wait.min(MAX_DELAY)),
            Due::Now | Due::At(_) => 0,
        }
    }
}

/// Writes one job, or finds the one that is there.
pub(crate) async fn one(book: &Book, tx: &mut Tx, draft: &Draft) -> Result<Enqueued, JobsError> {
    for _ in 0..LOOKS {
        if let Some(row) = tx
            .fetch_optional(
                &ONE,
                values![
                    book.tick(),
                    draft.id,
                    draft.job.kind.as_str(),
                    draft.job.subject.as_ref(),
                    draft.job.priority,
                    &draft.payload,
                    draft.job.max_attempts,
                    draft.trace(),
                    draft.at(),
                    draft.wait(),
                ],
            )
            .await?
        {
            return Ok(Enqueued { id: row.get("id")?, is_new: true });
        }
        if let Some(id) = there(tx, draft).await? {
            return Ok(Enqueued { id, is_new: false });
        }
    }
    Err(JobsError::SubjectTaken)
}

/// Writes many jobs in one statement, and finds those that are there in another.
pub(crate) async fn many(
    book: &Book,
    tx: &mut Tx,
    drafts: &[Draft],
) -> Result<Vec<Enqueued>, JobsError> {
    // By subject, so that two callers with the same subjects can't wait for each other.
    let mut sorted: Vec<&Draft> = drafts.iter().collect();
    sorted.sort_by_key(|draft| draft.about());
    let rows = match tx.dialect() {
        Dialect::Sqlite => many_on_sqlite(book, tx, &sorted).await?,
        Dialect::Postgres => many_on_postgres(book, tx, &sorted).await?,
    };
    let made = rows.iter().map(|row| row.get("id")).collect::<Result<HashSet<Id>, _>>()?;
    let left: Vec<&Draft> = drafts.iter().filter(|draft| !made.contains(&draft.id)).collect();
    let mut there = all_there(tx, &left).await?;
    let mut enqueued = Vec::with_capacity(drafts.len());
    for draft in drafts {
        if made.contains(&draft.id) {
            enqueued.push(Enqueued { id: draft.id, is_new: true });
        } else if let Some(id) = there.get(&draft.about()) {
            enqueued.push(Enqueued { id: *id, is_new: false });
        } else {
            // The one that was met has just finished.
            let one = one(book, tx, draft).await?;
            there.insert(draft.about(), one.id);
            enqueued.push(one);
        }
    }
    Ok(enqueued)
}

/// The unfinished jobs about the subjects of `drafts`.
async fn all_there<'a>(
    tx: &mut Tx,
    drafts: &[&'a Draft],
) -> Result<HashMap<(&'a str, Option<&'a str>), Id>, StoreError> {
    if drafts.is_empty() {
        return Ok(HashMap::new());
    }
    let kinds: Vec<String> = drafts.iter().map(|one| one.job.kind.as_str().to_owned()).collect();
    let subjects: Vec<String> =
        drafts.iter().map(|one| one.job.subject.clone().unwrap_or_default()).collect();
    let rows = tx.fetch_all(&ALL_THERE, values![&kinds, &subjects]).await?;
    let mut found = HashMap::new();
    for row in rows {
        found.insert((row.get::<String>("kind")?, row.get::<String>("subject")?), row.get("id")?);
    }
    let of = |draft: &&'a Draft| {
        let (kind, subject) = draft.about();
        let id = found.get(&(kind.to_owned(), subject?.to_owned()))?;
        Some((draft.about(), *id))
    };
    Ok(drafts.iter().filter_map(of).collect())
}

async fn there(tx: &mut Tx, draft: &Draft) -> Result<Option<Id>, StoreError> {
    let values = values![draft.job.kind.as_str(), draft.job.subject.as_ref()];
    let row = tx.fetch_optional(&THERE, values).await?;
    row.map(|row| row.get("id")).transpose()
}

async fn many_on_sqlite(
    book: &Book,
    tx: &mut Tx,
    drafts: &[&Draft],
) -> Result<Vec<Row>, StoreError> {
    let rows: Vec<_> = drafts
        .iter()
        .map(|draft| {
            json!({
                "id": draft.id, "kind": draft.job.kind, "subject": draft.job.subject,
                "priority": draft.job.priority, "payload": draft.payload,
                "max_attempts": draft.job.max_attempts, "traceparent": draft.trace(),
                "at": draft.at(), "wait": draft.wait(),
            })
        })
        .collect();
    let text = serde_json::Value::from(rows).to_string();
    tx.fetch_all(&MANY_SQLITE, values![book.tick(), &text]).await
}

async fn many_on_postgres(
    book: &Book,
    tx: &mut Tx,
    drafts: &[&Draft],
) -> Result<Vec<Row>, StoreError> {
    let texts = |of: fn(&Draft) -> String| drafts.iter().map(|one| of(one)).collect::<Vec<_>>();
    let ints = |of: fn(&Draft) -> i64| drafts.iter().map(|one| of(one)).collect::<Vec<_>>();
    tx.fetch_all(
        &MANY_POSTGRES,
        values![
            book.tick(),
            &texts(|draft| draft.id.to_string()),
            &texts(|draft| draft.job.kind.as_str().to_owned()),
            &texts(|draft| draft.job.subject.clone().unwrap_or_default()),
            &ints(|draft| i64::from(draft.job.priority)),
            &texts(|draft| draft.payload.clone()),
            &ints(|draft| i64::from(draft.job.max_attempts)),
            &texts(|draft| draft.trace().unwrap_or_default().to_owned()),
            &ints(|draft| draft.at().unwrap_or(-1)),
            &ints(Draft::wait),
        ],
    )
    .await
}
