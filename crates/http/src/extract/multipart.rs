//! A multipart body, part by part, as it comes in: never more of it is held than a few frames.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRef, FromRequest, Request};
use axum::http::header;
use bytes::Bytes;
use futures_util::Stream;
use http_body::Frame;
use tokio::time::timeout;

use super::disposition;
use super::pace::{Pace, TooSlow};
use crate::code::Code;
use crate::error::{Error, echo};
use crate::limits::{Limits, MULTIPART_ROOM_BYTES, PART_FIELD_BYTES, PART_HEAD_BYTES};

/// Characters of a boundary (RFC 2046).
const BOUNDARY_CHARACTERS: usize = 70;

/// A body of `multipart/form-data` whose file has at most so many bytes.
pub(crate) struct Multipart<const FILE_BYTES: u64> {
    parts: multer::Multipart<'static>,
    body: SharedBody,
    head: Arc<HeadRoom>,
    stall: Duration,
}

/// The parser reads it up to the last boundary, and then we up to its end.
type SharedBody = Arc<Mutex<Body>>;

/// One part of it.
pub(crate) struct Part {
    field: multer::Field<'static>,
    stall: Duration,
    file_bytes: u64,
}

impl<S, const FILE_BYTES: u64> FromRequest<S> for Multipart<FILE_BYTES>
where
    S: Send + Sync,
    Limits: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let boundary = boundary(content_type.and_then(|value| value.to_str().ok()))?;
        let most = FILE_BYTES.saturating_add(MULTIPART_ROOM_BYTES);
        let body = request.into_body();
        // The announced length is judged before the first byte is asked for, so that a client that
        // waits for `100 Continue` never sends it.
        if body.size_hint().lower() > most {
            return Err(too_large(FILE_BYTES));
        }
        let head = Arc::new(HeadRoom::default());
        let stall = Limits::from_ref(state).stall_time;
        let pace = Pace::new(stall);
        let body = Arc::new(Mutex::new(body));
        let frames =
            Frames { body: Arc::clone(&body), has_given: false, head: Arc::clone(&head), pace };
        let bounds = multer::SizeLimit::new().whole_stream(most);
        let bounds = multer::Constraints::new().size_limit(bounds);
        let parts = multer::Multipart::with_constraints(frames, boundary, bounds);
        Ok(Self { parts, body, head, stall })
    }
}

impl<const FILE_BYTES: u64> Multipart<FILE_BYTES> {
    /// The next part, once the one before is read.
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, Error> {
        self.head.open();
        let next = in_time(self.stall, self.parts.next_field()).await?;
        self.head.close();
        let next = next.map_err(|error| refusal(&error, FILE_BYTES))?;
        if next.is_none() {
            self.end().await?;
        }
        Ok(next.map(|field| Part { field, stall: self.stall, file_bytes: FILE_BYTES }))
    }
}

impl<const FILE_BYTES: u64> Multipart<FILE_BYTES> {
    /// Reads what comes after the last boundary: it is nothing of the form, but a body that ends before its
    /// length was cut, and nobody knows what was to come.
    async fn end(&self) -> Result<(), Error> {
        let mut came = 0_usize;
        while let Some(frame) =
            in_time(self.stall, poll_fn(|context| poll_body(&self.body, context))).await?
        {
            let frame = frame.map_err(|_| invalid("The body ended before its length."))?;
            came = came.saturating_add(frame.data_ref().map_or(0, Bytes::len));
            if came > PART_HEAD_BYTES {
                return Err(invalid("Too much comes after the last boundary."));
            }
        }
        Ok(())
    }
}

fn poll_body(
    body: &SharedBody,
    context: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
    let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
    Pin::new(&mut *body).poll_frame(context)
}

impl Part {
    /// Which field of the form it is.
    pub(crate) fn name(&self) -> &str {
        self.field.name().unwrap_or_default()
    }

    /// What a file is called by its sender; `None` for what is no file.
    pub(crate) fn file_name(&self) -> Option<String> {
        let header = self.field.headers().get(header::CONTENT_DISPOSITION)?;
        disposition::file_name(header.as_bytes())
    }

    /// The next bytes of it.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let chunk = in_time(self.stall, self.field.chunk()).await?;
        chunk.map_err(|error| refusal(&error, self.file_bytes))
    }

    /// The whole of a short text.
    pub(crate) async fn text(mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > PART_FIELD_BYTES {
                let name = echo(self.name());
                let reason = format!("The field `{name}` has more than {PART_FIELD_BYTES} bytes.");
                return Err(invalid(&reason));
            }
        }
        String::from_utf8(bytes)
            .map_err(|_| invalid(&format!("The field `{}` is no UTF-8.", echo(self.name()))))
    }
}

/// Why a multipart body is refused, and what would be read.
pub(crate) fn invalid(reason: &str) -> Error {
    let expected = "Send multipart/form-data with one `file`, and `from` and `to` if you like.";
    Error::new(Code::InvalidMultipart, format!("{reason} {expected}"))
}

fn boundary(content_type: Option<&str>) -> Result<String, Error> {
    let given = content_type.unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("multipart/form-data") {
        let found =
            if given.is_empty() { "missing".to_owned() } else { format!("`{}`", echo(given)) };
        let detail = format!("Content-Type is {found}. Send the file as multipart/form-data.");
        return Err(Error::new(Code::UnsupportedMediaType, detail));
    }
    let boundary = multer::parse_boundary(given).ok();
    let is_fit = |boundary: &String| (1..=BOUNDARY_CHARACTERS).contains(&boundary.len());
    boundary.filter(is_fit).ok_or_else(|| invalid("Content-Type names no boundary that is one."))
}

async fn in_time<T>(limit: Duration, coming: impl Future<Output = T>) -> Result<T, Error> {
    timeout(limit, coming).await.map_err(|_| {
        let seconds = limit.as_secs_f64();
        too_slow(&format!("nothing came for {seconds} seconds"))
    })
}

fn too_slow(how: &str) -> Error {
    let detail = format!("The upload was too slow: {how}. Send it again.");
    Error::new(Code::BodyTooSlow, detail)
}

fn too_large(file_bytes: u64) -> Error {
    let detail = format!("A file may have {file_bytes} bytes. Send it in parts of the call.");
    Error::new(Code::FileTooLarge, detail).with("limit_bytes", file_bytes)
}

fn refusal(error: &multer::Error, file_bytes: u64) -> Error {
    use multer::Error as Refused;
    match error {
        Refused::StreamSizeExceeded { .. } | Refused::FieldSizeExceeded { .. } => {
            too_large(file_bytes)
        }
        Refused::IncompleteStream
        | Refused::IncompleteFieldData { .. }
        | Refused::IncompleteHeaders => cut(),
        Refused::StreamReadFailed(cause) if cause.is::<HeadTooLong>() => {
            invalid("The head of a part is too long.")
        }
        Refused::StreamReadFailed(cause) if let Some(slow) = cause.downcast_ref::<TooSlow>() => {
            too_slow(&slow.to_string())
        }
        Refused::StreamReadFailed(cause) if is_cut(&**cause) => cut(),
        Refused::StreamReadFailed(_) => {
            let detail = "The body was framed wrongly. Send it again.";
            Error::new(Code::BodyUnreadable, detail)
        }
        Refused::ReadHeaderFailed(_)
        | Refused::DecodeHeaderName { .. }
        | Refused::DecodeHeaderValue { .. } => invalid(
            "The head of a part can't be read: a file name with a control character, say. Rename the file.",
        ),
        Refused::DecodeContentType(_) => invalid("The Content-Type of a part is none."),
        _ => invalid("The body is no multipart/form-data."),
    }
}

fn cut() -> Error {
    invalid("The body ended before its last boundary.")
}

/// Whether a body ended before its length or its last chunk: to whoever reads the form it has no last boundary.
/// What is wrong with the chunks themselves is no matter of the form.
fn is_cut(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    let io = chain.find_map(|error| error.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// How much of a part's head has come: while one is read, nothing else bounds it.
#[derive(Debug, Default)]
struct HeadRoom(AtomicUsize);

/// No head is being read.
const CLOSED: usize = usize::MAX;

impl HeadRoom {
    fn open(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn close(&self) {
        self.0.store(CLOSED, Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        let came = self.0.load(Ordering::Relaxed);
        came != CLOSED && came > PART_HEAD_BYTES
    }

    fn take(&self, bytes: usize) {
        let came = self.0.load(Ordering::Relaxed);
        if came != CLOSED {
            self.0.store(came.saturating_add(bytes), Ordering::Relaxed);
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the head of a part is too long")]
struct HeadTooLong;

/// The frames of a body, one for each time that it is asked: the parser takes whatever is ready before
/// it hands on any of it, so a fast sender would have it hold the whole file.
struct Frames {
    body: SharedBody,
    has_given: bool,
    head: Arc<HeadRoom>,
    pace: Pace,
}

impl Stream for Frames {
    type Item = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.has_given {
            self.has_given = false;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.head.is_full() {
            return Poll::Ready(Some(Err(HeadTooLong.into())));
        }
        if let Err(slow) = self.pace.check(context) {
            return Poll::Ready(Some(Err(slow.into())));
        }
        loop {
            let frame = ready!(poll_body(&self.body, context));
            match frame {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                // Trailers carry nothing that a part is made of.
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.head.take(data.len());
                    self.pace.take(data.len());
                    self.has_given = true;
                    return Poll::Ready(Some(Ok(data)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt as _, stream};
    use std::sync::atomic::AtomicUsize;

    type Small = Multipart<{ 1024 * 1024 }>;

    #[derive(Clone)]
    struct AsItIs;

    impl FromRef<AsItIs> for Limits {
        fn from_ref(_: &AsItIs) -> Self {
            Self::default()
        }
    }

    async fn read(content_type: &str, body: Body) -> Result<Small, Error> {
        let request =
            Request::builder().header(header::CONTENT_TYPE, content_type).body(body).unwrap();
        Small::from_request(request, &AsItIs).await
    }

    fn frames(head: &'static str, count: usize, given: &Arc<AtomicUsize>) -> Body {
        let given = Arc::clone(given);
        let rest = stream::iter(0..count).map(move |_| {
            given.fetch_add(1, Ordering::SeqCst);
            Bytes::from_static(&[b'x'; 1024])
        });
        let all = stream::iter([Bytes::from_static(head.as_bytes())]).chain(rest);
        Body::from_stream(all.map(Ok::<_, std::io::Error>))
    }

    #[tokio::test]
    async fn a_fast_sender_is_taken_frame_by_frame() {
        let given = Arc::new(AtomicUsize::new(0));
        let head =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
        let mut body =
            read("multipart/form-data; boundary=b", frames(head, 500, &given)).await.unwrap();
        let mut part = body.next().await.unwrap().unwrap();
        assert_eq!((part.name(), part.file_name().as_deref()), ("file", Some("a.txt")));
        for taken in 1..=100 {
            part.chunk().await.unwrap().unwrap();
            let given = given.load(Ordering::SeqCst);
            assert!(given <= taken + 2, "{given} frames were held for {taken} chunks");
        }
    }

    #[tokio::test]
    async fn a_head_that_does_not_end_is_refused_long_before_the_body_does() {
        let given = Arc::new(AtomicUsize::new(0));
        let head = "--b\r\nContent-Disposition: form-data; name=\"";
        let mut body =
            read("multipart/form-data; boundary=b", frames(head, 500, &given)).await.unwrap();
        let error = body.next().await.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidMultipart);
        assert!(error.to_string().contains("too long"), "{error}");
        assert!(given.load(Ordering::SeqCst) < 20);
    }

    #[tokio::test]
    async fn what_is_no_multipart_is_told_by_its_media_type() {
        for (content_type, code) in [
            ("application/json", Code::UnsupportedMediaType),
            ("multipart/mixed; boundary=b", Code::UnsupportedMediaType),
            ("multipart/form-data", Code::InvalidMultipart),
            ("multipart/form-data; boundary=", Code::InvalidMultipart),
        ] {
            let refused = read(content_type, Body::empty()).await.map(|_| ()).unwrap_err();
            assert_eq!(refused.code(), code, "{content_type}");
        }
    }
}
