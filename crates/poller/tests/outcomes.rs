#![cfg(test)]
//! Every outcome of a handler, and its patterns.

mod common;

use std::future::ready;

use common::{Event, events, script};
use mainstay_poller::{
    Context, EventQueue, Outcome, PollerError, Reason, Span as _, State, Status,
};

/// Runs a poller to its end: how it ended, and what it told.
async fn watch(
    states: &'static [&'static str],
    handler: impl FnMut(&&'static str) -> Outcome<Event> + Send + 'static,
) -> (Status, Vec<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let poller = ctx.poll(script(states)).every(500.ms()).within(30.s()).handle(handler).unwrap();
    let status = poller.wait().await;
    (status, events(&queue.drain()))
}

#[tokio::test(start_paused = true)]
async fn continue_keeps_polling_and_tells_nothing() {
    let (status, told) = watch(&["processing", "processing", "approved"], |state| match *state {
        "processing" => Outcome::Continue,
        _ => Outcome::settled(),
    })
    .await;
    assert!(status.is_done());
    assert_eq!((status.poll_count, status.event_count), (3, 0));
    assert_eq!(told, []);
}

#[tokio::test(start_paused = true)]
async fn inject_one_tells_it_and_keeps_polling() {
    let (status, told) = watch(&["pending_review", "approved"], common::judge).await;
    assert_eq!((status.poll_count, status.event_count), (2, 2));
    assert_eq!(told, [Event::PendingReview, Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn inject_many_tells_all_and_keeps_polling() {
    let (status, told) = watch(&["items", "approved"], |state| match *state {
        "items" => Outcome::inject_all([Event::Item(1), Event::Item(2)]),
        _ => Outcome::settled(),
    })
    .await;
    assert_eq!(status.poll_count, 2);
    assert_eq!(told, [Event::Item(1), Event::Item(2)]);
}

#[tokio::test(start_paused = true)]
async fn done_with_one_tells_it_and_stops() {
    let (status, told) = watch(&["approved", "declined"], common::judge).await;
    assert!(status.is_done());
    assert_eq!(status.poll_count, 1);
    assert_eq!(told, [Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn done_with_many_tells_all_and_stops() {
    let batch = |_: &&str| Outcome::done_all((1..=3).map(Event::Item));
    let (status, told) = watch(&["completed", "completed"], batch).await;
    assert!(status.is_done());
    assert_eq!(status.poll_count, 1);
    assert_eq!(told, [Event::Item(1), Event::Item(2), Event::Item(3)]);
}

#[tokio::test(start_paused = true)]
async fn done_with_none_stops_without_an_event() {
    let (status, told) = watch(&["completed"], |_| Outcome::Done(vec![])).await;
    assert!(status.is_done());
    assert_eq!((status.poll_count, told), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn error_stops_with_its_reason() {
    let (status, told) = watch(&["broken", "approved"], common::judge).await;
    assert!(
        matches!(status.error(), Some(PollerError::Custom(reason)) if reason.to_string() == "the resource is broken")
    );
    assert_eq!((status.poll_count, told), (1, vec![]));
    assert!(status.error().unwrap().backtrace().is_none(), "what is returned has no backtrace");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    GatewayTimeout,
}

#[derive(Debug, thiserror::Error)]
#[error("the payment failed with code {code:?}")]
struct PaymentError {
    code: Code,
}

#[tokio::test(start_paused = true)]
async fn the_reason_may_be_any_error_and_keeps_its_parts() {
    let refuse = |_: &&str| Outcome::error(PaymentError { code: Code::GatewayTimeout });
    let (status, _) = watch(&["failed"], refuse).await;
    let State::Failed(PollerError::Custom(reason)) = status.state else {
        panic!("{:?}", status.state)
    };
    assert_eq!(reason.downcast_ref::<PaymentError>().unwrap().code, Code::GatewayTimeout);
    assert_eq!(reason.to_string(), "the payment failed with code GatewayTimeout");
}

#[tokio::test(start_paused = true)]
async fn the_reason_may_be_any_value() {
    let refuse = |_: &&str| Outcome::Error(Reason::value(Code::GatewayTimeout));
    let (status, _) = watch(&["failed"], refuse).await;
    let error = status.error().unwrap();
    assert_eq!(error.to_string(), "GatewayTimeout");
    assert!(
        matches!(error, PollerError::Custom(reason) if reason.value_ref() == Some(&Code::GatewayTimeout))
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_return_a_result_and_use_the_question_mark() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let mut answers = ["1", "many"].into_iter();
    let poller = ctx
        .poll(move || ready(answers.next().unwrap_or_default()))
        .every(1.s())
        .within(9.s())
        .handle(|text| -> Result<_, Reason> { Ok(Outcome::inject(Event::Item(text.parse()?))) })
        .unwrap();
    let status = poller.wait().await;
    assert_eq!(status.error().unwrap().to_string(), "invalid digit found in string");
    assert_eq!(events(&queue.drain()), [Event::Item(1)]);
}

#[tokio::test(start_paused = true)]
async fn the_handler_sees_a_transport_error_and_may_go_on() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let mut answers = [Err("connection reset"), Ok(404), Ok(200)].into_iter();
    let poller = ctx
        .poll(move || ready(answers.next().unwrap_or(Ok(500))))
        .every(1.s())
        .within(9.s())
        .handle(|answer| match answer {
            Ok(200) => Outcome::done(Event::Approved),
            Ok(404) => Outcome::inject(Event::Declined),
            Ok(status) => Outcome::error(format!("status {status}")),
            Err(_) => Outcome::Continue,
        })
        .unwrap();
    assert!(poller.wait().await.is_done());
    assert_eq!(events(&queue.drain()), [Event::Declined, Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_remember() {
    let mut seen = 0;
    let (status, told) = watch(&["processing"], move |_| {
        seen += 1;
        if seen < 4 { Outcome::Continue } else { Outcome::done(Event::Item(seen)) }
    })
    .await;
    assert_eq!((status.poll_count, told), (4, vec![Event::Item(4)]));
}
