//! Reads the counters for followers that begin: those who come together are served by one statement,
//! so that thousands at once cost a few.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::error::EventsError;
use crate::record::follow::{self, Counters};
use crate::stream::Stream;
use crate::tools::{Tools, within_limit};

/// Followers that wait in line; more wait before it.
const WAITING: usize = 1_024;
/// Followers that one statement serves.
const TOGETHER: usize = 256;

type Answer = Result<Arc<Counters>, EventsError>;

/// The line of those who want to know counters.
#[derive(Debug, Clone)]
pub(super) struct Counting(mpsc::Sender<Request>);

#[derive(Debug)]
struct Request {
    streams: Vec<Stream>,
    reply: oneshot::Sender<Answer>,
}

impl Counting {
    pub(super) fn start(tools: &Tools) -> Self {
        let (sender, waiting) = mpsc::channel(WAITING);
        tools.tasks.spawn(run(tools.clone(), waiting));
        Self(sender)
    }

    /// The counters of `streams`, and perhaps of others, as they are after this call began.
    pub(super) async fn counters(&self, streams: Vec<Stream>) -> Answer {
        let (reply, answer) = oneshot::channel();
        let request = Request { streams, reply };
        self.0.send(request).await.map_err(|_| EventsError::Closed)?;
        answer.await.unwrap_or(Err(EventsError::Closed))
    }
}

async fn run(tools: Tools, mut waiting: mpsc::Receiver<Request>) {
    let serving = async {
        let mut requests = Vec::with_capacity(TOGETHER);
        while waiting.recv_many(&mut requests, TOGETHER).await > 0 {
            serve(&tools, &mut requests).await;
        }
    };
    tools.stop.run_until_cancelled(serving).await;
}

async fn serve(tools: &Tools, requests: &mut Vec<Request>) {
    let streams: BTreeSet<_> = requests.iter().flat_map(|one| one.streams.clone()).collect();
    let streams: Vec<_> = streams.into_iter().collect();
    let counted = within_limit(follow::counters(&tools.db, &tools.reads, &streams)).await;
    let counted = counted.map(Arc::new).map_err(Arc::new);
    for request in requests.drain(..) {
        // Whoever stopped waiting needs no answer.
        let _ = request.reply.send(counted.clone().map_err(EventsError::Together));
    }
}
