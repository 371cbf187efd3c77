//! `mainstay serve`, and `mainstay` alone.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use mainstay_accounts::{SeenQueue, Token};
use mainstay_base::{Clock, IdSource, SystemClock, SystemRng};
use mainstay_http::Tls;
use mainstay_outbound::Mailer;
use mainstay_store::{Db, installation, migrate};
use tokio_util::sync::CancellationToken;

use super::data::{DataFlags, Source};
use crate::config::{Config, http, log, tls};
use crate::exit::Exit;
use crate::meanwhile::{self, Memory};
use crate::metrics::Recorder;
use crate::post::MailPost;
use crate::room::Ties;
use crate::saturation::Pulse;
use crate::wire::{self, Parts};
use crate::{data, listen, room, runtime, shutdown};

const EXAMPLES: &str = "\
Examples:
  mainstay serve
  mainstay serve --listen 0.0.0.0:7373 --public-url https://mainstay.example.com
  mainstay serve --database postgres://mainstay:secret@db.internal/mainstay
  mainstay serve --print-config";

/// The flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    data: DataFlags,
    #[arg(long, value_name = "ADDR", help = http::LISTEN.help)]
    listen: Option<String>,
    #[arg(long, value_name = "URL", help = http::PUBLIC_URL.help)]
    public_url: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::CERT.help)]
    tls_cert: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::KEY.help)]
    tls_key: Option<String>,
    #[arg(long, value_name = "FORMAT", help = log::FORMAT.help)]
    log_format: Option<String>,
    #[arg(long, value_name = "LEVELS", help = log::LEVEL.help)]
    log_level: Option<String>,
    /// Show the effective configuration with secrets masked, and exit
    #[arg(long)]
    pub(crate) print_config: bool,
}

impl Serve {
    pub(crate) fn source(&self) -> Source<'_> {
        self.data
            .source()
            .with(&http::LISTEN, self.listen.as_ref())
            .with(&http::PUBLIC_URL, self.public_url.as_ref())
            .with(&tls::CERT, self.tls_cert.as_ref())
            .with(&tls::KEY, self.tls_key.as_ref())
            .with(&log::FORMAT, self.log_format.as_ref())
            .with(&log::LEVEL, self.log_level.as_ref())
    }
}

/// Serves until a signal asks to stop.
///
/// # Errors
/// What kept it from serving, and what to do.
pub fn run(config: &Config) -> anyhow::Result<Exit> {
    runtime::block_on(serve(config))?
}

async fn serve(config: &Config) -> anyhow::Result<Exit> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let stop = CancellationToken::new();
    shutdown::on_signals(stop.clone()).context("signals can't be listened to")?;
    let tls =
        config.tls.as_ref().map(|files| Tls::from_files(&files.cert, &files.key)).transpose()?;
    let listener = listen::bind(&config.http.listen).await?;
    data::prepare_folder(config)?;
    let _lock = data::lock(config)?;
    let recorder = Recorder::install()?;
    let mail = config.mail.as_ref();
    let mailer = mail.map(|mail| Mailer::new(mail, Arc::clone(&clock))).transpose()?;
    let opening = open(config, clock, recorder.clone(), mailer);
    let Some(opened) = stop.run_until_cancelled(opening).await else {
        tracing::info!("stopped before the database was open");
        return Ok(Exit::Fine);
    };
    let Opened { db, parts, queue, setup } = opened?;
    let accounts = parts.accounts.clone();
    let seeing = tokio::spawn(mainstay_accounts::engine::run(accounts, queue, stop.clone()));
    let (accounts, kept) = (parts.accounts.clone(), config.accounts.audit_kept);
    let cleaning = tokio::spawn(meanwhile::clean_up(accounts, kept, stop.clone()));
    let pulse = Arc::clone(&parts.pulse);
    let beating = tokio::spawn({
        let stop = stop.clone();
        async move { pulse.beat(stop, || recorder.upkeep()).await }
    });
    let service = mainstay_http::service(wire::surface(config, parts));
    let bound = listener.local_addr().context("the bound address can't be read")?;
    announce(config, bound, setup.as_ref());
    let drained = mainstay_http::serve(
        listener,
        tls,
        service,
        stop.clone().cancelled_owned(),
        shutdown::DRAIN,
    )
    .await;
    stop.cancel();
    // A task that panicked has been logged, and there is nothing left to do for it.
    let _ = beating.await;
    let _ = seeing.await;
    let _ = cleaning.await;
    db.close().await;
    tracing::info!(open = drained.open, cut = drained.cut, "stopped");
    Ok(Exit::Fine)
}

/// What is there before the first request.
struct Opened {
    db: Db,
    parts: Parts,
    queue: SeenQueue,
    /// The way to the first account, as long as there is none.
    setup: Option<Token>,
}

/// Opens the database and brings it up to date.
async fn open(
    config: &Config,
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    mailer: Option<Mailer>,
) -> anyhow::Result<Opened> {
    let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
    // It can wait for the server, or for another instance that migrates.
    tracing::info!("opening the database");
    let db = data::open(config, Arc::clone(&clock)).await?;
    let moved = migrate::up(&db).await?;
    let installation = installation::find_or_create(&db, ids.next()).await?;
    tracing::info!(
        database = db.dialect().name(),
        schema_version = moved.version,
        migrations_applied = moved.steps.len(),
        installation = %installation.id,
        "database open"
    );
    let ties = ties(config, mailer, &clock, &ids)?;
    let (accounts, queue) = room::open(db.clone(), Arc::clone(&clock), ties)?;
    room::check_pepper(&accounts).await?;
    let setup = accounts.setup_token().await?;
    let pulse = Pulse::new(Arc::clone(&clock));
    let schema_version = moved.version;
    let parts = Parts { clock, ids, db: db.clone(), schema_version, recorder, pulse, accounts };
    Ok(Opened { db, parts, queue, setup })
}

/// What ties accounts to mail, if it is configured.
fn ties(
    config: &Config,
    mailer: Option<Mailer>,
    clock: &Arc<dyn Clock>,
    ids: &IdSource,
) -> anyhow::Result<Ties> {
    let alone = Ties::alone(config)?;
    let Some(mailer) = mailer else { return Ok(alone) };
    let pepper = alone.pepper.clone();
    let (clock, ids, places) = (Arc::clone(clock), ids.clone(), Memory::places());
    let letterbox = Arc::new(Memory { mailer, pepper: pepper.clone(), clock, ids, places });
    let site = config.http.public_url.as_ref().map(|url| url.as_str().to_owned());
    let post = Arc::new(MailPost { letterbox, pepper, rng: Arc::new(SystemRng), site });
    Ok(Ties { post, ..alone })
}

fn announce(config: &Config, bound: SocketAddr, setup: Option<&Token>) {
    if !config.alone() && !wire::is_https(config) {
        tracing::warn!(
            "serving plain HTTP beyond this machine: what is sent can be read on the way; set \
             --tls-cert and --tls-key, or --public-url https://... behind a proxy that speaks TLS"
        );
    }
    if !mainstay_web::built() {
        tracing::warn!("this build has no dashboard: install Node 20 or newer and build again");
    }
    let site = listen::site_address(config, bound);
    // The site's address need not be the bound one, and port 0 is known only now.
    tracing::info!(version = crate::VERSION, address = %bound, "Mainstay is ready at {site}");
    // As long as nobody has an account, the log is the only place that says how to make one.
    if let Some(token) = setup {
        tracing::info!(
            "there is no account yet; make the first one within a day at {site}/setup#{}",
            token.reveal()
        );
    }
}
