//! `mainstay journey run FILE`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstay_base::{Secret, SystemClock};
use mainstay_journeys::{
    Courier, Journey, Mode, Observer, Options, RunRecord, Secrets, StartError, junit,
};
use mainstay_outbound::{Policy, Web, WebOptions};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::file;
use super::lines::{self, Lines};
use super::tree::Tree;
use crate::config::environment::{SECRET_PREFIX, Variables};
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::{runtime, shutdown};

const EXAMPLES: &str = "\
Examples:
  mainstay journey run checkout.yaml
  mainstay journey run checkout.yaml --var base=https://staging.example.com --mode halt
  mainstay journey run checkout.yaml --json > run.json
  mainstay journey run checkout.yaml --junit journey.xml

Nothing is stored, and no Mainstay has to run. A secret {{ secret.TOKEN }} is the variable
MAINSTAY_SECRET_TOKEN of the environment, and is never shown. Exit codes: 0 it passed, 1 it failed,
2 wrong use or a mistake in the file. In the modes log and disabled a failure does not count.

Ctrl-C or SIGTERM ends the run as cancelled: what came of it so far is told, also by --json and
--junit, and the exit code is 1 in every mode. A second one ends at once (130 or 143).";

/// How often a tree is drawn anew: not at each thing that happens, which a slow terminal would hold up.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// How long a run that is stopped may take to tell how far it came.
const END_WITHIN: Duration = Duration::from_secs(5);

/// The arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Run {
    /// Journey to run, as YAML; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What a failure means, in place of what the journey says
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::name)))]
    mode: Option<String>,
    /// Value for a variable of the journey; can be given several times
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var)]
    vars: Vec<(String, String)>,
    /// Print the record of the run as JSON instead of how it goes
    #[arg(long)]
    json: bool,
    /// Write the run as JUnit to this file too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// File with certificates to trust beside the system's, in PEM form
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

/// How a run is shown.
enum Show {
    Json,
    Lines,
    Tree(Arc<Tree>),
}

/// Runs the journey and shows how it goes.
pub(super) fn run(run: &Run, variables: &Variables) -> anyhow::Result<Exit> {
    let Some(journey) = file::journey(&run.file)? else { return Ok(Exit::WrongUse) };
    let mode = run.mode.as_deref().map(str::parse::<Mode>).transpose()?;
    if let Some(path) = &run.junit {
        check_writable(path)?;
    }
    let show = Show::choose(run, &journey, mode, variables);
    let record = runtime::block_on(travel(run, &journey, mode, variables, &show))??;
    match &show {
        Show::Json => write_stdout(&format!("{}\n", serde_json::to_string(&record)?))?,
        Show::Lines => write_stdout(&lines::end(&record))?,
        Show::Tree(tree) => tree.end(&record),
    }
    // Last: where it can't be written, what came of the run has been told all the same.
    if let Some(path) = &run.junit {
        write_junit(path, &record)?;
    }
    Ok(if record.is_passed() { Exit::Fine } else { Exit::CheckFailed })
}

async fn travel(
    run: &Run,
    journey: &Journey,
    mode: Option<Mode>,
    variables: &Variables,
    show: &Show,
) -> anyhow::Result<RunRecord> {
    let clock = Arc::new(SystemClock::new());
    // The caller's own machine: what it can reach, it may ask.
    let policy = Policy { private: true, ..Policy::default() };
    let mut web = WebOptions::new(policy, clock.clone())?;
    web.ca_file.clone_from(&run.ca_file);
    let courier = Courier::new(Web::new(&web)?, clock.clone())?;
    let vars = run.vars.iter().map(|(name, text)| (name.clone(), value(journey, name, text)));
    let secrets = secrets(journey, variables);
    let options = Options { mode, vars: vars.collect(), secrets, courier, clock };
    let cancel = CancellationToken::new();
    shutdown::on_signals(cancel.clone(), END_WITHIN).context("signals can't be listened to")?;
    let travelling = mainstay_journeys::run_until(journey, options, show.observer(), &cancel);
    let ended = match show {
        Show::Tree(tree) => drawn(tree, travelling).await,
        Show::Json | Show::Lines => travelling.await,
    };
    ended.map_err(|error| explained(&error))
}

/// Draws the tree while it grows.
async fn drawn<T>(tree: &Tree, travelling: impl Future<Output = T>) -> T {
    let mut travelling = std::pin::pin!(travelling);
    let mut beat = tokio::time::interval(DRAW_EVERY);
    loop {
        tokio::select! {
            ended = &mut travelling => return ended,
            _ = beat.tick() => tree.draw(),
        }
    }
}

impl Show {
    fn choose(run: &Run, journey: &Journey, mode: Option<Mode>, variables: &Variables) -> Self {
        let is_set = |wanted: &str| {
            variables.iter().any(|(name, value)| name == wanted && !value.is_empty())
        };
        let is_dumb = variables.iter().any(|(name, value)| name == "TERM" && value == "dumb");
        if run.json {
            Self::Json
        } else if std::io::stdout().is_terminal() && !is_set("CI") && !is_dumb {
            let mode = mode.unwrap_or(journey.mode).name();
            Self::Tree(Arc::new(Tree::new(journey, mode, !is_set("NO_COLOR"))))
        } else {
            Self::Lines
        }
    }

    fn observer(&self) -> Arc<dyn Observer> {
        match self {
            Self::Json => Arc::new(()),
            Self::Lines => Arc::new(Lines),
            Self::Tree(tree) => Arc::clone(tree) as Arc<dyn Observer>,
        }
    }
}

/// A value of the kind that the journey gives the variable: a number stays one.
fn value(journey: &Journey, name: &str, text: &str) -> Value {
    let is_text = journey.vars.get(name).is_none_or(|var| var.is_string() || var.is_null());
    let read = if is_text { None } else { serde_json::from_str(text).ok() };
    read.unwrap_or_else(|| Value::from(text))
}

/// The secrets that the journey names, as far as they are set.
fn secrets(journey: &Journey, variables: &Variables) -> Secrets {
    let found = journey.secrets.iter().filter_map(|name| {
        let variable = format!("{SECRET_PREFIX}{name}");
        let (_, value) = variables.iter().find(|(known, _)| *known == *variable)?;
        Some((name.clone(), Secret::new(value.to_str()?.to_owned())))
    });
    found.collect::<BTreeMap<_, _>>()
}

/// What to do on a command line.
fn explained(error: &StartError) -> anyhow::Error {
    match error {
        StartError::UnknownVar { .. } => anyhow::anyhow!("--var: {error}"),
        StartError::MissingVars(names) => {
            let flags: Vec<String> = names.iter().map(|name| format!("--var {name}=…")).collect();
            anyhow::anyhow!("variables have no value; give {}", flags.join(" "))
        }
        StartError::MissingSecrets(names) => {
            let names: Vec<String> =
                names.iter().map(|name| format!("{SECRET_PREFIX}{name}")).collect();
            anyhow::anyhow!("secrets are not set; set {}", names.join(" and "))
        }
    }
}

/// Whether the report can be written, before anything is sent. What was there stays, and nothing is left behind.
fn check_writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(|| unwritable(path))?;
    if is_new {
        std::fs::remove_file(path).with_context(|| unwritable(path))?;
    }
    Ok(())
}

fn write_junit(path: &Path, record: &RunRecord) -> anyhow::Result<()> {
    std::fs::write(path, junit::junit(record)).with_context(|| unwritable(path))
}

fn unwritable(path: &Path) -> String {
    format!("{} can't be written; check --junit", path.display())
}

fn parse_var(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}
