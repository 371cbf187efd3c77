//! A body that may end in the middle.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// How long the first half has to be on its way before the rest does not come.
const HALF_TIME: Duration = Duration::from_millis(20);

/// A body, or its first half and then nothing.
#[derive(Debug)]
pub(crate) struct Said {
    /// What it says that it has.
    size: usize,
    rest: Bytes,
    /// Where the rest does not come: when it does not.
    cut: Option<Pin<Box<Sleep>>>,
}

impl Said {
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        let rest = body.into();
        Self { size: rest.len(), rest, cut: None }
    }

    pub(crate) fn half(body: impl Into<Bytes>) -> Self {
        let mut said = Self::whole(body);
        said.rest.truncate(said.size / 2);
        said.cut = Some(Box::pin(sleep(HALF_TIME)));
        said
    }
}

impl Body for Said {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if !self.rest.is_empty() {
            let part = std::mem::take(&mut self.rest);
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        let Some(cut) = &mut self.cut else { return Poll::Ready(None) };
        ready!(cut.as_mut().poll(context));
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.cut.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let left = if self.cut.is_some() { self.size } else { self.rest.len() };
        SizeHint::with_exact(u64::try_from(left).unwrap_or(u64::MAX))
    }
}
