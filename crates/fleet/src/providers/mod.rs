//! Where machines come from: [`order`] (what is wanted) → [`name`] (what it is called) → a [`Provider`]
//! ([`process`], [`fly`], [`sprite`]; the last two by their [`api`], in their `pace`, on their `ground`) → [`machine`] (what
//! there is) or [`error`] (why there is none) → [`measure`]; what keeps one from answering is `watched`.
//!
//! One call is one try at what the provider is asked for: whoever calls keeps what is to be tried again.
//! Every call has an end in time, goes through the provider's own breaker, and is counted.

pub mod api;
pub mod error;
pub mod fly;
mod ground;
pub mod kind;
pub mod machine;
pub mod measure;
pub mod name;
pub mod order;
mod pace;
pub mod process;
pub mod sprite;
mod watched;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id};

pub use api::{ApiSettings, SetUpError};
pub use error::{Conflict, ProviderError};
pub use fly::{Fly, FlySettings};
pub use kind::ProviderKind;
pub use machine::{Departure, Exit, HostStatus, Machine, MachineState, Rest, Sighting};
pub use name::MachineName;
pub use order::{Order, Region, Size};
pub use process::{ProcessSettings, Processes};
pub use sprite::{SpriteSettings, Sprites};
pub use watched::ProviderTrouble;
use watched::Watched;

/// What comes of a call, some time.
pub type Outcome<'a, T> = BoxFuture<'a, Result<T, ProviderError>>;

/// Makes, starts, stops and ends machines. Dropping a future ends the waiting, not what the provider was
/// asked for.
pub trait Provider: Send + Sync + 'static {
    /// Which one it is.
    fn kind(&self) -> ProviderKind;

    /// Makes the machine of an order and starts it, or finds the one that this order made before: the
    /// same order never makes two. It need not run yet; [`Provider::wait`] waits for that.
    ///
    /// After [`ProviderError::Ambiguous`] there may be a machine all the same: give the same order again.
    fn create<'a>(&'a self, order: &'a Order) -> Outcome<'a, Machine>;

    /// Looks at a machine, without waking one that sleeps. [`ProviderError::Gone`] is the provider's own
    /// word that there is none any more.
    fn look<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Sighting>;

    /// Waits until a machine is at `rest`, or until `limit` is over, whatever it is then: the sighting
    /// says.
    fn wait<'a>(
        &'a self,
        machine: &'a Machine,
        rest: Rest,
        limit: Duration,
    ) -> Outcome<'a, Sighting>;

    /// Starts a machine that is stopped. What comes back is another run of it: remember that one.
    fn start<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Machine>;

    /// Asks a machine to stop, and does not wait for it. One that is stopped already is fine.
    fn stop<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, ()>;

    /// Ends a machine for ever. One that is gone already is fine, so it never says
    /// [`ProviderError::Gone`].
    fn destroy<'a>(&'a self, machine: &'a Machine) -> Outcome<'a, Departure>;

    /// All machines of ours that the provider lists, for telling those that nobody knows. **What is
    /// missing here need not be gone**: [`Provider::look`] says. Where a list does not tell ids, a machine has none
    /// here, and is whoever has its name.
    fn list(&self) -> Outcome<'_, Vec<Sighting>>;

    /// The same of one worker alone, whichever order made them.
    fn list_of(&self, worker: Id) -> Outcome<'_, Vec<Sighting>> {
        let listing = self.list();
        Box::pin(async move {
            let mut listed = listing.await?;
            listed.retain(|seen| seen.machine.name.is_of(worker));
            Ok(listed)
        })
    }

    /// Whether an order that is [refused](ProviderError::is_refusal) has made nothing: a machine comes with one
    /// question.
    fn makes_at_once(&self) -> bool {
        false
    }

    /// What the rules of what agents may call are called, where the provider gives them: an agent that says another
    /// word was started under other ones.
    fn policy(&self) -> Option<&str> {
        None
    }

    /// Whoever asked did not wait any longer for an answer.
    fn gives_no_answer(&self, _why: String) {}

    /// What kept it from doing what it was last asked for, where that is remembered.
    fn trouble(&self) -> Option<ProviderTrouble> {
        None
    }

    /// Asks for as little as can be asked for: whether it answers at all.
    fn answers(&self) -> Outcome<'_, ()> {
        let listing = self.list();
        Box::pin(async move { listing.await.map(drop) })
    }
}

/// The providers that are set up.
#[derive(Clone, Default)]
pub struct Providers(Vec<Arc<dyn Provider>>);

impl Providers {
    /// With one more, in place of one of the same kind.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>) -> Self {
        self.0.retain(|known| known.kind() != provider.kind());
        self.0.push(provider);
        self
    }

    /// The same, with the trouble of those remembered that are elsewhere: this host is no provider that could have
    /// an outage.
    pub(crate) fn watched(self, clock: &Arc<dyn Clock>) -> Self {
        let watch = |provider: Arc<dyn Provider>| match provider.kind() {
            ProviderKind::Process => provider,
            ProviderKind::Fly | ProviderKind::Sprite => {
                Arc::new(Watched::new(provider, Arc::clone(clock))) as _
            }
        };
        Self(self.0.into_iter().map(watch).collect())
    }

    /// The provider of a kind, where it is set up.
    #[must_use]
    pub fn of(&self, kind: ProviderKind) -> Option<&Arc<dyn Provider>> {
        self.0.iter().find(|provider| provider.kind() == kind)
    }

    /// The kinds that are set up.
    pub fn kinds(&self) -> impl Iterator<Item = ProviderKind> + '_ {
        self.0.iter().map(|provider| provider.kind())
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.kinds()).finish()
    }
}
