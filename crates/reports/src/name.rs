//! What a file is called: a name from outside, made fit to be kept and shown.

use mainstay_base::replace_nul;
use serde::Serialize;
use utoipa::ToSchema;

/// The longest name, in characters.
pub const MAX_NAME_CHARACTERS: usize = 255;

/// The kinds of transcripts that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extension {
    /// Plain text.
    Txt,
    /// `WebVTT`, as meeting software writes it.
    Vtt,
}

impl Extension {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Txt, Self::Vtt];

    /// How a name ends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Txt => "txt",
            Self::Vtt => "vtt",
        }
    }

    fn of(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        Self::ALL.into_iter().find(|extension| end.eq_ignore_ascii_case(extension.name()))
    }
}

/// A name that is no path, of one line, with the extension of a transcript. It is only ever shown: no
/// key of an object holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    text: String,
    extension: Extension,
}

/// A name of another kind of file, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only transcripts whose name ends in .txt or .vtt are read; save it as one of these")]
pub struct NotATranscript;

impl FileName {
    /// Takes what a client calls its file: the last part of a path, without what would break a line,
    /// hide in it or turn it around.
    ///
    /// # Errors
    /// [`NotATranscript`].
    pub fn parse(raw: &str) -> Result<Self, NotATranscript> {
        let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let clean: String = replace_nul(last).chars().filter(|one| !is_unfit(*one)).collect();
        let clean = clean.trim();
        let extension = Extension::of(clean).ok_or(NotATranscript)?;
        Ok(Self { text: shortened(clean, extension), extension })
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How it ends.
    #[must_use]
    pub const fn extension(&self) -> Extension {
        self.extension
    }
}

/// Whether anything of a text can be seen: one of white space and what hides in a line can't.
pub(crate) fn has_words(text: &str) -> bool {
    text.chars().any(|one| !one.is_whitespace() && !is_unfit(one) && !is_blank(one))
}

/// What is drawn as nothing, and is no control.
const fn is_blank(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180E}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}'
        | '\u{E0000}'..='\u{E0FFF}')
}

fn is_unfit(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}')
}

/// A name that is too long loses of its stem, so that it still ends as it did.
fn shortened(name: &str, extension: Extension) -> String {
    if name.chars().nth(MAX_NAME_CHARACTERS).is_none() {
        return name.to_owned();
    }
    let kept = MAX_NAME_CHARACTERS.saturating_sub(extension.name().len()).saturating_sub(2);
    let stem: String = name.chars().take(kept).collect();
    format!("{stem}….{}", extension.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_the_last_part_of_a_path_and_one_clean_line() {
        for (raw, kept) in [
            ("call.txt", "call.txt"),
            ("Call.VTT", "Call.VTT"),
            ("../../etc/passwd.txt", "passwd.txt"),
            ("C:\\Users\\ada\\call.vtt", "call.vtt"),
            ("/call.txt", "call.txt"),
            ("звонок 3.txt", "звонок 3.txt"),
            ("通話記録.vtt", "通話記録.vtt"),
            ("a\r\nb\u{1b}.txt", "ab.txt"),
            ("txt.\u{202E}gpj.txt", "txt.gpj.txt"),
            ("  call.txt  ", "call.txt"),
            ("a\0b.txt", "a\u{FFFD}b.txt"),
            (".txt", ".txt"),
            ("a.b.c.txt", "a.b.c.txt"),
        ] {
            assert_eq!(FileName::parse(raw).map(|name| name.text), Ok(kept.to_owned()), "{raw}");
        }
    }

    #[test]
    fn a_text_without_words_is_told() {
        for text in
            ["", " ", "\u{200B}", "\u{2060} \u{FEFF}\t", "\u{3164}", "\u{AD}\u{202E}", "\u{A0}"]
        {
            assert!(!has_words(text), "{text:?}");
        }
        for text in ["a", " a ", "\u{200B}é", "停", "🔥"] {
            assert!(has_words(text), "{text:?}");
        }
    }

    #[test]
    fn another_kind_of_file_is_refused() {
        for raw in [
            "",
            "call",
            "call.pdf",
            "call.txt.exe",
            "call.txt/",
            "..",
            "txt",
            "call.tхt",
            "a.txt\0",
        ] {
            assert_eq!(FileName::parse(raw), Err(NotATranscript), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_given_is_bounded_and_no_path(raw in "(?s).{0,600}\\.(txt|vtt|VTT)") {
            if let Ok(name) = FileName::parse(&raw) {
                prop_assert!(name.as_str().chars().count() <= MAX_NAME_CHARACTERS);
                prop_assert!(!name.as_str().contains(['/', '\\', '\0', '\n']));
                prop_assert_eq!(Extension::of(name.as_str()), Some(name.extension()));
            }
        }
    }
}
