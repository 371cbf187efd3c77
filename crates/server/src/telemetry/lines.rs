//! The way of a log line to standard error: a bounded queue and one thread that writes. Whoever
//! logs never waits for whoever reads the log.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use metrics::{counter, describe_counter};
use tracing_subscriber::fmt::MakeWriter;

/// The most lines that wait to be written. More are dropped and counted.
pub const MAX_WAITING_LINES: usize = 4096;

const DROPPED: &str = "mainstay_log_lines_dropped_total";

/// Takes log lines without waiting.
#[derive(Clone)]
pub struct Lines {
    queue: SyncSender<Vec<u8>>,
    state: Arc<State>,
    writer: ThreadId,
}

/// Takes one log line.
#[derive(Debug)]
pub struct Line<'a>(&'a Lines);

struct State {
    sink: Mutex<Box<dyn Write + Send>>,
    /// Lines that entered the queue.
    accepted: AtomicU64,
    /// Lines that left it.
    written: Mutex<u64>,
    progress: Condvar,
    /// All that were ever dropped.
    dropped: AtomicU64,
    /// Those among them that the log does not tell of yet.
    untold: AtomicU64,
}

/// Gives the metric its help text and a first value.
pub fn describe() {
    describe_counter!(DROPPED, "Log lines that were dropped because nobody read the log.");
    counter!(DROPPED).absolute(0);
}

impl Lines {
    /// Starts the thread that writes to `sink`. When lines were dropped and the sink takes lines
    /// again, `tell` logs how many.
    ///
    /// # Errors
    /// When the thread can't start.
    pub fn start(sink: impl Write + Send + 'static, tell: fn(u64)) -> io::Result<Self> {
        let (queue, waiting) = sync_channel(MAX_WAITING_LINES);
        let state = Arc::new(State {
            sink: Mutex::new(Box::new(sink)),
            accepted: AtomicU64::new(0),
            written: Mutex::new(0),
            progress: Condvar::new(),
            dropped: AtomicU64::new(0),
            untold: AtomicU64::new(0),
        });
        let working = Arc::clone(&state);
        let writer = thread::Builder::new()
            .name("mainstay-log".to_owned())
            .spawn(move || working.run(&waiting, tell))?;
        Ok(Self { queue, state, writer: writer.thread().id() })
    }

    /// Waits until what was logged so far is written, for at most `limit`. Tells whether it is.
    pub fn flush(&self, limit: Duration) -> bool {
        let accepted = self.state.accepted.load(Ordering::SeqCst);
        let (_written, timeout) = self
            .state
            .progress
            .wait_timeout_while(lock(&self.state.written), limit, |written| *written < accepted)
            .unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }

    fn take(&self, line: &[u8]) {
        // What the writing thread itself logs would wait for that very thread.
        if thread::current().id() == self.writer {
            self.state.write(line);
            return;
        }
        // Counted first: a flush then waits rather too long than too short.
        self.state.accepted.fetch_add(1, Ordering::SeqCst);
        if self.queue.try_send(line.to_vec()).is_err() {
            self.state.accepted.fetch_sub(1, Ordering::SeqCst);
            self.state.untold.fetch_add(1, Ordering::SeqCst);
            let dropped = self.state.dropped.fetch_add(1, Ordering::SeqCst) + 1;
            counter!(DROPPED).absolute(dropped);
        }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl State {
    fn run(&self, waiting: &Receiver<Vec<u8>>, tell: fn(u64)) {
        while let Ok(line) = waiting.recv() {
            self.write(&line);
            let untold = self.untold.swap(0, Ordering::SeqCst);
            if untold > 0 {
                tell(untold);
            }
            *lock(&self.written) += 1;
            self.progress.notify_all();
        }
    }

    /// A log that can't be written must not end the program.
    fn write(&self, line: &[u8]) {
        let mut sink = lock(&self.sink);
        let _ = sink.write_all(line).and_then(|()| sink.flush());
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

impl Write for Line<'_> {
    /// The subscriber hands over a whole line at once.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A counter or a sink is as good after a panic as before.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A reader that takes nothing until the gate opens.
    struct Gated {
        gate: Gate,
        read: Memory,
    }

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            drop(lock(&self.gate));
            lock(&self.read).write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Gate = Arc<Mutex<()>>;
    type Memory = Arc<Mutex<Vec<u8>>>;

    fn gated(tell: fn(u64)) -> (Lines, Gate, Memory) {
        let (gate, read) = (Arc::default(), Arc::default());
        let sink = Gated { gate: Arc::clone(&gate), read: Arc::clone(&read) };
        (Lines::start(sink, tell).unwrap(), gate, read)
    }

    #[test]
    fn a_flush_waits_for_every_line_in_its_order() {
        let (lines, _gate, read) = gated(|_| {});
        for number in 0..1000 {
            writeln!(lines.make_writer(), "{number}").unwrap();
        }
        assert!(lines.flush(PATIENCE));
        let expected: String = (0..1000).map(|number| format!("{number}\n")).collect();
        assert_eq!(String::from_utf8(lock(&read).clone()).unwrap(), expected);
    }

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_time() {
        static TOLD: AtomicU64 = AtomicU64::new(0);
        let (lines, gate, read) = gated(|dropped| {
            TOLD.fetch_add(dropped, Ordering::SeqCst);
        });
        let closed = lock(&gate);
        let all = MAX_WAITING_LINES + 100;
        for _ in 0..all {
            lines.take(b"x");
        }
        assert!(!lines.flush(Duration::from_millis(1)), "nothing can be written");
        drop(closed);
        assert!(lines.flush(PATIENCE));
        let written = lock(&read).len();
        assert!((MAX_WAITING_LINES..=MAX_WAITING_LINES + 1).contains(&written), "{written}");
        assert_eq!(TOLD.load(Ordering::SeqCst), u64::try_from(all - written).unwrap());
    }
}
