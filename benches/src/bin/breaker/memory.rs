//! How much memory a breaker takes: a million of them in a process of their own.

use std::collections::HashMap;
use std::hint::black_box;

use anyhow::Context as _;
use mainstay_benches::figure::print;
use mainstay_benches::memory::{of_child, resident_bytes, write};

use crate::peers::{self, Breakers};
use crate::table::shown;

/// How many breakers stand in the map.
const BREAKERS: u32 = 1_000_000;

/// Prints the bytes of one breaker beyond its key, for each contestant that `peers` knows.
pub(crate) fn measure() -> anyhow::Result<()> {
    for (contestant, _) in peers::BREAKERS {
        print(&format!("{}.registry_bytes", shown(contestant)), of_child(contestant)?, "B")?;
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
    write(grown / f64::from(BREAKERS) - key)
}

/// A map of so many breakers, for a contestant that brings no registry.
pub(crate) fn map<B: 'static>(count: u32, build: impl Fn() -> B) -> anyhow::Result<Breakers> {
    let breakers: HashMap<u64, B> = (0..count).map(|key| (u64::from(key), build())).collect();
    Ok(Box::new(breakers))
}
