//! Keeps secrets out of all that is shown: their values wherever they turn up, and the marks of
//! `scope` in the texts that were filled in for showing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_base::secret::MASK;
use serde_json::Value;

use crate::bounds::{MAX_COMPARED, MAX_HIDDEN, MAX_RECORDED, MAX_SECRET};
use crate::report::{
    AnswerRecord, CheckRecord, FailureRecord, PollerRecord, RequestRecord, RunRecord, StepRecord,
};
use crate::scope::{MARK, MARK_END, Secrets};
use crate::text::{cut, cut_value};
use crate::writing::{OutOfTime, written};

/// How the marks look in an address.
const MARK_ENCODED: &str = "%EE%97%AC";
const MARK_END_ENCODED: &str = "%EE%97%AD";

/// How many letters of a text are compared with secrets for each of its bytes, at no expense.
const FREE: u64 = 8;

/// Knows every secret, and what was captured as one.
#[derive(Clone, Default)]
pub(crate) struct Mask {
    /// The longest first, so that one within another leaves nothing behind.
    hidden: Vec<String>,
    patience: Patience,
}

/// How many letters more than a few of each text a run may still compare with secrets. A text that is written so that
/// it nearly is one everywhere must not hold up everybody else.
#[derive(Debug, Clone)]
struct Patience(Arc<AtomicU64>);

/// Why a value can't be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotHidden {
    /// Each part of it would be hidden wherever it turns up: a `1` in a list, every 1 of the record.
    #[error(
        "a secret is a text, a number or a bool; capture the field itself, or say secret: false"
    )]
    NoField,
    #[error("a secret is at most {MAX_SECRET} bytes long")]
    TooLong,
    #[error("a run has at most {MAX_HIDDEN} secrets; capture fewer, or say secret: false")]
    TooMany,
}

impl Mask {
    pub(crate) fn new(secrets: &Secrets) -> Self {
        let mut mask = Self::default();
        secrets.values().for_each(|secret| mask.add(secret.expose()));
        mask
    }

    /// Hides a text from now on.
    pub(crate) fn hide(&mut self, text: &str) -> Result<(), NotHidden> {
        if text.len() > MAX_SECRET {
            return Err(NotHidden::TooLong);
        }
        if self.hidden.len() >= MAX_HIDDEN && !self.has(text) {
            return Err(NotHidden::TooMany);
        }
        self.add(text);
        Ok(())
    }

    /// Hides a text or a number. A bool is one of two whatever is done: only its capture is not shown.
    pub(crate) fn hide_value(&mut self, value: &Value) -> Result<(), NotHidden> {
        match value {
            Value::String(text) => self.hide(text),
            Value::Number(number) => self.hide(&number.to_string()),
            Value::Bool(_) => Ok(()),
            Value::Null | Value::Array(_) | Value::Object(_) => Err(NotHidden::NoField),
        }
    }

    /// The text without any secret.
    pub(crate) fn text(&self, text: &str) -> String {
        self.beginning(text, None)
    }

    /// The beginning of the text without any secret: where there is a bound, a little more than so many bytes.
    fn beginning(&self, text: &str, most: Option<usize>) -> String {
        let text = unmarked(text);
        if self.hidden.is_empty() {
            return text;
        }
        let mut masked =
            String::with_capacity(most.map_or(text.len(), |most| text.len().min(most)));
        let mut rest = text.as_str();
        let mut free = u64::try_from(text.len()).unwrap_or(u64::MAX).saturating_mul(FREE);
        while !rest.is_empty() && most.is_none_or(|most| masked.len() <= most) {
            let Ok(found) = self.begins(rest, &mut free) else {
                // What nobody has time to look through is not shown.
                masked.push_str(MASK);
                return masked;
            };
            let length = found.unwrap_or_else(|| unit(rest));
            masked.push_str(found.map_or_else(|| rest.get(..length).unwrap_or_default(), |_| MASK));
            rest = rest.get(length..).unwrap_or_default();
        }
        masked
    }

    /// How much of the text is a secret that it begins with.
    fn begins(&self, text: &str, free: &mut u64) -> Result<Option<usize>, OutOfTime> {
        let may_begin = may_begin(text);
        for hidden in self.hidden.iter().filter(|hidden| may_begin(hidden)) {
            let compare = || match free.checked_sub(1) {
                Some(left) => {
                    *free = left;
                    Ok(())
                }
                None => self.patience.take(),
            };
            if let Some(length) = written(text, hidden, compare)? {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    fn add(&mut self, text: &str) {
        if !text.is_empty() && !self.has(text) {
            self.hidden.push(text.to_owned());
            self.hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
    }

    fn has(&self, text: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == text)
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

    /// Masked first and cut then: half a secret would be found no more. What is cut off needs no mask.
    fn cut(&self, text: &mut String) {
        *text = cut(&self.beginning(text, Some(MAX_RECORDED)), MAX_RECORDED);
    }

    fn kept(&self, value: &mut Value) {
        *value = match value.take() {
            Value::String(mut text) => {
                self.cut(&mut text);
                Value::String(text)
            }
            value @ (Value::Array(_) | Value::Object(_)) => {
                let mut text = value.to_string();
                if text.len() > MAX_RECORDED {
                    self.cut(&mut text);
                    Value::String(text)
                } else {
                    cut_value(self.value(&value), MAX_RECORDED)
                }
            }
            plain => self.value(&plain),
        };
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

    pub(crate) fn request(&self, request: &mut RequestRecord) {
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

impl Patience {
    fn take(&self) -> Result<(), OutOfTime> {
        let order = Ordering::Relaxed;
        let taken = self.0.fetch_update(order, order, |left| left.checked_sub(1));
        taken.map(drop).map_err(|_| OutOfTime)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MAX_COMPARED)))
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// Which secrets a text may begin with. A plain letter is written as itself, and as nothing else: most are passed over
/// by that alone.
fn may_begin(text: &str) -> impl Fn(&&String) -> bool {
    let first =
        text.chars().next().filter(|letter| letter.is_ascii() && !"%+&\\?".contains(*letter));
    move |hidden| first.is_none_or(|first| hidden.starts_with(first))
}

/// How much of a text is shown where no secret begins: a letter, or all backslashes that stand there. What does not
/// begin at the first of them begins at none, and whoever tried each would go over all of them each time.
fn unit(text: &str) -> usize {
    match text.chars().next() {
        Some('\\') => text.len().saturating_sub(text.trim_start_matches('\\').len()),
        Some(first) => first.len_utf8(),
        None => 0,
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
    fn what_a_service_makes_of_a_secret_is_hidden_too() {
        let mask = mask(&["ab\"cd\\ef", "pä-ss", "x😀yz"]);
        for text in [
            r#"{"said":"{\"key\":\"ab\\\"cd\\\\ef\"}"}"#,
            r"p\u00c3\u00a4-ss",
            r"x\ud83d\ude00yz",
            "<b>ab&quot;cd\\ef</b>",
        ] {
            let shown = mask.text(text);
            let is_shown = ["cd", "ss", "yz"].iter().any(|part| shown.contains(part));
            assert!(shown.contains(MASK) && !is_shown, "{shown}");
        }
    }

    #[test]
    fn values_are_masked_in_depth_and_numbers_too() {
        let mut mask = mask(&["hunter2"]);
        mask.hide_value(&json!(4711)).unwrap();
        let masked = mask.value(&json!({"a": ["xhunter2y", 4711, 47110], "hunter2": null}));
        assert_eq!(masked, json!({"a": ["x[secret]y", "[secret]", 47110], "[secret]": null}));
    }

    #[test]
    fn half_a_secret_at_the_end_of_a_cut_text_is_hidden_too() {
        assert_eq!(mask(&["hunter2"]).text("it is hunt… and hunt"), "it is [secret]… and hunt");
    }

    #[test]
    fn what_has_parts_is_hidden_as_none_of_them() {
        let mut mask = mask(&[]);
        for value in [json!([1, 2, 3]), json!({"id": "s-1"}), json!(null)] {
            assert_eq!(mask.hide_value(&value), Err(NotHidden::NoField), "{value}");
        }
        mask.hide_value(&json!(true)).unwrap();
        assert_eq!(mask.hide(&"x".repeat(MAX_SECRET + 1)), Err(NotHidden::TooLong));
        assert_eq!(mask.text("1, 2, 3, s-1, true, xxx"), "1, 2, 3, s-1, true, xxx");
    }

    #[test]
    fn a_run_hides_only_so_much() {
        let mut mask = mask(&["hunter2"]);
        for number in 1..MAX_HIDDEN {
            mask.hide(&format!("token-{number}-")).unwrap();
        }
        assert_eq!(mask.hide("one more"), Err(NotHidden::TooMany));
        mask.hide("token-1-").unwrap();
        assert_eq!(mask.text("hunter2 token-199-"), format!("{MASK} {MASK}"));
    }

    #[test]
    fn what_is_cut_is_as_if_all_of_it_had_been_masked() {
        let mask = mask(&["hunter2"]);
        for text in [
            "hunter2 ".repeat(MAX_RECORDED),
            "\\\\\"hunter2".repeat(MAX_RECORDED),
            "ä".repeat(MAX_RECORDED),
        ] {
            let mut kept = text.clone();
            mask.cut(&mut kept);
            assert_eq!(kept, cut(&mask.text(&text), MAX_RECORDED));
            let mut value = json!([text]);
            mask.kept(&mut value);
            assert!(
                value.as_str().unwrap().len() <= MAX_RECORDED
                    && !value.to_string().contains("hunter")
            );
        }
    }

    #[test]
    fn a_secret_behind_backslashes_is_hidden() {
        assert_eq!(mask(&["n1"]).text(r"\\\n1 \x"), r"[secret] \x");
        assert_eq!(mask(&[r"\a"]).text(r"\\\a \b"), r"[secret] \b");
    }

    #[test]
    fn what_nobody_has_time_to_look_through_is_not_shown() {
        // Each letter nearly begins the secret: all of them together are more than anybody could compare.
        for (sign, text) in [
            ("a", "a".repeat(64 * 1024)),
            ("\\", "%5C".repeat(20_000)),
            ("%", "%25".repeat(20_000)),
        ] {
            let secret = format!("{}b", sign.repeat(MAX_SECRET / 4));
            let mask = mask(&[&secret]);
            let shown = mask.text(&format!("before {text} {secret} after"));
            assert!(shown.ends_with(MASK) && !shown.contains(&secret), "{sign}");
            assert_eq!(
                mask.text("what is written as ever, is shown"),
                "what is written as ever, is shown"
            );
        }
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
