//! A process that is started, and ended by its descriptor.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::home::Home;
use super::settings::ProcessSettings;
use crate::agents::AgentCard;
use crate::agents::card::ProcessId;
use crate::providers::error::ProviderError;
use crate::providers::name::MachineName;

/// How often is looked whether a child is there, or gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Starts an agent in its home, and waits for its card.
pub(super) async fn spawn(
    home: &Home,
    name: &MachineName,
    settings: &ProcessSettings,
) -> Result<AgentCard, ProviderError> {
    let failed = |error: io::Error| {
        let program = settings.program.display();
        ProviderError::Invalid(format!("{program} can't be started: {error}"))
    };
    let mut child =
        command(home, name, settings).and_then(|mut one| one.spawn()).map_err(failed)?;
    let waiting = async {
        loop {
            if let Some(card) = home.card() {
                return Ok(card);
            }
            let ended = child.try_wait().ok().flatten();
            // Another may have been quicker: as long as it holds the lock, its card is to come.
            if let Some(status) = ended.filter(|_| !home.is_inhabited()) {
                let words = home.last_words();
                return Err(ProviderError::Invalid(format!("the agent ended ({status}): {words}")));
            }
            sleep(LOOK_EVERY).await;
        }
    };
    let waited = timeout(settings.start_limit, waiting).await;
    waited.unwrap_or_else(|_| {
        // It never said where it is, so nobody can use it.
        let _ = child.start_kill();
        Err(ProviderError::Unreachable("the agent did not say where it listens".to_owned()))
    })
}

/// Asks a process to end, and kills it when it does not in time.
pub(super) async fn end(process: &ProcessId, limit: Duration) -> io::Result<()> {
    if !signal(process, Signal::Terminate)? {
        return Ok(());
    }
    if timeout(limit, gone(process)).await.is_ok() {
        return Ok(());
    }
    if signal(process, Signal::Kill)? && timeout(limit, gone(process)).await.is_err() {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the process can't be killed"));
    }
    Ok(())
}

async fn gone(process: &ProcessId) {
    while process.is_alive() {
        sleep(LOOK_EVERY).await;
    }
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

/// Sends a signal to this very process, and to no other that has its number by now. Says whether it was
/// there.
#[cfg(target_os = "linux")]
fn signal(process: &ProcessId, signal: Signal) -> io::Result<bool> {
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal as Sent, pidfd_open, pidfd_send_signal};

    let Some(pid) = Pid::from_raw(process.pid) else { return Ok(false) };
    let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(Errno::SRCH) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    // Looked at after it was opened: from here on the descriptor means this process, or nobody.
    if !process.is_alive() {
        return Ok(false);
    }
    let sent = match signal {
        Signal::Terminate => Sent::TERM,
        Signal::Kill => Sent::KILL,
    };
    match pidfd_send_signal(descriptor, sent) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn signal(_: &ProcessId, _: Signal) -> io::Result<bool> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "agents as processes need Linux"))
}

fn command(home: &Home, name: &MachineName, settings: &ProcessSettings) -> io::Result<Command> {
    let log = home.log()?;
    let (worker, generation) = name.order().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(&settings.program);
    command
        .arg("agent")
        .args(["--listen", "127.0.0.1:0"])
        .arg("--token-file")
        .arg(home.token_file())
        .arg("--home")
        .arg(home.path())
        .args(["--worker", &worker.to_string()])
        .args(["--generation", &generation.to_string()])
        .args(["--idle-exit", &settings.idle_exit.as_secs().to_string()])
        .args(["--policy", &settings.policy()])
        .arg("--own-session")
        .args(&settings.arguments)
        .env_clear()
        .envs(settings.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(false);
    Ok(command)
}
