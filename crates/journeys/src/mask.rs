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
use crate::text::{CUT, cut, cut_value};

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

    /// Hides a text from now on.
    pub(crate) fn hide(&mut self, text: &str) {
        if !text.is_empty() && !self.hidden.iter().any(|hidden| hidden == text) {
            self.hidden.push(text.to_owned());
            self.hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
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
        let text = unmarked(text);
        if self.hidden.is_empty() {
            return text;
        }
        let mut masked = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let found = self.hidden.iter().find_map(|hidden| written(rest, hidden));
            let (shown, length) = match found {
                Some(length) => (MASK, length),
                None => (rest.get(..first.len_utf8()).unwrap_or_default(), first.len_utf8()),
            };
            masked.push_str(shown);
            rest = rest.get(length..).unwrap_or_default();
        }
        masked
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

/// How many bytes of `text` are `secret`, if it begins with it: as it is, or as an address or JSON would
/// write any part of it. The beginning of one is enough where the text was cut behind it.
fn written(text: &str, secret: &str) -> Option<usize> {
    let mut rest = text;
    for letter in secret.chars() {
        rest = match after(rest, letter) {
            Some(rest) => rest,
            None if rest.len() < text.len() && rest.starts_with(CUT) => break,
            None => return None,
        };
    }
    text.len().checked_sub(rest.len())
}

/// What comes after one letter, however it is written.
fn after(text: &str, letter: char) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(letter) {
        return Some(rest);
    }
    match text.as_bytes().first()? {
        b'%' => {
            let mut buffer = [0; 4];
            letter.encode_utf8(&mut buffer).bytes().try_fold(text, |rest, byte| {
                let (code, behind) = rest.strip_prefix('%')?.split_at_checked(2)?;
                (u8::from_str_radix(code, 16) == Ok(byte)).then_some(behind)
            })
        }
        b'+' => text.strip_prefix('+').filter(|_| letter == ' '),
        b'\\' => {
            let behind = text.strip_prefix('\\')?;
            let plain = match letter {
                '\n' => 'n',
                '\r' => 'r',
                '\t' => 't',
                letter => letter,
            };
            behind.strip_prefix(plain).or_else(|| {
                let (code, behind) = behind.strip_prefix('u')?.split_at_checked(4)?;
                (u32::from_str_radix(code, 16) == Ok(letter.into())).then_some(behind)
            })
        }
        _ => None,
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
            "?k=p&ss%20\"w%c3%b6rd%22",
            r#"{"a":"p\u0026ss \"w\u00f6rd\""}"#,
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
    fn half_a_secret_at_the_end_of_a_cut_text_is_hidden_too() {
        assert_eq!(mask(&["hunter2"]).text("it is hunt… and hunt"), "it is [secret]… and hunt");
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
