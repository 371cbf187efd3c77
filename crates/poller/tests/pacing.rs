#![cfg(test)]
//! Rhythm, backoff, jitter, the budget for errors, Retry-After, and events only on change.

mod common;

use std::future::ready;
use std::sync::{Arc, Mutex};

use common::{Answer, Event, Told, command, events, script};
use mainstay_poller::{
    Context, EventQueue, Executor, Mode, OnTimeout, Outcome, PollerError, Schedule, Span as _,
};
use tokio::time::{Duration, sleep};

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    (queue, ctx)
}

/// When polls come by a schedule, in milliseconds, if each takes so long.
async fn polls(schedule: Schedule, takes_ms: u64) -> Vec<u128> {
    let (_queue, ctx) = context();
    let (start, diary) = (common::now(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&diary);
    let poll = move || {
        noted.lock().unwrap().push(start.elapsed().as_millis());
        sleep(Duration::from_millis(takes_ms))
    };
    let poller = ctx.poll(poll).on(schedule).handle(|()| Outcome::Continue).unwrap();
    poller.wait().await;
    let diary = diary.lock().unwrap();
    diary.clone()
}

#[tokio::test(start_paused = true)]
async fn by_default_the_interval_is_a_pause_between_polls() {
    let schedule = Schedule::every(500.ms()).within(3.s());
    assert_eq!(polls(schedule, 300).await, [0, 800, 1_600, 2_400]);
}

#[tokio::test(start_paused = true)]
async fn a_fixed_rate_keeps_its_beat() {
    let schedule = Schedule::every(500.ms()).within(3.s()).at_fixed_rate();
    assert_eq!(polls(schedule, 300).await, [0, 500, 1_000, 1_500, 2_000, 2_500]);
}

#[tokio::test(start_paused = true)]
async fn a_fixed_rate_leaves_out_what_a_slow_poll_missed() {
    let schedule = Schedule::every(500.ms()).within(3.s()).at_fixed_rate();
    assert_eq!(polls(schedule, 700).await, [0, 1_000, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn backoff_makes_the_pauses_longer_up_to_its_bound() {
    let schedule = Schedule::every(500.ms()).within(10.s()).backoff(2.0, 3.s());
    assert_eq!(polls(schedule, 0).await, [0, 1_000, 3_000, 6_000, 9_000]);
}

#[tokio::test(start_paused = true)]
async fn backoff_begins_anew_after_an_event() {
    let (_queue, ctx) = context();
    let states = &["processing", "processing", "pending_review", "approved"];
    let watch = ctx.poll(script(states)).every(500.ms()).within(60.s()).backoff(2.0, 30.s());
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert_eq!(status.elapsed, 1.s() + 2.s() + 500.ms());
}

#[tokio::test(start_paused = true)]
async fn jitter_spreads_pollers_and_repeats_by_its_seed() {
    async fn elapsed(seed: u64) -> Vec<Duration> {
        let commands = vec![command(|ctx| {
            for _ in 0..20 {
                let watch =
                    ctx.poll(script(&["processing", "approved"])).every(1.s()).within(9.s());
                watch.jitter(0.5).handle(common::judge)?;
            }
            Ok(vec![])
        })];
        let run = Executor::builder(Told::default()).seed(seed).build().run(commands).await;
        run.pollers.iter().map(|status| status.elapsed).collect()
    }
    let first = elapsed(1).await;
    assert!(first.iter().all(|&elapsed| (500.ms()..=1_501.ms()).contains(&elapsed)), "{first:?}");
    assert!(first.iter().max().unwrap().abs_diff(*first.iter().min().unwrap()) > 400.ms());
    assert_eq!(elapsed(1).await, first);
    assert_ne!(elapsed(2).await, first);
}

#[tokio::test(start_paused = true)]
async fn as_many_polls_as_there_may_be_and_no_more() {
    let schedule = Schedule::every(500.ms()).within(30.s()).max_polls(3);
    assert_eq!(polls(schedule, 0).await, [0, 500, 1_000]);
}

fn answers(answers: &'static [Answer]) -> impl FnMut() -> std::future::Ready<Answer> + Send {
    let mut at = 0;
    move || {
        let answer = answers.get(at).or(answers.last()).copied().unwrap_or(Err("nothing"));
        at += 1;
        ready(answer)
    }
}

fn strict(answer: &Answer) -> Outcome<Event> {
    match answer {
        Ok(state) => common::judge(state),
        Err(error) => Outcome::error(*error),
    }
}

const RESET: Answer = Err("connection reset");

#[tokio::test(start_paused = true)]
async fn errors_within_the_budget_are_passed_over() {
    let (_queue, ctx) = context();
    let poll = answers(&[RESET, RESET, Ok("processing"), RESET, RESET, Ok("approved")]);
    let watch = ctx.poll(poll).every(1.s()).within(60.s()).error_budget(2);
    let status = watch.handle(strict).unwrap().wait().await;
    assert!(status.is_done(), "a good answer fills it up again: {status:?}");
    assert_eq!(status.poll_count, 6);
}

#[tokio::test(start_paused = true)]
async fn the_error_after_the_budget_goes_to_the_handler() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(answers(&[RESET])).every(1.s()).within(60.s()).error_budget(2);
    let status = watch.handle(strict).unwrap().wait().await;
    assert_eq!(status.error().unwrap().to_string(), "connection reset");
    assert_eq!(status.poll_count, 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_transient_may_be_said() {
    let (_queue, ctx) = context();
    let mut statuses = [503, 503, 404].into_iter();
    let watch = ctx.poll(move || ready(statuses.next().unwrap_or(200))).every(1.s()).within(60.s());
    let watch = watch.tolerate(5, |status| *status == 503);
    let poller = watch.handle(|status| Outcome::error(format!("status {status}"))).unwrap();
    let status = poller.wait().await;
    assert_eq!(status.error().unwrap().to_string(), "status 404");
    assert_eq!(status.poll_count, 3);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_a_floor_for_the_next_pause() {
    let (_queue, ctx) = context();
    let mut asked = [Some(5), Some(0), None].into_iter();
    let watch = ctx
        .poll(move || ready(asked.next().flatten()))
        .every(1.s())
        .within(60.s())
        .max_polls(4)
        .on_timeout(OnTimeout::Ignore)
        .retry_after(|seconds: &Option<u64>| seconds.map(Duration::from_secs));
    let status = watch.handle(|_| Outcome::Continue).unwrap().wait().await;
    assert_eq!(status.elapsed, 5.s() + 1.s() + 1.s());
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_beyond_the_deadline_ends_at_the_deadline() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(async || ()).every(1.s()).within(10.s()).retry_after(|()| Some(60.s()));
    let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
    let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
    assert_eq!((info.poll_count, info.elapsed), (1, 10.s()));
}

const REVIEWED: &[&str] =
    &["pending_review", "pending_review", "processing", "pending_review", "approved"];

#[tokio::test(start_paused = true)]
async fn an_intermediate_state_is_told_at_each_poll_unless_it_is_told_on_change() {
    let (queue, ctx) = context();
    let watch = ctx.poll(script(REVIEWED)).every(1.s()).within(60.s());
    watch.handle(common::judge).unwrap().wait().await;
    assert_eq!(queue.drain().len(), 4);
    let watch = ctx.poll(script(REVIEWED)).every(1.s()).within(60.s()).emit_on_change();
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert_eq!(events(&queue.drain()), [Event::PendingReview, Event::Approved]);
    assert_eq!(status.event_count, 2);
}

#[tokio::test(start_paused = true)]
async fn events_that_are_never_equal_are_told_by_a_change_of_the_result() {
    let (queue, ctx) = context();
    let mut number = 0;
    let watch = ctx.poll(script(REVIEWED)).every(1.s()).within(60.s());
    let watch = watch.emit_on_change_of(|state| *state);
    let poller = watch
        .handle(move |state| {
            number += 1;
            match *state {
                "approved" => Outcome::settled(),
                _ => Outcome::inject(Event::Item(number)),
            }
        })
        .unwrap();
    poller.wait().await;
    let told = [Event::Item(1), Event::Item(3), Event::Item(4)];
    assert_eq!(events(&queue.drain()), told);
}

#[tokio::test(start_paused = true)]
async fn the_last_events_are_told_even_if_they_are_the_same() {
    let (queue, ctx) = context();
    let mut polls = 0;
    let watch = ctx.poll(async || ()).every(1.s()).within(60.s()).emit_on_change();
    let poller = watch
        .handle(move |()| {
            polls += 1;
            let same = Event::Approved;
            if polls < 3 { Outcome::inject(same) } else { Outcome::done(same) }
        })
        .unwrap();
    poller.wait().await;
    assert_eq!(events(&queue.drain()), [Event::Approved, Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_pollers_in_virtual_time_are_all_on_time() {
    let late = common::Count::default();
    let counted = late.clone();
    let commands = vec![command(move |ctx| {
        for _ in 0..10_000 {
            let (start, counted) = (common::now(), counted.clone());
            let mut due = 0;
            let poll = move || {
                if start.elapsed() > Duration::from_secs(due) + 1.ms() {
                    counted.add();
                }
                due += 1;
                ready(())
            };
            let watch = ctx.poll(poll).every(1.s()).within(10.s()).at_fixed_rate();
            watch.on_timeout(OnTimeout::Ignore).handle(|()| Outcome::Continue)?;
        }
        Ok(vec![])
    })];
    let run = Executor::builder(Told::default()).mode(Mode::Record).build().run(commands).await;
    assert_eq!((run.is_success(), run.pollers.len(), late.get()), (true, 10_000, 0));
    assert!(run.pollers.iter().all(|status| status.poll_count == 10));
}
