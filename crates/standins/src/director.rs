//! Tells the moment of the story by a clock.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};

use crate::story::Story;
use crate::world::World;

/// How fast the story goes, and from where on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The moment of the story at the start.
    pub start_ms: i64,
    /// Seconds of the story for each real one; at 0 it stands still.
    pub speed: u32,
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
    pub fn story_ms(&self, elapsed: Duration) -> i64 {
        let elapsed = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        self.start_ms.saturating_add(elapsed.saturating_mul(i64::from(self.speed)))
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
        World::at_speed(self.story, self.pace.story_ms(elapsed), self.pace.speed)
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
        for (start_ms, speed, elapsed, expected) in [
            (0, 1, 1_500, 1_500),
            (95_000, 1, 1_500, 96_500),
            (0, 4, 1_500, 6_000),
            (45_000, 0, 1_500, 45_000),
            (i64::MAX, 4, 1_500, i64::MAX),
        ] {
            let pace = Pace { start_ms, speed };
            assert_eq!(pace.story_ms(Duration::from_millis(elapsed)), expected);
        }
    }
}
