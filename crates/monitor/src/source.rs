//! Where the engine learns which services there are.

use std::future::Future;
use std::pin::Pin;

use mainstay_store::StoreError;

use crate::roster::Memory;
use crate::services::Services;
use crate::watch::{ServiceNumber, Watch};

/// Tells which services are to be polled here.
pub trait Source: Send + Sync + 'static {
    /// What changed after this revision. Zero asks for everything.
    fn changes(&self, after: i64) -> Changing<'_>;
}

/// A question under way.
pub type Changing<'a> = Pin<Box<dyn Future<Output = Result<Changes, StoreError>> + Send + 'a>>;

/// What changed.
#[derive(Debug, Default)]
pub struct Changes {
    /// The newest revision that is in here.
    pub latest: i64,
    /// Services to poll, with what is recorded of them.
    pub watched: Vec<(Watch, Option<Memory>)>,
    /// Services to poll no more.
    pub gone: Vec<ServiceNumber>,
}

impl Source for Services {
    fn changes(&self, after: i64) -> Changing<'_> {
        Box::pin(async move {
            let watches = self.watches(after).await?;
            let mut gone = watches.gone;
            gone.extend(watches.broken.into_iter().map(|(number, _)| number));
            Ok(Changes { latest: watches.latest, watched: watches.watched, gone })
        })
    }
}
