//! A request as a command of the shell, so that a person can try it.

use crate::scope::{MARK, MARK_END};

/// A request as it is shown, with the marks of secrets still in it.
pub(crate) struct Shown<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Option<&'a str>,
    pub(crate) follow: bool,
}

/// The command. Secrets are variables of the shell.
pub(crate) fn command(request: &Shown<'_>) -> String {
    let mut words = vec!["curl".to_owned(), "-sS".to_owned(), "-i".to_owned()];
    match request.method {
        "GET" => {}
        "HEAD" => words.push("--head".to_owned()),
        method => words.extend(["-X".to_owned(), method.to_owned()]),
    }
    if request.follow {
        words.push("-L".to_owned());
    }
    words.push(quoted(request.url));
    for (name, value) in request.headers {
        words.extend(["-H".to_owned(), quoted(&format!("{name}: {value}"))]);
    }
    if let Some(body) = request.body {
        words.extend(["--data-raw".to_owned(), quoted(body)]);
    }
    words.join(" ")
}

/// In single quotes, but for secrets: those stand in double ones, so that the shell fills them in.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(MARK) {
        let (name, after) = marked.split_once(MARK_END).unwrap_or((marked, ""));
        quoted.push_str(&before.replace('\'', r"'\''"));
        if !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        {
            quoted.push_str(&format!("'\"${{{name}}}\"'"));
        }
        rest = after;
    }
    quoted.push_str(&rest.replace('\'', r"'\''"));
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_and_holds_no_secret() {
        let token = format!("Bearer {MARK}TOKEN{MARK_END}!");
        let headers = [("authorization".to_owned(), token)];
        let request = Shown {
            method: "POST",
            url: "http://127.0.0.1:8080/a?b=c",
            headers: &headers,
            body: Some(r#"{"name":"O'Neil $HOME"}"#),
            follow: false,
        };
        assert_eq!(
            command(&request),
            "curl -sS -i -X POST 'http://127.0.0.1:8080/a?b=c' \
             -H 'authorization: Bearer '\"${TOKEN}\"'!' \
             --data-raw '{\"name\":\"O'\\''Neil $HOME\"}'"
        );
    }
}
