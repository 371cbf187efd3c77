//! What is done to a net on its worker.

use mainstay_base::Id;
use mainstay_jobs::JobError;

use super::{Attempt, Halt, later};
use crate::agents::{AgentDoor, AgentError, NetOrder};
use crate::decide::NetEnd;
use crate::model::{Failure, FailureCode, Net, NetOperation};
use crate::record::nets;

/// How often a worker that does not answer is asked.
const TRIES: u32 = 2;

/// How an operation ended, as it is written down.
pub(super) fn ending(end: Result<NetEnd, Halt>) -> Result<NetEnd, JobError> {
    match end {
        Ok(end) => Ok(end),
        Err(Halt::Failed(failure) | Halt::Unmade(failure)) => Ok(NetEnd::Failed(failure)),
        Err(Halt::Later(error)) => Err(error),
    }
}

impl Attempt<'_> {
    pub(super) async fn operate_net(&self, id: Id) -> Result<NetEnd, Halt> {
        let Some(net) = self.crew.net(id) else {
            return Err(taken_away());
        };
        let worker = &self.crew.worker;
        let door = worker.machine.as_ref().and_then(|machine| self.fleet.door(worker, machine));
        let Some(door) = door else {
            return Ok(NetEnd::WorkerLost("its machine has no address".to_owned()));
        };
        let kind = net.operation.map(|underway| underway.kind);
        let order = match kind {
            Some(NetOperation::Load) => Some(self.order(net).await?),
            Some(NetOperation::Unload) | None => None,
        };
        if kind == Some(NetOperation::Unload) {
            self.fleet.collect_last(worker, &door, net).await;
        }
        let mut asked = self.ask(&door, net, order.as_ref()).await;
        for _ in 1..TRIES {
            if asked.as_ref().err().is_none_or(|error| !error.is_the_workers()) {
                break;
            }
            tokio::time::sleep(self.fleet.shared.pace.retry).await;
            asked = self.ask(&door, net, order.as_ref()).await;
        }
        Ok(after(kind, asked))
    }

    /// What its agent is given to load.
    async fn order(&self, net: &Net) -> Result<NetOrder, Halt> {
        let found = nets::definition(self.fleet.db(), net.id).await;
        let definition =
            found.map_err(|error| Halt::Later(later(&error)))?.ok_or_else(taken_away)?;
        // Also where it got another name since, and with it a newer generation.
        let generation = net.cast_generation.unwrap_or(net.generation);
        Ok(NetOrder { id: net.id, generation, definition: definition.into_value() })
    }

    async fn ask(
        &self,
        door: &AgentDoor,
        net: &Net,
        order: Option<&NetOrder>,
    ) -> Result<(), AgentError> {
        let agents = &self.fleet.shared.agents;
        let limit = self.fleet.shared.pace.probe;
        let asking = async {
            match order {
                Some(order) => agents.load(door, order).await,
                None => agents.unload(door, net.id, net.generation).await,
            }
        };
        let silence = || format!("nobody answered within {} ms", limit.as_millis());
        let asked = tokio::time::timeout(limit, asking).await;
        asked.unwrap_or_else(|_| Err(AgentError::Unreachable(silence())))
    }
}

fn taken_away() -> Halt {
    Halt::Failed(Failure::new(FailureCode::GivenUp, "the net was taken away"))
}

/// That the agent has no such net is what an unload is for; a load that is answered so was not done.
fn after(kind: Option<NetOperation>, asked: Result<(), AgentError>) -> NetEnd {
    match asked {
        Ok(()) => NetEnd::Done,
        Err(AgentError::NoSuchNet) if kind != Some(NetOperation::Load) => NetEnd::Done,
        Err(error) if error.is_the_workers() => NetEnd::WorkerLost(error.to_string()),
        Err(error) => NetEnd::Failed(Failure::new(FailureCode::NetRefused, error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_workers_own_loses_the_worker() {
        let text = || "x".to_owned();
        for kind in NetOperation::ALL {
            let after = |asked| after(Some(kind), asked);
            let lost = |asked| matches!(after(asked), NetEnd::WorkerLost(_));
            let failed = |asked| matches!(after(asked), NetEnd::Failed(_));
            assert!(lost(Err(AgentError::Unreachable(text()))));
            assert!(lost(Err(AgentError::Foreign(text()))));
            assert!(lost(Err(AgentError::Denied)));
            assert!(failed(Err(AgentError::Stale { current: None })));
            assert!(failed(Err(AgentError::Refused(text()))));
            assert_eq!(after(Ok(())), NetEnd::Done);
        }
    }

    #[test]
    fn a_net_that_the_agent_does_not_have_is_unloaded_and_never_loaded() {
        let after = |kind| after(Some(kind), Err(AgentError::NoSuchNet));
        assert_eq!(after(NetOperation::Unload), NetEnd::Done);
        let NetEnd::Failed(failure) = after(NetOperation::Load) else { panic!("it is not loaded") };
        assert_eq!(failure.code, FailureCode::NetRefused);
    }
}
