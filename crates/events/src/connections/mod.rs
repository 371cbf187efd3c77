//! Who is connected now, on all instances together: so many per owner, and the newest wins.
//!
//! The way of a connection: [`Connections::enter`] → the desk takes many at once into one transaction
//! (`desk.rs`, `batch.rs`) → [`Membership`], which learns of its end by the doorbell or by the desk's
//! look once a second → dropped, its row is freed with others (`members.rs`).

mod batch;
mod desk;
mod members;

use std::fmt;
use std::sync::Arc;

use mainstay_base::{Id, IdSource};
use tokio::sync::{mpsc, oneshot};

pub use members::{Ending, Membership};

use crate::doorbell::Doorbell;
use crate::error::EventsError;
use crate::tools::Tools;
use batch::Request;
use members::Members;

/// Connections that wait at the desk; more wait before it.
const WAITING: usize = 1_024;

/// Whose connection it is. Connections of a token count apart from those of its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A user with a session.
    User(Id),
    /// An API token.
    Token(Id),
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(formatter, "user:{id}"),
            Self::Token(id) => write!(formatter, "token:{id}"),
        }
    }
}

/// How entering ended.
#[derive(Debug)]
pub enum Entered {
    /// The connection lives until it is dropped or superseded.
    Live(Membership),
    /// A newer connection superseded this one before: it must not come back.
    Superseded,
}

/// The live connections. A clone is the same registry.
#[derive(Debug, Clone)]
pub struct Connections {
    requests: mpsc::Sender<Request>,
    ids: IdSource,
}

impl Connections {
    /// Starts the desk of this instance.
    pub(crate) fn start(tools: &Tools, doorbell: &Doorbell) -> Self {
        let ids = IdSource::new(Arc::clone(&tools.clock), Arc::clone(&tools.rng));
        let (requests, waiting) = mpsc::channel(WAITING);
        let members = Arc::new(Members::default());
        let desk = desk::Desk::new(tools.clone(), doorbell.clone(), members);
        tools.tasks.spawn(desk.run(waiting));
        Self { requests, ids }
    }

    /// Enters a connection of `owner`, of whom `max` may live at once; the oldest beyond that are
    /// superseded. `connection` is the client's own name for it: one that lives is taken over, as
    /// after a network that failed for a moment, and one that was superseded stays so.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn enter(
        &self,
        owner: Owner,
        connection: Option<Id>,
        max: u32,
    ) -> Result<Entered, EventsError> {
        let id = connection.unwrap_or_else(|| self.ids.next());
        let (reply, answer) = oneshot::channel();
        let request = Request { owner, id, max: max.max(1), reply };
        self.requests.send(request).await.map_err(|_| EventsError::Closed)?;
        answer.await.unwrap_or(Err(EventsError::Closed))
    }
}
