//! The system's limit of open files, under which connections count too.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is open beside connections: the database, the log, the listener.
const BESIDE: u64 = 256;

/// Raises this process's own limit as far as `connections` need it and the system lets it. Many
/// systems start with 1024 and allow far more to whoever asks.
pub(crate) fn raise(connections: u32) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = u64::from(connections).saturating_add(BESIDE);
    let Some(now) = limit.current.filter(|now| *now < wanted) else { return };
    let current = limit.maximum.map_or(wanted, |most| most.min(wanted));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    let reached = if raised.is_ok() { current } else { now };
    if reached < wanted {
        tracing::warn!(
            limit = reached,
            "the limit of open files is below http.max_connections; raise it (ulimit -n, \
             LimitNOFILE=), or lower http.max_connections"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_and_never_lowered() {
        let before = getrlimit(Resource::Nofile);
        raise(1);
        assert_eq!(getrlimit(Resource::Nofile).current, before.current);
        let most = before.maximum.unwrap_or(u64::MAX);
        raise(u32::MAX);
        let wanted = (u64::from(u32::MAX) + BESIDE).min(most);
        assert!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) >= wanted.min(most));
    }
}
