//! What an editor may find wrong in a file, where that is not what its type says: the parser takes a number or a bool for a
//! text, and names, addresses and conditions are more than any text.

use std::borrow::Cow;

use mainstay_outbound::FetchErrorKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::forms::Statuses;
use crate::bounds::{MAX_CONDITIONS, MAX_NAME, MAX_WORD};

/// The schema of what is no type of its own.
macro_rules! schema_of {
    ($(#[$about:meta])* $name:ident, |$generator:ident| $schema:expr) => {
        $(#[$about])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

schema_of! {
    /// A text, or what can be read as one.
    Text, |_generator| json_schema!({ "type": ["string", "number", "boolean"] })
}

schema_of! {
    /// A text that is looked for.
    Sought, |_generator| json_schema!({ "type": ["string", "number", "boolean"], "minLength": 1 })
}

schema_of! {
    /// A name that people read.
    Name, |_generator| json_schema!({
        "type": ["string", "number", "boolean"],
        "minLength": 1,
        "maxLength": MAX_NAME,
    })
}

schema_of! {
    /// A name of a step or an event.
    Word, |_generator| json_schema!({
        "type": ["string", "integer", "boolean"],
        "pattern": format!("^[A-Za-z0-9_-]{{1,{MAX_WORD}}}$"),
    })
}

schema_of! {
    /// An event of a step.
    Event, |_generator| json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$" })
}

schema_of! {
    /// An address, as far as it can be known before it is filled in.
    Address, |_generator| json_schema!({ "type": "string", "pattern": "^(https?://|\\{\\{)" })
}

schema_of! {
    /// When a rule fits.
    Condition, |generator| {
        let status = generator.subschema_for::<Statuses>();
        let kinds: Vec<&str> = FetchErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        let kind = json!({ "type": "string", "enum": kinds });
        json_schema!({
            "type": "object",
            "properties": {
                "status": status,
                "error": { "anyOf": [
                    { "const": true },
                    kind,
                    { "type": "array", "items": kind, "minItems": 1 },
                ] },
            },
            "patternProperties": { "^\\$": true },
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": MAX_CONDITIONS,
            // Where there is no answer, nothing else can hold.
            "dependentSchemas": { "error": { "maxProperties": 1 } },
        })
    }
}

schema_of! {
    /// One condition, or a list of them.
    Conditions, |generator| {
        let one = generator.subschema_for::<Condition>();
        let many = json!({ "type": "array", "items": one, "minItems": 1, "maxItems": MAX_CONDITIONS });
        json_schema!({ "anyOf": [one, many] })
    }
}

/// Exactly one address, and at most one body.
pub(super) fn of_a_request() -> Vec<Value> {
    const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];
    let given = |key: &str| json!({ "required": [key], "properties": { key: { "not": { "type": "null" } } } });
    let one_method: Vec<Value> = METHODS.into_iter().map(given).collect();
    let two_bodies = [["json", "form"], ["json", "body"], ["form", "body"]];
    let two_bodies: Vec<Value> =
        two_bodies.into_iter().map(|pair| json!({ "allOf": pair.map(given) })).collect();
    vec![json!({ "oneOf": one_method }), json!({ "not": { "anyOf": two_bodies } })]
}

/// What variables and captures may be called.
pub(super) fn variable_names() -> Value {
    json!({ "pattern": format!("^[A-Za-z_][A-Za-z0-9_]{{0,{}}}$", MAX_WORD.saturating_sub(1)) })
}
