#![cfg(test)]
//! A breaker for each key: the same key has the same breaker, there is a bound, and nothing that is
//! in use is forgotten.

mod support;

use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Breakers, BreakersBuilder, Detector, Full, MAX_NAME, ManualClock, Rolling, State,
};
use support::{SECOND, TICK, fail, succeed, trip};

const IDLE: Duration = Duration::from_secs(600);

fn registry(
    configure: impl FnOnce(BreakersBuilder<String>) -> BreakersBuilder<String>,
) -> (Breakers<String>, ManualClock) {
    let clock = ManualClock::new();
    let template = Breaker::builder("hosts").clock(clock.clone());
    let builder = Breakers::builder(template).capacity(3).idle_for(IDLE);
    (configure(builder).build().unwrap(), clock)
}

fn keys(breakers: &Breakers<String>) -> Vec<String> {
    breakers.list().into_iter().map(|(key, _)| key).collect()
}

/// Asks for each and lets go of it.
fn ask(breakers: &Breakers<String>, keys: &[&str]) {
    for key in keys {
        breakers.get(*key).unwrap();
    }
}

#[test]
fn the_same_key_has_the_same_breaker() {
    let (breakers, _clock) = registry(|builder| builder);
    trip(&breakers.get("a").unwrap());
    assert_eq!(breakers.get("a").unwrap().state(), State::Open);
    assert_eq!(breakers.get("b").unwrap().state(), State::Closed);
    assert_eq!(breakers.clone().len(), 2, "clones are the same registry");
}

#[test]
fn threads_that_ask_at_once_get_one_breaker() {
    for _ in 0..50 {
        let (breakers, _clock) = registry(|builder| builder);
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    succeed(&breakers.get("a").unwrap());
                });
            }
        });
        assert_eq!(breakers.len(), 1);
        assert_eq!(breakers.get("a").unwrap().snapshot().success_total, 8, "exactly one");
    }
}

#[test]
fn who_was_used_longest_ago_makes_room() {
    let (breakers, _clock) = registry(|builder| builder);
    ask(&breakers, &["a", "b", "c"]);
    assert_eq!(keys(&breakers), ["c", "b", "a"], "the most recently used first");
    ask(&breakers, &["a"]);
    assert_eq!(keys(&breakers), ["a", "c", "b"]);
    ask(&breakers, &["d"]);
    assert_eq!(keys(&breakers), ["d", "a", "c"]);
    assert!(breakers.peek("b").is_none());
}

#[test]
fn to_peek_is_no_use() {
    let (breakers, _clock) = registry(|builder| builder);
    ask(&breakers, &["a", "b", "c"]);
    succeed(&breakers.peek("a").unwrap());
    assert_eq!(keys(&breakers), ["c", "b", "a"]);
    ask(&breakers, &["d"]);
    assert!(breakers.peek("a").is_none());
    assert_eq!(breakers.len(), 3);
}

#[test]
fn what_is_forgotten_begins_anew() {
    let (breakers, _clock) = registry(|builder| builder.capacity(1));
    succeed(&breakers.get("a").unwrap());
    ask(&breakers, &["b"]);
    assert_eq!(breakers.get("a").unwrap().snapshot().success_total, 0);
    assert_eq!(keys(&breakers), ["a"]);
}

#[test]
fn who_has_been_idle_for_long_goes_when_another_comes() {
    let (breakers, clock) = registry(|builder| builder.capacity(100));
    ask(&breakers, &["a", "b", "c", "d", "e"]);
    clock.advance(IDLE);
    ask(&breakers, &["kept"]);
    assert_eq!(breakers.len(), 6, "just now they are not idle for longer than that");
    clock.advance(2 * SECOND);
    ask(&breakers, &["e"]);
    assert_eq!(breakers.len(), 6, "who asks for what is there brings nobody");
    ask(&breakers, &["f"]);
    ask(&breakers, &["g"]);
    assert_eq!(keys(&breakers), ["g", "f", "e", "kept"]);
}

#[test]
fn the_idle_go_when_somebody_says_so() {
    let (breakers, clock) = registry(|builder| builder.capacity(100));
    ask(&breakers, &["a", "b", "c"]);
    clock.advance(IDLE / 2);
    ask(&breakers, &["b"]);
    assert_eq!(breakers.evict_idle(), 0);
    clock.advance(IDLE / 2 + 2 * SECOND);
    assert_eq!(breakers.evict_idle(), 2);
    assert_eq!(keys(&breakers), ["b"]);
    assert_eq!(breakers.evict_idle(), 0);
    assert!(!breakers.is_empty());
    clock.advance(IDLE);
    assert_eq!(breakers.evict_idle(), 1);
    assert!(breakers.is_empty());
}

#[test]
fn nobody_goes_before_the_time_that_was_given() {
    for idle_for in [TICK, SECOND / 10, SECOND, 3 * SECOND / 2, IDLE] {
        for fraction in [0, 1, 400, 999] {
            let (breakers, clock) = registry(|builder| builder.idle_for(idle_for));
            clock.advance(Duration::from_millis(fraction));
            ask(&breakers, &["a"]);
            clock.advance(idle_for);
            assert_eq!(breakers.evict_idle(), 0, "idle for {idle_for:?} at {fraction} ms");
            clock.advance(SECOND + TICK);
            assert_eq!(breakers.evict_idle(), 1, "idle for {idle_for:?} at {fraction} ms");
        }
    }
}

#[test]
fn what_is_not_closed_stays() {
    let (breakers, clock) = registry(|builder| builder);
    trip(&breakers.get("open").unwrap());
    breakers.get("forced open").unwrap().force_open();
    breakers.get("forced closed").unwrap().force_closed();
    assert_eq!(breakers.get("new").unwrap_err(), Full { capacity: 3 });
    clock.advance(2 * IDLE);
    assert_eq!(breakers.get("open").unwrap().state(), State::HalfOpen);
    assert_eq!(breakers.evict_idle(), 0);
    assert!(breakers.get("new").is_err());
    assert_eq!(breakers.len(), 3);
    breakers.get("forced closed").unwrap().reset();
    ask(&breakers, &["new"]);
    assert!(breakers.peek("forced closed").is_none());
}

#[test]
fn nobody_can_make_it_forget_that_a_downstream_is_broken() {
    let (breakers, _clock) = registry(|builder| builder);
    trip(&breakers.get("broken").unwrap());
    for number in 0..1_000 {
        breakers.get(&format!("other {number}")).unwrap();
        assert!(breakers.len() <= 3);
    }
    assert_eq!(breakers.peek("broken").unwrap().state(), State::Open);
}

#[test]
fn what_is_in_flight_stays() {
    let (breakers, clock) = registry(|builder| builder.capacity(1));
    let permit = breakers.get("a").unwrap().enter_owned().unwrap();
    assert_eq!(breakers.get("b").unwrap_err(), Full { capacity: 1 });
    clock.advance(2 * IDLE);
    assert_eq!(breakers.evict_idle(), 0);
    permit.success();
    ask(&breakers, &["b"]);
    assert_eq!(keys(&breakers), ["b"]);
}

#[test]
fn what_somebody_holds_stays() {
    let (breakers, clock) = registry(|builder| builder.capacity(1));
    let held = breakers.get("a").unwrap();
    assert!(breakers.get("b").is_err());
    clock.advance(2 * IDLE);
    assert_eq!(breakers.evict_idle(), 0);
    drop(held);
    ask(&breakers, &["b"]);
}

#[test]
fn what_somebody_listens_to_stays() {
    let (breakers, clock) = registry(|builder| builder.capacity(2));
    let subscription = breakers.get("a").unwrap().on_event(|_| {}).unwrap();
    let events = breakers.get("b").unwrap().subscribe().unwrap();
    assert!(breakers.get("c").is_err());
    clock.advance(2 * IDLE);
    assert_eq!(breakers.evict_idle(), 0);
    drop(subscription);
    ask(&breakers, &["c"]);
    assert!(breakers.peek("a").is_none() && breakers.peek("b").is_some());
    drop(events);
    ask(&breakers, &["d"]);
    assert!(breakers.peek("b").is_none());
}

#[test]
fn what_is_held_is_passed_over_for_one_that_can_go() {
    let (breakers, _clock) = registry(|builder| builder);
    ask(&breakers, &["a", "b", "c"]);
    let _held = breakers.peek("a").unwrap();
    ask(&breakers, &["d"]);
    assert!(breakers.peek("b").is_none(), "the next in line goes");
    assert_eq!(breakers.len(), 3);
    assert!(breakers.peek("a").is_some());
}

#[test]
fn full_says_what_to_do() {
    let (breakers, _clock) = registry(|builder| builder.capacity(1));
    let _held = breakers.get("a").unwrap();
    assert_eq!(
        breakers.get("b").unwrap_err().to_string(),
        "the registry holds 1 circuit breakers, and those whose last use is longest ago are in use: \
         give it more capacity, \
         or drop handles that are not used"
    );
    assert!(breakers.get("a").is_ok(), "who is there is served all the same");
}

#[test]
fn what_is_removed_is_another_for_the_next_to_ask() {
    let (breakers, _clock) = registry(|builder| builder);
    let held = breakers.get("a").unwrap();
    trip(&held);
    assert!(breakers.remove("a"), "whatever its state");
    assert!(!breakers.remove("a"));
    assert_eq!(breakers.get("a").unwrap().state(), State::Closed);
    assert_eq!(held.state(), State::Open, "who holds it keeps it");
}

#[test]
fn each_breaker_is_named_by_its_key() {
    let long = "ä".repeat(MAX_NAME);
    let fits = "x".repeat(MAX_NAME - "host ".len());
    for (key, name) in [
        (fits.as_str(), format!("host {fits}").as_str()),
        ("db.example", "host db.example"),
        ("a\nb\u{0}c\u{85}d", "host a\u{fffd}b\u{fffd}c\u{fffd}d"),
        ("日本 🦀", "host 日本 🦀"),
        (&long, &format!("host {}", "ä".repeat(97))),
    ] {
        let (breakers, _clock) = registry(|builder| builder.named(|key| format!("host {key}")));
        let breaker = breakers.get(key).unwrap();
        assert_eq!(breaker.name(), name);
        assert!(breaker.name().len() <= MAX_NAME);
        assert!(breakers.peek(key).is_some(), "the key is as it was");
    }
}

#[test]
fn a_name_is_never_empty() {
    let (breakers, _clock) = registry(|builder| builder.named(String::clone));
    assert_eq!(breakers.get("").unwrap().name(), "hosts");
    assert_eq!(breakers.get("  ").unwrap().name(), "hosts");
    assert_eq!(breakers.get("a").unwrap().name(), "a");
}

#[test]
fn without_a_name_of_its_own_it_has_the_template_s() {
    let (breakers, _clock) = registry(|builder| builder);
    assert_eq!(breakers.get("a").unwrap().name(), "hosts");
}

#[test]
fn the_template_s_listeners_hear_of_every_breaker_by_name() {
    let (send, receive) = std::sync::mpsc::channel();
    let template = Breaker::builder("hosts")
        .detector(Detector::consecutive(1))
        .on_event(move |notice| send.send((notice.breaker.to_owned(), notice.event)).unwrap());
    let breakers: Breakers<u16> =
        Breakers::builder(template).named(|port| format!("port {port}")).build().unwrap();
    succeed(&breakers.get(&80).unwrap());
    fail(&breakers.get(&443).unwrap());
    let names: Vec<_> = receive.try_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["port 80", "port 443", "port 443"]);
}

#[test]
fn all_breakers_go_by_the_template() {
    let (breakers, _clock) = registry(|builder| builder);
    for key in ["a", "b"] {
        let breaker = breakers.get(key).unwrap();
        (0..4).for_each(|_| assert_eq!(fail(&breaker), mainstay_breaker::Settled::Counted));
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker);
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn among_threads_that_ask_for_more_than_fits_what_is_held_stays_the_same() {
    let (breakers, _clock) = registry(|builder| builder.capacity(2));
    thread::scope(|scope| {
        for thread in 0..4 {
            let breakers = &breakers;
            scope.spawn(move || {
                for number in 0..2_000 {
                    let key = ((thread * 7 + number) % 5).to_string();
                    if let Ok(breaker) = breakers.get(&key) {
                        let again = breakers.get(&key).unwrap();
                        let before = again.snapshot().allowed_total;
                        succeed(&breaker);
                        assert!(again.snapshot().allowed_total > before, "held, so the same");
                    }
                    assert!(breakers.len() <= 2);
                }
            });
        }
    });
}

#[test]
fn a_name_may_ask_the_registry_itself() {
    let inside: Arc<OnceLock<Breakers<String>>> = Arc::default();
    let asked = Arc::clone(&inside);
    let (breakers, _clock) = registry(|builder| {
        builder.named(move |key: &String| {
            let known = asked.get().map_or(0, Breakers::len);
            format!("{key}, number {known}")
        })
    });
    inside.set(breakers.clone()).unwrap();
    assert_eq!(breakers.get("a").unwrap().name(), "a, number 0");
    assert_eq!(breakers.get("b").unwrap().name(), "b, number 1");
}

#[test]
fn one_that_can_go_is_found_behind_many_that_can_not() {
    let (breakers, _clock) = registry(|builder| builder.capacity(300));
    for number in 0..300 {
        let breaker = breakers.get(&format!("{number}")).unwrap();
        if number < 200 {
            breaker.force_open();
        }
    }
    assert!(breakers.get("another").is_ok());
    assert!(breakers.peek("200").is_none(), "the first that could go");
}

#[test]
fn hosts_that_died_and_are_never_asked_for_again_make_room_after_their_time() {
    let (breakers, clock) = registry(|builder| builder);
    for key in ["a", "b", "c"] {
        trip(&breakers.get(key).unwrap());
    }
    clock.advance(IDLE / 2);
    assert_eq!(breakers.get("d").unwrap_err(), Full { capacity: 3 });
    clock.advance(2 * IDLE);
    assert!(breakers.get("d").is_ok());
    assert_eq!(breakers.evict_idle(), 1, "two made room for it, as an arrival may take two");
    assert_eq!(keys(&breakers), ["d"]);
}

#[test]
fn looking_for_one_that_can_go_tells_nobody_anything() {
    let slow = Rolling { slow_call: Some(SECOND), ..Rolling::default() };
    let inside: Arc<OnceLock<Breakers<String>>> = Arc::default();
    let asked = Arc::clone(&inside);
    let clock = ManualClock::new();
    let template =
        Breaker::builder("hosts").clock(clock.clone()).detector(slow).on_event(move |_| {
            let _ = asked.get().map(Breakers::len);
        });
    let breakers: Breakers<String> = Breakers::builder(template).capacity(1).build().unwrap();
    inside.set(breakers.clone()).unwrap();
    std::mem::forget(breakers.get("a").unwrap().enter_owned());
    clock.advance(10 * SECOND);
    assert_eq!(breakers.get("b").unwrap_err(), Full { capacity: 1 });
}
