//! The mail server's address: `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use mainstay_base::Secret;
use mainstay_base::secret::MASK;
use percent_encoding::percent_decode_str;
use url::Url;

/// The longest user name and the longest password, in characters.
pub const MAX_CREDENTIAL: usize = 500;

/// The longest host name.
pub const MAX_HOST: usize = 253;

/// Where servers take mail under TLS from the first byte.
const IMPLICIT_PORT: u16 = 465;

/// Where servers take mail that begins TLS by a command.
const START_TLS_PORT: u16 = 587;

/// Where servers take mail without TLS.
const PLAIN_PORT: u16 = 25;

/// Which server takes the mail, and how it is spoken to.
#[derive(Clone, PartialEq, Eq)]
pub struct MailServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: TlsPolicy,
    pub(crate) login: Option<Login>,
}

/// When the conversation with the server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsPolicy {
    /// From the first byte.
    Implicit,
    /// By the STARTTLS command, before anything is said. Where the server does not offer it,
    /// nothing is sent.
    StartTls,
    /// Never.
    Never,
}

/// Who sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Secret<String>,
}

/// An address that names no mail server. It does not repeat the text: that holds a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Not in the form of an address.
    #[error(
        "is not a mail server; give smtp://USER:PASSWORD@HOST:PORT or smtps://… and write special \
         characters of the password as %XX"
    )]
    NotAServer,
    /// A user without a password, or the reverse.
    #[error("has a user without a password or a password without a user; give both or neither")]
    HalfALogin,
    /// An option that there is not.
    #[error(
        "has an option that there is not; there are ?tls=starttls and ?tls=none, for smtp:// only"
    )]
    Option,
}

impl MailServer {
    /// When the conversation is encrypted.
    #[must_use]
    pub fn tls(&self) -> TlsPolicy {
        self.tls
    }

    /// Whether a password goes over a network that others may read.
    #[must_use]
    pub fn shows_password(&self) -> bool {
        self.tls == TlsPolicy::Never && self.login.is_some() && !is_loopback(&self.host)
    }
}

impl FromStr for MailServer {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let url = Url::parse(text.trim()).map_err(|_| ServerError::NotAServer)?;
        // A password with a bare `/`, `?` or `#` reads as a path, an option or a fragment.
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(ServerError::NotAServer);
        }
        let host = host(&url).ok_or(ServerError::NotAServer)?;
        let tls = policy(&url, &host)?;
        let port = url.port().unwrap_or(tls.port());
        if port == 0 {
            return Err(ServerError::NotAServer);
        }
        Ok(Self { host, port, tls, login: login(&url)? })
    }
}

impl TlsPolicy {
    const fn port(self) -> u16 {
        match self {
            Self::Implicit => IMPLICIT_PORT,
            Self::StartTls => START_TLS_PORT,
            Self::Never => PLAIN_PORT,
        }
    }
}

/// The address with its password masked: for logs and `--print-config`. It is read back as the same
/// server.
impl fmt::Display for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls == TlsPolicy::Implicit { "smtps" } else { "smtp" };
        let login = if self.login.is_some() { format!("{MASK}@") } else { String::new() };
        let host = match self.host.parse() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => self.host.clone(),
        };
        let tls = match (self.tls, is_loopback(&self.host)) {
            (TlsPolicy::Never, false) => "?tls=none",
            (TlsPolicy::StartTls, true) => "?tls=starttls",
            _ => "",
        };
        write!(formatter, "{scheme}://{login}{host}:{}{tls}", self.port)
    }
}

impl fmt::Debug for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MailServer({self})")
    }
}

fn host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let is_name = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '.' | '_' | ':');
    let fits = !host.is_empty() && host.len() <= MAX_HOST && host.chars().all(is_name);
    fits.then(|| host.to_ascii_lowercase())
}

/// What stays on this machine needs no TLS, and has no certificate for it as a rule.
fn policy(url: &Url, host: &str) -> Result<TlsPolicy, ServerError> {
    let options: Vec<_> = url.query_pairs().collect();
    let option = match options.as_slice() {
        [] => None,
        [(key, value)] if key == "tls" => Some(value.as_ref()),
        _ => return Err(ServerError::Option),
    };
    match (url.scheme(), option) {
        ("smtps", None) => Ok(TlsPolicy::Implicit),
        ("smtp", Some("starttls")) => Ok(TlsPolicy::StartTls),
        ("smtp", Some("none")) => Ok(TlsPolicy::Never),
        ("smtp", None) if is_loopback(host) => Ok(TlsPolicy::Never),
        ("smtp", None) => Ok(TlsPolicy::StartTls),
        ("smtp" | "smtps", Some(_)) => Err(ServerError::Option),
        _ => Err(ServerError::NotAServer),
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

fn login(url: &Url) -> Result<Option<Login>, ServerError> {
    match (url.username(), url.password().unwrap_or_default()) {
        ("", "") => Ok(None),
        ("", _) | (_, "") => Err(ServerError::HalfALogin),
        (user, password) => {
            let password = Secret::new(credential(password)?);
            Ok(Some(Login { user: credential(user)?, password }))
        }
    }
}

/// A NUL would end a part of the login, a line break the command.
fn credential(text: &str) -> Result<String, ServerError> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| ServerError::NotAServer)?;
    let fits = decoded.chars().nth(MAX_CREDENTIAL).is_none();
    let is_clean = !decoded.chars().any(char::is_control);
    if fits && is_clean { Ok(decoded.into_owned()) } else { Err(ServerError::NotAServer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TlsPolicy::{Implicit, Never, StartTls};

    fn parsed(text: &str) -> MailServer {
        text.parse().unwrap_or_else(|error| panic!("{text} {error}"))
    }

    #[test]
    fn host_port_and_encryption_come_from_the_address() {
        for (text, host, port, tls) in [
            ("smtp://mail.example.com", "mail.example.com", 587, StartTls),
            ("smtp://Mail.Example.com:2525/", "mail.example.com", 2525, StartTls),
            ("smtp://mail.example.com?tls=none", "mail.example.com", 25, Never),
            ("smtp://mail.example.com:26/?tls=starttls", "mail.example.com", 26, StartTls),
            ("smtps://mail.example.com", "mail.example.com", 465, Implicit),
            ("smtps://localhost:1465", "localhost", 1465, Implicit),
            ("smtp://localhost", "localhost", 25, Never),
            ("smtp://127.0.0.1:1025", "127.0.0.1", 1025, Never),
            ("smtp://127.8.9.1", "127.8.9.1", 25, Never),
            ("smtp://[::1]:1025", "::1", 1025, Never),
            ("smtp://localhost?tls=starttls", "localhost", 587, StartTls),
            ("smtp://10.0.0.5", "10.0.0.5", 587, StartTls),
            ("smtp://localhost.example.com", "localhost.example.com", 587, StartTls),
            (" smtp://mail.example.com ", "mail.example.com", 587, StartTls),
        ] {
            let server = parsed(text);
            assert_eq!((server.host.as_str(), server.port, server.tls()), (host, port, tls));
            assert_eq!(server.login, None);
            assert_eq!(parsed(&server.to_string()), server, "{server}");
        }
    }

    #[test]
    fn the_login_is_decoded_and_never_shown() {
        for (text, user, password, shown) in [
            ("smtp://me:hunter2@h", "me", "hunter2", "smtp://[secret]@h:587"),
            (
                "smtps://me%40example.com:hunter2%2F%3A%40@h",
                "me@example.com",
                "hunter2/:@",
                "smtps://[secret]@h:465",
            ),
            ("smtp://me:hun@ter2@h:26", "me", "hun@ter2", "smtp://[secret]@h:26"),
            ("smtp://me:h%C3%BCnter2@[::1]", "me", "hünter2", "smtp://[secret]@[::1]:25"),
        ] {
            let server = parsed(text);
            let login = server.login.clone().unwrap();
            assert_eq!((login.user.as_str(), login.password.expose().as_str()), (user, password));
            assert_eq!(server.to_string(), shown);
            let debug = format!("{server:?} {login:?}");
            assert!(!debug.contains("unter2") && !debug.contains("ter2@"), "{debug}");
        }
    }

    #[test]
    fn what_is_no_mail_server_is_refused_without_repeating_it() {
        use ServerError::{HalfALogin, NotAServer, Option};
        for (text, expected) in [
            ("", NotAServer),
            ("mail.example.com", NotAServer),
            ("mail.example.com:587", NotAServer),
            ("http://u:hunter2@h", NotAServer),
            ("smtp:u:hunter2@h", NotAServer),
            ("smtp://", NotAServer),
            ("smtp:///x", NotAServer),
            ("smtp://h:0", NotAServer),
            ("smtp://h:99999", NotAServer),
            ("smtp://h/path", NotAServer),
            ("smtp://u:12/hunter2@h", NotAServer),
            ("smtp://u:12#hunter2@h", NotAServer),
            ("smtp://u:12?hunter2@h", Option),
            ("smtp://u:hunter2/x@h", NotAServer),
            ("smtp://h%0d%0aQUIT", NotAServer),
            ("smtp://bücher.example", NotAServer),
            ("smtp://u:hunter2%0d%0aQUIT@h", NotAServer),
            ("smtp://u:hunter2%00@h", NotAServer),
            ("smtp://u:hunter2%ff@h", NotAServer),
            ("smtp://u@h", HalfALogin),
            ("smtp://u:@h", HalfALogin),
            ("smtp://:hunter2@h", HalfALogin),
            ("smtp://h?tls=maybe", Option),
            ("smtp://h?tls=none&tls=none", Option),
            ("smtp://h?tsl=none", Option),
            ("smtps://h?tls=none", Option),
            ("smtps://h?tls=starttls", Option),
        ] {
            let refused = text.parse::<MailServer>().expect_err(text);
            assert_eq!(refused, expected, "{text}");
            assert!(!refused.to_string().contains("hunter2"), "{refused}");
        }
        for long in ["x".repeat(MAX_HOST + 1), format!("u:{}@h", "p".repeat(MAX_CREDENTIAL + 1))] {
            assert_eq!(format!("smtp://{long}").parse::<MailServer>(), Err(NotAServer));
        }
    }

    #[test]
    fn a_password_in_the_clear_is_known() {
        for (text, shows) in [
            ("smtp://u:p@h?tls=none", true),
            ("smtp://h?tls=none", false),
            ("smtp://u:p@h", false),
            ("smtps://u:p@h", false),
            ("smtp://u:p@localhost", false),
        ] {
            assert_eq!(parsed(text).shows_password(), shows, "{text}");
        }
    }
}
