//! Sockets and files that this process, and whom it starts, may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as the system lets us have; a server that is started inherits it.
///
/// # Errors
/// When the system refuses.
pub fn raise_limit() -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(())
}
