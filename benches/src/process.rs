//! A child process: its CPU time and memory, read from Linux' `/proc`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

/// How often and how long a silent server is waited for.
const LOOKS: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A server that is ended with this value.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// `host:port`, as it printed it.
    pub address: String,
}

impl Server {
    /// Starts `command` and waits until a line on its standard error holds `http://host:port`.
    ///
    /// # Errors
    /// When it does not start or never says its address.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("standard error")?).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| address_in(&line))
            .context("the server ended without telling its address")?;
        // Whoever writes into a full pipe waits: what it still says is read and thrown away.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Self { child, address })
    }

    /// Starts `command`, which says nothing, and waits until `address` takes connections.
    ///
    /// # Errors
    /// When it does not start or never takes one.
    pub fn start_at(command: &mut Command, address: String) -> anyhow::Result<Self> {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let server = Self { child, address };
        for _ in 0..LOOKS {
            if TcpStream::connect(&server.address).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        anyhow::bail!("nobody takes connections at {}", server.address)
    }

    /// Asks it to end by itself (SIGTERM).
    ///
    /// # Errors
    /// When it can't be asked.
    pub fn ask_to_stop(&self) -> anyhow::Result<()> {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status()?;
        anyhow::ensure!(asked.success(), "the process can't be asked to stop");
        Ok(())
    }

    /// The CPU time of all its threads so far.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0_u64;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += text.split(' ').next().context("schedstat is empty")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Its resident memory in bytes.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn resident_bytes(&self) -> anyhow::Result<f64> {
        self.status("VmRSS:")
    }

    /// The most resident memory that it ever had, in bytes.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn most_resident_bytes(&self) -> anyhow::Result<f64> {
        self.status("VmHWM:")
    }

    /// From now on [`Self::most_resident_bytes`] tells the most since now.
    ///
    /// # Errors
    /// When `/proc` can't be written.
    pub fn forget_most_resident(&self) -> anyhow::Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?)
    }

    fn status(&self, name: &'static str) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with(name)).context(name)?;
        let kib: f64 = line.split_whitespace().nth(1).context("it has no value")?.parse()?;
        Ok(kib * 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address_in(line: &str) -> Option<String> {
    let (_, after) = line.split_once("http://")?;
    let end = after.find(|next: char| !next.is_ascii_digit() && !".:".contains(next));
    Some(after.get(..end.unwrap_or(after.len()))?.to_owned())
}
