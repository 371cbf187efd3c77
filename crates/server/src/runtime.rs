//! The async runtime, made once for each command that needs one.

use std::future::Future;

use anyhow::Context as _;

/// Runs `work` to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("mainstay")
        .build()
        .context("the runtime can't start; check the limits on threads and descriptors")?;
    Ok(runtime.block_on(work))
}
