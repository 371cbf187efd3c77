//! Which results speak against the downstream.

use std::fmt;
use std::sync::Arc;

use crate::state::Verdict;

/// Says what a result means to the breaker. An `Ok` may be a failure too, such as an HTTP response
/// with status 503.
pub trait Classify<T, E> {
    /// What `result` means to the breaker.
    fn classify(&self, result: &Result<T, E>) -> Verdict;
}

/// Every `Ok` is a success and every `Err` a failure.
#[derive(Debug, Clone, Copy, Default)]
pub struct EveryError;

impl<T, E> Classify<T, E> for EveryError {
    #[inline]
    fn classify(&self, result: &Result<T, E>) -> Verdict {
        if result.is_ok() { Verdict::Success } else { Verdict::Failure }
    }
}

/// Every `Ok` is a success; a function judges the errors. Made by
/// [`Builder::classify_errors`](crate::Builder::classify_errors).
pub struct ByError<E> {
    classify: Arc<dyn Fn(&E) -> Verdict + Send + Sync>,
}

impl<E> ByError<E> {
    pub(crate) fn new(classify: impl Fn(&E) -> Verdict + Send + Sync + 'static) -> Self {
        Self { classify: Arc::new(classify) }
    }
}

impl<T, E> Classify<T, E> for ByError<E> {
    fn classify(&self, result: &Result<T, E>) -> Verdict {
        match result {
            Ok(_) => Verdict::Success,
            Err(error) => (self.classify)(error),
        }
    }
}

/// A function of the whole result.
impl<T, E, F: Fn(&Result<T, E>) -> Verdict> Classify<T, E> for F {
    fn classify(&self, result: &Result<T, E>) -> Verdict {
        self(result)
    }
}

impl<E> Clone for ByError<E> {
    fn clone(&self) -> Self {
        Self { classify: Arc::clone(&self.classify) }
    }
}

impl<E> fmt::Debug for ByError<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ByError")
    }
}
