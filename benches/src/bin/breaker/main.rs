//! `./scripts/bench breaker`: what a call costs through our breaker and through each of its peers, in
//! nanoseconds of CPU time over the bare call, all in one run.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

mod call;
mod cases;
mod floors;
mod measure;
mod memory;
mod ours;
mod peers;
mod rounds;
mod table;

use anyhow::Context as _;
use mainstay_benches::memory::CHILD;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(CHILD) {
        return memory::child(&arguments.next().context("whose memory?")?);
    }
    let mut all = Vec::new();
    cases::bare(&mut all);
    floors::enter(&mut all);
    ours::enter(&mut all)?;
    peers::enter(&mut all)?;
    table::print_all(&rounds::run(all)?)?;
    memory::measure()?;
    mainstay_benches::figure::finish("breaker")
}
