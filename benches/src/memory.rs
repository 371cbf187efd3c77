//! How much memory something takes: many of it in a process of their own.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use anyhow::Context as _;

/// Says that this process is the one that fills its memory.
pub const CHILD: &str = "fill-memory";

/// The bytes that a child of this program writes when it fills its memory with this contestant's.
///
/// # Errors
/// When it fails, or writes no number.
pub fn of_child(contestant: &str) -> anyhow::Result<f64> {
    let output = Command::new(std::env::current_exe()?).args([CHILD, contestant]).output()?;
    anyhow::ensure!(
        output.status.success(),
        "the memory of {contestant} was not measured: {}",
        String::from_utf8_lossy(&output.stderr),
    );
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// What the child writes.
///
/// # Errors
/// When standard output is closed.
pub fn write(bytes: f64) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{bytes}")?)
}

/// The resident memory of this process.
///
/// # Errors
/// When the system does not tell.
pub fn resident_bytes() -> anyhow::Result<f64> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let pages: u32 = text.split(' ').nth(1).context("statm is too short")?.parse()?;
    Ok(f64::from(pages) * f64::from(u32::try_from(rustix::param::page_size())?))
}
