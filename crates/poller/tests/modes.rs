#![cfg(test)]
//! Every assertion mode, and the lines of the log.

mod common;

use std::io;
use std::sync::{Arc, Mutex};

use common::{Command, Event, Told, authorisation, command};
use mainstay_poller::{
    Cause, Context, Executor, Handle, Mode, Outcome, Reason, Run, Span as _, StartError,
};
use tracing_subscriber::fmt::MakeWriter;

/// One poller that fails at once, one that fails later, and a command after them.
fn commands() -> Vec<Command> {
    vec![
        command(|ctx| {
            authorisation(ctx, &["processing", "broken"])?;
            Ok(vec![])
        }),
        command(|ctx| {
            authorisation(ctx, &["processing", "processing", "processing", "broken"])?;
            Ok(vec![])
        }),
        command(|_| Ok(vec![Event::Created])),
    ]
}

async fn run(mode: Mode) -> Run<Event> {
    let adapter = Told { takes_ms: 800, ..Told::default() };
    Executor::builder(adapter).mode(mode).build().run(commands()).await
}

#[tokio::test(start_paused = true)]
async fn halt_ends_the_run_at_the_first_error() {
    let run = run(Mode::Halt).await;
    assert_eq!(run.commands_run, 1, "the next command is not executed");
    assert_eq!(common::events(&run.events), []);
    let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
    assert_eq!(failure.command_index, 0);
    assert!(!run.is_success());
}

#[tokio::test(start_paused = true)]
async fn record_goes_on_and_reports_all_at_the_end() {
    let run = run(Mode::Record).await;
    assert_eq!(run.commands_run, 3);
    assert_eq!(common::events(&run.events), [Event::Created]);
    let failed: Vec<usize> = run.failures.iter().map(|failure| failure.command_index).collect();
    assert_eq!(failed, [0, 1]);
    let error = run.into_result().unwrap_err();
    assert_eq!(
        error.to_string(),
        "command 0: resource poller 1 error: the resource is broken\n\
         command 1: resource poller 2 error: the resource is broken"
    );
}

#[tokio::test(start_paused = true)]
async fn disabled_ignores_errors() {
    let log = Log::default();
    let _logging = log.begin();
    let run = run(Mode::Disabled).await;
    assert!(run.is_success());
    assert_eq!((run.commands_run, run.pollers.len()), (3, 2));
    assert!(run.pollers.iter().all(|status| status.error().is_some()), "how they ended is told");
    assert_eq!(log.text(), "");
}

#[tokio::test(start_paused = true)]
async fn log_goes_on_and_warns_of_each() {
    let log = Log::default();
    let _logging = log.begin();
    let run = run(Mode::Log).await;
    assert!(run.is_success());
    assert_eq!(run.commands_run, 3);
    assert_eq!(
        log.text(),
        " WARN resource poller 1 error: the resource is broken command_index=0\n \
         WARN resource poller 2 error: the resource is broken command_index=1\n"
    );
}

#[derive(Debug)]
struct Missing;

#[derive(Debug, thiserror::Error)]
#[error("payment failed with code {0}")]
struct PaymentError(&'static str);

/// What is logged when a handler does this.
async fn logged(handler: fn(&&'static str) -> Outcome<Event>) -> String {
    let log = Log::default();
    let _logging = log.begin();
    let commands = vec![command(move |ctx| {
        ctx.poll(common::script(&["garbage"])).every(1.s()).within(3.s()).handle(handler)?;
        Ok(vec![])
    })];
    let run = Executor::builder(Told::default()).mode(Mode::Log).build().run(commands).await;
    assert!(run.is_success());
    log.text()
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_logged_with_what_is_known_of_it() {
    let text = logged(|_| Outcome::Continue).await;
    assert_eq!(
        text,
        " WARN resource poller 1 error: did not settle: its time was over after 3s (3 polls) command_index=0\n"
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_raised_is_logged_with_who_raised_it() {
    let text = logged(|_| panic!("invalid response format")).await;
    assert_eq!(
        text,
        " WARN resource poller 1 error: handler raised: invalid response format command_index=0\n"
    );
}

/// What is logged when a poll or a decision about its timeout raises.
async fn logged_by(start: fn(&Context<Event>) -> Result<Handle, StartError>) -> String {
    let log = Log::default();
    let _logging = log.begin();
    let commands = vec![command(move |ctx| {
        start(ctx)?;
        Ok(vec![])
    })];
    let run = Executor::builder(Told::default()).mode(Mode::Log).build().run(commands).await;
    assert!(run.is_success());
    log.text()
}

#[tokio::test(start_paused = true)]
async fn what_a_poll_raised_is_logged_as_such() {
    let text = logged_by(|ctx| {
        let poll = ctx.poll(async || -> &str { panic!("no route") });
        poll.every(1.s()).within(3.s()).handle(common::judge)
    });
    let told = " WARN resource poller 1 error: poll raised: no route command_index=0\n";
    assert_eq!(text.await, told);
}

#[tokio::test(start_paused = true)]
async fn what_on_timeout_raised_is_logged_as_such() {
    let text = logged_by(|ctx| {
        let watch = ctx.poll(common::script(&["processing"])).every(1.s()).within(3.s());
        watch.on_timeout_with(|_| panic!("no words")).handle(common::judge)
    });
    let told = " WARN resource poller 1 error: on_timeout raised: no words command_index=0\n";
    assert_eq!(text.await, told);
}

#[tokio::test(start_paused = true)]
async fn an_error_that_was_returned_is_logged_by_its_display() {
    let text = logged(|_| Outcome::error(PaymentError("gateway_error"))).await;
    assert_eq!(
        text,
        " WARN resource poller 1 error: payment failed with code gateway_error command_index=0\n"
    );
}

#[tokio::test(start_paused = true)]
async fn any_other_value_is_logged_by_its_debug() {
    let text = logged(|_| Outcome::Error(Reason::value(Missing))).await;
    assert_eq!(text, " WARN resource poller 1 error: Missing command_index=0\n");
}

#[tokio::test(start_paused = true)]
async fn errors_of_commands_and_of_the_model_go_by_the_mode_too() {
    let commands = || -> Vec<Command> {
        vec![
            command(|_| Err("no connection".into())),
            command(|_| Ok(vec![Event::Declined, Event::Created])),
        ]
    };
    let model = |entry: &mainstay_poller::Entry<Event>| match entry.event {
        Event::Declined => Err("nothing may be declined".into()),
        _ => Ok(()),
    };
    for (mode, failures, commands_run) in
        [(Mode::Halt, 1, 1), (Mode::Record, 2, 2), (Mode::Log, 0, 2), (Mode::Disabled, 0, 2)]
    {
        let executor = Executor::builder(Told::default()).mode(mode).build();
        let run = executor.run_with(commands(), model).await;
        assert_eq!((run.failures.len(), run.commands_run), (failures, commands_run), "{mode:?}");
    }
    let executor = Executor::builder(Told::default()).mode(Mode::Record).build();
    let run = executor.run_with(commands(), model).await;
    let texts: Vec<String> = run.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "command 0: command error: no connection",
            "command 1: event 0 error: nothing may be declined"
        ]
    );
    assert!(matches!(run.failures[1].cause, Cause::Model { sequence: 0, .. }));
}

/// What is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin(&self) -> tracing::subscriber::DefaultGuard {
        let subscriber = tracing_subscriber::fmt()
            .with_writer(self.clone())
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
