//! Two processes on one PostgreSQL share the polling of 200 services, whatever happens to one of them:
//! the other has everything within fifteen seconds, no service is polled twice in an interval, nothing
//! that was recorded is lost, and nothing late is recorded.

mod pair;
mod upstream;

use std::time::{Duration, Instant};

use self::pair::{Pair, SERVICES, later};

/// How long it may take until the other has everything.
const TAKEN_OVER: Duration = Duration::from_secs(15);
/// How long polls are watched when nothing happens.
const WATCHED: Duration = Duration::from_secs(8);
/// How long an instance polls on that can't reach its database, and a little more.
const BLIND: Duration = Duration::from_secs(8);

/// Runs on a thread where waiting is fine.
async fn apart(story: impl FnOnce(Pair) + Send + 'static) {
    let pair = Pair::new().await;
    tokio::task::spawn_blocking(move || story(pair)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_killed() {
    apart(|mut pair| {
        pair.share();
        std::thread::sleep(WATCHED);
        let before = pair.recorded();
        pair.first.signal("KILL");
        let killed = Instant::now();
        pair.second_has_all(killed, TAKEN_OVER);
        pair.everybody_is_polled_after(Instant::now());
        pair.nobody_is_polled_twice(|_| true);
        pair.nothing_is_lost(&before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stands_still_for_thirty_seconds() {
    apart(|mut pair| {
        pair.share();
        let before = pair.recorded();
        pair.first.signal("STOP");
        let stopped = Instant::now();
        pair.second_has_all(stopped, TAKEN_OVER);
        std::thread::sleep(later(stopped, Duration::from_secs(30)));
        let frozen = pair.recorded();
        pair.nothing_is_lost(&before);
        pair.first.signal("CONT");
        pair.first.await_line("others polled on");
        // It comes back as somebody new and gets its share again.
        pair.is_shared();
        pair.everybody_is_polled_after(Instant::now());
        pair.nobody_is_polled_twice(|_| true);
        pair.nothing_is_lost(&frozen);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_cut_off_from_the_database() {
    apart(|mut pair| {
        pair.share();
        let before = pair.recorded();
        pair.cut();
        let cut = Instant::now();
        pair.second_has_all(cut, TAKEN_OVER);
        pair.everybody_is_polled_after(Instant::now());
        pair.nothing_is_lost(&before);
        let alone = pair.recorded();
        pair.mend();
        pair.first.await_line("others polled on");
        pair.is_shared();
        pair.everybody_is_polled_after(Instant::now());
        // What it polled until it knew that it was cut off has died with it.
        pair.nobody_is_polled_twice(|at| at + Duration::from_secs(1) < cut || at > cut + BLIND);
        pair.nothing_is_lost(&alone);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_comes_is_asked_for_the_others_and_one_stops() {
    apart(|mut pair| {
        pair.add_services();
        pair.everybody_is_polled_after(Instant::now());
        let alone = Instant::now();
        pair.start_second();
        pair.is_shared();
        pair.everybody_is_polled_after(Instant::now());
        pair.nobody_waits_longer_than(alone, Duration::from_secs(5 + 5));
        pair.nobody_is_polled_twice(|_| true);
        pair.either_polls_what_is_asked_for();

        let asked = Instant::now();
        let before = pair.recorded();
        pair.first.signal("TERM");
        assert_eq!(pair.first.wait().code(), Some(0));
        pair.second_has_all(Instant::now(), Duration::from_secs(5));
        pair.everybody_is_polled_after(Instant::now());
        // What was in the air has landed and was recorded: nobody asks it again.
        pair.nobody_is_polled_twice(|at| at > asked);
        pair.nothing_is_lost(&before);
        assert_eq!(pair.recorded().len(), SERVICES);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_look_at_one_schedule_of_journeys_and_one_is_killed() {
    apart(|mut pair| {
        pair.start_second();
        pair.add_journeys();
        pair.journeys_have_run(2);
        pair.first.signal("KILL");
        let before = pair.runs();
        let most = before.values().map(Vec::len).max().unwrap_or_default();
        pair.journeys_have_run(most + 2);
        for (journey, runs) in pair.runs() {
            assert!(runs.len() >= before[&journey].len() + 2, "{journey}: {runs:?}");
            // One that the killed one was just running is not begun again: it may have bought something.
            let cut =
                runs.iter().filter(|status| *status != "passed" && *status != "running").count();
            assert!(cut <= 1, "{journey}: {runs:?}");
        }
    })
    .await;
}
