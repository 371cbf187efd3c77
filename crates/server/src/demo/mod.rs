//! `mainstay demo`: the whole product on a simulated company.
//!
//! A folder that goes with the process (`folder`) → the company takes its ports → who is watched
//! (`watched`) is applied and a day of the story recorded as if it had been polled (`past`) → the call
//! about its incident is uploaded (`report`), which a stand-in for a language model reports on, and a journey through the company kept
//! (`journey`, with what it pays at: `till`) → a small fleet is set up (`fleet`, with what it would have found: `findings`), which now and then loses a machine (`losses`) → Mainstay serves as ever, the company begins to answer, and whoever looks is told where (`welcome`). Tests give the story its cues (`cue`).

mod cue;
mod findings;
mod fleet;
mod folder;
mod journey;
mod losses;
mod past;
mod report;
mod till;
mod watched;
mod welcome;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::{Clock, SystemClock};
use mainstay_http::CookieName;
use mainstay_standins::{Call, Company, Director, Pace, Story};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cli::serve;
use crate::config::Config;
use crate::exit::Exit;
use crate::rooms::Rooms;
use crate::{listen, output, shutdown};
use fleet::Keeper;
pub(crate) use folder::Folder;
use till::Till;
use welcome::Welcome;

/// How the demo is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Play {
    pub(crate) story: Story,
    pub(crate) pace: Pace,
    /// Whether it waits for its cues.
    pub(crate) is_cued: bool,
}

/// Plays until a signal asks to stop.
pub(crate) async fn play(config: &Config, play: Play) -> anyhow::Result<Exit> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let stop = CancellationToken::new();
    let grace = shutdown::grace(config.jobs.embedded.then_some(config.jobs.stop));
    shutdown::on_signals(stop.clone(), grace).context("signals can't be listened to")?;
    let listener = listen::bind(&config.http.listen).await?;
    let company = Company::bind().await.context(
        "the simulated services find no free ports on 127.0.0.1; check the limits on descriptors",
    )?;
    let now = clock.now();
    let told = past::record(config, &company, play.story, Arc::clone(&clock), &stop).await?;
    if told.is_none() {
        return Ok(Exit::Fine);
    }
    let call = Call::about(play.story, now);
    let model = report::stand_in(call.clone()).await?;
    let config = &report::written_by(config, &model)?;
    let machines = fleet::stand_in(&clock).await?;
    let config = &machines.provide(config)?;
    let till =
        Till::open().await.context("the till of the demo finds no free port on 127.0.0.1")?;
    let (answering, journey) = (TaskTracker::new(), journey::source(&company, &till.base_url()));
    let nets = fleet::nets(&company);
    let announce = |(welcome, keeper): (Welcome, Keeper), site: &str| {
        let director = Director::begin(play.story, play.pace, play.clock(&clock)?);
        answering.spawn(keeper.keep(machines, play.story, director.clone(), stop.clone()));
        answering.spawn(till.follow(director.clone(), stop.clone()));
        company.start(&director, &answering, &stop);
        output::write_stdout(&welcome.text(site, &play))
    };
    let prepare = async |rooms: &Rooms| {
        let welcome = Welcome::prepare(&rooms.accounts).await?;
        if let Some(call) = &call {
            report::upload(rooms, call, now).await?;
        }
        journey::keep(rooms, &journey).await?;
        Ok((welcome, fleet::launch(rooms, &nets, Arc::clone(&clock)).await?))
    };
    // Browsers send a cookie to every port of a host: the demo must not take the place of a session with
    // another Mainstay on this machine.
    let opening = serve::Opening { is_demo: true, cookie: CookieName::of_port, prepare, announce };
    let served = serve::serve_on(config, Arc::clone(&clock), listener, &stop, opening).await;
    stop.cancel();
    answering.close();
    answering.wait().await;
    served
}

impl Play {
    /// What the story is told by.
    fn clock(&self, clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Clock>> {
        if !self.is_cued {
            return Ok(Arc::clone(clock));
        }
        let start = Duration::from_millis(u64::try_from(self.pace.start_ms).unwrap_or(0));
        Ok(cue::by_stdin(Arc::clone(clock), start)?)
    }
}
