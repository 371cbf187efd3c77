//! The guard over a transport that does as it is told, by a clock that stands still.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

use mainstay_base::{IdSource, SystemRng};
use mainstay_testkit::FakeClock;

use super::*;
use crate::mail::config::OPEN_FOR;

/// What the server does with each try, and the last of it for ever.
#[derive(Clone)]
enum Play {
    Take,
    Fail(Failure),
    Hang,
}

struct Stage {
    plays: Mutex<VecDeque<Play>>,
    tries: Mutex<usize>,
}

impl Transport for Stage {
    async fn deliver(&self, _: &Letter) -> Result<(), Failure> {
        *self.tries.lock().unwrap() += 1;
        let play = {
            let mut plays = self.plays.lock().unwrap();
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
    guard: Guard<Stage>,
    clock: Arc<FakeClock>,
    id: Id,
    mail: Mail,
}

fn scene(plays: impl IntoIterator<Item = Play>) -> Scene {
    let clock = Arc::new(FakeClock::new());
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    let plays = Mutex::new(plays.into_iter().collect());
    let stage = Stage { plays, tries: Mutex::default() };
    let from = "mainstay@example.org".parse().unwrap();
    let id = IdSource::new(Arc::clone(&shared), Arc::new(SystemRng)).next();
    let guard = Guard::new(stage, from, &Pace::default(), shared).unwrap();
    Scene { guard, clock, id, mail: Mail::new("ada@example.com", "Hello", "text").unwrap() }
}

impl Scene {
    async fn send(&self) -> Result<(), SendError> {
        self.guard.send(self.id, self.clock.now(), &self.mail).await
    }

    /// Begins to send, and goes away while the server is silent.
    fn send_and_go(&self) {
        let mut sending = pin!(self.send());
        assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    fn tries(&self) -> usize {
        *self.guard.transport.tries.lock().unwrap()
    }
}

fn down() -> Play {
    Play::Fail(Failure::Unreachable("nobody listens".to_owned()))
}

fn left_alone(for_seconds: u64) -> Result<(), SendError> {
    Err(SendError::LeftAlone { retry_after: Duration::from_secs(for_seconds) })
}

#[tokio::test]
async fn a_call_is_one_try_and_says_what_is_to_become_of_the_mail() {
    let (no, later) = (Failure::Refused(550), Failure::Deferred(451));
    let scene = scene([Play::Fail(no.clone()), Play::Fail(later.clone()), Play::Take]);
    assert_eq!(scene.send().await, Err(SendError::Refused { why: no }));
    assert_eq!(scene.send().await, Err(SendError::Later { why: later }));
    assert_eq!(scene.send().await, Ok(()));
    assert_eq!(scene.tries(), 3);
}

#[tokio::test]
async fn a_server_that_fails_is_left_alone_and_comes_back_by_one_probe() {
    let scene = scene([down(), down(), down(), down(), Play::Take]);
    for _ in 0..3 {
        assert!(matches!(scene.send().await, Err(SendError::Later { .. })));
    }
    assert_eq!(scene.send().await, left_alone(30));
    scene.clock.advance(Duration::from_secs(10));
    assert_eq!(scene.send().await, left_alone(20));
    assert_eq!(scene.tries(), 3, "it was not asked");
    scene.clock.advance(Duration::from_secs(20));
    assert!(matches!(scene.send().await, Err(SendError::Later { .. })), "the probe fails");
    assert_eq!(scene.send().await, left_alone(30));
    scene.clock.advance(OPEN_FOR);
    assert_eq!((scene.send().await, scene.send().await), (Ok(()), Ok(())));
}

#[tokio::test]
async fn a_server_that_answers_is_asked_again_whatever_it_says() {
    for failure in [Failure::Refused(550), Failure::Deferred(451), Failure::NoStartTls] {
        let scene = scene([Play::Fail(failure)]);
        for _ in 0..10 {
            assert!(scene.send().await.is_err());
        }
        assert_eq!(scene.tries(), 10);
    }
}

#[tokio::test]
async fn a_probe_whose_caller_went_away_makes_room_for_the_next() {
    let scene = scene([down(), down(), down(), Play::Hang, Play::Take]);
    for _ in 0..3 {
        assert!(scene.send().await.is_err());
    }
    scene.clock.advance(OPEN_FOR);
    scene.send_and_go();
    assert_eq!(scene.send().await, Ok(()));
}

#[tokio::test]
async fn callers_who_go_away_do_not_count_against_the_server() {
    let scene = scene([Play::Hang]);
    for _ in 0..10 {
        scene.send_and_go();
    }
    assert_eq!(scene.tries(), 10, "none was refused");
}
