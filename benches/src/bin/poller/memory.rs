//! How much memory a poller takes: as many as there may be, in a process of their own.

use std::hint::black_box;

use mainstay_benches::figure::print;
use mainstay_benches::memory::{of_child, resident_bytes, write};

use crate::{bare, ours};

const COUNT: u32 = 100_000;

/// Prints the bytes of one poller whose poll holds nothing, and of one bare task.
pub(crate) fn measure() -> anyhow::Result<()> {
    print("poller.bytes_each", of_child("ours")?, "B")?;
    print("poller.bare_bytes_each", of_child("bare")?, "B")?;
    Ok(())
}

/// What the child does: fills its memory and writes the bytes of one.
pub(crate) fn child(contestant: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        // What the runtime itself needs is there before.
        tokio::spawn(async {}).await?;
        let before = resident_bytes()?;
        let grown = match contestant {
            "ours" => {
                let held = ours::asleep(COUNT).await?;
                let after = resident_bytes()?;
                black_box(&held);
                after - before
            }
            "bare" => {
                let held = bare::asleep(COUNT).await;
                let after = resident_bytes()?;
                black_box(&held);
                after - before
            }
            other => anyhow::bail!("there is no contestant {other}"),
        };
        write(grown / f64::from(COUNT))
    })
}
