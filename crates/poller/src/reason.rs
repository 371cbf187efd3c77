//! Why a poller or a command gave up, in the caller's own words.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A caller's own reason to end with an error: an error, a text, or any other value.
///
/// Every error and every text turns into one, so `?` works wherever a reason is returned. An error and a
/// text are shown by `Display`, any other value ([`Reason::value`]) by `Debug`.
///
/// ```
/// use mainstay_poller::Reason;
///
/// #[derive(Debug)]
/// enum Refused { NotFound }
///
/// let text = Reason::from("the payment was never confirmed");
/// let error = Reason::from("x".parse::<u32>().unwrap_err());
/// let value = Reason::value(Refused::NotFound);
/// assert_eq!(text.to_string(), "the payment was never confirmed");
/// assert_eq!(error.to_string(), "invalid digit found in string");
/// assert_eq!(value.to_string(), "NotFound");
/// assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
/// assert!(matches!(value.value_ref(), Some(Refused::NotFound)));
/// ```
#[derive(Clone)]
pub struct Reason(Kind);

#[derive(Clone)]
enum Kind {
    Error(Arc<dyn Error + Send + Sync>),
    Value { value: Arc<dyn Any + Send + Sync>, shown: Arc<str> },
}

impl Reason {
    /// Any value, shown by `Debug`.
    pub fn value<T: fmt::Debug + Send + Sync + 'static>(value: T) -> Self {
        let shown = format!("{value:?}").into();
        Self(Kind::Value { value: Arc::new(value), shown })
    }

    /// The error inside, if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: Error + 'static>(&self) -> Option<&T> {
        match &self.0 {
            Kind::Error(error) => error.downcast_ref(),
            Kind::Value { .. } => None,
        }
    }

    /// The value inside, if it was given by [`Reason::value`] and is of this type.
    #[must_use]
    pub fn value_ref<T: 'static>(&self) -> Option<&T> {
        match &self.0 {
            Kind::Error(_) => None,
            Kind::Value { value, .. } => value.downcast_ref(),
        }
    }

    /// The error inside, with its sources.
    pub(crate) fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Error(error) => Some(&**error),
            Kind::Value { .. } => None,
        }
    }
}

impl<T: Into<Box<dyn Error + Send + Sync>>> From<T> for Reason {
    fn from(reason: T) -> Self {
        Self(Kind::Error(reason.into().into()))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Error(error) => error.fmt(formatter),
            Kind::Value { shown, .. } => formatter.write_str(shown),
        }
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Error(error) => write!(formatter, "Reason({error:?})"),
            Kind::Value { shown, .. } => write!(formatter, "Reason({shown})"),
        }
    }
}
