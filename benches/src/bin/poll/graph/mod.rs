//! The dependency graph of 5 000 services with 40 000 dependencies: what one change costs, beside
//! building the graph anew, and what it takes to make an answer of it.

mod world;

use std::time::Duration;

use anyhow::ensure;
use mainstay_base::{Clock as _, SystemClock};
use mainstay_benches::figure;
use mainstay_graph::suggest::{self, Clues, Dismissed};
use mainstay_graph::{Change, Places, Status, causes, components, layout};
use mainstay_monitor::answer::Answer;
use mainstay_monitor::graph::{Picture, show};

use self::world::{SERVICES, World};

/// How many changes are applied.
const CHANGES: i64 = 20_000;
/// How often each of the rest is tried.
const TRIES: usize = 7;

pub(crate) fn measure() -> anyhow::Result<()> {
    let clock = SystemClock::new();
    let world = World::new();
    let mut graph = world.graph();
    ensure!(graph.edges() > 30_000, "the graph is smaller than meant");
    let began = clock.moment();
    for turn in 0..CHANGES {
        for change in world.turned(turn) {
            graph.apply(change);
        }
    }
    let took = clock.moment().since(began);
    // Each turn is one dependency and its service.
    figure::print("graph.update_us", micros(took) / as_float(CHANGES), "us")?;
    let tried = |work: &dyn Fn()| {
        let once = |_| {
            let began = clock.moment();
            work();
            micros(clock.moment().since(began)) / 1_000.0
        };
        figure::median((0..TRIES).map(once).collect())
    };
    let rebuild = tried(&|| drop(world.graph()));
    figure::print("graph.rebuild_us", rebuild * 1_000.0, "us")?;
    let snapshot = graph.snapshot();
    let parts = components::find(&snapshot);
    let places = layout::place_in(&snapshot, &parts, &Places::new());
    figure::print("graph.snapshot_ms", tried(&|| drop(graph.snapshot())), "ms")?;
    figure::print("graph.causes_ms", tried(&|| drop(causes::find_in(&snapshot, &parts))), "ms")?;
    let anew = || drop(layout::place_in(&snapshot, &parts, &Places::new()));
    figure::print("graph.place_all_ms", tried(&anew), "ms")?;
    let kept = || drop(layout::place_in(&snapshot, &parts, &places));
    figure::print("graph.place_again_ms", tried(&kept), "ms")?;
    let picture = Picture::of(&graph, &places);
    let written = tried(&|| drop(Answer::of(&show::whole(&picture))));
    figure::print("graph.answer_ms", written, "ms")?;
    let answer = Answer::of(&show::whole(&picture))?;
    let packed = answer.gzip.as_ref().map_or(0, bytes_of);
    figure::print("graph.answer_kb", as_float(bytes_of(&answer.plain)) / 1_024.0, "kB")?;
    figure::print("graph.answer_packed_kb", as_float(packed) / 1_024.0, "kB")?;
    let found = tried(&|| drop(suggest::find(&Clues::of(&graph), &Dismissed::new())));
    figure::print("graph.suggestions_ms", found, "ms")?;
    let all_down = (1..=SERVICES).map(|service| Change::Status {
        service,
        status: Status::Down,
        since: world::at(1),
    });
    all_down.for_each(|change| graph.apply(change));
    let snapshot = graph.snapshot();
    let worst = tried(&|| drop(causes::find_in(&snapshot, &parts)));
    figure::print("graph.causes_all_down_ms", worst, "ms")?;
    Ok(())
}

fn bytes_of(bytes: &impl AsRef<[u8]>) -> i64 {
    i64::try_from(bytes.as_ref().len()).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000_000.0
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
const fn as_float(count: i64) -> f64 {
    count as f64
}
