//! Opens the room of reports: where they are stored, who writes them, and who knows what was recorded.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_accounts::Pepper;
use mainstay_base::{Clock, IdSource, SystemRng};
use mainstay_events::Events;
use mainstay_jobs::{Handler, Jobs};
use mainstay_monitor::Past;
use mainstay_outbound::{BlobOptions, Blobs};
use mainstay_reports::llm::{FakeLlm, OpenAi};
use mainstay_reports::{
    Llm, LlmWriter, Pen, READ_TIME, ReportMaker, Reports, ReportsOptions, Sweeper, TokenHash,
};

use crate::config::{Config, LlmConfig};
use crate::timeline::Monitored;

/// What tokens of shares are hashed for.
const SHARE: &str = "share";
/// How long a report without a model may take.
const FAKE_TIME: Duration = Duration::from_secs(60);

/// What the room stands on.
pub(crate) struct Ground<'a> {
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) ids: &'a IdSource,
    pub(crate) events: &'a Events,
    pub(crate) jobs: &'a Jobs,
    pub(crate) pepper: &'a Pepper,
}

/// The room, and the jobs that it has done.
pub(crate) struct Desk {
    pub(crate) reports: Reports,
    /// What a runner of this process does.
    pub(crate) handlers: Vec<Arc<dyn Handler>>,
    /// What files follow their jobs by, whether this process makes reports or not.
    pub(crate) follower: Arc<dyn Handler>,
}

/// Opens the room.
pub(crate) fn open(config: &Config, ground: &Ground<'_>) -> anyhow::Result<Desk> {
    let Ground { clock, ids, events, jobs, pepper } = ground;
    let options = BlobOptions {
        ca_file: config.outbound.ca_file.clone(),
        clock: Arc::clone(clock),
        ..BlobOptions::default()
    };
    let blobs = Blobs::open_with(&config.blobs, &options)
        .context("transcripts and reports can't be stored")?;
    let llm = llm(config, Arc::clone(clock))?;
    let reports = Reports::new(ReportsOptions {
        events: (*events).clone(),
        jobs: (*jobs).clone(),
        objects: Arc::new(blobs),
        ids: (*ids).clone(),
        rng: Arc::new(SystemRng),
        tokens: Arc::new(ShareTokens((*pepper).clone())),
        is_configured: llm.is_some(),
        read_time: READ_TIME,
    });
    let pen = llm.map(|(llm, time)| Pen {
        writer: Arc::new(LlmWriter(llm)),
        timelines: Arc::new(Monitored {
            past: Past::new(events.db().clone(), config.history.hours()),
            events: (*events).clone(),
            missing_for: config.history.missing(),
        }),
        time,
    });
    let makes = pen.is_some();
    let follower: Arc<dyn Handler> = Arc::new(ReportMaker::new(reports.clone(), pen)?);
    let mut handlers: Vec<Arc<dyn Handler>> = vec![Arc::new(Sweeper::new(reports.clone())?)];
    // A runner without a model leaves reports to others: taken and put off, they would have to wait for those.
    if makes {
        handlers.push(Arc::clone(&follower));
    } else {
        tracing::info!(
            "no language model is configured, so this process makes no reports; those that are queued wait for one that does"
        );
    }
    Ok(Desk { reports, handlers, follower })
}

/// Who writes, and how long that may take.
fn llm(config: &Config, clock: Arc<dyn Clock>) -> anyhow::Result<Option<(Arc<dyn Llm>, Duration)>> {
    Ok(match &config.llm {
        LlmConfig::Off => None,
        LlmConfig::Fake => Some((Arc::new(FakeLlm), FAKE_TIME)),
        LlmConfig::OpenAi(settings) => {
            let time = settings.timeout;
            Some((Arc::new(OpenAi::new(settings.clone(), clock)?), time))
        }
    })
}

struct ShareTokens(Pepper);

impl TokenHash for ShareTokens {
    fn hash(&self, token: &str) -> String {
        self.0.keyed(SHARE, token.as_bytes())
    }
}
