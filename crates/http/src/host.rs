//! Which hosts a request may name.
//!
//! When Mainstay is alone on a machine, a page of any site could reach it through a name that its
//! owner points at 127.0.0.1 (DNS rebinding). So then only loopback names are answered.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Version, header};

use crate::code::Code;
use crate::error::{Error, echo};

/// Refuses a request whose host is missing, doubled, unreadable, or foreign when `alone`.
pub(crate) fn check(request: &Request, alone: bool) -> Result<(), Error> {
    let mut values = request.headers().get_all(header::HOST).iter();
    let named = values.next();
    if values.next().is_some() {
        return Err(invalid("Host is there more than once. Send it once."));
    }
    let target = request.uri().authority();
    let host = match (target, named) {
        (None, None) if request.version() <= Version::HTTP_10 => return Ok(()),
        (None, None) => return Err(invalid("Host is missing. Send it.")),
        (None, Some(named)) => {
            if !alone {
                return Ok(());
            }
            &read(named)?
        }
        (Some(target), None) => target,
        (Some(target), Some(named)) => {
            if !named.as_bytes().eq_ignore_ascii_case(target.as_str().as_bytes()) {
                return Err(invalid("Host and the request's target differ. Send one host."));
            }
            target
        }
    };
    if alone && !is_loopback(host) { Err(unknown(host)) } else { Ok(()) }
}

fn read(named: &HeaderValue) -> Result<Authority, Error> {
    Authority::try_from(named.as_bytes())
        .map_err(|_| invalid("Host is not readable. Send it as NAME or NAME:PORT."))
}

/// `localhost`, names below it, 127.0.0.0/8 and `[::1]`, with any port and without a user.
fn is_loopback(authority: &Authority) -> bool {
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return address.is_loopback();
    }
    let (last, below) =
        host.rsplit_once('.').map_or((host, None), |(rest, last)| (last, Some(rest)));
    last.eq_ignore_ascii_case("localhost") && below.is_none_or(|below| !below.is_empty())
}

fn invalid(detail: &'static str) -> Error {
    Error::new(Code::InvalidHost, detail)
}

fn unknown(host: &Authority) -> Error {
    let detail = format!(
        "This Mainstay answers only to loopback names such as localhost, not to `{}`. To serve \
         others, start it with --public-url.",
        echo(host.as_str())
    );
    Error::new(Code::UnknownHost, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(target: &str, hosts: &[&[u8]], version: Version) -> Request {
        let mut request = Request::builder().uri(target).version(version);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn when_alone_only_loopback_names_are_known() {
        for (host, known) in [
            ("localhost", true),
            ("localhost:7373", true),
            ("LocalHost:1", true),
            ("a.localhost", true),
            ("a.b.localhost:80", true),
            ("127.0.0.1", true),
            ("127.0.0.1:7373", true),
            ("127.255.3.4:1", true),
            ("[::1]", true),
            ("[::1]:7373", true),
            ("[0:0:0:0:0:0:0:1]:7373", true),
            ("example.com", false),
            ("localhost.example.com", false),
            (".localhost", false),
            ("notlocalhost", false),
            ("127.0.0.1.example.com", false),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
            ("[::]", false),
            ("[::ffff:127.0.0.1]", false),
            ("192.168.1.4:7373", false),
            ("user@localhost", false),
        ] {
            let given = request("/", &[host.as_bytes()], Version::HTTP_11);
            let code = check(&given, true).err().map(|error| error.code());
            assert_eq!(code, (!known).then_some(Code::UnknownHost), "{host}");
            assert!(check(&given, false).is_ok(), "{host}");
        }
    }

    #[test]
    fn a_host_must_be_there_once_and_agree_with_the_target() {
        type Hosts<'a> = &'a [&'a [u8]];
        let cases: [(&str, Hosts<'_>, Version, bool); 8] = [
            ("/", &[], Version::HTTP_11, false),
            ("/", &[], Version::HTTP_10, true),
            ("/", &[b"localhost", b"localhost"], Version::HTTP_11, false),
            ("/", &[b"\xff\xfe"], Version::HTTP_11, false),
            ("http://localhost:1/", &[], Version::HTTP_2, true),
            ("http://localhost:1/", &[b"localhost:1"], Version::HTTP_2, true),
            ("http://localhost:1/", &[b"evil.example"], Version::HTTP_11, false),
            ("/", &[], Version::HTTP_2, false),
        ];
        for (target, hosts, version, fine) in cases {
            let result = check(&request(target, hosts, version), true);
            let code = result.err().map(|error| error.code());
            assert_eq!(code, (!fine).then_some(Code::InvalidHost), "{target} {hosts:?}");
        }
    }
}
