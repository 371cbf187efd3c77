//! Why a text with `{{ … }}` can't be read.

use crate::bounds::{MAX_EXPRESSION, MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_NAMES, MAX_TEMPLATE};
use crate::path::PathError;

/// A template that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// It is too long.
    #[error("the text is longer than {MAX_TEMPLATE} bytes; shorten it")]
    TooLong,
    /// An expression is too long.
    #[error("an expression is longer than {MAX_EXPRESSION} bytes; shorten it")]
    ExpressionTooLong,
    /// `{{` without `}}`.
    #[error(
        "{{{{ has no }}}}; write {{{{ name }}}}, or {{{{ \"{{{{\" }}}} for the two braces themselves"
    )]
    Open,
    /// A block.
    #[error("there are no blocks such as {{% … %}} here, only {{{{ … }}}}")]
    Block,
    /// An operator that multiplies.
    #[error("in {{{{ {0} }}}}: there is no * here")]
    Multiplied(String),
    /// A filter or a test that there is not.
    #[error("in {{{{ {expression} }}}}: there is no {what} {name}; there are {}", .known.join(", "))]
    Unknown {
        /// The expression.
        expression: String,
        /// A filter, or a test.
        what: &'static str,
        /// The name.
        name: String,
        /// Those that there are.
        known: &'static [&'static str],
    },
    /// A filter is told something and takes nothing.
    #[error(
        "in {{{{ {expression} }}}}: the filter {name} takes nothing in brackets; leave (…) out"
    )]
    Argument {
        /// The expression.
        expression: String,
        /// The filter.
        name: String,
    },
    /// A slice. One puts off its work, and several of them multiply it.
    #[error("in {{{{ {0} }}}}: there are no slices such as [1:2] here; a JSONPath has them")]
    Sliced(String),
    /// An expression names too many values.
    #[error(
        "in {{{{ {0} }}}}: more than {MAX_EXPRESSION_NAMES} values are named; use several {{{{ … }}}}"
    )]
    TooManyNames(String),
    /// The brackets of an expression are too deep.
    #[error("in {{{{ {0} }}}}: the brackets are more than {MAX_EXPRESSION_DEPTH} deep")]
    TooDeep(String),
    /// A path in an expression can't be read.
    #[error("in {{{{ {expression} }}}}: {error}")]
    Path {
        /// The expression.
        expression: String,
        /// What is wrong.
        error: PathError,
    },
    /// An expression can't be read.
    #[error("in {{{{ {expression} }}}}: {message}")]
    Expression {
        /// The expression.
        expression: String,
        /// What is wrong.
        message: String,
    },
}
