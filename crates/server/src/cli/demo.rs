//! `mainstay demo`: the whole product at work on a simulated company.

use clap::Args;
use mainstay_base::SystemRng;
use mainstay_standins::{Pace, Story, Telling};

use crate::config::{Flags, Input, Loaded, data, environment, fleet, http, llm, log, poll};
use crate::demo::{self, Folder, Play};
use crate::exit::Exit;
use crate::{config, runtime, under_log};

/// What makes one story differ from another, unless somebody says otherwise.
const SEED: u64 = 2_026;
/// All services stand on one host, each of which would otherwise get five requests at once.
const PER_HOST: &str = "32";
/// How often workers are looked at: nobody waits a minute for a machine that was lost.
const SWEEP_MS: &str = "5000";
/// The last moment at which a story can begin: a year, so that no time overflows.
const LATEST_START: i64 = 365 * 24 * 3_600;

const EXAMPLES: &str = "\
Examples:
  mainstay demo                             Open the link that it prints
  mainstay demo --fast                      The same incidents, with little calm in between
  mainstay demo --seed 7                    Another story after the first ten minutes
  mainstay demo --listen 127.0.0.1:7400     On a port of your choice

A company of 14 services is simulated on this machine, with real health endpoints on loopback and a
day of history. After a calm look the shared database slows and takes down who leans on it; then a
certificate expires and a machine of the fleet is lost, a host hangs, a third party flaps. No other
machine can reach it, and it calls none: the fleet's machines are stand-ins on loopback, and one is
a process of this host.

The data lies in a folder for temporary files (TMPDIR) that is removed at the end. Neither
mainstay.toml nor the environment (MAINSTAY_*, DATABASE_URL) is read, and ./mainstay-data is not
touched. Exit codes: 0 it was stopped, 2 wrong use or environment.";

/// The flags of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Loopback address and port to listen on; a free port unless given
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", hide_default_value = true)]
    listen: String,
    /// Which story is told
    #[arg(long, value_name = "NUMBER", default_value_t = SEED)]
    seed: u64,
    /// Hurry through the calm: the first incident after 5 seconds, the next ones soon after each other
    #[arg(long)]
    fast: bool,
    /// Which lines are logged, such as info
    #[arg(long, value_name = "LEVELS", default_value = "error")]
    log_level: String,
    /// Begin so many seconds into the story: for tests and pictures
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide = true,
        value_parser = clap::value_parser!(i64).range(0..=LATEST_START))]
    start_at: i64,
    /// Let the story stand still: for tests and pictures
    #[arg(long, conflicts_with = "fast", hide = true)]
    hold: bool,
    /// Tell no more of the story than up to the second that was last read from standard input: for tests
    #[arg(long, conflicts_with = "hold", hide = true)]
    cue: bool,
}

/// Plays until a signal asks to stop.
///
/// # Errors
/// What kept it from playing, and what to do.
pub fn run(demo: &Demo) -> anyhow::Result<Exit> {
    // Before a folder is made.
    demo.load("demo")?;
    let folder = Folder::make(&environment::temporary_folder(), &SystemRng)?;
    let path = folder.path().to_str();
    let path = path.ok_or_else(|| anyhow::anyhow!("TMPDIR is not UTF-8; set another one"))?;
    let loaded = demo.load(path)?;
    let screen = environment::screen(&environment::variables());
    let play = demo.play();
    under_log(loaded, screen, |config| runtime::block_on(demo::play(config, play))?)
}

impl Demo {
    /// The configuration, with nothing from the environment or a file.
    fn load(&self, folder: &str) -> anyhow::Result<Loaded> {
        let flags: Flags = vec![
            (&data::DATA_DIR, folder.to_owned()),
            (&http::LISTEN, self.listen.clone()),
            (&fleet::SWEEP_MS, SWEEP_MS.to_owned()),
            // It calls no other machine.
            (&llm::PROVIDER, "fake".to_owned()),
            (&log::LEVEL, self.log_level.clone()),
            (&poll::PER_HOST, PER_HOST.to_owned()),
        ];
        let loaded = config::load(Input { flags, variables: Vec::new(), file: Ok(None) })?;
        anyhow::ensure!(
            loaded.config.http.listen.is_loopback(),
            "the demo is for this machine only, and --listen {} is no loopback address; give one \
             such as 127.0.0.1:7400, or run `mainstay serve` to be reached by others",
            loaded.config.http.listen
        );
        Ok(loaded)
    }

    fn play(&self) -> Play {
        let telling = match (self.hold, self.fast) {
            (true, _) => Telling::Held,
            (_, true) => Telling::Hurried,
            _ => Telling::Usual,
        };
        let start_ms = self.start_at.saturating_mul(1_000);
        let (story, pace) = (Story { seed: self.seed }, Pace { start_ms, telling });
        Play { story, pace, is_cued: self.cue }
    }
}
