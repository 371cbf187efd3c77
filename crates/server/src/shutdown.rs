//! Stopping. The first SIGTERM or SIGINT asks everything to finish; the second ends the process at
//! once with 128 plus the signal's number (130 for SIGINT, 143 for SIGTERM), and so does a stop
//! that takes longer than its grace.

use std::io;
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::telemetry;

/// The longest that stopping may take, all in all, where no background work has to be waited for.
pub const GRACE: Duration = Duration::from_secs(10);

/// The part of [`GRACE`] for requests under way. The rest closes the database and flushes traces
/// and the log.
pub const DRAIN: Duration = Duration::from_secs(6);

/// The longest that stopping may take where jobs get `jobs` to finish, if any are run.
#[must_use]
pub fn grace(jobs: Option<Duration>) -> Duration {
    GRACE.saturating_add(jobs.unwrap_or_default())
}

/// How long a forced end waits for the line that tells of it.
const LAST_WORD: Duration = Duration::from_millis(100);

/// One for each signal that means something; more say nothing new.
const MAX_WAITING_SIGNALS: usize = 2;

/// A request to stop from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: someone pressed Ctrl-C.
    Interrupt,
    /// SIGTERM: a supervisor stops the service.
    Terminate,
}

/// Why the process has to end before its work did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forced {
    /// A second signal came.
    SecondSignal(Signal),
    /// The grace is over.
    GraceOver,
}

impl Forced {
    /// The exit code, as a shell shows a process that its signal ended.
    #[must_use]
    pub fn exit_code(self) -> i32 {
        match self {
            Self::SecondSignal(Signal::Interrupt) => 130,
            Self::SecondSignal(Signal::Terminate) | Self::GraceOver => 143,
        }
    }
}

/// Cancels `stop` at the first signal of this process, and ends it at the second or after `grace`.
/// It watches until the process ends, on a thread and a runtime of its own: work that
/// blocks every other thread does not hold it up.
///
/// # Errors
/// When the signals can't be listened to.
pub fn on_signals(stop: CancellationToken, grace: Duration) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        signals()?
    };
    thread::Builder::new().name("mainstay-signal".to_owned()).spawn(move || {
        let forced = runtime.block_on(watch(signals, stop, grace));
        tracing::error!(reason = ?forced, "ending before the work is done");
        telemetry::flush_log(LAST_WORD);
        std::process::exit(forced.exit_code());
    })?;
    Ok(())
}

/// Waits for the first signal, or for `stop` from inside, and cancels `stop`; then tells when the
/// process must not wait any longer.
pub async fn watch(
    mut signals: mpsc::Receiver<Signal>,
    stop: CancellationToken,
    grace: Duration,
) -> Forced {
    tokio::select! {
        Some(signal) = signals.recv() => {
            tracing::info!(?signal, "stopping; a second signal ends at once");
            stop.cancel();
        }
        () = stop.cancelled() => {}
    }
    tokio::select! {
        biased;
        Some(signal) = signals.recv() => Forced::SecondSignal(signal),
        () = tokio::time::sleep(grace) => Forced::GraceOver,
    }
}

fn signals() -> io::Result<mpsc::Receiver<Signal>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (sender, receiver) = mpsc::channel(MAX_WAITING_SIGNALS);
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                Some(()) = interrupt.recv() => Signal::Interrupt,
                Some(()) = terminate.recv() => Signal::Terminate,
                else => return,
            };
            if sender.send(signal).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_signal_asks_and_the_second_forces() {
        for (second, code) in [(Signal::Interrupt, 130), (Signal::Terminate, 143)] {
            let (sender, receiver) = mpsc::channel(2);
            let stop = CancellationToken::new();
            let watching = tokio::spawn(watch(receiver, stop.clone(), GRACE));
            settle().await;
            assert!(!stop.is_cancelled());

            sender.send(Signal::Terminate).await.unwrap();
            stop.cancelled().await;
            settle().await;
            assert!(!watching.is_finished());

            sender.send(second).await.unwrap();
            let forced = watching.await.unwrap();
            assert_eq!(forced, Forced::SecondSignal(second));
            assert_eq!(forced.exit_code(), code);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn grace_ends_after_ten_seconds_and_not_before() {
        let (sender, receiver) = mpsc::channel(2);
        let stop = CancellationToken::new();
        let watching = tokio::spawn(watch(receiver, stop.clone(), GRACE));
        sender.send(Signal::Interrupt).await.unwrap();
        stop.cancelled().await;
        settle().await;
        tokio::time::advance(Duration::from_millis(9_990)).await;
        settle().await;
        assert!(!watching.is_finished());
        tokio::time::advance(Duration::from_millis(20)).await;
        let forced = watching.await.unwrap();
        assert_eq!((forced, forced.exit_code()), (Forced::GraceOver, 143));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_from_inside_has_the_same_grace() {
        let (sender, receiver) = mpsc::channel(2);
        let stop = CancellationToken::new();
        let watching = tokio::spawn(watch(receiver, stop.clone(), GRACE));
        stop.cancel();
        settle().await;
        assert!(!watching.is_finished());
        sender.send(Signal::Interrupt).await.unwrap();
        assert_eq!(watching.await.unwrap(), Forced::SecondSignal(Signal::Interrupt));
    }

    #[test]
    fn requests_leave_time_for_the_rest() {
        assert!(DRAIN + telemetry::FLUSH + telemetry::LOG_FLUSH < GRACE);
    }
}
