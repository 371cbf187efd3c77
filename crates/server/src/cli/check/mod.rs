//! `mainstay check URL`: asks a health endpoint once, as a poll would, and shows what it says.

mod json;
mod table;

use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstay_base::{Clock, Secret, SystemClock};
use mainstay_monitor::formats::FORMAT_NAMES;
use mainstay_monitor::formats::bounds::MAX_CONFIG_BYTES;
use mainstay_monitor::{BadBody, DependencyStatus, Format, Report};
use mainstay_outbound::web::RequestError;
use mainstay_outbound::{FetchError, Policy, Web, WebAnswer, WebOptions, WebRequest};
use url::Url;

use crate::exit::{CheckFailed, Exit};
use crate::output::write_stdout;
use crate::runtime;

/// The longest that an endpoint may be given, as for a service that is polled.
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  mainstay check https://orders.internal/health
  mainstay check https://orders.internal/actuator/health --schema spring.json
  mainstay check http://127.0.0.1:8080/healthz --format status --timeout 2
  mainstay check https://orders.internal/health --header Accept:application/json --json

Nothing is stored, and no Mainstay has to run. Exit codes: 0 every dependency is healthy or skipped,
1 one of them is not, or the endpoint did not answer as it should, 2 wrong use. The formats, and how
to write a mapping: docs/guide/formats.md.";

/// The arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// Health endpoint to ask; private and loopback addresses are fine
    #[arg(value_name = "URL", value_parser = secret)]
    url: Secret<String>,
    /// How to read the answer [default: proactive-deps, or schema with --schema]
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMAT_NAMES))]
    format: Option<String>,
    /// File with the mapping of the format schema, as JSON
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Seconds that the whole call may take, at most 30
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_timeout)]
    timeout: Duration,
    /// Header to send along, as 'Name: value'; can be given several times
    #[arg(long = "header", value_name = "HEADER", value_parser = secret)]
    headers: Vec<Secret<String>>,
    /// File with certificates to trust beside the system's, in PEM form
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What came of asking.
struct Outcome {
    answer: Option<WebAnswer>,
    read: Result<Report, Failure>,
}

/// Why the endpoint counts as failed: as a poll tells it.
struct Failure {
    kind: &'static str,
    message: String,
}

/// Asks the endpoint and shows what it says.
///
/// # Errors
/// What kept it from asking, or what is wrong with the endpoint.
pub fn run(check: &Check) -> anyhow::Result<Exit> {
    let format = check.format()?;
    let request = check.request()?;
    let outcome = runtime::block_on(ask(check, &format, &request))??;
    if check.json {
        write_stdout(&json::text(&format, &outcome))?;
        return Ok(outcome.exit());
    }
    match &outcome.read {
        Ok(report) => write_stdout(&table::text(report, outcome.answer.as_ref()))?,
        Err(Failure { kind, message }) => {
            let place = request.authority();
            return Err(CheckFailed(format!("{place} failed ({kind}): {message}")).into());
        }
    }
    Ok(outcome.exit())
}

async fn ask(check: &Check, format: &Format, request: &WebRequest) -> anyhow::Result<Outcome> {
    let clock = Arc::new(SystemClock::new());
    // The caller's own machine: what it can reach, it may ask.
    let policy = Policy { private: true, ..Policy::default() };
    let mut options = WebOptions::new(policy, clock.clone())?;
    options.ca_file.clone_from(&check.ca_file);
    let web = Web::new(&options)?;
    Ok(match web.fetch(request).await {
        Ok(answer) => Outcome::of(answer, format, clock.as_ref()),
        Err(error) => Outcome { answer: None, read: Err(error.into()) },
    })
}

impl Outcome {
    fn of(answer: WebAnswer, format: &Format, clock: &dyn Clock) -> Self {
        let read = if answer.is_success() {
            format.read(&answer.body, clock.now()).map_err(Failure::from)
        } else {
            let message =
                format!("it answered with status {}; only 2xx counts as an answer", answer.status);
            Err(Failure { kind: "http_status", message })
        };
        Self { answer: Some(answer), read }
    }

    fn exit(&self) -> Exit {
        if self.is_healthy() { Exit::Fine } else { Exit::CheckFailed }
    }

    fn is_healthy(&self) -> bool {
        let is_fine =
            |status| matches!(status, DependencyStatus::Healthy | DependencyStatus::Skipped);
        let read = self.read.as_ref();
        read.is_ok_and(|report| report.dependencies.iter().all(|one| is_fine(one.status())))
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        Self { kind: error.kind().name(), message: error.message().to_owned() }
    }
}

impl From<BadBody> for Failure {
    fn from(error: BadBody) -> Self {
        Self { kind: "bad_body", message: error.to_string() }
    }
}

impl Check {
    fn format(&self) -> anyhow::Result<Format> {
        let default = if self.schema.is_some() { "schema" } else { Format::default().name() };
        match (self.format.as_deref().unwrap_or(default), &self.schema) {
            ("schema", None) => {
                anyhow::bail!("--format schema needs --schema FILE with the mapping")
            }
            ("schema", Some(file)) => read_mapping(file),
            (name, None) => Ok(Format::parse(name, None)?),
            (name, Some(_)) => {
                anyhow::bail!("--format {name} has no mapping; leave out --format or --schema")
            }
        }
    }

    fn request(&self) -> anyhow::Result<WebRequest> {
        let url = Url::parse(self.url.expose())
            .ok()
            .context("the URL can't be read; write it like https://orders.internal/health")?;
        let mut request = WebRequest::get("check", &url).timeout(self.timeout);
        for header in &self.headers {
            let parts = header.expose().split_once(':');
            let (name, value) =
                parts.context("--header has no colon; write it as 'Name: value'")?;
            request = request.header(name.trim(), Secret::new(value.trim().to_owned()));
        }
        request.build().map_err(|error| match error {
            RequestError::Url(error) => anyhow::anyhow!("the URL {error}"),
            other => anyhow::Error::new(other).context("--header can't be sent"),
        })
    }
}

fn read_mapping(file: &Path) -> anyhow::Result<Format> {
    let shown = file.display();
    let mut text = String::new();
    let most = u64::try_from(MAX_CONFIG_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(file)
        .and_then(|open| open.take(most).read_to_string(&mut text))
        .with_context(|| format!("the mapping {shown} can't be read; check --schema"))?;
    Format::parse("schema", Some(&text))
        .with_context(|| format!("the mapping in {shown} can't be used"))
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let in_bounds =
        |timeout: &Duration| *timeout >= Duration::from_millis(1) && *timeout <= MAX_TIMEOUT;
    seconds.filter(in_bounds).ok_or_else(|| "give a number of seconds from 0.001 to 30".to_owned())
}

/// What may hold a password is read later, since clap repeats what it refuses.
fn secret(text: &str) -> Result<Secret<String>, Infallible> {
    Ok(Secret::new(text.to_owned()))
}
