//! What an answer must be.

use std::time::Duration;

use serde_json::Value;

use super::Site;
use super::names::May;
use crate::bounds::{MAX_CONDITIONS, MAX_CONTAINS, MAX_TIMEOUT};
use crate::file::mistakes::Way;
use crate::file::shape::ExpectShape;
use crate::model::{Expect, StatusSet};
use crate::path::Path;
use crate::template::JsonTemplate;

impl Site<'_> {
    pub(super) fn expect(&mut self, way: &Way, shape: Option<&ExpectShape>) -> Option<Expect> {
        let none = ExpectShape::default();
        let shape = shape.unwrap_or(&none);
        let within = shape.within.and_then(|within| {
            self.span(&way.key("within"), within, Duration::from_millis(1), MAX_TIMEOUT)
        });
        let json = match &shape.json {
            Some(json) => self.expected_json(&way.key("json"), json)?,
            None => Vec::new(),
        };
        let contains = shape.body_contains.as_ref().map(|all| all.0.as_slice()).unwrap_or_default();
        let contains_way = way.key("body_contains");
        self.mistakes.at_most(&contains_way, contains.len(), MAX_CONTAINS, "texts");
        let mut body_contains = Vec::new();
        if contains.iter().any(String::is_empty) {
            let message = "an empty text stands in every body; give one, or leave it out";
            self.mistakes.add(&contains_way, message);
        }
        for text in contains {
            body_contains.extend(self.template(&contains_way, text, May::Variables));
        }
        Some(Expect {
            status: shape
                .status
                .as_ref()
                .map_or_else(StatusSet::success, |status| status.0.clone()),
            json,
            headers: self.templates(&way.key("headers"), shape.headers.as_ref()),
            body_contains,
            within,
        })
    }

    /// Each field by itself, so that what is not as expected is told alone.
    fn expected_json(&mut self, way: &Way, json: &Value) -> Option<Vec<(Path, JsonTemplate)>> {
        let Value::Object(fields) = json else {
            let path = self.mistakes.take(way, Path::parse("$"))?;
            return Some(vec![(path, self.json(way, json)?)]);
        };
        self.mistakes.at_most(way, fields.len(), MAX_CONDITIONS.saturating_mul(5), "fields");
        let mut expected = Vec::new();
        for (key, value) in fields {
            let way = way.key(key);
            let is_path = key.starts_with("$.") || key.starts_with("$[");
            let path = if is_path { Path::parse(key) } else { Path::of_key(key) };
            let path = self.mistakes.take(&way, path);
            let value = self.json(&way, value);
            expected.extend(path.zip(value));
        }
        Some(expected)
    }
}
