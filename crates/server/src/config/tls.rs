//! The certificate, where Mainstay speaks TLS itself.

use std::path::PathBuf;

use super::problem::Problem;
use super::reader::{Reader, path};
use super::setting::{Fallback, Kind, Setting};

/// The certificate chain.
pub const CERT: Setting = Setting {
    key: "tls.cert",
    variables: &["MAINSTAY_TLS_CERT"],
    flag: Some("--tls-cert"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "PEM file with the certificate chain; needs the key too",
};

/// The private key.
pub const KEY: Setting = Setting {
    key: "tls.key",
    variables: &["MAINSTAY_TLS_KEY"],
    flag: Some("--tls-key"),
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "PEM file with the private key of the certificate",
};

/// The files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Reads the TLS settings: both or neither.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Option<TlsFiles>> {
    let cert = reader.optional(&CERT, path);
    let key = reader.optional(&KEY, path);
    match (cert?, key?) {
        (Some(cert), Some(key)) => Some(Some(TlsFiles { cert, key })),
        (None, None) => Some(None),
        (Some(_), None) => incomplete(reader, &CERT, &KEY),
        (None, Some(_)) => incomplete(reader, &KEY, &CERT),
    }
}

fn incomplete<T>(reader: &mut Reader<'_>, given: &Setting, missing: &Setting) -> Option<T> {
    reader.problem(Problem::Incomplete { given: given.key, missing: missing.key });
    None
}
