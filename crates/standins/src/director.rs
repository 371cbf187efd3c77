//! Tells the moment of the story by a clock.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};

use crate::hurry;
use crate::story::Story;
use crate::world::World;

/// How the story is told, and from where on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// What of it was told before the start.
    pub start_ms: i64,
    /// How it goes on.
    pub telling: Telling,
}

/// How the story goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// It stands still.
    Held,
    /// As it happens.
    Usual,
    /// As it happens, but for the calm, of which the most is left out.
    Hurried,
}

/// Tells the moment of the story. A clone tells the same.
#[derive(Clone)]
pub struct Director {
    story: Story,
    pace: Pace,
    clock: Arc<dyn Clock>,
    began: Moment,
}

impl Pace {
    /// The moment of the story after so much real time.
    #[must_use]
    pub fn story_ms(&self, story: Story, elapsed: Duration) -> i64 {
        let elapsed = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        let told = self.start_ms.saturating_add(elapsed);
        match self.telling {
            Telling::Held => self.start_ms,
            Telling::Usual => told,
            Telling::Hurried => hurry::story_ms(story, told),
        }
    }
}

impl Director {
    /// Begins to tell the story now.
    #[must_use]
    pub fn begin(story: Story, pace: Pace, clock: Arc<dyn Clock>) -> Self {
        let began = clock.moment();
        Self { story, pace, clock, began }
    }

    /// How everything is now.
    #[must_use]
    pub fn world(&self) -> World {
        let elapsed = self.clock.moment().since(self.began);
        World::at(self.story, self.pace.story_ms(self.story, elapsed))
    }
}

impl std::fmt::Debug for Director {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { story, pace, .. } = self;
        formatter.debug_struct("Director").field("story", story).field("pace", pace).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_goes_at_its_pace() {
        for (start_ms, telling, elapsed, expected) in [
            (0, Telling::Usual, 1_500, 1_500),
            (95_000, Telling::Usual, 1_500, 96_500),
            (0, Telling::Hurried, 1_500, 6_000),
            (45_000, Telling::Held, 1_500, 45_000),
            (i64::MAX, Telling::Usual, 1_500, i64::MAX),
        ] {
            let pace = Pace { start_ms, telling };
            let found = pace.story_ms(Story { seed: 7 }, Duration::from_millis(elapsed));
            assert_eq!(found, expected, "{pace:?}");
        }
    }
}
