//! What is shown of a location, in a table.

use super::*;
use crate::decide::fixture::{BEFORE, NOW, id};
use crate::model::location::{CheckKind, PlannedCheck};

const SWEEP: Duration = Duration::from_secs(60);

fn location() -> Location {
    Location {
        check: PlannedCheck {
            kind: CheckKind::Service,
            name: "Orders".to_owned(),
            url: None,
            about: Vec::new(),
            every: Duration::from_secs(30),
        },
        worker_id: id(100),
        generation: 3,
        status: LocationStatus::Down,
        status_since: ago(100),
        checked_at: Some(ago(50)),
        latency: None,
        error: Some("refused".to_owned()),
        findings: 4,
    }
}

fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() - seconds * 1_000)
}

fn standing() -> Standing {
    Standing {
        worker: WorkerStatus::Ready,
        worker_since: BEFORE,
        net: LoadState::Loaded,
        net_since: BEFORE,
    }
}

fn seen(location: &Location, standing: Standing) -> (LocationStatus, Timestamp, String) {
    let Shown { status, since, error } = shown(location, standing, SWEEP, NOW);
    (status, since, error.unwrap_or_default())
}

#[test]
fn what_was_found_lately_is_shown() {
    assert_eq!(
        seen(&location(), standing()),
        (LocationStatus::Down, ago(100), "refused".to_owned())
    );
    let well = Location { status: LocationStatus::Healthy, ..location() };
    let patient = Location { checked_at: Some(ago(210)), ..well };
    assert_eq!(seen(&patient, standing()).0, LocationStatus::Healthy, "3 runs and 2 sweeps");
    let longer = Standing { net_since: ago(1_000), ..standing() };
    let backed_off = Location { checked_at: Some(ago(510)), ..location() };
    assert_eq!(seen(&backed_off, longer).0, LocationStatus::Down, "it is asked less often");
    let reloaded = Standing { net_since: ago(60), ..standing() };
    assert_eq!(seen(&location(), reloaded).1, ago(60), "there was a gap before");
}

#[test]
fn what_nobody_looks_at_is_unknown_and_says_why() {
    let unknown = |location: &Location, standing, since, word: &str| {
        let (status, shown_since, why) = seen(location, standing);
        assert_eq!((status, shown_since), (LocationStatus::Unknown, since), "{why}");
        assert!(why.contains(word), "{why}");
    };
    for worker in [WorkerStatus::Error, WorkerStatus::Stopped, WorkerStatus::Pending] {
        let left = Standing { worker, worker_since: ago(10), ..standing() };
        unknown(&location(), left, ago(10), worker.name());
    }
    for (net, word) in
        [(LoadState::Unloaded, "not loaded"), (LoadState::Error, "could not be loaded")]
    {
        let unloaded = Standing { net, net_since: ago(20), ..standing() };
        unknown(&location(), unloaded, ago(20), word);
    }
    let none = Location { checked_at: None, ..location() };
    unknown(&none, standing(), BEFORE, "since the net was loaded");
    let anew = Standing { net_since: ago(40), ..standing() };
    unknown(&location(), anew, ago(40), "since the net was loaded");
    let well = Location { status: LocationStatus::Healthy, ..location() };
    let old = Location { checked_at: Some(ago(211)), ..well };
    unknown(&old, standing(), ago(1), "210 s");
    let longer = Standing { net_since: ago(1_000), ..standing() };
    let gone = Location { checked_at: Some(ago(511)), ..location() };
    unknown(&gone, longer, ago(1), "510 s");
}
