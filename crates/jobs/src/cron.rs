//! Jobs that come again by the clock, in UTC. Of several instances one fires; what was missed while
//! all were down comes once.

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use mainstay_base::Timestamp;

use crate::error::JobsError;
use crate::jobs::Jobs;
use crate::model::NewJob;
use crate::record::schedules::{self, Kept};

/// The longest that a schedule is not looked at.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A clock that is set back by less than this leaves schedules as they are, or a small correction just
/// after one has fired would fire it twice.
const TOLERATED: Duration = Duration::from_mins(1);

/// A job that comes again.
#[derive(Debug, Clone)]
pub struct CronJob {
    name: String,
    expression: String,
    cron: Cron,
    job: NewJob,
}

impl CronJob {
    /// `job` at the times of `expression` (minute, hour, day, month, weekday, in UTC; seconds may
    /// stand in front). While one is unfinished no other is enqueued, unless it has a subject of its
    /// own.
    ///
    /// # Errors
    /// [`JobsError::BadSchedule`].
    pub fn new(name: &str, expression: &str, mut job: NewJob) -> Result<Self, JobsError> {
        let bad = |reason: String| JobsError::BadSchedule { name: name.to_owned(), reason };
        let parser = CronParser::builder().seconds(Seconds::Optional).build();
        let cron = parser.parse(expression).map_err(|error| bad(error.to_string()))?;
        job.subject.get_or_insert_with(|| format!("cron:{name}"));
        let (name, expression) = (name.to_owned(), expression.to_owned());
        let made = Self { name, expression, cron, job };
        made.after(Timestamp::from_millis(0))?;
        Ok(made)
    }

    /// The first time after `time`.
    fn after(&self, time: Timestamp) -> Result<Timestamp, JobsError> {
        let bad = |reason: String| JobsError::BadSchedule { name: self.name.clone(), reason };
        let time = jiff::Timestamp::from_millisecond(time.as_millis())
            .map_err(|error| bad(error.to_string()))?;
        let next = self
            .cron
            .find_next_occurrence(&time.to_zoned(jiff::tz::TimeZone::UTC), false)
            .map_err(|error| bad(error.to_string()))?;
        Ok(Timestamp::from_millis(next.timestamp().as_millisecond()))
    }
}

impl Jobs {
    /// Enqueues what is due of `schedules`, and tells how long until the next is.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn fire_due(&self, schedules: &[CronJob]) -> Result<Duration, JobsError> {
        let mut wait = LOOK_AGAIN;
        if schedules.is_empty() {
            return Ok(wait);
        }
        let now = self.book().db.now().await?;
        for schedule in schedules {
            let next = self.fire_one(schedule, now).await?;
            wait = wait.min(next.since(now));
        }
        Ok(wait)
    }

    async fn fire_one(&self, schedule: &CronJob, now: Timestamp) -> Result<Timestamp, JobsError> {
        let next = schedule.after(now)?;
        let kept = schedules::find(self.book(), &schedule.name).await?;
        let Some(kept) = kept.filter(|kept| kept.expression == schedule.expression) else {
            let fresh = Kept { expression: schedule.expression.clone(), next_at: next };
            schedules::set(self.book(), &schedule.name, &fresh).await?;
            return Ok(next);
        };
        if kept.next_at > now {
            return self.keep_or_mend(schedule, kept.next_at).await;
        }
        self.events()
            .write(async |tx, _| {
                if schedules::advance(tx, &schedule.name, kept.next_at, next, now).await? {
                    self.enqueue(tx, schedule.job.clone()).await?;
                }
                Ok::<(), JobsError>(())
            })
            .await?;
        Ok(next)
    }

    /// The next time is always the first after some past moment. One that lies beyond the first after
    /// now was written by a clock that was ahead: it would stand still until that time comes.
    async fn keep_or_mend(
        &self,
        schedule: &CronJob,
        next_at: Timestamp,
    ) -> Result<Timestamp, JobsError> {
        // Asked after the schedule was read: another instance may have fired it meanwhile.
        let now = self.book().db.now().await?;
        if next_at <= schedule.after(now.plus(TOLERATED))? {
            return Ok(next_at);
        }
        let next = schedule.after(now)?;
        schedules::mend(self.book(), &schedule.name, next_at, next).await?;
        let name = &schedule.name;
        tracing::warn!(name, "the database's clock was set back; a schedule counts from now again");
        Ok(next)
    }
}
