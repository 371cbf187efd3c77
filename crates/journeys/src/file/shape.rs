//! What may stand in a file. The comments are what an editor shows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::forms::{CaptureForm, OnTimeoutForm, OneOrMany, Span, Statuses};
use super::schema::{
    Address, Conditions, Event, Name, Sought, Text, Word, of_a_request, variable_names,
};
use crate::bounds::{
    MAX_CAPTURES, MAX_HEADERS, MAX_POLLS, MAX_RULES, MAX_TOLERATED, MAX_TOUCHES, MAX_VARS,
};
use crate::model::Mode;

/// A journey: a scripted path of a user through real systems. See docs/guide/journeys.md.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Mainstay journey", rename = "Journey")]
pub(super) struct JourneyFile {
    /// Its name.
    #[schemars(with = "Name")]
    pub(super) journey: String,
    /// How often it runs on a server, from 10s to 7d; without it only when it is asked to.
    pub(super) every: Option<Span>,
    /// How long a whole run may take, 10m unless it is said, at most 1h.
    pub(super) within: Option<Span>,
    /// Values that templates use. null is one that each run has to be given.
    #[schemars(extend("maxProperties" = MAX_VARS, "propertyNames" = variable_names()))]
    pub(super) vars: Option<BTreeMap<String, Value>>,
    /// What a failure means: halt (unless it is said), record, log or disabled.
    pub(super) mode: Option<Mode>,
    /// The services that it crosses, by name: its failure shows on them.
    #[schemars(with = "Option<Vec<Name>>", extend("maxItems" = MAX_TOUCHES))]
    pub(super) touches: Option<Vec<String>>,
    /// What is done, in this order.
    #[schemars(length(min = 1, max = 100))]
    pub(super) steps: Vec<StepShape>,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Do")]
pub(super) enum DoForm {
    /// Poll on.
    Continue,
    /// Tell the events of emit and poll on.
    Inject,
    /// Tell the events of emit, if any: the resource has settled.
    Done,
    /// The resource will never be as it should, for this reason.
    Error,
}

/// What a request is written as: in a step and in a poll alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestShape<'a> {
    pub(super) methods: [(&'static str, Option<&'a String>); 6],
    pub(super) headers: Option<&'a BTreeMap<String, String>>,
    pub(super) json: Option<&'a Value>,
    pub(super) form: Option<&'a BTreeMap<String, String>>,
    pub(super) body: Option<&'a String>,
    pub(super) timeout: Option<Span>,
    pub(super) follow: Option<bool>,
}

/// Adds what a request is written as to a shape.
macro_rules! asking {
    ($(#[$about:meta])* struct $name:ident { $($(#[$of:meta])* $field:ident: $kind:ty,)* }) => {
        #[derive(Debug, Deserialize, JsonSchema)]
        $(#[$about])*
        #[serde(deny_unknown_fields)]
        #[schemars(extend("allOf" = of_a_request()))]
        pub(super) struct $name {
            $($(#[$of])* pub(super) $field: $kind,)*
            /// The address that is got.
            #[schemars(with = "Option<Address>")]
            get: Option<String>,
            /// The address that is asked for its head.
            #[schemars(with = "Option<Address>")]
            head: Option<String>,
            /// The address that is posted to.
            #[schemars(with = "Option<Address>")]
            post: Option<String>,
            /// The address that is put to.
            #[schemars(with = "Option<Address>")]
            put: Option<String>,
            /// The address that is patched.
            #[schemars(with = "Option<Address>")]
            patch: Option<String>,
            /// The address that is deleted.
            #[schemars(with = "Option<Address>")]
            delete: Option<String>,
            /// Headers that are sent along.
            #[schemars(with = "Option<BTreeMap<String, Text>>", extend("maxProperties" = MAX_HEADERS))]
            headers: Option<BTreeMap<String, String>>,
            /// A body of JSON. A text that is nothing but {{ … }} keeps the kind of its value.
            json: Option<Value>,
            /// A body of the fields of a form.
            #[schemars(with = "Option<BTreeMap<String, Text>>", extend("maxProperties" = MAX_HEADERS))]
            form: Option<BTreeMap<String, String>>,
            /// A body of any text.
            #[schemars(with = "Option<Text>")]
            body: Option<String>,
            /// How long one request may take, 10s unless it is said, at most 60s.
            timeout: Option<Span>,
            /// Whether redirects are followed, as they are unless it is said; only for get and head.
            follow: Option<bool>,
        }

        impl $name {
            pub(super) fn request(&self) -> RequestShape<'_> {
                RequestShape {
                    methods: [
                        ("get", self.get.as_ref()),
                        ("head", self.head.as_ref()),
                        ("post", self.post.as_ref()),
                        ("put", self.put.as_ref()),
                        ("patch", self.patch.as_ref()),
                        ("delete", self.delete.as_ref()),
                    ],
                    headers: self.headers.as_ref(),
                    json: self.json.as_ref(),
                    form: self.form.as_ref(),
                    body: self.body.as_ref(),
                    timeout: self.timeout,
                    follow: self.follow,
                }
            }
        }
    };
}

asking! {
    /// One request, what its answer must be, and what is watched afterwards.
    #[schemars(rename = "Step")]
    struct StepShape {
        /// Its name, by which needs speaks of it.
        #[schemars(with = "Word")]
        id: String,
        /// Events that it waits for, such as create.Approved.
        #[schemars(with = "Option<OneOrMany<Event>>")]
        needs: Option<OneOrMany<String>>,
        /// What the answer must be. Without a status, one of success.
        expect: Option<ExpectShape>,
        /// What is kept of the answer: a name and a JSONPath.
        #[schemars(extend("maxProperties" = MAX_CAPTURES, "propertyNames" = variable_names()))]
        capture: Option<BTreeMap<String, CaptureForm>>,
        /// The event, or the events, that it tells when all is as expected.
        #[schemars(with = "Option<OneOrMany<Word>>")]
        emit: Option<OneOrMany<String>>,
        /// What is watched in the background afterwards.
        poll: Option<PollShape>,
    }
}

asking! {
    /// Asks again and again until a rule says that the resource has settled, or its time is over.
    #[schemars(rename = "Poll")]
    struct PollShape {
        /// The pause between two polls, from 50ms to 10m.
        every: Span,
        /// How long it may take as a whole, at most 1h: a hard deadline.
        within: Span,
        /// How often it is asked at most.
        #[schemars(range(min = 1, max = MAX_POLLS))]
        max_polls: Option<u64>,
        /// How many transport errors in a row are passed over.
        #[schemars(range(max = MAX_TOLERATED))]
        tolerate: Option<u32>,
        /// What a resource means that did not settle: fail (unless it is said), ignore or {error: text}.
        on_timeout: Option<OnTimeoutForm>,
        /// What an answer means: the first rule that fits. An answer that none fits is an error.
        #[schemars(length(min = 1, max = MAX_RULES))]
        when: Vec<RuleShape>,
    }
}

/// What an answer must be.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Expect")]
pub(super) struct ExpectShape {
    /// Its status.
    pub(super) status: Option<Statuses>,
    /// What its JSON must hold, among other things. A key that begins with $. or $[ is a JSONPath.
    pub(super) json: Option<Value>,
    /// Headers that it must have, with these values.
    #[schemars(with = "Option<BTreeMap<String, Text>>", extend("maxProperties" = MAX_HEADERS))]
    pub(super) headers: Option<BTreeMap<String, String>>,
    /// A text, or texts, that its body must contain.
    #[schemars(with = "Option<OneOrMany<Sought>>")]
    pub(super) body_contains: Option<OneOrMany<String>>,
    /// How long it may take.
    pub(super) within: Option<Span>,
}

/// What an answer means.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rule")]
pub(super) struct RuleShape {
    /// All of this must hold: a JSONPath and its value, status, or error (true, or a kind such as
    /// timeout). In a list, one of them must. Without it the rule fits every answer.
    #[serde(rename = "if")]
    #[schemars(with = "Option<Conditions>")]
    pub(super) conditions: Option<OneOrMany<BTreeMap<String, Value>>>,
    /// What is done then.
    #[serde(rename = "do")]
    pub(super) act: DoForm,
    /// The event, or the events, that inject and done tell.
    #[schemars(with = "Option<OneOrMany<Word>>")]
    pub(super) emit: Option<OneOrMany<String>>,
    /// Whether inject tells its events only where they differ from those told last.
    pub(super) once: Option<bool>,
    /// Why it is an error.
    #[schemars(with = "Option<Text>")]
    pub(super) reason: Option<String>,
}
