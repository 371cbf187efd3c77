//! Starts the binary and watches what it says.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::client::get;

/// The longest that the binary may take to be ready or to end on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(10);

/// A running `mainstay serve`, killed when the test ends.
pub(crate) struct Server {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    /// `host:port`.
    pub(crate) address: String,
}

impl Server {
    /// Serves from `folder` on a free port and waits until it is ready.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// The same with more arguments.
    pub(crate) fn start_with(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = mainstay(folder);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        Self::spawn(command)
    }

    /// The same with a command of the test's own.
    pub(crate) fn spawn(command: Command) -> Self {
        let mut server = Self::spawn_unready(command);
        server.address = server.await_logged(address_in);
        server
    }

    /// Waits until its rooms have turned once: it takes connections before that.
    pub(crate) fn until_ready(&self) {
        let began = Instant::now();
        while get(&self.address, "/readyz").status != 200 {
            assert!(began.elapsed() < PATIENCE, "it is not ready: {:#?}", self.log());
            std::thread::sleep(LOOK);
        }
    }

    /// The same, without waiting until it takes connections.
    pub(crate) fn spawn_unready(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let log = Arc::new(Mutex::new(Vec::new()));
        let stderr = BufReader::new(child.stderr.take().expect("a piped standard error"));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                written.lock().unwrap().push(line);
            }
        });
        Self { child, log, address: String::new() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Every line of its log so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// The first log line that holds `text`, which may still be on its way.
    pub(crate) fn await_line(&self, text: &str) -> String {
        let began = Instant::now();
        loop {
            if let Some(line) = self.log().into_iter().find(|line| line.contains(text)) {
                return line;
            }
            assert!(began.elapsed() < PATIENCE, "no {text} in {:#?}", self.log());
            std::thread::sleep(LOOK);
        }
    }

    /// The value of a field in the first log line that has it.
    pub(crate) fn logged(&self, field: &str) -> String {
        let found = self.log().iter().find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            line.get(field).and_then(|value| value.as_str().map(str::to_owned))
        });
        found.unwrap_or_else(|| panic!("no {field} in {:#?}", self.log()))
    }

    /// Sends a signal such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        send_signal(self.id(), name);
    }

    /// Waits for its end, which must come.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end: {:#?}", self.log());
            std::thread::sleep(LOOK);
        }
    }

    /// Stops it as a supervisor does, and sees that it ends well.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0), "{:#?}", self.log());
    }

    /// Ends it at once, if it has not ended already.
    pub(crate) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for a line in which `find` finds something.
    pub(crate) fn await_logged<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = self.log().iter().find_map(|line| find(line)) {
                return found;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended instead of serving: {ended:?} {:#?}", self.log());
            assert!(began.elapsed() < PATIENCE, "it does not get ready: {:#?}", self.log());
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a signal such as `TERM` to a process that the test started.
pub(crate) fn send_signal(id: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status();
    assert!(status.unwrap().success());
}

/// The binary in `folder`, with an environment of its own.
pub(crate) fn mainstay(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

/// Runs a command to its end: exit code, standard output, standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = mainstay(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Runs a command that must succeed, and gives what it printed.
pub(crate) fn run_well(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, error) = run(folder, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {error}");
    out
}

/// The database file of a data folder inside `folder`.
pub(crate) fn database_file(folder: &Path) -> PathBuf {
    folder.join("mainstay-data").join("mainstay.db")
}

fn address_in(line: &str) -> Option<String> {
    let (_, after) = line.split_once("Mainstay is ready at ")?;
    let (_, authority) = after.split_once("://")?;
    let end = authority.find(['"', ' ']).unwrap_or(authority.len());
    Some(authority[..end].to_owned())
}
