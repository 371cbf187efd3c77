//! Where mail goes and who it is from: both or neither.

use mainstay_base::secret::MASK;
use mainstay_outbound::mail::{MailAddress, MailServer};
use mainstay_outbound::{MailConfig, mail};

use super::problem::{Problem, Reason};
use super::reader::{Reader, path};
use super::setting::{Fallback, Kind, Setting};

/// The server that takes the mail.
pub const SERVER: Setting = Setting {
    key: "mail.server",
    variables: &["MAINSTAY_MAIL_SERVER"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(masked),
    help: "Mail server: smtp://USER:PASSWORD@HOST:PORT or smtps://…; needs the sender too",
};

/// Who the mail is from.
pub const FROM: Setting = Setting {
    key: "mail.from",
    variables: &["MAINSTAY_MAIL_FROM"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Address that mail comes from, such as mainstay@example.com; needs the server too",
};

/// Whom to trust beside the public authorities.
pub const CA_FILE: Setting = Setting {
    key: "mail.ca_file",
    variables: &["MAINSTAY_MAIL_CA_FILE"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "PEM file with certificates to trust for the mail server, beside the public ones",
};

/// Reads the mail settings: the server and the sender, both or neither.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Option<MailConfig>> {
    let server = reader.optional(&SERVER, server);
    let from = reader.optional(&FROM, sender);
    let ca_file = reader.optional(&CA_FILE, path);
    let (server, from, ca_file) = (server?, from?, ca_file?);
    let missing = match (&server, &from, &ca_file) {
        (Some(_), None, _) => Some((&SERVER, &FROM)),
        (None, Some(_), _) => Some((&FROM, &SERVER)),
        (None, None, Some(_)) => Some((&CA_FILE, &SERVER)),
        _ => None,
    };
    if let Some((given, missing)) = missing {
        reader.problem(Problem::Incomplete { given: given.key, missing: missing.key });
        return None;
    }
    let Some((server, from)) = server.zip(from) else { return Some(None) };
    warn(reader, &server);
    Some(Some(MailConfig { ca_file, ..MailConfig::new(server, from) }))
}

fn warn(reader: &mut Reader<'_>, server: &MailServer) {
    if server.shows_password() {
        reader.warn(format!(
            "mail.server is {server}: its password and every mail go over the network in the \
             clear; use smtps:// or leave out tls=none"
        ));
    }
}

/// No reason repeats the text: it is a secret.
fn server(text: &str) -> Result<MailServer, Reason> {
    text.parse().map_err(|error: mail::ServerError| error.to_string().into())
}

fn sender(text: &str) -> Result<MailAddress, Reason> {
    let address = text.trim().parse();
    address.map_err(|_| "is not a mail address; give one such as mainstay@example.com".into())
}

/// The login is masked, and whatever can't be read for sure.
fn masked(text: &str) -> String {
    match server(text) {
        Ok(_) if !text.contains('@') => text.to_owned(),
        Ok(server) => server.to_string(),
        Err(_) => MASK.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{Loaded, load, print::print};
    use mainstay_outbound::mail::TlsPolicy;

    const SENDER: (&str, &str) = ("MAINSTAY_MAIL_FROM", "mainstay@example.com");

    fn loaded(variables: &[(&str, &str)], file: &str) -> Result<Loaded, String> {
        load(input(vec![], variables, file)).map_err(|error| error.to_string())
    }

    #[test]
    fn mail_is_set_by_the_environment_or_the_file() {
        let variables = [("MAINSTAY_MAIL_SERVER", "smtp://mail.example.com"), SENDER];
        let file = "[mail]\nserver = 'smtp://mail.example.com'\nfrom = 'mainstay@example.com'\n\
                    ca_file = 'ca.pem'";
        for (loaded, ca_file) in
            [(loaded(&variables, ""), None), (loaded(&[], file), Some("ca.pem".into()))]
        {
            let mail = loaded.unwrap().config.mail.unwrap();
            assert_eq!(mail.server.tls(), TlsPolicy::StartTls);
            assert_eq!(mail.from.to_string(), "mainstay@example.com");
            assert_eq!(mail.ca_file, ca_file);
        }
    }

    #[test]
    fn the_server_and_the_sender_come_together() {
        let server = ("MAINSTAY_MAIL_SERVER", "smtp://mail.example.com");
        for (given, told) in [
            (server, "mail.server is set but mail.from is not; set both or neither"),
            (SENDER, "mail.from is set but mail.server is not; set both or neither"),
            (
                ("MAINSTAY_MAIL_CA_FILE", "ca.pem"),
                "mail.ca_file is set but mail.server is not; set both or neither",
            ),
        ] {
            assert_eq!(loaded(&[given], "").unwrap_err(), told);
        }
    }

    #[test]
    fn what_is_wrong_is_told_without_the_password() {
        for (server, told) in [
            ("mail.example.com", "the value is not a mail server; give smtp://USER"),
            ("smtp://u:12/hunter2@h", "the value is not a mail server; give smtp://USER"),
            ("smtp://hunter2@h", "the value has a user without a password"),
            ("smtps://u:hunter2@h?tls=none", "the value has an option that there is not"),
        ] {
            let text = loaded(&[("MAINSTAY_MAIL_SERVER", server), SENDER], "").unwrap_err();
            let expected = format!("mail.server from MAINSTAY_MAIL_SERVER: {told}");
            assert!(text.starts_with(&expected), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        let server = ("MAINSTAY_MAIL_SERVER", "smtp://mail.example.com");
        for from in ["mainstay", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"] {
            let text = loaded(&[server, ("MAINSTAY_MAIL_FROM", from)], "").unwrap_err();
            assert!(text.contains("is not a mail address; give one such as"), "{text}");
        }
    }

    #[test]
    fn the_login_is_masked_wherever_the_server_is_shown() {
        for (text, shown) in [
            ("smtp://mail.example.com", "smtp://mail.example.com"),
            ("smtp://me:hunter2@mail.example.com", "smtp://[secret]@mail.example.com:587"),
            ("smtps://me:hun@ter2@h:1465", "smtps://[secret]@h:1465"),
            ("smtp://me:hunter2@localhost", "smtp://[secret]@localhost:25"),
        ] {
            let loaded = loaded(&[("MAINSTAY_MAIL_SERVER", text), SENDER], "").unwrap();
            let printed = print(&loaded.layers);
            assert!(printed.contains(&format!("mail.server = \"{shown}\"")), "{printed}");
            let debug = format!("{:?}", loaded.config);
            assert!(!debug.contains("hunter2") && !debug.contains("ter2@"), "{debug}");
        }
        assert_eq!(masked("smtp://u:12/hunter2@h"), MASK);
    }

    #[test]
    fn a_password_in_the_clear_is_warned_about() {
        let server = ("MAINSTAY_MAIL_SERVER", "smtp://me:hunter2@h?tls=none");
        let warnings = loaded(&[server, SENDER], "").unwrap().warnings;
        assert!(warnings[0].starts_with("mail.server is smtp://[secret]@h:25?tls=none"));
        let server = ("MAINSTAY_MAIL_SERVER", "smtp://me:hunter2@h");
        assert_eq!(loaded(&[server, SENDER], "").unwrap().warnings, Vec::<String>::new());
    }
}
