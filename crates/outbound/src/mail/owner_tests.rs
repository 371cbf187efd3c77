//! The queue in virtual time, over a transport that does as it is told.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mainstay_base::Timestamp;
use tokio::task::JoinHandle;

use super::*;
use crate::mail::MailError;
use crate::mail::message::{Letter, Mail};
use crate::mail::queue::{MAX_QUEUED, Mailer};

/// Goes by the time of the runtime, which stands still until everybody waits.
struct RuntimeClock(tokio::time::Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.0.elapsed())
    }
}

/// Chance that never shortens a wait.
struct NoChance;

impl Rng for NoChance {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// What the server does with each try, and the last of it for ever.
#[derive(Clone)]
enum Play {
    Take,
    Fail(Failure),
    Hang,
}

#[derive(Clone)]
struct Stage {
    plays: Arc<Mutex<VecDeque<Play>>>,
    /// The second and the domain of every try.
    seen: Arc<Mutex<Vec<(u64, String)>>>,
    start: tokio::time::Instant,
}

impl Transport for Stage {
    async fn deliver(&self, letter: &Letter) -> Result<(), Failure> {
        let second = self.start.elapsed().as_secs();
        self.seen.lock().unwrap().push((second, letter.domain.clone()));
        let play = {
            let mut plays = self.plays.lock().unwrap_or_else(PoisonError::into_inner);
            if plays.len() > 1 { plays.pop_front() } else { plays.front().cloned() }
        };
        match play.unwrap() {
            Play::Take => Ok(()),
            Play::Fail(failure) => Err(failure),
            Play::Hang => std::future::pending().await,
        }
    }
}

struct Scene {
    mailer: Mailer,
    task: JoinHandle<()>,
    stop: CancellationToken,
    stage: Stage,
}

#[expect(clippy::disallowed_methods, reason = "the runtime's own clock, which the test moves")]
fn scene(plays: impl IntoIterator<Item = Play>) -> Scene {
    let start = tokio::time::Instant::now();
    let stage = Stage {
        plays: Arc::new(Mutex::new(plays.into_iter().collect())),
        seen: Arc::default(),
        start,
    };
    let stop = CancellationToken::new();
    let (mailer, task) = Mailer::over(
        stage.clone(),
        "mainstay@example.org".parse().unwrap(),
        &Pace::default(),
        Arc::new(RuntimeClock(start)),
        Arc::new(NoChance),
        stop.clone(),
    )
    .unwrap();
    Scene { mailer, task, stop, stage }
}

impl Scene {
    fn send(&self, domain: &str) -> Result<(), MailError> {
        self.mailer.send(Mail::new(&format!("ada@{domain}"), "Hello", "text").unwrap())
    }

    async fn until_empty(&self) {
        while self.mailer.queued() > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    fn seconds(&self) -> Vec<u64> {
        self.stage.seen.lock().unwrap().iter().map(|(second, _)| *second).collect()
    }

    fn domains(&self) -> Vec<String> {
        self.stage.seen.lock().unwrap().iter().map(|(_, domain)| domain.clone()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_is_put_off_is_tried_at_growing_waits_and_then_given_up() {
    let scene = scene([Play::Fail(Failure::Deferred(451))]);
    scene.send("a.example").unwrap();
    scene.until_empty().await;
    assert_eq!(scene.seconds(), [0, 5, 25, 105, 425]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_for_good_is_not_tried_again() {
    for failure in [Failure::Refused(550), Failure::NoStartTls, Failure::Unfit(String::new())] {
        let scene = scene([Play::Fail(failure)]);
        scene.send("a.example").unwrap();
        scene.until_empty().await;
        assert_eq!(scene.seconds(), [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_waits_does_not_hold_up_the_next() {
    let scene = scene([Play::Fail(Failure::Deferred(451)), Play::Take]);
    scene.send("slow.example").unwrap();
    scene.send("quick.example").unwrap();
    scene.until_empty().await;
    assert_eq!(scene.domains(), ["slow.example", "quick.example", "slow.example"]);
    assert_eq!(scene.seconds(), [0, 0, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_left_alone_and_comes_back_by_one_probe() {
    let down = Play::Fail(Failure::Unreachable(String::new()));
    let scene = scene([down.clone(), down.clone(), down.clone(), down, Play::Take]);
    for number in 0..6 {
        scene.send(&format!("{number}.example")).unwrap();
    }
    scene.until_empty().await;
    let seconds = scene.seconds();
    assert_eq!(seconds[..4], [0, 0, 0, 30], "three failures open it, one probe asks");
    assert!(seconds[4..].iter().all(|second| *second >= 60), "{seconds:?}");
    assert_eq!(seconds.len(), 4 + 6);
}

#[tokio::test(start_paused = true)]
async fn a_mail_is_not_kept_for_ever() {
    let scene = scene([Play::Fail(Failure::Unreachable(String::new()))]);
    for _ in 0..MAX_QUEUED {
        scene.send("a.example").unwrap();
    }
    scene.until_empty().await;
    let tries = scene.seconds();
    assert!(tries.last().is_some_and(|second| *second <= 3_600), "{tries:?}");
    // One probe each half minute, beside the three that opened the breaker.
    assert!(tries.len() <= 3 + 120, "{tries:?}");
}

#[tokio::test(start_paused = true)]
async fn the_queue_is_bounded_and_its_caller_never_waits() {
    let scene = scene([Play::Hang]);
    for _ in 0..MAX_QUEUED {
        scene.send("a.example").unwrap();
    }
    assert_eq!(scene.send("a.example"), Err(MailError::Full));
    tokio::task::yield_now().await;
    assert_eq!(scene.send("a.example"), Err(MailError::Full), "one that is tried has a place too");
    assert_eq!(scene.mailer.queued(), MAX_QUEUED);
}

#[tokio::test(start_paused = true)]
async fn a_stop_sends_what_is_left() {
    let scene = scene([Play::Fail(Failure::Deferred(451)), Play::Take]);
    scene.send("waits.example").unwrap();
    tokio::task::yield_now().await;
    scene.send("new.example").unwrap();
    scene.stop.cancel();
    scene.task.await.unwrap();
    let domains = scene.stage.seen.lock().unwrap().len();
    assert_eq!(domains, 3, "the one that waited is tried once more");
    assert_eq!(scene.mailer.queued(), 0);
    let late = Mail::new("ada@a.example", "Hello", "text").unwrap();
    assert_eq!(scene.mailer.send(late), Err(MailError::Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_server_that_hangs() {
    let scene = scene([Play::Hang]);
    for _ in 0..3 {
        scene.send("a.example").unwrap();
    }
    tokio::task::yield_now().await;
    let start = scene.stage.start;
    scene.stop.cancel();
    scene.task.await.unwrap();
    assert_eq!(start.elapsed(), Pace::default().drain_for);
    assert_eq!(scene.mailer.queued(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_when_nobody_can_send_any_more() {
    let scene = scene([Play::Fail(Failure::Deferred(451)), Play::Take]);
    scene.send("a.example").unwrap();
    drop(scene.mailer);
    scene.task.await.unwrap();
    assert_eq!(scene.stage.seen.lock().unwrap().len(), 2);
}
