//! What goes wrong.

use std::time::Duration;

/// What goes wrong until it is switched off. Nothing, at first.
#[derive(Debug, Clone, Default)]
pub struct Switches {
    /// Lists are empty, while each machine can be read.
    pub empty_lists: bool,
    /// Lists are answered with 503.
    pub lists_fail: bool,
    /// Lists leave this machine out.
    pub omitted: Option<String>,
    /// The app is not found: it is of another organisation than the token.
    pub no_app: bool,
    /// This many questions about a machine are answered with 404 although it is there.
    pub not_found: u32,
    /// This many creates are carried out and answered with 408.
    pub creates_lost: u32,
    /// This many creates are not carried out and answered with 408.
    pub creates_dropped: u32,
    /// No host has room.
    pub no_capacity: bool,
    /// Machines of a host that can't be reached: they can be read, and nothing can be done.
    pub unreachable: Vec<String>,
    /// Leases are answered with 408: a host took too long.
    pub leases_time_out: bool,
    /// This many leases are given and answered with 408.
    pub leases_lost: u32,
    /// Everything is answered with this status and this body.
    pub everything: Option<(u16, String)>,
    /// Everything is answered after this time.
    pub slow: Option<Duration>,
    /// Nothing is answered.
    pub silent: bool,
    /// Answers end in the middle.
    pub cut: bool,
    /// What 429 says in `Retry-After`.
    pub retry_after: Option<u64>,
}
