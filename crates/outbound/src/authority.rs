//! Certificates of authorities, from a file that the operator names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The largest file with certificates.
const MAX_FILE: u64 = 1024 * 1024;

/// Why a file gives no certificates.
#[derive(Debug)]
pub(crate) enum AuthorityError {
    /// It can't be read.
    Unreadable(io::Error),
    /// It holds none.
    NoCertificate,
}

/// The certificates of a file in PEM form, at least one.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AuthorityError> {
    let text = read(path).map_err(AuthorityError::Unreadable)?;
    match CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>() {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(AuthorityError::NoCertificate),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = File::open(path)?.take(MAX_FILE.saturating_add(1)).read_to_end(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_FILE) {
        Ok(text)
    } else {
        Err(io::Error::other(format!("it is larger than {MAX_FILE} bytes")))
    }
}
