//! Waits for machines to come up, or to rest, and for the agents on them.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_poller::{OnTimeout, Outcome, settle};

use super::machines::failed;
use super::{Attempt, Halt};
use crate::agents::{AgentError, AgentHealth};
use crate::decide::WorkerEnd;
use crate::decide::look::is_ours;
use crate::model::FailureCode;
use crate::providers::{Machine, MachineState, Provider, Rest, Sighting};

/// So long before the operation's own end an agent is given up, so that what it said is told.
const BEFORE_THE_END: Duration = Duration::from_secs(1);

/// One wait for a machine; the operation has more of them.
const WAIT: Duration = Duration::from_secs(30);

impl Attempt<'_> {
    /// Waits until a machine runs and its own agent answers.
    pub(super) async fn comes_up(
        &self,
        provider: &Arc<dyn Provider>,
        machine: Machine,
    ) -> Result<WorkerEnd, Halt> {
        self.remember(&machine).await?;
        let sighting = self.rests(provider, &machine, Rest::Running).await?;
        if sighting.machine != machine {
            self.remember(&sighting.machine).await?;
        }
        let boot_id = self.answers(&sighting.machine).await?;
        let provider_state = Some(sighting.provider_state);
        Ok(WorkerEnd::Running { machine: sighting.machine, boot_id, provider_state })
    }

    /// Waits until a machine is at rest; one that has failed will not be.
    pub(super) async fn rests(
        &self,
        provider: &Arc<dyn Provider>,
        machine: &Machine,
        rest: Rest,
    ) -> Result<Sighting, Halt> {
        loop {
            let sighting = self.persist(|| provider.wait(machine, rest, WAIT)).await?;
            if sighting.state.is_at(rest) {
                return Ok(sighting);
            }
            let is_hopeless =
                matches!(sighting.state, MachineState::Failed | MachineState::Leaving);
            if rest == Rest::Running && is_hopeless {
                let why = format!("the machine is {}", sighting.provider_state);
                return Err(failed(FailureCode::WorkerUnavailable, why));
            }
            tokio::time::sleep(self.fleet.shared.pace.agent).await;
        }
    }

    /// Waits until the worker's own agent answers, and gives its run.
    async fn answers(&self, machine: &Machine) -> Result<Id, Halt> {
        let (fleet, worker) = (self.fleet, &self.crew.worker);
        let Some(door) = fleet.door(worker, machine) else {
            return Err(failed(FailureCode::WorkerUnavailable, "its machine has no address"));
        };
        let (pace, agents) = (fleet.shared.pace, &fleet.shared.agents);
        let left = self.left().await?.saturating_sub(BEFORE_THE_END).max(pace.agent);
        let settled = settle(|| agents.health(&door))
            .every(pace.agent)
            .within(left)
            .poll_timeout(pace.probe)
            .on_timeout_with(|info| OnTimeout::error(silence(info.last_result.as_deref())))
            .handle(|answer| match answer {
                Ok(health) if is_ours(worker, health) && health.trouble().is_none() => {
                    Outcome::done(health.boot_id)
                }
                _ => Outcome::Continue,
            });
        match settled.await {
            Ok(boots) => boots
                .first()
                .copied()
                .ok_or_else(|| failed(FailureCode::GivenUp, "its agent was not asked")),
            Err(error) => Err(failed(FailureCode::TimedOut, error.to_string())),
        }
    }
}

/// What an agent said last that did not come in time.
fn silence(last: Option<&Result<AgentHealth, AgentError>>) -> String {
    let said = match last {
        None => "nobody answered".to_owned(),
        Some(Err(error)) => error.to_string(),
        Some(Ok(health)) => health.trouble().unwrap_or_else(|| {
            format!("the agent that answers is of generation {}", health.generation)
        }),
    };
    format!("its agent did not come up in time: {said}; look at the machine, then try again")
}
