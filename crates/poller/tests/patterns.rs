#![cfg(test)]
//! The handler patterns of the guide, and its authorisation example, as they stand there.

mod common;

use std::future::ready;

use mainstay_poller::{
    Adapter, Context, EventQueue, Executor, Outcome, PollerError, Reason, Span as _, Status,
};

/// An event of the guide.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    AuthorizationCreated { id: u32 },
    AuthorizationPendingReview { id: u32 },
    AuthorizationApproved { id: u32 },
    AuthorizationDeclined { id: u32, reason: &'static str },
    ProcessingStarted,
    ProcessingCompleted,
    ItemProcessed(u32),
    BatchCompleted { count: usize },
    Completed,
}

/// Runs a poller to its end: how it ended, and what it told.
async fn watch<A: std::fmt::Debug + Send + Sync + 'static>(
    answers: impl IntoIterator<Item = A>,
    handler: impl FnMut(&A) -> Outcome<Told> + Send + 'static,
) -> (Status, Vec<Told>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let mut answers = answers.into_iter().collect::<Vec<A>>().into_iter();
    let poll = move || ready(answers.next().expect("no poll after the last answer"));
    let poller = ctx.poll(poll).every(500.ms()).within(30.s()).handle(handler).unwrap();
    (poller.wait().await, common::events(&queue.drain()))
}

#[tokio::test(start_paused = true)]
async fn handler_pattern_track_intermediate_states() {
    let (status, told) = watch(["queued", "processing", "completed"], |state| match *state {
        "queued" => Outcome::Continue,
        "processing" => Outcome::inject(Told::ProcessingStarted),
        _ => Outcome::done(Told::ProcessingCompleted),
    })
    .await;
    assert!(status.is_done());
    assert_eq!(told, [Told::ProcessingStarted, Told::ProcessingCompleted]);
}

#[tokio::test(start_paused = true)]
async fn handler_pattern_emit_a_batch_of_final_events() {
    let answers: [Option<Vec<u32>>; 2] = [None, Some(vec![7, 8])];
    let (status, told) = watch(answers, |items| match items {
        None => Outcome::Continue,
        Some(items) => {
            let processed = items.iter().copied().map(Told::ItemProcessed);
            Outcome::done_all(processed.chain([Told::BatchCompleted { count: items.len() }]))
        }
    })
    .await;
    assert!(status.is_done());
    let expected =
        [Told::ItemProcessed(7), Told::ItemProcessed(8), Told::BatchCompleted { count: 2 }];
    assert_eq!(told, expected);
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    ResourceNotFound,
    HttpError(&'static str),
}

/// What the service answers: a status and whether it has completed, or no answer at all.
type Response = Result<(u16, bool), &'static str>;

fn gracefully(response: &Response) -> Outcome<Told> {
    match response {
        Ok((200, true)) => Outcome::done(Told::Completed),
        Ok((404, _)) => Outcome::Error(Reason::value(Refused::ResourceNotFound)),
        Ok(_) => Outcome::Continue,
        Err(reason) => Outcome::Error(Reason::value(Refused::HttpError(reason))),
    }
}

#[tokio::test(start_paused = true)]
async fn handler_pattern_handle_errors_gracefully() {
    let (status, told) = watch([Ok((200, false)), Ok((200, true))], gracefully).await;
    assert!(status.is_done());
    assert_eq!(told, [Told::Completed]);
    let missing: [Response; 2] = [Ok((200, false)), Ok((404, false))];
    let reset: [Response; 2] = [Ok((200, false)), Err("connection reset")];
    for (answers, refused) in
        [(missing, Refused::ResourceNotFound), (reset, Refused::HttpError("connection reset"))]
    {
        let (status, told) = watch(answers, gracefully).await;
        let Some(PollerError::Custom(reason)) = status.error() else { panic!("{status:?}") };
        assert_eq!(reason.value_ref(), Some(&refused));
        assert_eq!((status.poll_count, told), (2, vec![]));
    }
}

/// What the payment service says of an authorisation.
#[derive(Debug, Clone, Copy)]
struct Authorization {
    status: &'static str,
    decline_reason: Option<&'static str>,
}

struct CreateAuthorization;

struct Payments(Vec<Authorization>);

impl Adapter for Payments {
    type Command = CreateAuthorization;
    type Event = Told;

    async fn execute(
        &mut self,
        _: &CreateAuthorization,
        ctx: &Context<Told>,
    ) -> Result<Vec<Told>, Reason> {
        let id = 1;
        let mut answers = self.0.clone().into_iter();
        let poll = move || ready(answers.next().ok_or("no poll after the last answer"));
        ctx.poll(poll).every(500.ms()).within(30.s()).handle(move |response| {
            let Ok(authorization) = response else { return Outcome::error("no answer") };
            match authorization.status {
                "processing" => Outcome::Continue,
                "pending_review" => Outcome::inject(Told::AuthorizationPendingReview { id }),
                "approved" => Outcome::done(Told::AuthorizationApproved { id }),
                "declined" => {
                    let reason = authorization.decline_reason.unwrap_or("unknown");
                    Outcome::done(Told::AuthorizationDeclined { id, reason })
                }
                other => Outcome::error(format!("{other} is no status")),
            }
        })?;
        Ok(vec![Told::AuthorizationCreated { id }])
    }
}

/// What a run of the example tells.
async fn authorise(states: &[(&'static str, Option<&'static str>)]) -> Vec<Told> {
    let answers = states.iter();
    let answers = answers
        .map(|(status, decline_reason)| Authorization { status, decline_reason: *decline_reason });
    let executor = Executor::new(Payments(answers.collect()));
    let run = executor.run([CreateAuthorization]).await.into_result().unwrap();
    common::events(&run.events)
}

#[tokio::test(start_paused = true)]
async fn the_authorisation_example_is_reviewed_and_approved() {
    let states = [("processing", None), ("pending_review", None), ("approved", None)];
    assert_eq!(
        authorise(&states).await,
        [
            Told::AuthorizationCreated { id: 1 },
            Told::AuthorizationPendingReview { id: 1 },
            Told::AuthorizationApproved { id: 1 },
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_authorisation_example_is_declined_with_its_reason() {
    let states = [("processing", None), ("declined", Some("insufficient funds"))];
    let reason = "insufficient funds";
    assert_eq!(
        authorise(&states).await,
        [Told::AuthorizationCreated { id: 1 }, Told::AuthorizationDeclined { id: 1, reason }]
    );
}
