//! A process of its own that carries out operations, beside the one that is asked.

use std::sync::Arc;

use mainstay_fleet::Pace;
use mainstay_testkit::TestDatabase;
use tokio::runtime::{Builder, Runtime};

use crate::house::{Ahead, House, Running, SECOND, quick};
use crate::world::World;

/// A process that carries out operations. It can die.
pub(crate) struct Process {
    runtime: Runtime,
    pub(crate) house: House,
    running: Running,
}

impl Process {
    pub(crate) fn start(database: &TestDatabase, world: &World, clock: &Arc<Ahead>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (house, running) = runtime.block_on(async {
            let opening = House::with(database, world.clone(), Arc::clone(clock), pace());
            let house = opening.await;
            let running = house.run();
            (house, running)
        });
        Self { runtime, house, running }
    }

    /// Ends without a word, in the middle of whatever it does; after this it does nothing more.
    pub(crate) fn die(self) {
        let Self { runtime, house, running } = self;
        // A runtime is not waited for inside another one.
        aside(|| runtime.shutdown_timeout(60 * SECOND));
        // Its handlers hold the house: without this its connections would outlive it.
        house.jobs.forget_handlers();
        drop((house, running));
    }

    /// Ends what it does and takes nothing new until it is told to go on.
    pub(crate) async fn rest(self) -> Resting {
        let Self { runtime, house, running } = self;
        running.stop().await;
        Resting { runtime, house }
    }
}

/// A process that carries out nothing.
pub(crate) struct Resting {
    runtime: Runtime,
    house: House,
}

impl Resting {
    pub(crate) fn go_on(self) -> Process {
        let Self { runtime, house } = self;
        let running = aside(|| {
            let _inside = runtime.enter();
            house.run()
        });
        Process { runtime, house, running }
    }
}

/// Does something on a thread that is in no runtime.
pub(crate) fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

pub(crate) fn pace() -> Pace {
    Pace { patience: 2 * SECOND, ..quick() }
}
