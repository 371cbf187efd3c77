//! Opens the room of accounts on an open database.

use std::sync::Arc;
use std::thread::available_parallelism;

use mainstay_accounts::{
    Accounts, HashingFailed, HashingLimits, NoPost, Options, Pepper, PepperCheck, Post, SeenQueue,
};
use mainstay_base::{Clock, IdSource, SystemRng};
use mainstay_store::Db;

use crate::config::Config;
use crate::pepper;

/// Passwords that are hashed at once, at most: each takes 19 MiB.
const MOST_HASHING: usize = 4;
/// Sign-ins that may wait for their hashing.
const MOST_WAITING: usize = 256;

/// What ties the room to the others.
pub(crate) struct Ties {
    /// The key of every hash.
    pub(crate) pepper: Pepper,
    /// Who queues mail.
    pub(crate) post: Arc<dyn Post>,
    /// Who is told of changes.
    pub(crate) changed: Arc<dyn Fn() + Send + Sync>,
}

impl Ties {
    /// For the command line: no mail, and nobody to tell.
    pub(crate) fn alone(config: &Config) -> anyhow::Result<Self> {
        let pepper = pepper::find_or_make(config, &SystemRng)?;
        Ok(Self { pepper, post: Arc::new(NoPost), changed: Arc::new(|| ()) })
    }
}

/// The room, and what its engine works off.
pub(crate) fn open(
    db: Db,
    clock: Arc<dyn Clock>,
    ties: Ties,
) -> Result<(Accounts, SeenQueue), HashingFailed> {
    let Ties { pepper, post, changed } = ties;
    let cores = available_parallelism().map_or(1, usize::from);
    // Half of the cores stay for everybody else while many sign in.
    let at_once = (cores / 2).clamp(1, MOST_HASHING);
    let options = Options {
        db,
        ids: IdSource::new(Arc::clone(&clock), Arc::new(SystemRng)),
        clock,
        rng: Arc::new(SystemRng),
        pepper,
        hashing: HashingLimits { at_once, waiting: MOST_WAITING },
        post,
        changed,
    };
    Accounts::new(options)
}

/// Refuses a pepper that is not the one this database was used with.
pub(crate) async fn check_pepper(accounts: &Accounts) -> anyhow::Result<()> {
    match accounts.check_pepper().await? {
        PepperCheck::Same => Ok(()),
        PepperCheck::Other => anyhow::bail!(
            "this database was used with another TOKEN_HASH_PEPPER, so no session or token would be \
             known; give the former one (the file {} of the former data folder), or run `mainstay \
             admin rotate-pepper` to end every session and API token (docs/runbooks/accounts.md)",
            pepper::FILE_NAME
        ),
    }
}
