//! What this room asks of others: how a definition is read, and which service a check is about.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use mainstay_base::Id;
use mainstay_store::{StoreError, Tx};
use serde_json::Value;

use crate::agent::BadNet;
use crate::model::location::PlannedCheck;

/// Reads definitions of nets: whoever knows services and journeys implements it.
pub trait Planner: Send + Sync + 'static {
    /// The checks of a net.
    ///
    /// # Errors
    /// [`BadNet`] says what is wrong, and where.
    fn plan(&self, definition: &Value) -> Result<Vec<PlannedCheck>, BadNet>;
}

/// Knows the services that are registered.
pub trait Registry: Send + Sync + 'static {
    /// The service that has this name, as it is compared, or else this address.
    fn find<'a>(
        &'a self,
        tx: &'a mut Tx,
        name: &'a str,
        url: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Id>, StoreError>>;
}

/// Other rooms, as far as this one asks them.
#[derive(Clone)]
pub struct Neighbours {
    /// Who reads definitions.
    pub planner: Arc<dyn Planner>,
    /// Who knows services.
    pub registry: Arc<dyn Registry>,
}

impl std::fmt::Debug for Neighbours {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Neighbours")
    }
}

/// Nobody: every definition is fine and has no checks, and no service is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nobody;

impl Default for Neighbours {
    fn default() -> Self {
        Self { planner: Arc::new(Nobody), registry: Arc::new(Nobody) }
    }
}

impl Planner for Nobody {
    fn plan(&self, _: &Value) -> Result<Vec<PlannedCheck>, BadNet> {
        Ok(Vec::new())
    }
}

impl Registry for Nobody {
    fn find<'a>(
        &'a self,
        _: &'a mut Tx,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Id>, StoreError>> {
        Box::pin(async { Ok(None) })
    }
}
