//! `mainstay admin create|recover|rotate-pepper|renew-epoch`.

use std::io::{BufRead as _, Read as _};
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use mainstay_accounts::{Accounts, AccountsError, AdminMade, Email};
use mainstay_base::{Clock, SystemClock, SystemRng};
use mainstay_events::Events;
use mainstay_fleet::Fleet;
use mainstay_store::{Db, migrate};

use super::data::{DataFlags, Source};
use crate::config::Config;
use crate::exit::Exit;
use crate::output::write_stdout;
use crate::room::Ties;
use crate::{data, room, runtime};

/// More than the longest password takes, so that too much is told as such.
const MAX_STDIN_BYTES: u64 = 4096;

const EXAMPLES: &str = "\
Examples:
  mainstay admin create --email ada@example.com --password-stdin
  mainstay admin recover --email ada@example.com --password-stdin
  mainstay admin rotate-pepper
  mainstay admin renew-epoch";

const CREATE_EXAMPLES: &str = "\
Examples:
  mainstay admin create --email ada@example.com --password-stdin
  mainstay admin create --email ada@example.com --password-stdin --data-dir /var/lib/mainstay

The password is the first line of standard input: it never stands in arguments, logs or a history.";

const RECOVER_EXAMPLES: &str = "\
Examples:
  mainstay admin recover --email ada@example.com --password-stdin

The user becomes an active admin with the new password. The user's sessions and API tokens end, pending
invites of the user are revoked, and failed attempts to sign in are forgotten. It also works while
Mainstay serves.";

const ROTATE_EXAMPLES: &str = "\
Examples:
  mainstay admin rotate-pepper

Stop every instance first. Every session and API token ends and pending invites are revoked; users and
passwords stay. Agents of workers do not know the new pepper: retry those workers afterwards.";

const RENEW_EXAMPLES: &str = "\
Examples:
  mainstay admin renew-epoch --database postgres://mainstay:secret@db.internal/mainstay

After a dump was brought back by pg_restore: whoever follows events fetches the state anew instead of
taking numbers of the former database for those of this one. mainstay restore does this by itself.";

/// The arguments of `admin`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Admin {
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What to do about admins.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Make an admin; one that is there stays as it is
    #[command(after_help = CREATE_EXAMPLES)]
    Create(Who),
    /// Bring a locked-out user back as an admin with a new password
    #[command(after_help = RECOVER_EXAMPLES)]
    Recover(Who),
    /// Go over to another TOKEN_HASH_PEPPER, which ends every session and API token
    #[command(after_help = ROTATE_EXAMPLES)]
    RotatePepper {
        /// Where the data is.
        #[command(flatten)]
        data: DataFlags,
    },
    /// Have everybody who follows events begin anew, after a dump was brought back
    #[command(after_help = RENEW_EXAMPLES)]
    RenewEpoch {
        /// Where the data is.
        #[command(flatten)]
        data: DataFlags,
    },
}

/// Which admin.
#[derive(Debug, Args)]
pub struct Who {
    /// E-mail address of the account
    #[arg(long, value_name = "EMAIL")]
    email: String,
    /// Read the password from the first line of standard input
    #[arg(long, required = true)]
    password_stdin: bool,
    #[command(flatten)]
    data: DataFlags,
}

impl Admin {
    pub(crate) fn source(&self) -> Source<'_> {
        match &self.action {
            Action::Create(who) | Action::Recover(who) => who.data.source(),
            Action::RotatePepper { data } | Action::RenewEpoch { data } => data.source(),
        }
    }
}

/// Does what is asked for.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(action: &Action, config: &Config) -> anyhow::Result<Exit> {
    let report = match action {
        Action::Create(who) => {
            let (email, password) = (who.email()?, read_password()?);
            runtime::block_on(create(config, email, &password))??
        }
        Action::Recover(who) => {
            let (email, password) = (who.email()?, read_password()?);
            runtime::block_on(recover(config, email, &password))??
        }
        Action::RotatePepper { .. } => runtime::block_on(rotate_pepper(config))??,
        Action::RenewEpoch { .. } => runtime::block_on(renew_epoch(config))??,
    };
    write_stdout(&report)?;
    Ok(Exit::Fine)
}

impl Who {
    fn email(&self) -> anyhow::Result<Email> {
        self.email.parse().with_context(|| format!("--email {:?} can't be used", self.email))
    }
}

/// The first line, without its end.
fn read_password() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_STDIN_BYTES)
        .read_until(b'\n', &mut bytes)
        .context("the password can't be read from standard input")?;
    let text = String::from_utf8(bytes).ok();
    let text = text.context("the password on standard input is not UTF-8; give it as UTF-8")?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

async fn create(config: &Config, email: Email, password: &str) -> anyhow::Result<String> {
    let shown = email.to_string();
    let made = with_accounts(config, async |accounts: &Accounts| {
        Ok(accounts.create_admin(email, password).await?)
    })
    .await?;
    match made {
        AdminMade::Created => Ok(format!("{shown} is an admin and can sign in\n")),
        AdminMade::WasThere => {
            Ok(format!("{shown} is an admin already; nothing was changed, the password neither\n"))
        }
        AdminMade::IsNoAdmin => anyhow::bail!(
            "{shown} has an account that is no active admin, and nothing was changed; change its role \
             in the dashboard, or run `mainstay admin recover --email {shown} --password-stdin`"
        ),
    }
}

async fn recover(config: &Config, email: Email, password: &str) -> anyhow::Result<String> {
    let shown = email.to_string();
    let recovered = with_accounts(config, async |accounts: &Accounts| {
        match accounts.recover_admin(email, password).await {
            Err(AccountsError::NotFound) => Ok(false),
            other => Ok(other.map(|()| true)?),
        }
    })
    .await?;
    anyhow::ensure!(
        recovered,
        "no account has the e-mail address {shown}; check it, or run `mainstay admin create`"
    );
    Ok(format!(
        "{shown} is an active admin with the new password; its sessions and API tokens have ended\n"
    ))
}

/// Nobody may serve meanwhile: a running instance would go on with the former pepper.
async fn rotate_pepper(config: &Config) -> anyhow::Result<String> {
    data::prepare_folder(config)?;
    let _lock = data::lock(config)?;
    let db = open(config).await?;
    let rotated = async {
        let (accounts, _queue) = room::open(db.clone(), clock(), Ties::alone(config)?)?;
        accounts.rotate_pepper().await?;
        Ok::<_, anyhow::Error>(Fleet::count_machines(&db).await?)
    }
    .await;
    db.close().await;
    let machines = rotated?;
    let mut told =
        "every session and API token has ended, pending invites are revoked; users sign in again\n"
            .to_owned();
    if machines > 0 {
        // Their tokens are made of the pepper.
        told.push_str(&format!(
            "workers whose agent knows only the former pepper: {machines}; each will show as error, and has \
             to be retried (docs/runbooks/worker-error.md)\n"
        ));
    }
    Ok(told)
}

async fn renew_epoch(config: &Config) -> anyhow::Result<String> {
    data::prepare_folder(config)?;
    let db = open(config).await?;
    let renewed = Events::renew_epoch(&db, &SystemRng).await;
    db.close().await;
    let epoch = renewed?;
    Ok(format!("the epoch of the event streams is now {epoch}; whoever follows them begins anew\n"))
}

async fn with_accounts<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Accounts) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    data::prepare_folder(config)?;
    let db = open(config).await?;
    let done = async {
        let (accounts, _queue) = room::open(db.clone(), clock(), Ties::alone(config)?)?;
        room::check_pepper(&accounts).await?;
        work(&accounts).await
    }
    .await;
    db.close().await;
    done
}

/// The database, up to date: this may be the first that is done with it.
async fn open(config: &Config) -> anyhow::Result<Db> {
    let db = data::open(config, clock()).await?;
    migrate::up(&db).await?;
    Ok(db)
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}
