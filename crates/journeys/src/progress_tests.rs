use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_testkit::FakeClock;

const SOURCE: &str = "journey: pay\nsteps:\n  - id: create\n    get: http://127.0.0.1/\n  - id: charge\n    get: http://127.0.0.1/\n";

fn watching() -> (Arc<FakeClock>, Watching) {
    let clock = Arc::new(FakeClock::new());
    let journey = Journey::parse(SOURCE).unwrap();
    let watching = Watching::new(&journey, Arc::clone(&clock) as Arc<dyn Clock>);
    (clock, watching)
}

fn ended(error: Option<&str>) -> StepRecord {
    StepRecord {
        id: "create".to_owned(),
        state: if error.is_some() { StepState::Failed } else { StepState::Passed },
        offset_ms: 1.0,
        duration_ms: 20.0,
        request: None,
        answer: None,
        checks: vec![],
        captures: BTreeMap::new(),
        error: error.map(str::to_owned),
    }
}

fn event(sequence: u64) -> EventRecord {
    EventRecord {
        sequence,
        name: "Created".to_owned(),
        step: "create".to_owned(),
        poller: None,
        offset_ms: 0.0,
    }
}

#[test]
fn what_is_under_way_grows_and_what_has_ended_stands() {
    let (clock, watching) = watching();
    watching.tell(&News::StepBegan { step: "create" });
    watching.tell(&News::PollerBegan { step: "create" });
    watching.tell(&News::StepEnded(&ended(None)));
    clock.advance(Duration::from_millis(300));
    watching.tell(&News::Polled { step: "create", poll_count: 2 });
    watching.tell(&News::StepBegan { step: "charge" });
    clock.advance(Duration::from_millis(500));
    let shown = watching.take();
    let steps: Vec<_> =
        shown.steps.iter().map(|step| (step.state, step.offset_ms, step.duration_ms)).collect();
    assert_eq!(steps, [(StepStage::Passed, 1.0, 20.0), (StepStage::Running, 300.0, 500.0)]);
    let poller = &shown.pollers[0];
    assert_eq!(
        (poller.state, poller.poll_count, poller.duration_ms),
        (PollerStage::Running, 2, 800.0)
    );
    assert_eq!((shown.pollers.len(), shown.elapsed_ms), (1, 800.0));
    watching.tell(&News::PollerEnded { step: "create", error: Some("declined") });
    clock.advance(Duration::from_millis(100));
    let shown = watching.take();
    let poller = &shown.pollers[0];
    assert_eq!((poller.state, poller.duration_ms), (PollerStage::Failed, 800.0));
    assert_eq!((poller.error.as_deref(), shown.elapsed_ms), (Some("declined"), 900.0));
}

#[test]
fn it_stays_short_however_long_the_run_is() {
    let (_, watching) = watching();
    (0..1_000).for_each(|number| watching.tell(&News::Event(&event(number))));
    watching.tell(&News::StepEnded(&ended(Some(&"x".repeat(100_000)))));
    let shown = watching.take();
    assert_eq!((shown.events.len(), shown.events[0].sequence), (EVENTS_SHOWN, 950));
    assert!(serde_json::to_string(&shown).unwrap().len() < 16 * 1024);
}

#[test]
fn polls_alone_are_written_ever_less_often_and_anything_else_within_a_second() {
    let seconds = Duration::from_secs;
    for (unwritten, written, now, expected) in [
        (Unwritten::Nothing, 0, 9, None),
        (Unwritten::More, 0, 0, Some(1)),
        (Unwritten::More, 0, 5, Some(0)),
        (Unwritten::More, 3_000, 3_000, Some(1)),
        (Unwritten::Polls, 10, 10, Some(1)),
        (Unwritten::Polls, 600, 604, Some(6)),
        (Unwritten::Polls, 3_000, 3_050, Some(0)),
    ] {
        let due = due_in(unwritten, seconds(written), seconds(now));
        assert_eq!(due, expected.map(seconds), "{unwritten:?} {written} {now}");
    }
}

/// The clock of the test's runtime, which stands until everybody waits.
struct Paused(tokio::time::Instant);

impl Clock for Paused {
    fn now(&self) -> mainstay_base::Timestamp {
        mainstay_base::Timestamp::from_millis(0)
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.0.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_less_than_a_second_is_never_written() {
    #[expect(clippy::disallowed_methods, reason = "this is tokio's paused clock")]
    let clock = Arc::new(Paused(tokio::time::Instant::now()));
    let watching = Watching::new(&Journey::parse(SOURCE).unwrap(), clock);
    let run = async {
        for number in 0..9 {
            watching.tell(&News::Event(&event(number)));
            tokio::time::sleep(Duration::from_millis(110)).await;
        }
    };
    tokio::select! {
        () = run => {}
        early = watching.due() => panic!("{early:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_run_is_written_once_a_second_and_a_quiet_one_not_at_all() {
    #[expect(clippy::disallowed_methods, reason = "this is tokio's paused clock")]
    let clock = Arc::new(Paused(tokio::time::Instant::now()));
    let watching = Watching::new(&Journey::parse(SOURCE).unwrap(), clock);
    let written = AtomicUsize::new(0);
    let writing = async {
        loop {
            watching.due().await;
            written.fetch_add(1, Ordering::Relaxed);
            watching.written();
        }
    };
    let busy = async {
        for number in 0..100 {
            watching.tell(&News::Event(&event(number)));
            tokio::time::sleep(Duration::from_millis(99)).await;
        }
        let busy = written.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(60)).await;
        (busy, written.load(Ordering::Relaxed))
    };
    tokio::select! {
        counts = busy => assert_eq!(counts, (9, 10)),
        () = writing => {}
    }
}
