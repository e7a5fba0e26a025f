//! Variables that are written as one JSON text, as the clients of Azure ML allow.

use serde_json::{Map, Value};

/// The variables of a JSON object, or why it is none of variables.
pub(super) fn of_json(text: &str) -> Result<Vec<(String, String)>, String> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))?;
    let variables = object.into_iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null => String::new(),
            Value::Array(_) | Value::Object(_) => {
                return Err(format!("the value of `{name}` is no text"));
            }
        };
        Ok((name, text))
    });
    variables.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_scalars_gives_variables_and_anything_else_a_reason() {
        let pairs = of_json(r#"{"A": "x y", "B": 2, "C": true, "D": null}"#).unwrap_or_default();
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(pairs, [("A", "x y"), ("B", "2"), ("C", "true"), ("D", "")]);
        for wrong in ["{A: 1}", "[1]", r#"{"A": {}}"#, "", "{"] {
            assert!(of_json(wrong).is_err(), "{wrong}");
        }
    }
}
