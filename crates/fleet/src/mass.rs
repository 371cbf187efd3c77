//! That most workers fail at once: told when the brake is pulled and when it is let go, and kept in between for
//! whoever comes later.

use std::time::Duration;

use mainstay_base::Timestamp;

use crate::announce;
use crate::engine::Swept;
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::record::brake;

/// A brake that no round has found pulled for so many rounds has nobody who holds it.
const MISSED_ROUNDS: u32 = 3;

/// Most workers fail at once, and nothing is done about it until another round agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MassFailure {
    /// Workers that were asked in the last round.
    pub asked: u64,
    /// Those that did not answer.
    pub failed: u64,
    /// Since when it is so.
    pub since: Timestamp,
}

/// What one round knows of the brake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Round {
    /// It pulled the brake, or held it.
    pub(crate) is_braked: bool,
    /// The round of the same instance before it had the brake pulled.
    pub(crate) was_braked: bool,
    /// Somebody was asked, so that it says something of most.
    pub(crate) has_asked: bool,
}

impl Round {
    /// Whether it is the one that pulled the brake.
    pub(crate) const fn is_first(self) -> bool {
        self.is_braked && !self.was_braked
    }
}

/// What becomes of the brake that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Hold,
    LetGo,
    /// Only what nobody has held for long.
    LetOldGo,
}

const fn step(round: Round) -> Step {
    match round {
        Round { is_braked: true, .. } => Step::Hold,
        // One that asked nobody, since others have, knows nothing against them.
        Round { was_braked: true, .. } | Round { has_asked: true, .. } => Step::LetGo,
        _ => Step::LetOldGo,
    }
}

impl Fleet {
    /// That most workers fail at once, while it is so.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn mass_failure(&self) -> Result<Option<MassFailure>, FleetError> {
        let now = self.db().now().await?;
        brake::find(self.db(), before(now, self.patience())).await
    }

    /// Keeps what a round has found of the brake, and tells when it is pulled or let go.
    pub(crate) async fn note_brake(&self, round: Round, swept: &Swept) -> Result<(), FleetError> {
        let step = step(round);
        let (asked, failed) = (swept.asked, swept.failed);
        if step == Step::Hold {
            let noting = self.shared.events.write(async |tx, out| {
                brake::hold(tx, (asked, failed), round.is_first()).await?;
                if round.is_first() {
                    announce::mass_failure(out, asked, failed)?;
                }
                Ok::<_, FleetError>(())
            });
            return noting.await;
        }
        // Read first: most rounds have nothing to write.
        let Some(held_at) = brake::held_at(self.db()).await? else { return Ok(()) };
        let now = self.db().now().await?;
        let until = if step == Step::LetGo { now } else { before(now, self.patience()) };
        if held_at > until {
            return Ok(());
        }
        let letting_go = self.shared.events.write(async |tx, out| {
            if brake::let_go(tx, until).await? {
                announce::mass_failure_over(out)?;
            }
            Ok::<_, FleetError>(())
        });
        letting_go.await
    }

    /// Longer than any rounds take in which nobody answers.
    fn patience(&self) -> Duration {
        let pace = self.shared.pace;
        let silence = pace.probe.saturating_mul(2).saturating_add(pace.confirm_most);
        let round = pace.sweep.saturating_add(silence).saturating_add(pace.spread);
        round.saturating_mul(MISSED_ROUNDS)
    }
}

fn before(now: Timestamp, time: Duration) -> Timestamp {
    let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_what_becomes_of_the_brake() {
        for (is_braked, was_braked, has_asked, wanted) in [
            (true, false, true, Step::Hold),
            (true, true, true, Step::Hold),
            (false, true, true, Step::LetGo),
            (false, true, false, Step::LetGo),
            (false, false, true, Step::LetGo),
            (false, false, false, Step::LetOldGo),
        ] {
            let round = Round { is_braked, was_braked, has_asked };
            assert_eq!(step(round), wanted, "{round:?}");
        }
    }
}
