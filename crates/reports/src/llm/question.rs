//! What is sent to the Responses API. Pure.

use serde_json::{Value, json};

use super::LlmRequest;
use crate::schema;

/// The most tokens that a model may write, its thoughts included.
const MAX_OUTPUT_TOKENS: u32 = 32_000;

/// The name of the schema in the question.
const SCHEMA_NAME: &str = "incident_report";

/// How the answer is held to its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// By the schema, word by word.
    Schema,
    /// To JSON of any form: the schema is told in words.
    AnyJson,
}

/// The body of a question.
pub(crate) fn body(request: &LlmRequest, model: &str, format: Format) -> Vec<u8> {
    let strict = schema::strict(request.schema);
    let system = &request.prompt.system;
    let (instructions, format) = match format {
        Format::Schema => {
            let format = json!({ "type": "json_schema", "name": SCHEMA_NAME, "strict": true, "schema": strict });
            (system.clone(), format)
        }
        Format::AnyJson => {
            let told = format!("{system}\nThe JSON object follows this JSON Schema:\n\n{strict}\n");
            (told, json!({ "type": "json_object" }))
        }
    };
    let input = json!([{
        "role": "user",
        "content": [{ "type": "input_text", "text": request.prompt.user }],
    }]);
    let question: Value = json!({
        "model": model,
        "instructions": instructions,
        "input": input,
        "text": { "format": format },
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "store": false,
    });
    question.to_string().into_bytes()
}
