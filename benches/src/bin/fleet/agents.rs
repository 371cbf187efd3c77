//! Agents, on threads of their own: each at a port, each answering after a while, all of them counted.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::BoxFuture;
use mainstay_base::{Id, IdSource, Secret, SystemClock, SystemRng};
use mainstay_fleet::providers::MachineName;
use mainstay_fleet::{AgentDoor, AgentKey};
use mainstay_standins::agent::{Agent, Manner};
use mainstay_standins::door::{Answering, Door, Question, Reply};
use url::Url;

/// How long an answer takes.
const ANSWER_TIME: Duration = Duration::from_millis(50);
/// The generation that every machine was ordered under.
pub(crate) const GENERATION: i64 = 1;

/// All agents.
pub(crate) struct Agents {
    pub(crate) all: Vec<Arc<One>>,
    pub(crate) key: AgentKey,
    crowd: Arc<Crowd>,
}

/// One of them.
pub(crate) struct One {
    pub(crate) worker: Id,
    pub(crate) door: AgentDoor,
    agent: Arc<Agent>,
    /// Taken when it is killed.
    port: Mutex<Option<Door>>,
}

/// How many questions are in the air.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    peak: AtomicUsize,
}

struct Counted {
    agent: Arc<Agent>,
    crowd: Arc<Crowd>,
}

impl Answering for Counted {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let now = self.crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.crowd.peak.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(ANSWER_TIME).await;
            self.crowd.now.fetch_sub(1, Ordering::SeqCst);
            self.agent.reply(&question)
        })
    }
}

impl Agents {
    /// The most questions that were in the air at once since the last time that this was asked.
    pub(crate) fn peak(&self) -> usize {
        self.crowd.peak.swap(0, Ordering::SeqCst)
    }
}

impl One {
    /// As `kill -9` does: nobody listens any more.
    pub(crate) fn kill(&self) {
        self.port.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// As a machine that is frozen: it takes the connection, and says nothing.
    pub(crate) fn freeze(&self) {
        self.agent.behave(Manner::Silent);
    }
}

/// Starts so many. They stay until the bench ends.
pub(crate) fn start(count: u32) -> anyhow::Result<Agents> {
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(agents) = open(count).await else { return };
            if tell.send(agents).is_ok() {
                std::future::pending::<()>().await;
            }
        });
    });
    told.recv().context("the agents did not start")
}

async fn open(count: u32) -> anyhow::Result<Agents> {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let (key, crowd) = (AgentKey::new([7_u8; 32]), Arc::new(Crowd::default()));
    let mut all = Vec::new();
    for _ in 0..count {
        let worker = ids.next();
        let token: Secret<String> = key.token(&MachineName::of(worker, GENERATION));
        let agent = Agent::new(&worker.to_string(), GENERATION, token.expose());
        let counted = Counted { agent: Arc::clone(&agent), crowd: Arc::clone(&crowd) };
        let port = Door::open(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, Arc::new(counted)).await?;
        let address = Url::parse(&format!("http://{}", port.address()))?;
        let door = AgentDoor { worker, address, token };
        all.push(Arc::new(One { worker, door, agent, port: Mutex::new(Some(port)) }));
    }
    Ok(Agents { all, key, crowd })
}
