//! How much memory a breaker takes: a million of them in a process of their own.

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::process::Command;

use anyhow::Context as _;
use mainstay_benches::figure::print;

use crate::peers::{self, Breakers};
use crate::table::shown;

/// Says that this process is the one that fills its memory.
pub(crate) const CHILD: &str = "fill-memory";
/// How many breakers stand in the map.
const BREAKERS: u32 = 1_000_000;

/// Prints the bytes of one breaker beyond its key, for each contestant that `peers` knows.
pub(crate) fn measure() -> anyhow::Result<()> {
    for (contestant, _) in peers::BREAKERS {
        let output = Command::new(std::env::current_exe()?).args([CHILD, contestant]).output()?;
        anyhow::ensure!(
            output.status.success(),
            "the memory of {contestant} was not measured: {}",
            String::from_utf8_lossy(&output.stderr),
        );
        let bytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        print(&format!("{}.registry_bytes", shown(contestant)), bytes, "B")?;
    }
    Ok(())
}

/// What the child does: fills its memory and writes the bytes of one breaker.
pub(crate) fn child(contestant: &str) -> anyhow::Result<()> {
    let (_, build) = peers::BREAKERS
        .iter()
        .find(|(name, _)| *name == contestant)
        .with_context(|| format!("there is no contestant {contestant}"))?;
    let before = resident_bytes()?;
    let breakers = build(BREAKERS)?;
    let grown = resident_bytes()? - before;
    black_box(&breakers);
    let key = f64::from(u32::try_from(size_of::<u64>())?);
    std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("{}\n", grown / f64::from(BREAKERS) - key).as_bytes(),
    )?;
    Ok(())
}

/// A map of so many breakers, for a contestant that brings no registry.
pub(crate) fn map<B: 'static>(count: u32, build: impl Fn() -> B) -> anyhow::Result<Breakers> {
    let breakers: HashMap<u64, B> = (0..count).map(|key| (u64::from(key), build())).collect();
    Ok(Box::new(breakers))
}

fn resident_bytes() -> anyhow::Result<f64> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let pages: u32 = text.split(' ').nth(1).context("statm is too short")?.parse()?;
    Ok(f64::from(pages) * f64::from(u32::try_from(rustix::param::page_size())?))
}
