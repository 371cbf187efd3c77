//! Whether a value is as expected.

use serde_json::Value;

/// Whether `got` holds all that `expected` says: an object may have more fields, a list must have as many
/// items, a number counts by what it is worth.
pub(crate) fn holds(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => expected
            .iter()
            .all(|(key, value)| got.get(key).is_some_and(|found| holds(value, found))),
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len()
                && expected.iter().zip(got).all(|(value, found)| holds(value, found))
        }
        (Value::Number(expected), Value::Number(got)) => {
            expected == got || expected.as_f64() == got.as_f64() && is_small(expected.as_f64())
        }
        (expected, got) => expected == got,
    }
}

/// Whether a float tells this number from its neighbours.
fn is_small(number: Option<f64>) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.is_some_and(|number| number.abs() < EXACT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_is_enough_and_more_is_fine() {
        for (expected, got, is_held) in [
            (json!({"a": 1}), json!({"a": 1, "b": 2}), true),
            (json!({"a": 1}), json!({"b": 2}), false),
            (json!({"a": null}), json!({}), false),
            (json!({"a": {"b": [1, {"c": 2}]}}), json!({"a": {"b": [1, {"c": 2, "d": 3}]}}), true),
            (json!([1]), json!([1, 2]), false),
            (json!(1), json!(1.0), true),
            (json!(1), json!("1"), false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
            (json!({}), json!([]), false),
            (json!(true), json!(true), true),
        ] {
            assert_eq!(holds(&expected, &got), is_held, "{expected} {got}");
        }
    }
}
