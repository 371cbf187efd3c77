//! The fault matrix with real runners: each is killed, or stands still past its lease, at each step of a
//! report. Another makes it, once, and what is left over is swept.
//!
//! `MAINSTAY_FAULT_ROUNDS` says that no step is left out, and how often they are gone through.

use std::time::{Duration, Instant};

use mainstay_standins::llm::Behaviour;
use mainstay_testkit::{Fault, Stalls, Trap};
use serde_json::json;

use super::world::{ROUNDS, World, is_alone, ttl, until};

/// From the death of a runner to the report of another.
const TAKEN_OVER: Duration = Duration::from_secs(5);
/// How long a runner stands still: longer than its lease, and than the other needs.
const FROZEN: Duration = Duration::from_secs(9);
const SHORT_FROZEN: Duration = Duration::from_secs(5);

/// Where a runner stands when it dies.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    at: At,
    /// Without it the steps take too long for every day.
    is_short: bool,
}

#[derive(Clone, Copy)]
enum At {
    Database(Fault, fn(&str) -> bool),
    Storage(Fault, &'static str),
    Model,
    /// The storage, after the model wrote what is no report.
    Unfit(Fault),
}

const RAW: &str = "PUT raw_llm_output.json";

const fn step(name: &'static str, is_short: bool, at: At) -> Step {
    Step { name, at, is_short }
}

const STEPS: [Step; 16] = [
    step("it claims", false, At::Database(Fault::Hold, is_claim)),
    step("it has claimed", true, At::Database(Fault::HoldAnswer, is_claim)),
    step("it begins", false, At::Database(Fault::HoldAnswer, is_start)),
    step("it looks for the file", false, At::Database(Fault::Hold, is_look)),
    step("it reads the transcript", true, At::Storage(Fault::Hold, "GET original.txt")),
    step("it has read the transcript", false, At::Storage(Fault::HoldAnswer, "GET original.txt")),
    step("the model writes", true, At::Model),
    step("it stores an answer that is no report", false, At::Unfit(Fault::Hold)),
    step("it has stored an answer that is no report", false, At::Unfit(Fault::HoldAnswer)),
    step("it stores the timeline", false, At::Storage(Fault::Hold, "PUT timeline.json")),
    step("it has stored the timeline", false, At::Storage(Fault::HoldAnswer, "PUT timeline.json")),
    step("it stores the report", false, At::Storage(Fault::Hold, "PUT report.json")),
    step("it has stored the report", true, At::Storage(Fault::HoldAnswer, "PUT report.json")),
    step("it points at the report", false, At::Database(Fault::HoldAnswer, is_pointing)),
    step("it commits", false, At::Database(Fault::Hold, is_last_commit)),
    step("it has committed", true, At::Database(Fault::HoldAnswer, is_last_commit)),
];

/// Where a runner stands still.
const FREEZES: [Step; 4] = [
    step("it has read the transcript", false, At::Storage(Fault::HoldAnswer, "GET original.txt")),
    step("it stores the report", true, At::Storage(Fault::Hold, "PUT report.json")),
    step("it has stored the report", false, At::Storage(Fault::HoldAnswer, "PUT report.json")),
    step("it ends the job", false, At::Database(Fault::Hold, is_ending)),
];

fn is_claim(call: &str) -> bool {
    call.starts_with("COMMIT") && call.contains("doom") && call.contains("UPDATE files")
}

fn is_start(call: &str) -> bool {
    call.contains("started = CASE") && !call.starts_with("COMMIT")
}

fn is_look(call: &str) -> bool {
    call.starts_with("SELECT user_id, id, original_name")
}

fn is_ending(call: &str) -> bool {
    call.contains("status = 'succeeded'") && call.contains("payload") && !call.starts_with("COMMIT")
}

fn is_pointing(call: &str) -> bool {
    call.starts_with("UPDATE files SET storage_key_report")
}

fn is_last_commit(call: &str) -> bool {
    call.starts_with("COMMIT") && call.contains("SET storage_key_report")
}

impl Step {
    fn set(self, world: &World) {
        match self.at {
            At::Database(fault, is_meant) => world.relay.trap().set(fault, 0, is_meant),
            At::Storage(fault, name) => {
                world.storage.trap().set(fault, 0, move |call| call == name);
            }
            At::Model => world.llm.behave(Behaviour::Silent),
            At::Unfit(fault) => {
                world.llm.behave(Behaviour::OffSchema);
                world.storage.trap().set(fault, 0, |call| call == RAW);
            }
        }
    }

    fn trap(self, world: &World) -> Option<&Trap> {
        match self.at {
            At::Database(..) => Some(world.relay.trap()),
            At::Storage(..) | At::Unfit(_) => Some(world.storage.trap()),
            At::Model => None,
        }
    }

    /// Waits until the runner stands there; the provider had been asked so often before.
    fn until_there(self, world: &World, asked: usize) {
        match self.trap(world) {
            Some(trap) => {
                until(|| trap.has_sprung(), || format!("{}: {:?}", self.name, trap.calls()));
            }
            None => world.until_asked(asked + 1),
        }
    }
}

/// The steps of this run: a few of them, or all, several times.
fn chosen(steps: &[Step]) -> Vec<Step> {
    let rounds = std::env::var(ROUNDS).ok().and_then(|text| text.parse().ok());
    match rounds {
        Some(rounds) => std::iter::repeat_n(steps, rounds).flatten().copied().collect(),
        None => steps.iter().copied().filter(|step| step.is_short).collect(),
    }
}

fn frozen() -> Duration {
    if is_alone() { SHORT_FROZEN } else { FROZEN }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_whose_runner_is_killed_at_any_step_is_made_once_by_another() {
    let (world, stalls) = (World::start(&[Behaviour::Good]).await, Stalls::watch());
    for step in chosen(&STEPS) {
        let asked = world.llm.asked().len();
        step.set(&world);
        let mut first = world.runner_behind_the_relay("first");
        let id = world.upload();
        step.until_there(&world, asked);
        world.llm.behave(Behaviour::Good);
        let second = world.runner("second");
        let killed = Instant::now();
        first.signal("KILL");
        first.wait();
        if let Some(trap) = step.trap(&world) {
            trap.hang_up();
        }
        let file = world.until_succeeded(&id);
        // What the machine held up is not the runner's.
        let taken = killed.elapsed().saturating_sub(stalls.since(killed));
        assert!(taken < ttl() + TAKEN_OVER, "{}: it took {taken:?}", step.name);
        assert!(file["attempts"].as_i64().unwrap() <= 2, "{}: {file}", step.name);
        world.has_one_report(&id);
        second.stop();
    }
    world.is_swept().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_stood_still_past_its_lease_writes_nothing_when_it_goes_on() {
    let world = World::start(&[Behaviour::Good]).await;
    for step in chosen(&FREEZES) {
        step.set(&world);
        let first = world.runner_behind_the_relay("first");
        let id = world.upload();
        step.until_there(&world, 0);
        first.signal("STOP");
        let stopped = Instant::now();
        let second = world.runner("second");
        let file = world.until_succeeded(&id);
        assert_eq!(file["attempts"], json!(2), "{}", step.name);
        std::thread::sleep(frozen().saturating_sub(stopped.elapsed()));
        // What it has asked for happens after all, and it hears of it.
        step.trap(&world).unwrap().go_on();
        first.signal("CONT");
        world.has_no_orphan(&id);
        first.stop();
        assert_eq!(world.file(&id), file, "{}: nothing is changed by the late one", step.name);
        world.has_one_report(&id);
        second.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_stood_still_while_the_model_wrote_drops_what_it_wrote() {
    let world = World::start(&[Behaviour::Held, Behaviour::Good]).await;
    let first = world.runner_behind_the_relay("first");
    let id = world.upload();
    world.until_asked(1);
    first.signal("STOP");
    let stopped = Instant::now();
    let second = world.runner("second");
    let file = world.until_succeeded(&id);
    assert_eq!(file["attempts"], json!(2));
    // The answer comes, and waits for the one that stands still.
    world.llm.let_go();
    std::thread::sleep(frozen().saturating_sub(stopped.elapsed()));
    first.signal("CONT");
    first.stop();
    assert_eq!(world.file(&id), file, "nothing is changed by the late one");
    world.has_one_report(&id);
    world.has_no_orphan(&id);
    second.stop();
}
