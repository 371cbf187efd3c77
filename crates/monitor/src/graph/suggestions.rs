//! What is done about a suggestion. Confirming is a link, by [`crate::aliases::Aliases::link_named`];
//! dismissing is a row.

use mainstay_base::Id;
use mainstay_graph::change::compared;
use mainstay_graph::{Reason, Suggestion};
use mainstay_store::Tx;
use serde::Serialize;
use utoipa::ToSchema;

use super::handle::{Graphs, GraphsError};
use super::record::dismissals;
use super::show;

/// An external thing that may be a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphSuggestion {
    /// The node of the thing.
    #[schema(example = "external:payments-api")]
    pub node: String,
    /// The key that dependencies of the thing are compared by.
    #[schema(example = "payments-api")]
    pub key: String,
    /// How the thing is called.
    #[schema(example = "payments-api")]
    pub name: String,
    /// The service that it may be.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// How the service is called.
    #[schema(example = "Payments")]
    pub service_name: String,
    /// How likely it is, from 0 to 100.
    #[schema(example = 90)]
    pub score: u32,
    /// Why, the strongest reason first.
    pub reasons: Vec<GraphReason>,
}

/// Why a thing may be a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GraphReason {
    /// They are called the same, but for words that say nothing.
    SameName,
    /// They are called alike.
    SimilarName {
        /// The words that are in both names.
        words: Vec<String>,
    },
    /// The thing names the host of the service's endpoint.
    SameHost {
        /// The host.
        host: String,
    },
}

impl Graphs {
    /// Notes that a thing is not a service, so that it is not suggested again. Tells the names of both.
    ///
    /// # Errors
    /// [`GraphsError::NoService`], or when the database fails.
    pub async fn dismiss(
        &self,
        tx: &mut Tx,
        key: &str,
        service: Id,
    ) -> Result<String, GraphsError> {
        let (number, name) =
            dismissals::service(tx, service).await?.ok_or(GraphsError::NoService)?;
        let now = tx.now().await?;
        dismissals::insert(tx, &compared(key), number, now).await?;
        Ok(name)
    }
}

impl From<&Suggestion> for GraphSuggestion {
    fn from(one: &Suggestion) -> Self {
        Self {
            node: show::external_id(&one.key),
            key: one.key.to_string(),
            name: one.name.to_string(),
            service_id: one.service_id,
            service_name: one.service_name.to_string(),
            score: one.score,
            reasons: one.reasons.iter().map(GraphReason::from).collect(),
        }
    }
}

impl From<&Reason> for GraphReason {
    fn from(reason: &Reason) -> Self {
        match reason {
            Reason::SameName => Self::SameName,
            Reason::SimilarName(words) => {
                Self::SimilarName { words: words.iter().map(ToString::to_string).collect() }
            }
            Reason::SameHost(host) => Self::SameHost { host: host.to_string() },
        }
    }
}
