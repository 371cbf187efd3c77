//! What a follower asks for.

use std::ops::RangeInclusive;
use std::time::Duration;

use axum::http::HeaderMap;
use mainstay_base::Id;
use mainstay_events::{Ask, Kinds, Streams};
use serde::Deserialize;

use crate::code::Code;
use crate::error::{Error, echo};

/// Which events are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Only these types, separated by commas.
    #[param(example = "worker_state_changed,net_state_changed")]
    types: Option<String>,
    /// Only these streams, separated by commas: `org`, `user`. Without it both.
    #[param(example = "org")]
    streams: Option<String>,
    /// The id of the last event that was seen. The header `Last-Event-ID` wins over it.
    after: Option<String>,
    /// This connection's own id, a UUID: whoever was superseded under it is not let in again.
    #[param(value_type = Option<String>)]
    connection: Option<String>,
    /// The seconds from one sign of life to the next: whoever wants to notice sooner that the server is
    /// gone asks for fewer.
    #[param(minimum = 2, maximum = 30, default = 30, example = 4)]
    keepalive: Option<u16>,
}

/// Shorter would be a load for nothing, and a longer silence is cut by what lies in between.
const KEEPALIVE_SECONDS: RangeInclusive<u16> = 2..=30;

/// The same, checked.
#[derive(Debug)]
pub(crate) struct StreamAsk {
    pub(crate) events: Ask,
    pub(crate) connection: Option<Id>,
    /// `None` for what the server does by itself.
    pub(crate) keepalive: Option<Duration>,
}

impl StreamQuery {
    /// One for pages, which are no connection.
    pub(crate) fn of_page(
        types: Option<String>,
        streams: Option<String>,
        after: Option<String>,
    ) -> Self {
        Self { types, streams, after, ..Self::default() }
    }

    /// Checks it for `user`, whose own stream is the only one that can be asked for.
    pub(crate) fn check(self, user: Id, headers: &HeaderMap) -> Result<StreamAsk, Error> {
        let streams = streams(self.streams.as_deref())?;
        let kinds = self.types.as_deref().map(kinds).transpose()?;
        let connection = self.connection.as_deref().map(connection).transpose()?;
        let keepalive = self.keepalive.map(keepalive).transpose()?;
        let given = [last_event_id(headers), self.after];
        let after = given.into_iter().flatten().find(|after| !after.is_empty());
        let events = Ask { user: Some(user), streams, kinds, after };
        Ok(StreamAsk { events, connection, keepalive })
    }
}

/// What an `EventSource` sends when it connects again, by itself and newer than its address. One that
/// is no text is a position that nobody knows.
fn last_event_id(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("last-event-id")?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn streams(given: Option<&str>) -> Result<Streams, Error> {
    let Some(given) = given else { return Ok(Streams::default()) };
    let mut asked = Streams { org: false, user: false };
    for name in given.split(',') {
        match name {
            "org" => asked.org = true,
            "user" => asked.user = true,
            other => {
                let detail = format!("{} is no stream. Give org, user or both.", echo(other));
                return Err(Error::new(Code::InvalidQuery, detail));
            }
        }
    }
    Ok(asked)
}

fn kinds(given: &str) -> Result<Kinds, Error> {
    Kinds::new(given.split(',')).map_err(|error| {
        let detail = format!("types is {error}.");
        Error::new(Code::InvalidQuery, detail)
    })
}

fn connection(given: &str) -> Result<Id, Error> {
    given.parse().map_err(|_| {
        let detail = format!("{} is no UUID. Give one, or leave connection out.", echo(given));
        Error::new(Code::InvalidQuery, detail)
    })
}

fn keepalive(seconds: u16) -> Result<Duration, Error> {
    if KEEPALIVE_SECONDS.contains(&seconds) {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let (least, most) = (KEEPALIVE_SECONDS.start(), KEEPALIVE_SECONDS.end());
    let detail = format!("keepalive is {seconds}. Give {least} to {most} seconds.");
    Err(Error::new(Code::InvalidQuery, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Id {
        "01a1e102-8087-7707-8707-070707070707".parse().unwrap()
    }

    fn check(query: &str) -> Result<StreamAsk, Error> {
        let query: StreamQuery = serde_urlencoded::from_str(query).unwrap();
        query.check(user(), &HeaderMap::new())
    }

    #[test]
    fn without_a_query_both_streams_are_asked_for_whole() {
        let ask = check("").unwrap().events;
        assert_eq!((ask.user, ask.streams), (Some(user()), Streams { org: true, user: true }));
        assert_eq!((ask.kinds, ask.after), (None, None));
    }

    #[test]
    fn streams_and_types_can_be_named() {
        let ask = check("streams=org&types=a,b,a").unwrap().events;
        assert_eq!(ask.streams, Streams { org: true, user: false });
        assert_eq!(ask.kinds, Kinds::new(["a", "b"]).ok());
        let ask = check("streams=user").unwrap().events;
        assert_eq!(ask.streams, Streams { org: false, user: true });
    }

    #[test]
    fn signs_of_life_can_be_asked_for_sooner() {
        assert_eq!(check("").unwrap().keepalive, None);
        assert_eq!(check("keepalive=2").unwrap().keepalive, Some(Duration::from_secs(2)));
        assert_eq!(check("keepalive=30").unwrap().keepalive, Some(Duration::from_secs(30)));
    }

    #[test]
    fn what_is_none_is_refused() {
        let many = (0..65).map(|number| format!("t{number}")).collect::<Vec<_>>();
        for query in [
            "streams=",
            "streams=team",
            "streams=user:01a1e102-8087-7707-8707-070707070707",
            "types=",
            "types=a,,b",
            "types=A",
            &format!("types={}", many.join(",")),
            "connection=1",
            "connection=",
            "keepalive=1",
            "keepalive=31",
        ] {
            assert_eq!(check(query).unwrap_err().code(), Code::InvalidQuery, "{query}");
        }
    }

    #[test]
    fn the_header_is_newer_than_the_address() {
        let query = StreamQuery { after: Some("a.1.1".to_owned()), ..StreamQuery::default() };
        let mut headers = HeaderMap::new();
        headers.insert("last-event-id", "a.2.2".parse().unwrap());
        let ask = query.check(user(), &headers).unwrap().events;
        assert_eq!(ask.after.as_deref(), Some("a.2.2"));
    }

    #[test]
    fn an_empty_header_does_not_hide_the_address() {
        let query = StreamQuery { after: Some("a.1.1".to_owned()), ..StreamQuery::default() };
        let mut headers = HeaderMap::new();
        headers.insert("last-event-id", "".parse().unwrap());
        let ask = query.check(user(), &headers).unwrap().events;
        assert_eq!(ask.after.as_deref(), Some("a.1.1"));
    }

    #[test]
    fn an_empty_position_is_none() {
        assert_eq!(check("after=").unwrap().events.after, None);
    }
}
