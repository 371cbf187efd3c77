//! What becomes of an authorisation. Pure: it settles by how often it was looked at.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What the service does with authorisations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// Approved, after it was looked at so often.
    Approves {
        /// How many looks find it processing.
        after: u32,
    },
    /// Reviewed first, and approved then.
    Reviews {
        /// How many looks find it in review.
        looks: u32,
    },
    /// Declined for want of money.
    Declines,
    /// Processing for ever.
    NeverSettles,
    /// Whoever looks gets no answer.
    Hangs,
    /// Whoever looks gets a page of HTML with a status of success.
    Garbles,
    /// Whoever looks gets the status of a failure.
    Fails,
    /// No authorisation can be created.
    Refuses,
}

/// The most authorisations that are remembered; then the oldest is forgotten.
const MAX_REMEMBERED: usize = 10_000;

/// Every authorisation with how often it was looked at.
#[derive(Debug)]
pub(crate) struct Ledger {
    settling: Settling,
    /// By their numbers.
    looks: BTreeMap<u64, u32>,
    created: u64,
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A status with JSON.
    Json(u16, Value),
    /// A page.
    Page,
    /// Nothing, for a long time.
    Nothing,
}

impl Ledger {
    pub(crate) fn new(settling: Settling) -> Self {
        Self { settling, looks: BTreeMap::new(), created: 0 }
    }

    pub(crate) fn settle(&mut self, settling: Settling) {
        self.settling = settling;
    }

    pub(crate) fn create(&mut self) -> Sent {
        if self.settling == Settling::Refuses {
            return Sent::Json(503, json!({ "error": "the service is closed" }));
        }
        if self.looks.len() >= MAX_REMEMBERED {
            self.looks.pop_first();
        }
        self.created = self.created.saturating_add(1);
        self.looks.insert(self.created, 0);
        Sent::Json(201, json!({ "id": format!("a-{}", self.created), "status": "processing" }))
    }

    pub(crate) fn created(&self) -> usize {
        usize::try_from(self.created).unwrap_or(usize::MAX)
    }

    pub(crate) fn look(&mut self, id: &str) -> Sent {
        let Some(looks) = number(id).and_then(|number| self.looks.get_mut(&number)) else {
            return unknown();
        };
        *looks = looks.saturating_add(1);
        let status = match self.settling {
            Settling::Hangs => return Sent::Nothing,
            Settling::Garbles => return Sent::Page,
            Settling::Fails => return Sent::Json(500, json!({ "error": "out of order" })),
            settling => status(settling, looks.saturating_sub(1)),
        };
        let mut body = json!({ "id": id, "status": status });
        if let Some(fields) = body.as_object_mut().filter(|_| status == "declined") {
            fields.insert("decline_reason".to_owned(), "insufficient funds".into());
        }
        Sent::Json(200, body)
    }

    pub(crate) fn charge(&self, id: &str) -> Sent {
        let Some(looks) = number(id).and_then(|number| self.looks.get(&number)) else {
            return unknown();
        };
        match status(self.settling, looks.saturating_sub(1)) {
            "approved" => Sent::Json(201, json!({ "id": format!("c-{id}"), "authorization": id })),
            other => Sent::Json(409, json!({ "error": "not approved", "status": other })),
        }
    }
}

/// The status that a look finds after so many others.
const fn status(settling: Settling, before: u32) -> &'static str {
    match settling {
        Settling::Approves { after } if before >= after => "approved",
        Settling::Reviews { looks } => match before {
            0 => "processing",
            before if before <= looks => "pending_review",
            _ => "approved",
        },
        Settling::Declines if before >= 1 => "declined",
        _ => "processing",
    }
}

/// The number in an id.
fn number(id: &str) -> Option<u64> {
    id.strip_prefix("a-")?.parse().ok()
}

fn unknown() -> Sent {
    Sent::Json(404, json!({ "error": "there is no such authorization" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(settling: Settling, looks: usize) -> Vec<String> {
        let mut ledger = Ledger::new(settling);
        assert!(matches!(ledger.create(), Sent::Json(201, _)));
        let look = |_| match ledger.look("a-1") {
            Sent::Json(200, body) => body["status"].as_str().unwrap().to_owned(),
            other => format!("{other:?}"),
        };
        (0..looks).map(look).collect()
    }

    #[test]
    fn an_authorisation_settles_by_being_looked_at() {
        assert_eq!(
            statuses(Settling::Approves { after: 1 }, 3),
            ["processing", "approved", "approved"]
        );
        assert_eq!(
            statuses(Settling::Reviews { looks: 2 }, 4),
            ["processing", "pending_review", "pending_review", "approved"]
        );
        assert_eq!(statuses(Settling::Declines, 2), ["processing", "declined"]);
        assert_eq!(statuses(Settling::NeverSettles, 2), ["processing", "processing"]);
    }

    #[test]
    fn only_what_is_approved_is_charged() {
        let mut ledger = Ledger::new(Settling::Approves { after: 1 });
        ledger.create();
        assert_eq!(ledger.created(), 1);
        assert!(matches!(ledger.charge("a-1"), Sent::Json(409, _)));
        ledger.look("a-1");
        ledger.look("a-1");
        assert!(matches!(ledger.charge("a-1"), Sent::Json(201, _)));
        assert_eq!(ledger.charge("a-9"), unknown());
    }

    #[test]
    fn the_oldest_is_forgotten_once_there_are_too_many() {
        let mut ledger = Ledger::new(Settling::Approves { after: 0 });
        for _ in 0..=MAX_REMEMBERED {
            assert!(matches!(ledger.create(), Sent::Json(201, _)));
        }
        assert_eq!((ledger.created(), ledger.look("a-1")), (MAX_REMEMBERED + 1, unknown()));
        assert!(matches!(ledger.look("a-2"), Sent::Json(200, _)));
        assert!(matches!(ledger.look("a-10001"), Sent::Json(200, _)));
    }
}
