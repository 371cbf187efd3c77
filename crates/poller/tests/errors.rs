#![cfg(test)]
//! Every type of error. What panics is caught with its backtrace, and takes nobody else down.

mod common;

use std::error::Error as _;
use std::future::{poll_fn, ready};
use std::task::Poll;

use common::{Command, Event, Told, command, script};
use mainstay_poller::{
    Context, EventQueue, Executor, Handle, Mode, OnTimeout, Outcome, PollerError, Span as _,
    StartError, Status,
};

#[inline(never)]
fn raise_from_a_known_place(text: &str) {
    panic!("{text}");
}

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    (queue, ctx)
}

fn assert_raised(status: &Status, shown: &str) {
    let error = status.error().unwrap();
    assert_eq!(error.to_string(), shown);
    let backtrace = error.backtrace().unwrap().to_string();
    assert!(backtrace.contains("raise_from_a_known_place"), "{backtrace}");
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_panics_is_a_poll_error_with_its_backtrace() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(async || raise_from_a_known_place("no route")).every(1.s()).within(9.s());
    let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
    assert!(matches!(status.error(), Some(PollerError::PollError { .. })));
    assert_raised(&status, "poll raised: no route");
    assert_eq!(status.poll_count, 1);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_panics_before_its_future_or_in_its_middle_is_one_too() {
    let (_queue, ctx) = context();
    let before = || {
        raise_from_a_known_place("before");
        ready(())
    };
    let watch = ctx.poll(before).every(1.s()).within(9.s());
    let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
    assert_raised(&status, "poll raised: before");
    let middle = async || {
        tokio::time::sleep(10.ms()).await;
        raise_from_a_known_place("in the middle");
    };
    let watch = ctx.poll(middle).every(1.s()).within(9.s());
    let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
    assert_raised(&status, "poll raised: in the middle");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_a_handler_error_with_its_backtrace() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["garbage"])).every(1.s()).within(9.s());
    let poller = watch
        .handle(|_| {
            raise_from_a_known_place("invalid response format");
            Outcome::Continue
        })
        .unwrap();
    let status = poller.wait().await;
    assert!(matches!(status.error(), Some(PollerError::HandlerError { .. })));
    assert_raised(&status, "handler raised: invalid response format");
    assert!(status.last_result.is_some(), "the result that it panicked at is kept");
}

#[tokio::test(start_paused = true)]
async fn what_looks_at_results_beside_the_handler_is_caught_as_the_handler_is() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["garbage"])).every(1.s()).within(9.s());
    let watch = watch.retry_after(|_| {
        raise_from_a_known_place("no number");
        None
    });
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert_raised(&status, "handler raised: no number");
}

#[tokio::test(start_paused = true)]
async fn an_on_timeout_that_panics_is_an_on_timeout_error_with_its_backtrace() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["processing"])).every(1.s()).within(3.s());
    let watch = watch.on_timeout_with(|_| {
        raise_from_a_known_place("no words");
        OnTimeout::Ignore
    });
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert!(matches!(status.error(), Some(PollerError::OnTimeoutError { .. })));
    assert_raised(&status, "on_timeout raised: no words");
    assert_eq!(status.poll_count, 3);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_has_no_backtrace() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["processing"])).every(1.s()).within(3.s());
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert!(matches!(status.error(), Some(PollerError::Timeout(_))), "{status:?}");
    assert!(status.error().unwrap().backtrace().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_custom_error_of_the_handler_has_no_backtrace() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["broken"])).every(1.s()).within(3.s());
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert!(matches!(status.error(), Some(PollerError::Custom(_))), "{status:?}");
    assert!(status.error().unwrap().backtrace().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_custom_error_of_on_timeout_has_no_backtrace() {
    let (_queue, ctx) = context();
    for is_decided_late in [false, true] {
        let watch = ctx.poll(script(&["processing"])).every(1.s()).within(3.s());
        let poller = if is_decided_late {
            watch.on_timeout_with(|_| OnTimeout::error("never confirmed")).handle(common::judge)
        } else {
            watch.on_timeout(OnTimeout::error("never confirmed")).handle(common::judge)
        };
        let status = poller.unwrap().wait().await;
        assert!(matches!(status.error(), Some(PollerError::Custom(_))), "{status:?}");
        assert!(status.error().unwrap().backtrace().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn the_source_of_a_reason_is_told() {
    #[derive(Debug, thiserror::Error)]
    #[error("the answer can't be read")]
    struct Unreadable(#[source] std::num::ParseIntError);
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["many"])).every(1.s()).within(3.s());
    let unreadable = |text: &&str| Outcome::error(Unreadable(text.parse::<u8>().unwrap_err()));
    let status = watch.handle(unreadable).unwrap().wait().await;
    let error = status.error().unwrap();
    assert_eq!(error.to_string(), "the answer can't be read");
    assert_eq!(error.source().unwrap().to_string(), "invalid digit found in string");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_poll_the_handler_or_on_timeout_leaves_the_executor_and_the_others_alone() {
    type Start = fn(&Context<Event>) -> Result<Handle, StartError>;
    let panics: [(Start, &str); 3] = [
        (
            |ctx| {
                let watch = ctx.poll(async || panic!("no route")).every(1.s()).within(9.s());
                watch.handle(|(): &()| Outcome::Continue)
            },
            "poll raised: no route",
        ),
        (
            |ctx| {
                let watch = ctx.poll(script(&["garbage"])).every(1.s()).within(9.s());
                watch.handle(|_| -> Outcome<Event> { panic!("no status") })
            },
            "handler raised: no status",
        ),
        (
            |ctx| {
                let watch = ctx.poll(script(&["processing"])).every(1.s()).within(3.s());
                watch.on_timeout_with(|_| panic!("no words")).handle(common::judge)
            },
            "on_timeout raised: no words",
        ),
    ];
    for (start, told) in panics {
        let commands: Vec<Command> = vec![
            command(move |ctx| {
                start(ctx)?;
                Ok(vec![])
            }),
            command(|ctx| {
                common::authorisation(ctx, &["processing", "approved"])?;
                Ok(vec![Event::Created])
            }),
        ];
        let run = Executor::builder(Told::default()).mode(Mode::Record).build().run(commands).await;
        assert_eq!(common::events(&run.events), [Event::Created, Event::Approved], "{told}");
        let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
        let expected = format!("command 0: resource poller 1 error: {told}");
        assert_eq!(failure.to_string(), expected);
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("not even gone in peace");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_panics_while_it_is_dropped_is_told_too() {
    let (_queue, ctx) = context();
    let poll = || {
        let bomb = Bomb;
        poll_fn(move |_| {
            let _bomb = &bomb;
            Poll::<()>::Pending
        })
    };
    let watch = ctx.poll(poll).every(1.s()).within(3.s());
    let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
    assert!(matches!(status.error(), Some(PollerError::PollError { .. })), "{status:?}");
}

#[tokio::test(start_paused = true)]
async fn options_that_cannot_be_meant_are_refused_before_anything_is_polled() {
    let (_queue, ctx) = context();
    let polls = common::Count::default();
    let counted = polls.clone();
    let poll = move || {
        counted.add();
        ready("processing")
    };
    let refused = ctx.poll(poll).every(0.ms()).within(3.s()).handle(common::judge).unwrap_err();
    assert_eq!(refused.to_string(), "the interval is 0ns: it must be at least 1ms");
    tokio::task::yield_now().await;
    assert_eq!((polls.get(), ctx.pollers().len()), (0, 0));
}

#[test]
fn without_a_runtime_a_poller_is_refused() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(script(&["processing"])).every(1.s()).within(3.s());
    assert_eq!(watch.handle(common::judge).unwrap_err(), StartError::NoRuntime);
}
