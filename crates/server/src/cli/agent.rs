//! `mainstay agent`: runs the nets of a worker, and answers who knows its token.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use mainstay_base::{Clock, Id, IdSource, Secret, SystemClock, SystemRng};
use mainstay_fleet::agent::{Agent as Program, Identity};
use mainstay_fleet::agents::card::{LOCK, ProcessId};
use mainstay_fleet::agents::{AgentCard, log};
use mainstay_http::Limits;
use mainstay_outbound::{AllowList, OwnDoor, Policy, Web, WebOptions};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::NetRunner;
use crate::config::environment;
use crate::exit::Exit;
use crate::{runtime, shutdown, telemetry};

/// More than any token has.
const MAX_TOKEN_BYTES: u64 = 4096;
/// The shortest token.
const MIN_TOKEN: usize = 16;
/// How often is looked whether anybody still calls, and whether its home is there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often is looked whether the log is too long.
const TRIM_EVERY: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  mainstay agent --token-file token --worker 019a8b3c-0000-7000-8000-000000000000
  mainstay agent --listen [::]:7374 --token-file token --worker 019a8b3c-0000-7000-8000-000000000000

Mainstay starts agents itself: on this host, on Fly Machines and on Sprites. Start one by hand only
to see what it does. The routes and what a net holds: docs/guide/agents.md.";

/// The flags of `agent`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Agent {
    /// Address to listen on; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File with the token that callers must know
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Worker that this agent is for
    #[arg(long, value_name = "ID")]
    worker: Id,
    /// Generation of the worker that it is started under
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    generation: i64,
    /// Folder that has one agent only, where it leaves its address
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Seconds without a call that knows the token, after which it ends by itself
    #[arg(long, value_name = "SECONDS")]
    idle_exit: Option<u64>,
    /// Let nets call private and loopback addresses
    #[arg(long)]
    private: bool,
    /// Network, host or suffix whose inner addresses nets may call; can be given several times
    #[arg(long = "allow", value_name = "ENTRY")]
    allowed: Vec<String>,
    /// File with certificates that nets trust beside the system's, in PEM form
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Leave the session of whoever started it, and outlive them
    #[arg(long)]
    own_session: bool,
    /// What whoever starts it calls what it may call; it says so again
    #[arg(long, value_name = "WORD", hide = true)]
    policy: Option<String>,
}

/// Runs nets until a signal asks to stop, or nobody calls any more.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(agent: &Agent) -> anyhow::Result<Exit> {
    if agent.own_session {
        rustix::process::setsid().context("a session of its own can't be had")?;
    }
    // Held until the end: one home has one agent.
    let _lock = agent.home.as_deref().map(lock).transpose()?;
    let token = read_token(&agent.token_file)?;
    let screen = environment::screen(&environment::variables());
    let telemetry = telemetry::install_plain(screen, Arc::new(SystemClock::new()))?;
    let ended = runtime::block_on(serve(agent, token))?;
    telemetry.stop();
    ended
}

async fn serve(agent: &Agent, token: Secret<String>) -> anyhow::Result<Exit> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let stop = CancellationToken::new();
    shutdown::on_signals(stop.clone(), shutdown::GRACE).context("signals can't be listened to")?;
    let listener = TcpListener::bind(agent.listen)
        .await
        .with_context(|| format!("can't listen on {}; choose another --listen", agent.listen))?;
    let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
    let (worker, generation, boot_id) = (agent.worker, agent.generation, ids.next());
    let (tasks, over) = (TaskTracker::new(), CancellationToken::new());
    let web = web(agent, &clock, listener.local_addr()?.port())?;
    let nets = NetRunner::start(web, Arc::clone(&clock), &tasks, over.clone())?;
    let policy = agent.policy.clone();
    let identity = Identity { worker, generation, boot_id, policy: policy.clone() };
    let program = Program::new(identity, Arc::new(nets), clock);
    if let Some(home) = &agent.home {
        leave_card(home, &listener, boot_id, policy)?;
    }
    let address = listener.local_addr()?;
    tracing::info!(event = "agent_started", worker_id = %worker, generation, %boot_id, %address,
        "the agent listens");
    let service = mainstay_http::agent(program.clone(), token, Limits::default());
    let ended = wait(stop, forsaken(program, agent.idle_exit, agent.home.clone()));
    let trimming = agent.home.clone().map(|home| tokio::spawn(keep_log_short(home)));
    mainstay_http::serve(listener, None, service, ended, shutdown::DRAIN).await;
    over.cancel();
    if let Some(trimming) = trimming {
        trimming.abort();
    }
    Ok(Exit::Fine)
}

/// Until a signal, or until nobody wants it any more.
async fn wait(stop: CancellationToken, forsaken: impl Future<Output = &'static str>) {
    let reason = stop.run_until_cancelled(forsaken).await.unwrap_or("a signal asked for it");
    tracing::info!(event = "agent_stopped", reason, "the agent ends");
}

/// Until nobody has called for too long, or nobody can find it again: its home tells where it is. Says which.
async fn forsaken(program: Program, idle_exit: Option<u64>, home: Option<PathBuf>) -> &'static str {
    let limit = idle_exit.map_or(Duration::MAX, Duration::from_secs);
    let lock = home.map(|home| home.join(LOCK));
    loop {
        if program.idle_for() >= limit {
            return "nobody has called for too long";
        }
        if lock.as_ref().is_some_and(|lock| matches!(lock.try_exists(), Ok(false))) {
            return "its home is gone";
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Until it is aborted: the log in the home of an agent has a bounded length, however long it lives.
async fn keep_log_short(home: PathBuf) {
    loop {
        tokio::time::sleep(TRIM_EVERY).await;
        match log::trim(&home) {
            Ok(true) => {
                tracing::info!(event = "log_emptied", "the log was too long and begins anew");
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the log can't be kept short"),
        }
    }
}

fn web(agent: &Agent, clock: &Arc<dyn Clock>, own_port: u16) -> anyhow::Result<Web> {
    let allow = AllowList::parse(&agent.allowed).context("--allow can't be used")?;
    // Nobody can have it call itself.
    let policy = Policy { private: agent.private, allow, own: Some(OwnDoor::new(own_port)) };
    let mut options = WebOptions::new(policy, Arc::clone(clock))?;
    options.ca_file.clone_from(&agent.ca_file);
    Web::new(&options).context("--ca-file can't be used")
}

fn lock(home: &Path) -> anyhow::Result<File> {
    let path = home.join(LOCK);
    let lock = File::create(&path)
        .with_context(|| format!("{} can't be written; check --home", path.display()))?;
    let is_free = lock.try_lock().is_ok();
    anyhow::ensure!(is_free, "another agent lives in {}; choose another --home", home.display());
    Ok(lock)
}

fn leave_card(
    home: &Path,
    listener: &TcpListener,
    boot_id: Id,
    policy: Option<String>,
) -> anyhow::Result<()> {
    let process = ProcessId::own().context("/proc does not tell of this process")?;
    let card = AgentCard { process, address: listener.local_addr()?, boot_id, policy };
    card.write(home).with_context(|| format!("{} can't be written to", home.display()))
}

fn read_token(file: &Path) -> anyhow::Result<Secret<String>> {
    let mut text = String::new();
    File::open(file)
        .and_then(|open| open.take(MAX_TOKEN_BYTES).read_to_string(&mut text))
        .with_context(|| format!("{} can't be read; check --token-file", file.display()))?;
    let token = text.trim();
    anyhow::ensure!(
        token.len() >= MIN_TOKEN,
        "the token in {} is shorter than {MIN_TOKEN} characters; make a longer one",
        file.display()
    );
    Ok(Secret::new(token.to_owned()))
}
