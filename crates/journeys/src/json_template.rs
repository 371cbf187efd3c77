//! JSON with templates in its texts.

use serde_json::Value;

use crate::bounds::MAX_RENDERED;
use crate::scope::Context;
use crate::template::{BadTemplate, Template, TemplateError, too_long};

/// JSON with templates in its texts. One that is nothing but an expression keeps the kind of its value.
#[derive(Debug, Clone)]
pub enum JsonTemplate {
    /// A value without templates.
    Fixed(Value),
    /// A text with them.
    Text(Template),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
}

impl JsonTemplate {
    /// Reads JSON. The way to a text that can't be read is given with what is wrong with it.
    pub(crate) fn parse(value: &Value) -> Result<Self, (Vec<String>, BadTemplate)> {
        match value {
            Value::String(text) => {
                let template = Template::parse(text).map_err(|error| (Vec::new(), error))?;
                Ok(if template.is_plain() {
                    Self::Fixed(value.clone())
                } else {
                    Self::Text(template)
                })
            }
            Value::Array(items) => {
                let parsed = items.iter().enumerate().map(|(index, item)| {
                    Self::parse(item).map_err(|error| deeper(index.to_string(), error))
                });
                parsed.collect::<Result<_, _>>().map(Self::List)
            }
            Value::Object(fields) => {
                let parsed = fields.iter().map(|(key, field)| {
                    let field = Self::parse(field).map_err(|error| deeper(key.clone(), error))?;
                    Ok((key.clone(), field))
                });
                parsed.collect::<Result<_, _>>().map(Self::Object)
            }
            other => Ok(Self::Fixed(other.clone())),
        }
    }

    /// The JSON with everything filled in.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, TemplateError> {
        let mut room = MAX_RENDERED;
        self.filled(context, &mut room)
    }

    /// The same, while what is filled in takes no more room than there is.
    fn filled(&self, context: &Context<'_>, room: &mut usize) -> Result<Value, TemplateError> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(template) => {
                let value = template.value(context)?;
                *room = room.checked_sub(value.to_string().len()).ok_or_else(too_long)?;
                value
            }
            Self::List(items) => {
                let values = items.iter().map(|item| item.filled(context, room));
                Value::Array(values.collect::<Result<_, _>>()?)
            }
            Self::Object(fields) => {
                let values = fields
                    .iter()
                    .map(|(key, field)| Ok((key.clone(), field.filled(context, room)?)));
                Value::Object(values.collect::<Result<_, TemplateError>>()?)
            }
        })
    }
}

fn deeper(
    step: String,
    (mut way, error): (Vec<String>, BadTemplate),
) -> (Vec<String>, BadTemplate) {
    way.insert(0, step);
    (way, error)
}
