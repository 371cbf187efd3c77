//! How a log line looks.

use crate::config::LogFormat;
use crate::config::environment::Screen;

/// For people or for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For people.
    Text {
        /// With colours.
        color: bool,
    },
    /// For machines: one object on each line.
    Json,
}

impl Style {
    /// Text on a terminal and JSON elsewhere, unless the format says so. Colours only where they
    /// are seen and nobody asked for none.
    #[must_use]
    pub fn choose(format: LogFormat, screen: Screen) -> Self {
        let color = screen.terminal && !screen.no_color;
        match format {
            LogFormat::Json => Self::Json,
            LogFormat::Auto if !screen.terminal => Self::Json,
            LogFormat::Auto | LogFormat::Text => Self::Text { color },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_text_and_colours_only_where_they_are_wanted() {
        let text = |color| Style::Text { color };
        for (format, terminal, no_color, expected) in [
            (LogFormat::Auto, true, false, text(true)),
            (LogFormat::Auto, true, true, text(false)),
            (LogFormat::Auto, false, false, Style::Json),
            (LogFormat::Text, true, false, text(true)),
            (LogFormat::Text, false, false, text(false)),
            (LogFormat::Json, true, false, Style::Json),
            (LogFormat::Json, false, true, Style::Json),
        ] {
            let screen = Screen { terminal, no_color };
            assert_eq!(Style::choose(format, screen), expected, "{format:?} {screen:?}");
        }
    }
}
