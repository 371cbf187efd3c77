//! A request as a command of the shell, so that a person can try it.

use crate::scope::{MARK, MARK_END};

/// A request as it is shown, with the marks of secrets still in it.
pub(crate) struct Shown<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Content<'a>,
    pub(crate) follow: bool,
}

/// What is sent.
pub(crate) enum Content<'a> {
    Empty,
    Text(&'a str),
    /// Fields that are not escaped yet: what the shell fills in, curl has to escape.
    Fields(&'a [(String, String)]),
}

/// The command. Secrets are variables of the shell.
pub(crate) fn command(request: &Shown<'_>) -> String {
    let mut words = vec!["curl".to_owned(), "-sS".to_owned(), "-i".to_owned()];
    words.extend(method(request).into_iter().map(str::to_owned));
    // Brackets are a pattern to curl, unless it is told that they are none.
    if request.url.contains(['[', ']', '{', '}', MARK]) {
        words.push("-g".to_owned());
    }
    if request.follow {
        words.push("-L".to_owned());
    }
    words.push(quoted(request.url));
    for (name, value) in request.headers {
        words.extend(["-H".to_owned(), quoted(&header(name, value))]);
    }
    match request.body {
        Content::Empty => {}
        Content::Text(body) => words.extend(["--data-raw".to_owned(), quoted(body)]),
        Content::Fields(fields) => {
            for (name, value) in fields {
                let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
                let field = quoted(&format!("{name}={value}"));
                words.extend(["--data-urlencode".to_owned(), field]);
            }
        }
    }
    words.join(" ")
}

/// With a body, curl asks by POST unless it is told otherwise; and it refuses to ask for a head, or waits for the body
/// that an answer to one only speaks of.
fn method(request: &Shown<'_>) -> Vec<&'static str> {
    let has_body = !matches!(request.body, Content::Empty);
    match request.method {
        "GET" if !has_body => Vec::new(),
        "HEAD" if !has_body => vec!["--head"],
        "HEAD" => vec!["-X", "HEAD", "--ignore-content-length", "-H", "'connection: close'"],
        method => vec!["-X", method],
    }
}

/// One without a value is left out, unless it is written like this.
fn header(name: &str, value: &str) -> String {
    if value.trim().is_empty() { format!("{name};") } else { format!("{name}: {value}") }
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
            body: Content::Text(r#"{"name":"O'Neil $HOME"}"#),
            follow: false,
        };
        assert_eq!(
            command(&request),
            "curl -sS -i -X POST 'http://127.0.0.1:8080/a?b=c' \
             -H 'authorization: Bearer '\"${TOKEN}\"'!' \
             --data-raw '{\"name\":\"O'\\''Neil $HOME\"}'"
        );
    }

    #[test]
    fn a_command_asks_as_the_journey_does() {
        let fields = [
            ("user name".to_owned(), "ada".to_owned()),
            ("password".to_owned(), format!("{MARK}PASSWORD{MARK_END}")),
        ];
        for (method, url, header, body, expected) in [
            ("GET", "http://x/", None, Content::Empty, "'http://x/'"),
            ("GET", "http://x/", None, Content::Text("{}"), "-X GET 'http://x/' --data-raw '{}'"),
            ("HEAD", "http://x/", None, Content::Empty, "--head 'http://x/'"),
            (
                "HEAD",
                "http://x/",
                None,
                Content::Text("a"),
                "-X HEAD --ignore-content-length -H 'connection: close' 'http://x/' --data-raw 'a'",
            ),
            ("GET", "http://x/?a[0]=1", None, Content::Empty, "-g 'http://x/?a[0]=1'"),
            ("GET", "http://x/", Some(" "), Content::Empty, "'http://x/' -H 'x-empty;'"),
            (
                "POST",
                "http://x/",
                None,
                Content::Fields(&fields),
                "-X POST 'http://x/' --data-urlencode 'user+name=ada' \
                 --data-urlencode 'password='\"${PASSWORD}\"''",
            ),
        ] {
            let header = header.map(|value: &str| ("x-empty".to_owned(), value.to_owned()));
            let headers: Vec<_> = header.into_iter().collect();
            let shown = Shown { method, url, headers: &headers, body, follow: false };
            assert_eq!(command(&shown), format!("curl -sS -i {expected}"));
        }
    }
}
