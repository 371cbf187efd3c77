//! An engine in a world that answers as it is told.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use mainstay_base::{Clock, IdSource, Moment, SystemClock, SystemRng, Timestamp};
use mainstay_monitor::observe::{Observation, Observe, Observing, WebObserver};
use mainstay_monitor::roster::Circuit;
use mainstay_monitor::shards::Lease;
use mainstay_monitor::sink::PollSummary;
use mainstay_monitor::source::{Changes, Changing, Source};
use mainstay_monitor::{
    Endpoint, Engine, EngineParts, FailureKind, Format, PollFailure, PollPolicy, PollResult,
    Recorded, ServiceNumber, Sink, Tenure, Watch,
};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_store::StoreError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How an endpoint behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manner {
    Answers(&'static str),
    /// The same, after half a second.
    AnswersLate(&'static str),
    Fails,
    Hangs,
    Panics,
}

/// The clock of this machine, which can be set ahead: as if the process had stood still for so long.
#[derive(Default)]
pub(crate) struct JumpingClock {
    inner: SystemClock,
    ahead: AtomicU64,
}

pub(crate) struct World {
    pub(crate) clock: Arc<JumpingClock>,
    manners: Mutex<HashMap<String, Manner>>,
    asked: Mutex<Vec<(Moment, String)>>,
    taken: Mutex<Vec<PollResult>>,
    services: Mutex<(i64, Vec<Watch>, Vec<ServiceNumber>)>,
    pub(crate) is_full: AtomicBool,
    pub(crate) is_unreadable: AtomicBool,
    /// Whoever asks which services there are gets no answer.
    pub(crate) is_silent: AtomicBool,
    ids: IdSource,
}

pub(crate) struct Stage {
    pub(crate) world: Arc<World>,
    pub(crate) engine: Engine,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Stage {
    /// Endpoints behave as the world is told.
    pub(crate) fn new() -> Self {
        Self::observing(Tenure::alone(), |world| Arc::clone(world) as _)
    }

    /// The same, where others poll too.
    pub(crate) fn sharing(tenure: Tenure) -> Self {
        Self::observing(tenure, |world| Arc::clone(world) as _)
    }

    /// Endpoints are on the network.
    pub(crate) fn on_the_network() -> Self {
        Self::observing(Tenure::alone(), |world| {
            let policy = Policy { private: true, ..Policy::default() };
            let web = Web::new(&WebOptions::new(policy, world.clock.clone()).unwrap()).unwrap();
            Arc::new(WebObserver::new(web, world.clock.clone()))
        })
    }

    fn observing(tenure: Tenure, observe: impl FnOnce(&Arc<World>) -> Arc<dyn Observe>) -> Self {
        let clock = Arc::new(JumpingClock::default());
        let ids = IdSource::new(clock.clone(), Arc::new(SystemRng));
        let world = Arc::new(World {
            clock: Arc::clone(&clock),
            manners: Mutex::default(),
            asked: Mutex::default(),
            taken: Mutex::default(),
            services: Mutex::default(),
            is_full: AtomicBool::new(false),
            is_unreadable: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            ids,
        });
        let parts = EngineParts {
            policy: PollPolicy::new(Duration::from_millis(50), 5, 256).unwrap(),
            source: Arc::clone(&world) as _,
            observe: observe(&world),
            sink: Arc::clone(&world) as _,
            tenure,
            clock,
            rng: Arc::new(SystemRng),
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let engine = Engine::start(parts, &tasks, stop.clone());
        Self { world, engine, tasks, stop }
    }

    /// Adds a service with an endpoint of its own.
    pub(crate) fn add(&self, number: i64, millis: u64, manner: Manner) -> ServiceNumber {
        self.world.set(number, manner);
        let host = format!("host-{number}.test");
        let url = format!("http://{host}/health");
        self.watch(number, millis, &host, url, Duration::from_secs(10))
    }

    /// Adds a service with this endpoint.
    pub(crate) fn watch(
        &self,
        number: i64,
        millis: u64,
        host: &str,
        url: String,
        timeout: Duration,
    ) -> ServiceNumber {
        let endpoint = Endpoint::new(host.parse().unwrap(), url, Vec::new(), timeout);
        let mut services = self.world.services.lock().unwrap();
        services.0 += 1;
        let watch = Watch {
            number: ServiceNumber(number),
            id: self.world.ids.next(),
            name: format!("service {number}").into(),
            endpoint: Arc::new(endpoint),
            format: Arc::new(Format::ProactiveDeps),
            interval: Duration::from_millis(millis),
            revision: services.0,
            generation: 1,
            lease: None,
        };
        services.1.push(watch);
        drop(services);
        self.engine.refresh();
        ServiceNumber(number)
    }

    pub(crate) fn remove(&self, number: ServiceNumber) {
        let mut services = self.world.services.lock().unwrap();
        services.0 += 1;
        services.1.retain(|watch| watch.number != number);
        services.2.push(number);
        drop(services);
        self.engine.refresh();
    }

    /// When the endpoint of a service was asked.
    pub(crate) fn asked(&self, number: i64) -> Vec<Moment> {
        let url = format!("http://host-{number}.test/health");
        let asked = self.world.asked.lock().unwrap();
        asked.iter().filter(|(_, one)| *one == url).map(|(at, _)| *at).collect()
    }

    /// How many results of a service were handed on.
    pub(crate) fn taken(&self, number: i64) -> usize {
        let taken = self.world.taken.lock().unwrap();
        taken.iter().filter(|result| result.watch.number.0 == number).count()
    }

    /// The leases that the polls of a service were made under.
    pub(crate) fn leases(&self, number: i64) -> Vec<Option<Lease>> {
        let taken = self.world.taken.lock().unwrap();
        let of_service = taken.iter().filter(|result| result.watch.number.0 == number);
        of_service.map(|result| result.watch.lease).collect()
    }

    /// Why the polls of a service failed; nothing for one that succeeded.
    pub(crate) fn failures(&self, number: i64) -> Vec<Option<FailureKind>> {
        let taken = self.world.taken.lock().unwrap();
        let of_service = taken.iter().filter(|result| result.watch.number.0 == number);
        of_service.map(|result| result.outcome.as_ref().err().map(|why| why.kind)).collect()
    }

    /// Waits until something holds, for a minute at most.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..6_000 {
            if holds(self) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it never came to this: {what}");
    }
}

impl World {
    /// From now on the endpoint of a service behaves so.
    pub(crate) fn set(&self, number: i64, manner: Manner) {
        let url = format!("http://host-{number}.test/health");
        self.manners.lock().unwrap().insert(url, manner);
    }
}

impl JumpingClock {
    pub(crate) fn jump(&self, by: Duration) {
        self.ahead.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead.load(Ordering::SeqCst))
    }
}

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        self.inner.now().plus(self.ahead())
    }

    fn moment(&self) -> Moment {
        self.inner.moment().plus(self.ahead())
    }
}

impl Observe for World {
    fn observe<'a>(&'a self, endpoint: &'a Arc<Endpoint>) -> Observing<'a> {
        self.asked.lock().unwrap().push((self.clock.moment(), endpoint.url.clone()));
        let manner = self.manners.lock().unwrap()[&endpoint.url];
        let answer = |answer| Observation { latency: Duration::from_millis(1), answer };
        Box::pin(async move {
            match manner {
                Manner::Answers(body) => answer(Ok(Bytes::from_static(body.as_bytes()))),
                Manner::AnswersLate(body) => {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    answer(Ok(Bytes::from_static(body.as_bytes())))
                }
                Manner::Fails => answer(Err(PollFailure {
                    kind: FailureKind::ConnectRefused,
                    message: "nobody is there".to_owned(),
                })),
                Manner::Hangs => std::future::pending().await,
                Manner::Panics => panic!("a request that panics"),
            }
        })
    }
}

impl Sink for World {
    fn take(&self, mut result: PollResult) {
        if let Some(recorded) = result.recorded.take() {
            let _ = recorded.send(Recorded::Written(PollSummary::default()));
        }
        self.taken.lock().unwrap().push(result);
    }

    fn take_circuit(&self, _: &Circuit, _: Timestamp) {}

    fn has_room(&self) -> bool {
        !self.is_full.load(Ordering::SeqCst)
    }
}

impl Source for World {
    fn changes(&self, after: i64) -> Changing<'_> {
        let changes = if self.is_unreadable.load(Ordering::SeqCst) {
            Err(StoreError::Closed)
        } else {
            let services = self.services.lock().unwrap();
            let newer = services.1.iter().filter(|watch| watch.revision > after);
            Ok(Changes {
                latest: services.0,
                watched: newer.map(|watch| (watch.clone(), None)).collect(),
                gone: services.2.clone(),
            })
        };
        let is_silent = self.is_silent.load(Ordering::SeqCst);
        Box::pin(async move {
            if is_silent {
                std::future::pending::<()>().await;
            }
            changes
        })
    }
}
