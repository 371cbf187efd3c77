//! What the room holds: files, where each stands, and how it gets from one state to the next.

use std::str::FromStr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_jobs::Cause;
use serde::Serialize;
use utoipa::ToSchema;

/// The largest transcript, in bytes.
pub const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Files that one user may have at once.
pub const MAX_FILES_PER_USER: i64 = 2_000;
/// How often a report is begun before it is given up.
pub const MAX_ATTEMPTS: u32 = mainstay_jobs::model::DEFAULT_MAX_ATTEMPTS;
/// The longest time of an incident that the monitor is asked about.
pub const MAX_WINDOW: Duration = Duration::from_hours(7 * 24);

/// Where a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is being uploaded, or a runner makes its report.
    Processing,
    /// It waits for a runner.
    Queued,
    /// Its report is there.
    Succeeded,
    /// There will be no report unless somebody tries again.
    Failed,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Its original is stored and its job is queued.
    Enqueued,
    /// Its upload ended without a job.
    UploadFailed,
    /// A runner took its job, perhaps from one that died.
    Claimed,
    /// Its job waits again: it failed for now, was put off, or its runner stopped.
    GivenBack,
    /// Its report was made.
    Reported,
    /// Its job was given up.
    GivenUp,
    /// Somebody tries again.
    Retried,
    /// Its report is gone from the storage, and somebody has it made anew.
    Remade,
}

impl FileStatus {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Processing, Self::Queued, Self::Succeeded, Self::Failed];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Queued => "queued",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Where a file stands after a step; `None` where the step can't happen.
    #[must_use]
    pub const fn after(self, step: Step) -> Option<Self> {
        Some(match (self, step) {
            (Self::Processing, Step::Enqueued | Step::GivenBack) => Self::Queued,
            (Self::Queued | Self::Processing, Step::Claimed) => Self::Processing,
            (Self::Processing, Step::Reported) => Self::Succeeded,
            (Self::Processing, Step::UploadFailed) => Self::Failed,
            (Self::Queued | Self::Processing, Step::GivenUp) => Self::Failed,
            (Self::Failed, Step::Retried) | (Self::Succeeded, Step::Remade) => Self::Queued,
            _ => return None,
        })
    }
}

impl Step {
    /// Each of them.
    pub const ALL: [Self; 8] = [
        Self::Enqueued,
        Self::UploadFailed,
        Self::Claimed,
        Self::GivenBack,
        Self::Reported,
        Self::GivenUp,
        Self::Retried,
        Self::Remade,
    ];

    /// What a change of its job means for a file.
    #[must_use]
    pub const fn of_job(cause: Cause) -> Self {
        match cause {
            Cause::Claimed => Self::Claimed,
            Cause::Retried | Cause::PutOff | Cause::Released => Self::GivenBack,
            Cause::Succeeded => Self::Reported,
            Cause::Failed | Cause::AttemptsExhausted | Cause::CrashLoop | Cause::Cancelled => {
                Self::GivenUp
            }
            Cause::Requeued => Self::Retried,
        }
    }
}

/// The database names a status that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a status of a file; there are processing, queued, succeeded and failed")]
pub struct UnknownStatus;

impl FromStr for FileStatus {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.name() == word).ok_or(UnknownStatus)
    }
}

/// The time of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Window {
    /// Where it begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// Where it ends.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
}

/// A span that is no window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "from {from} to {to} is no time of an incident; give `to` after `from`, at most {} days later and not in the future",
    MAX_WINDOW.as_secs() / 86_400
)]
pub struct BadWindow {
    from: Timestamp,
    to: Timestamp,
}

impl Window {
    /// A span that has passed and is not too long.
    ///
    /// # Errors
    /// [`BadWindow`].
    pub fn new(from: Timestamp, to: Timestamp, now: Timestamp) -> Result<Self, BadWindow> {
        if from < to && to <= now && to.since(from) <= MAX_WINDOW {
            Ok(Self { from, to })
        } else {
            Err(BadWindow { from, to })
        }
    }
}

/// What went wrong, fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileError {
    /// A stable word.
    #[schema(example = "llm_timeout")]
    pub code: String,
    /// One line for people.
    pub message: String,
}

/// A file, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Whose it is.
    pub user_id: Id,
    /// The id.
    pub id: Id,
    /// What its owner called it.
    pub name: String,
    /// How large it is, once it is stored.
    pub size_bytes: Option<i64>,
    /// Where it stands.
    pub status: FileStatus,
    /// The job that makes its report.
    pub job_id: Option<Id>,
    /// Where its objects are.
    pub keys: Keys,
    /// What its report is called.
    pub title: Option<String>,
    /// What its report was made with.
    pub made_with: Option<MadeWith>,
    /// The time of the incident, if its owner said it.
    pub window: Option<Window>,
    /// How often its report was begun.
    pub attempts: i64,
    /// When that is begun next.
    pub next_run_at: Option<Timestamp>,
    /// What went wrong last.
    pub error: Option<FileError>,
    /// When its upload began.
    pub created_at: Timestamp,
    /// When it was stored and its job queued.
    pub queued_at: Option<Timestamp>,
    /// When its report was last begun.
    pub started_at: Option<Timestamp>,
    /// When its report was made.
    pub processed_at: Option<Timestamp>,
}

/// Where the objects of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The transcript.
    pub original: String,
    /// The report.
    pub report: Option<String>,
    /// What the monitor had recorded in the time of the incident.
    pub timeline: Option<String>,
    /// An answer that was no report.
    pub raw: Option<String>,
}

impl Keys {
    /// Each of them. There may be more objects of the file: what an earlier attempt made is pointed at no more.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let made = [&self.report, &self.timeline, &self.raw];
        std::iter::once(self.original.as_str())
            .chain(made.into_iter().filter_map(|key| key.as_deref()))
    }
}

/// What a report was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MadeWith {
    /// The version of the prompt.
    #[schema(example = "v1")]
    pub prompt_version: String,
    /// The version of the schema that it was checked against.
    #[schema(example = "v1")]
    pub schema_version: String,
    /// The model that answered.
    #[schema(example = "gpt-5-mini")]
    pub model: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_only_where_the_table_says() {
        use FileStatus::{Failed, Processing, Queued, Succeeded};
        let allowed = [
            (Processing, Step::Enqueued, Queued),
            (Processing, Step::UploadFailed, Failed),
            (Processing, Step::Claimed, Processing),
            (Processing, Step::GivenBack, Queued),
            (Processing, Step::Reported, Succeeded),
            (Processing, Step::GivenUp, Failed),
            (Queued, Step::Claimed, Processing),
            (Queued, Step::GivenUp, Failed),
            (Failed, Step::Retried, Queued),
            (Succeeded, Step::Remade, Queued),
        ];
        for status in FileStatus::ALL {
            for step in Step::ALL {
                let wanted = allowed.iter().find(|(from, by, _)| (*from, *by) == (status, step));
                assert_eq!(status.after(step), wanted.map(|(.., to)| *to), "{status:?} {step:?}");
            }
        }
    }

    #[test]
    fn a_word_is_read_back() {
        for status in FileStatus::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert_eq!("uploaded".parse::<FileStatus>(), Err(UnknownStatus));
    }

    #[test]
    fn a_window_has_passed_and_is_not_too_long() {
        let at = Timestamp::from_millis;
        let week = i64::try_from(MAX_WINDOW.as_millis()).unwrap();
        let now = at(week * 3);
        for (from, to, is_fit) in [
            (0, 1, true),
            (0, week, true),
            (week * 2, week * 3, true),
            (0, week + 1, false),
            (5, 5, false),
            (6, 5, false),
            (week * 3 - 1, week * 3 + 1, false),
            (i64::MIN, i64::MAX, false),
        ] {
            assert_eq!(Window::new(at(from), at(to), now).is_ok(), is_fit, "{from} {to}");
        }
    }
}
