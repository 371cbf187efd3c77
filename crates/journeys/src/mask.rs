//! Keeps secrets out of all that is shown: their values wherever they turn up, and the marks of
//! `scope` in the texts that were filled in for showing.

use std::collections::BTreeMap;

use mainstay_base::secret::MASK;
use serde_json::Value;

use crate::bounds::MAX_RECORDED;
use crate::report::{
    AnswerRecord, CheckRecord, FailureRecord, PollerRecord, RequestRecord, RunRecord, StepRecord,
};
use crate::scope::{MARK, MARK_END, Secrets};
use crate::text::{cut, cut_value};

/// How the marks look in an address.
const MARK_ENCODED: &str = "%EE%97%AC";
const MARK_END_ENCODED: &str = "%EE%97%AD";

/// Knows every secret, and what was captured as one.
#[derive(Clone, Default)]
pub(crate) struct Mask {
    /// The longest first, so that one within another leaves nothing behind.
    hidden: Vec<String>,
}

impl Mask {
    pub(crate) fn new(secrets: &Secrets) -> Self {
        let mut mask = Self::default();
        for secret in secrets.values() {
            mask.hide(secret.expose());
        }
        mask
    }

    /// Hides a text from now on, as it is and as JSON and addresses write it.
    pub(crate) fn hide(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let json = Value::from(text).to_string();
        let json = json.trim_matches('"').to_owned();
        let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let spaced = encoded.replace('+', "%20");
        for form in [text.to_owned(), json, encoded, spaced] {
            if !self.hidden.contains(&form) {
                self.hidden.push(form);
            }
        }
        self.hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }

    /// Hides every text and number in a value.
    pub(crate) fn hide_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.hide(text),
            Value::Number(number) => self.hide(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.hide_value(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.hide_value(field)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The text without any secret.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = unmarked(text);
        for hidden in &self.hidden {
            if text.contains(hidden.as_str()) {
                text = text.replace(hidden.as_str(), MASK);
            }
        }
        text
    }

    /// The value without any secret.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Number(number) => {
                let is_hidden = self.hidden.contains(&number.to_string());
                if is_hidden { Value::from(MASK) } else { value.clone() }
            }
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                let masked = fields.iter().map(|(key, field)| (self.text(key), self.value(field)));
                Value::Object(masked.collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn in_place(&self, text: &mut String) {
        *text = self.text(text);
    }

    /// Masked first and cut then: half a secret would be found no more.
    fn cut(&self, text: &mut String) {
        *text = cut(&self.text(text), MAX_RECORDED);
    }

    fn kept(&self, value: &mut Value) {
        *value = cut_value(self.value(value), MAX_RECORDED);
    }

    fn values(&self, values: &mut BTreeMap<String, Value>) {
        values.values_mut().for_each(|value| self.kept(value));
    }

    pub(crate) fn run(&self, run: &mut RunRecord) {
        self.values(&mut run.vars);
        run.steps.iter_mut().for_each(|step| self.step(step));
        run.pollers.iter_mut().for_each(|poller| self.poller(poller));
        run.failures.iter_mut().for_each(|failure| self.failure(failure));
    }

    pub(crate) fn step(&self, step: &mut StepRecord) {
        step.request.iter_mut().for_each(|request| self.request(request));
        step.answer.iter_mut().for_each(|answer| self.answer(answer));
        step.checks.iter_mut().for_each(|check| self.check(check));
        self.values(&mut step.captures);
        step.error.iter_mut().for_each(|error| self.in_place(error));
    }

    pub(crate) fn poller(&self, poller: &mut PollerRecord) {
        poller.request.iter_mut().for_each(|request| self.request(request));
        poller.last_value.iter_mut().for_each(|last| self.kept(last));
        poller.error.iter_mut().for_each(|error| self.in_place(error));
    }

    pub(crate) fn failure(&self, failure: &mut FailureRecord) {
        self.in_place(&mut failure.message);
        failure.check.iter_mut().for_each(|check| self.check(check));
    }

    fn request(&self, request: &mut RequestRecord) {
        self.in_place(&mut request.url);
        request.headers.iter_mut().for_each(|header| self.in_place(&mut header.value));
        request.body.iter_mut().for_each(|body| self.cut(body));
        self.in_place(&mut request.curl);
    }

    fn answer(&self, answer: &mut AnswerRecord) {
        self.cut(&mut answer.body);
        answer.content_type.iter_mut().for_each(|text| self.in_place(text));
    }

    fn check(&self, check: &mut CheckRecord) {
        self.in_place(&mut check.what);
        self.kept(&mut check.expected);
        check.got.iter_mut().for_each(|got| self.kept(got));
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// Each mark as `$NAME`.
pub(crate) fn unmarked(text: &str) -> String {
    text.replace([MARK], "$")
        .replace(MARK_ENCODED, "$")
        .replace([MARK_END], "")
        .replace(MARK_END_ENCODED, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::Secret;
    use serde_json::json;

    fn mask(secrets: &[&str]) -> Mask {
        let secrets = secrets.iter().enumerate();
        let named =
            secrets.map(|(index, text)| (format!("S{index}"), Secret::new((*text).to_owned())));
        Mask::new(&named.collect())
    }

    #[test]
    fn a_secret_is_found_however_it_is_written() {
        let mask = mask(&["p&ss \"wörd\"", "p&ss"]);
        for text in [
            "it was p&ss \"wörd\"!",
            r#"{"a":"p&ss \"wörd\""}"#,
            "?k=p%26ss+%22w%C3%B6rd%22",
            "?k=p%26ss%20%22w%C3%B6rd%22",
        ] {
            let shown = mask.text(text);
            assert!(shown.contains(MASK) && !shown.contains("ss"), "{shown}");
        }
        assert_eq!(mask.text("p&ss \"wörd\""), MASK);
    }

    #[test]
    fn values_are_masked_in_depth_and_numbers_too() {
        let mut mask = mask(&["hunter2"]);
        mask.hide_value(&json!({"pin": 4711}));
        let masked = mask.value(&json!({"a": ["xhunter2y", 4711, 47110], "hunter2": null}));
        assert_eq!(masked, json!({"a": ["x[secret]y", "[secret]", 47110], "[secret]": null}));
    }

    #[test]
    fn an_empty_secret_hides_nothing() {
        assert_eq!(mask(&[""]).text("abc"), "abc");
    }

    #[test]
    fn marks_become_variables_of_the_shell() {
        let marked = format!("Bearer {MARK}TOKEN{MARK_END} {MARK_ENCODED}K{MARK_END_ENCODED}");
        assert_eq!(mask(&[]).text(&marked), "Bearer $TOKEN $K");
    }
}
