//! Starts `tests/smtp_server.py` and listens to what it tells.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::PATIENCE;

/// The path of a Python that can import aiosmtpd.
const PYTHON: &str = "MAINSTAY_TEST_PYTHON";

/// A running server. It ends with this.
pub(crate) struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) async fn start(options: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smtp_server.py");
        let mut child = Command::new(python())
            .arg(script)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the Python of MAINSTAY_TEST_PYTHON starts");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Self { child, lines, port: 0 };
        let ready = server.next().await;
        server.port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
        server
    }

    /// The address of it.
    pub(crate) fn address(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// The next thing that it tells.
    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("the server tells");
        let line = line.unwrap().expect("the server runs");
        serde_json::from_str(&line).unwrap()
    }

    /// The next thing of this kind.
    pub(crate) async fn next_of(&mut self, event: &str) -> Value {
        loop {
            let told = self.next().await;
            if told["event"] == event {
                return told;
            }
        }
    }

    /// Ends it and gives what it told that nobody has read.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        while let Some(line) = timeout(PATIENCE, self.lines.next_line()).await.unwrap().unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }
}

#[expect(clippy::disallowed_methods, reason = "scripts/test says where the Python is")]
fn python() -> std::ffi::OsString {
    std::env::var_os(PYTHON).filter(|path| !path.is_empty()).unwrap_or_else(|| {
        panic!(
            "{PYTHON} is not set: run ./scripts/test rust, which installs a real SMTP server, or set \
             it to the path of a Python that can import aiosmtpd"
        )
    })
}
