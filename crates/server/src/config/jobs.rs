//! How background work is run.

use std::time::Duration;

use super::http::{ListenAddress, listen_address};
use super::problem::Reason;
use super::reader::{Reader, boolean, number};
use super::setting::{Fallback, Kind, Setting};

/// Whether `serve` runs jobs itself.
pub const EMBEDDED: Setting = Setting {
    key: "jobs.embedded",
    variables: &["MAINSTAY_JOBS_EMBEDDED"],
    flag: None,
    kind: Kind::Boolean,
    fallback: Fallback::Fixed("true"),
    mask: None,
    help: "Run background jobs inside serve; false leaves them to mainstay work",
};

/// Jobs at once.
pub const CONCURRENCY: Setting = Setting {
    key: "jobs.concurrency",
    variables: &["WORKER_CONCURRENCY", "MAINSTAY_JOBS_CONCURRENCY"],
    flag: Some("--concurrency"),
    kind: Kind::Integer,
    fallback: Fallback::Fixed("2"),
    mask: None,
    help: "Background jobs that one runner works on at once, 1 to 500",
};

/// Where a runner alone tells of itself.
pub const LISTEN: Setting = Setting {
    key: "jobs.listen",
    variables: &["MAINSTAY_JOBS_LISTEN"],
    flag: Some("--listen"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Address and port at which mainstay work answers /healthz, /readyz and /metrics; without it nowhere",
};

/// How often an idle runner looks.
pub const POLL_MS: Setting = Setting {
    key: "jobs.poll_ms",
    variables: &["WORKER_POLL_MS", "MAINSTAY_JOBS_POLL_MS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("1000"),
    mask: None,
    help: "Milliseconds between two looks of an idle runner for due jobs, 10 to 60000",
};

/// The runner's name.
pub const RUNNER_ID: Setting = Setting {
    key: "jobs.runner_id",
    variables: &["WORKER_ID", "MAINSTAY_JOBS_RUNNER_ID"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Name of this runner in the list of jobs; without it host name and process id",
};

/// How long a lease lasts.
pub const LOCK_TTL: Setting = Setting {
    key: "jobs.lock_ttl_seconds",
    variables: &["MAINSTAY_JOB_LOCK_TTL_SECONDS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("300"),
    mask: None,
    help: "Seconds after which the job of a runner that went silent is given to another, 2 to 86400",
};

/// How long a stop waits.
pub const STOP_SECONDS: Setting = Setting {
    key: "jobs.stop_seconds",
    variables: &["MAINSTAY_JOB_STOP_SECONDS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("30"),
    mask: None,
    help: "Seconds that running jobs get to finish when Mainstay stops, 0 to 3600",
};

/// Characters of a runner's name.
const MAX_RUNNER_ID_CHARS: usize = 128;

/// How background work is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsConfig {
    /// `serve` runs jobs itself.
    pub embedded: bool,
    /// Jobs at once.
    pub concurrency: u32,
    /// Where `work` answers who asks how it is.
    pub listen: Option<ListenAddress>,
    /// Between two looks of an idle runner.
    pub poll: Duration,
    /// The runner's own name.
    pub runner_id: Option<String>,
    /// How long a lease lasts without a heartbeat.
    pub lock_ttl: Duration,
    /// How long a stop waits for running jobs.
    pub stop: Duration,
}

/// Reads the settings of jobs.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<JobsConfig> {
    let embedded = reader.required(&EMBEDDED, boolean);
    let concurrency = reader.required(&CONCURRENCY, |text| number(text, 1..=500));
    let listen = reader.optional(&LISTEN, listen_address);
    let poll = reader.required(&POLL_MS, |text| number(text, 10..=60_000));
    let runner_id = reader.optional(&RUNNER_ID, runner_id);
    let lock_ttl = reader.required(&LOCK_TTL, |text| number(text, 2..=86_400));
    let stop = reader.required(&STOP_SECONDS, |text| number(text, 0..=3_600));
    Some(JobsConfig {
        embedded: embedded?,
        concurrency: concurrency?,
        listen: listen?,
        poll: Duration::from_millis(poll?.into()),
        runner_id: runner_id?,
        lock_ttl: Duration::from_secs(lock_ttl?.into()),
        stop: Duration::from_secs(stop?.into()),
    })
}

/// The name stands in lists and log lines.
fn runner_id(text: &str) -> Result<String, Reason> {
    let name = text.trim();
    let fits = (1..=MAX_RUNNER_ID_CHARS).contains(&name.chars().count());
    if !fits || name.chars().any(char::is_control) {
        let most = MAX_RUNNER_ID_CHARS;
        return Err(format!("is not one line of 1 to {most} characters; give a name").into());
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use crate::config::testing::input;

    fn jobs(variables: &[(&str, &str)]) -> Result<JobsConfig, String> {
        let loaded = load(input(vec![], variables, ""));
        loaded.map(|loaded| loaded.config.jobs).map_err(|error| error.to_string())
    }

    #[test]
    fn with_nothing_given_the_source_document_decides() {
        let expected = JobsConfig {
            embedded: true,
            concurrency: 2,
            listen: None,
            poll: Duration::from_secs(1),
            runner_id: None,
            lock_ttl: Duration::from_mins(5),
            stop: Duration::from_secs(30),
        };
        assert_eq!(jobs(&[]), Ok(expected));
    }

    #[test]
    fn the_names_of_the_source_document_are_known() {
        let read = jobs(&[
            ("WORKER_CONCURRENCY", "24"),
            ("WORKER_POLL_MS", "50"),
            ("WORKER_ID", " north:7 "),
            ("MAINSTAY_JOB_LOCK_TTL_SECONDS", "2"),
        ])
        .unwrap();
        assert_eq!((read.concurrency, read.poll.as_millis()), (24, 50));
        assert_eq!((read.runner_id.as_deref(), read.lock_ttl.as_secs()), (Some("north:7"), 2));
    }

    #[test]
    fn what_can_not_be_is_refused_by_name() {
        let long = "x".repeat(MAX_RUNNER_ID_CHARS + 1);
        for (name, value) in [
            ("WORKER_CONCURRENCY", "0"),
            ("WORKER_CONCURRENCY", "501"),
            ("WORKER_POLL_MS", "9"),
            ("WORKER_ID", "two\nlines"),
            ("WORKER_ID", " "),
            ("WORKER_ID", &long),
            ("MAINSTAY_JOB_LOCK_TTL_SECONDS", "1"),
            ("MAINSTAY_JOBS_EMBEDDED", "maybe"),
        ] {
            let text = jobs(&[(name, value)]).unwrap_err();
            assert!(text.contains(name), "{text}");
        }
    }
}
