//! Which Mainstay a command talks to, and as whom.

use std::path::PathBuf;

use mainstay_base::Secret;
use url::{Host, Url};

use super::problem::{Origin, Reason};
use super::reader::{Reader, boolean, path};
use super::setting::{Fallback, Kind, Setting, hidden};

/// What every key here begins with: no server goes by them.
pub(super) const SECTION: &str = "client.";

/// Authorities beside the system's.
pub const CA_FILE: Setting = Setting {
    key: "client.ca_file",
    variables: &["MAINSTAY_CA_FILE"],
    flag: Some("--ca-file"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "PEM file with certificate authorities to trust beside the system's when talking to the server",
};

/// Whether the token may travel readable.
pub const INSECURE: Setting = Setting {
    key: "client.insecure",
    variables: &["MAINSTAY_INSECURE"],
    flag: Some("--insecure"),
    kind: Kind::Boolean,
    fallback: Fallback::Fixed("false"),
    mask: None,
    help: "Talk to a server on another machine by http, with the API token readable on the way",
};

/// The server.
pub const SERVER: Setting = Setting {
    key: "client.server",
    variables: &["MAINSTAY_SERVER"],
    flag: Some("--server"),
    kind: Kind::Text,
    fallback: Fallback::Fixed("http://127.0.0.1:7373"),
    mask: None,
    help: "Address of the Mainstay that a command talks to",
};

/// The API token itself.
pub const TOKEN: Setting = Setting {
    key: "client.token",
    variables: &["MAINSTAY_TOKEN"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "API token that a command talks with",
};

/// The file with the API token.
pub const TOKEN_FILE: Setting = Setting {
    key: "client.token_file",
    variables: &["MAINSTAY_TOKEN_FILE"],
    flag: Some("--token-file"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "File with the API token that a command talks with",
};

/// Which Mainstay a command talks to, and as whom.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The server: scheme, host and port.
    pub server: Url,
    /// Where the API token is.
    pub token: Option<Token>,
    /// Authorities beside the system's.
    pub ca_file: Option<PathBuf>,
}

/// Where an API token is.
#[derive(Debug, Clone)]
pub enum Token {
    /// Here.
    Given(Secret<String>),
    /// In this file.
    File(PathBuf),
}

/// Reads whom to talk to.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<ClientConfig> {
    let insecure = reader.required(&INSECURE, boolean);
    let server = reader.required(&SERVER, |text| server(text, insecure.unwrap_or(true)));
    let given =
        reader.optional(&TOKEN, |text| Ok(Token::Given(Secret::new(text.trim().to_owned()))));
    let file = reader.optional(&TOKEN_FILE, |text| path(text).map(Token::File));
    let ca_file = reader.optional(&CA_FILE, path);
    let rank = |setting| reader.raw(setting).map(|value| rank(&value.origin));
    // Of two in one place, the file is the one that a person names by hand.
    let prefers_given = rank(&TOKEN).zip(rank(&TOKEN_FILE)).is_some_and(|(one, other)| one < other);
    let (given, file, _) = (given?, file?, insecure?);
    let token = if prefers_given { given.or(file) } else { file.or(given) };
    Some(ClientConfig { server: server?, token, ca_file: ca_file? })
}

/// Flags over the environment over the file.
const fn rank(origin: &Origin) -> u8 {
    match origin {
        Origin::Flag(_) => 0,
        Origin::Variable(_) => 1,
        Origin::File { .. } => 2,
        Origin::Default => 3,
    }
}

fn server(text: &str, insecure: bool) -> Result<Url, Reason> {
    let wrong = || Reason::from("is not an address; write it like https://mainstay.example.com");
    let url = Url::parse(text.trim()).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a name or a password; give an API token instead".into());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("has a path; give scheme, host and port only".into());
    }
    if url.scheme() == "http" && !insecure && !is_this_machine(&url) {
        return Err(
            "is on another machine, where the API token would be readable on the way; use \
                    https, or say --insecure"
                .into(),
        );
    }
    Ok(url)
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{Flags, load_client};

    fn client(
        flags: Flags,
        variables: &[(&str, &str)],
        file: &str,
    ) -> Result<ClientConfig, String> {
        load_client(input(flags, variables, file)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_is_scheme_host_and_port() {
        let url = |text: &str| {
            client(vec![], &[("MAINSTAY_SERVER", text)], "").map(|client| client.server.to_string())
        };
        assert_eq!(client(vec![], &[], "").unwrap().server.as_str(), "http://127.0.0.1:7373/");
        assert_eq!(url("https://Mainstay.example.com").unwrap(), "https://mainstay.example.com/");
        for (text, says) in [
            ("mainstay.example.com", "is not an address"),
            ("ftp://a.example", "is not an address"),
            ("https://a.example/mainstay", "has a path"),
            ("https://a.example/?x", "has a path"),
            ("https://u:hunter2@a.example", "API token"),
        ] {
            let told = url(text).unwrap_err();
            assert!(told.contains(says) && told.contains("MAINSTAY_SERVER"), "{told}");
        }
    }

    #[test]
    fn a_token_never_travels_readable_unless_somebody_says_so() {
        for (text, is_accepted) in [
            ("http://mainstay.example.com", false),
            ("http://10.0.0.7:7373", false),
            ("http://[fd00::7]:7373", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1:7373", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:7373", true),
            ("http://LOCALHOST:7373", true),
            ("https://mainstay.example.com", true),
        ] {
            let server = ("MAINSTAY_SERVER", text);
            let told = client(vec![], &[server], "").err();
            assert_eq!(told.is_none(), is_accepted, "{text}: {told:?}");
            let says = "use https, or say --insecure";
            assert!(told.is_none_or(|told| told.contains(says)), "{text}");
            let flags: Flags = vec![(&INSECURE, "true".to_owned())];
            assert!(client(flags, &[server], "").is_ok());
        }
        let told = client(vec![], &[("MAINSTAY_INSECURE", "perhaps")], "").unwrap_err();
        assert!(told.contains("MAINSTAY_INSECURE"), "{told}");
    }

    #[test]
    fn the_nearest_token_counts_and_is_never_shown() {
        let shown = |flags: Flags, variables: &[(&str, &str)], file: &str| {
            let client = client(flags, variables, file).unwrap();
            assert!(!format!("{client:?}").contains("hunter2"));
            match client.token {
                Some(Token::Given(token)) => token.expose().clone(),
                Some(Token::File(path)) => path.display().to_string(),
                None => String::new(),
            }
        };
        let token = ("MAINSTAY_TOKEN", "mst_hunter2");
        let file = ("MAINSTAY_TOKEN_FILE", "a.txt");
        let toml = "[client]\ntoken_file = \"b.txt\"";
        assert_eq!(shown(vec![], &[], ""), "");
        assert_eq!(shown(vec![], &[token], ""), "mst_hunter2");
        assert_eq!(shown(vec![], &[token], toml), "mst_hunter2");
        assert_eq!(shown(vec![], &[token, file], toml), "a.txt");
        let flags: Flags = vec![(&TOKEN_FILE, "c.txt".to_owned())];
        assert_eq!(shown(flags, &[token, file], toml), "c.txt");
    }

    #[test]
    fn a_slip_elsewhere_is_told_too() {
        let told = client(vec![], &[("MAINSTAY_SERVR", "x")], "").unwrap_err();
        assert!(told.contains("did you mean MAINSTAY_SERVER?"), "{told}");
    }
}
