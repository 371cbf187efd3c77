//! The options after the `?` of a PostgreSQL address. The driver ignores those it does not know
//! and logs their values, so that a slip of the pen would show a password.

use std::net::IpAddr;

use url::Url;

use super::nearest::nearest;
use super::problem::Reason;

/// What the driver knows.
const OPTIONS: [&str; 18] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// What `sslmode` can be.
const SSL_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// Refuses what the driver does not understand, without repeating a value.
pub(super) fn check_options(url: &Url) -> Result<(), Reason> {
    url.query_pairs().try_for_each(|(key, value)| check(&key, &value))
}

fn check(key: &str, value: &str) -> Result<(), Reason> {
    let wanted = match key {
        "sslmode" | "ssl-mode" if !is_ssl_mode(value) => {
            format!("one of {}", SSL_MODES.join(", "))
        }
        "port" if value.parse::<u16>().is_err() => "a number from 0 to 65535".to_owned(),
        "hostaddr" if value.parse::<IpAddr>().is_err() => "an IP address".to_owned(),
        "statement-cache-capacity" if value.parse::<usize>().is_err() => "a number".to_owned(),
        _ if is_known(key) => return Ok(()),
        _ => return Err(unknown(key)),
    };
    Err(format!("has an option {key} that is wrong; give {wanted}").into())
}

fn is_ssl_mode(value: &str) -> bool {
    SSL_MODES.contains(&value.to_ascii_lowercase().as_str())
}

fn is_known(key: &str) -> bool {
    OPTIONS.contains(&key) || (key.starts_with("options[") && key.ends_with(']'))
}

/// A name that is close to no other may be a piece of a password with a bare `?`.
fn unknown(key: &str) -> Reason {
    match nearest(key, OPTIONS) {
        Some(name) => {
            format!("has an unknown option \"{}\"; did you mean {name}?", key.escape_debug())
        }
        None => format!("has an unknown option after \"?\"; there are {}", OPTIONS.join(", ")),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(query: &str) -> Result<(), String> {
        let url = Url::parse(&format!("postgres://me@db/main?{query}")).unwrap();
        check_options(&url).map_err(|reason| reason.to_string())
    }

    #[test]
    fn what_the_driver_knows_is_taken() {
        for query in [
            "",
            "sslmode=verify-full&sslrootcert=/ca.pem",
            "sslmode=REQUIRE",
            "ssl-mode=disable&ssl-key=k&ssl-cert=c",
            "host=/run/postgresql&port=5433&user=me&password=hunter2&dbname=d",
            "hostaddr=::1&application_name=m&statement-cache-capacity=7",
            "options=-c%20a%3Db&options[search_path]=x",
        ] {
            assert_eq!(checked(query), Ok(()), "{query}");
        }
    }

    #[test]
    fn what_it_does_not_know_is_refused_without_its_value() {
        for (query, part) in [
            ("pasword=hunter2", "\"pasword\"; did you mean password?"),
            ("sslmod=hunter2", "did you mean sslmode?"),
            ("zzhunter2=1", "has an unknown option after \"?\"; there are application_name,"),
            ("options[hunter2=1", "has an unknown option after \"?\""),
            ("sslmode=hunter2", "option sslmode that is wrong; give one of disable, allow,"),
            ("ssl-mode=", "option ssl-mode that is wrong"),
            ("port=hunter2", "option port that is wrong; give a number"),
            ("hostaddr=hunter2", "option hostaddr that is wrong; give an IP address"),
            ("statement-cache-capacity=hunter2", "that is wrong; give a number"),
        ] {
            let reason = checked(query).unwrap_err();
            assert!(reason.contains(part), "{reason}");
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }
}
