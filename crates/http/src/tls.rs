//! TLS from two PEM files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{InconsistentKeys, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::protocol::Spoken;

/// Bytes of a PEM file; a long chain has some ten thousand.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// The protocols offered to a client, the better one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A certificate and its key, ready for connections.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tls")
    }
}

/// Why the files cannot serve for TLS. What stands in a key file is never repeated.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}; name a PEM file that this user may read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The certificate's file holds none.
    #[error("{path} holds no certificate; --tls-cert needs a PEM file with BEGIN CERTIFICATE")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The key's file holds none.
    #[error(
        "{path} holds no private key that can be used; --tls-key needs a PEM file with an \
         unencrypted BEGIN PRIVATE KEY"
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The key belongs to another certificate.
    #[error(
        "the key in {key} does not belong to the first certificate in {certificate}; give the pair \
         that was issued together, the server's own certificate first"
    )]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// The pair cannot be used for another reason.
    #[error("cannot use {certificate} for TLS: {source}; issue the certificate anew")]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// Why.
        source: rustls::Error,
    },
}

impl Tls {
    /// Reads a chain of certificates, the server's own first, and its key.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = read_chain(certificate)?;
        let private = read_key(key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unusable = |source| TlsError::Unusable { certificate: certificate.into(), source };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                    TlsError::Mismatch { certificate: certificate.into(), key: key.into() }
                }
                error => unusable(error),
            })?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }

    /// What the client and we agreed to speak.
    pub(crate) fn spoken(stream: &TlsStream<TcpStream>) -> Spoken {
        match stream.get_ref().1.alpn_protocol() {
            Some(b"http/1.1") => Spoken::Http1,
            _ => Spoken::Either,
        }
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let none = || TlsError::NoCertificate { path: path.into() };
    let pem = read(path)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let chain = chain.map_err(|_| none())?;
    if chain.is_empty() { Err(none()) } else { Ok(chain) }
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|_| TlsError::NoKey { path: path.into() })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_PEM_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|source| TlsError::Unreadable { path: path.into(), source })
}
