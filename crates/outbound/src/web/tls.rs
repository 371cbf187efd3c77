//! Encryption: whom to trust, and what a handshake that failed says.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::error::{FetchError, FetchErrorKind, WebError};
use super::target::Origin;
use crate::authority::{self, AuthorityError};

/// The most servers whose sessions are remembered, so that the next handshake is short.
const MAX_SESSIONS: usize = 1_024;

/// What every encrypted connection is made with.
pub(crate) fn connector(ca_file: Option<&Path>) -> Result<TlsConnector, WebError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| WebError::Tls(error.to_string()))?
        .with_root_certificates(roots(ca_file)?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::in_memory_sessions(MAX_SESSIONS);
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Whom the certificate of an origin must name.
pub(crate) fn server_name(origin: &Origin) -> Result<ServerName<'static>, FetchError> {
    match origin.address {
        Some(address) => Ok(ServerName::IpAddress(address.into())),
        None => ServerName::try_from(origin.host.to_string()).map_err(|_| {
            tls("the host name is none that a certificate could name; check its spelling")
        }),
    }
}

/// What a handshake that failed says to a person.
pub(crate) fn handshake_error(error: &io::Error) -> FetchError {
    match rustls_error(error) {
        Some(error) => tls(sentence(error)),
        None => tls(
            "the server ended the connection during the TLS handshake; check that the port speaks TLS",
        ),
    }
}

/// The error of TLS that is behind an error of the connection.
pub(crate) fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

pub(crate) fn sentence(error: &rustls::Error) -> &'static str {
    use rustls::Error as E;
    match error {
        E::InvalidCertificate(why) => certificate(why),
        E::NoCertificatesPresented => "the server shows no certificate; configure one there",
        E::InvalidMessage(_) | E::InappropriateMessage { .. } => {
            "the server does not speak TLS there; check the port, or use http"
        }
        E::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server asks for a certificate of the client, and Mainstay has none to show"
        }
        E::AlertReceived(AlertDescription::UnrecognisedName) => {
            "the server does not know the host name; check its spelling and the server's TLS set-up"
        }
        E::PeerIncompatible(_)
        | E::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        ) => {
            "the server and Mainstay have no TLS version or cipher in common; the server needs TLS 1.2 or newer"
        }
        E::NoApplicationProtocol | E::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "the server does not speak HTTP/1.1 over TLS there; enable it"
        }
        _ => "the TLS handshake failed; check the server's TLS set-up",
    }
}

fn certificate(why: &CertificateError) -> &'static str {
    use CertificateError as C;
    match why {
        C::Expired | C::ExpiredContext { .. } => {
            "the server's certificate has expired; renew it, or check the clock of this host"
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; check the clocks of the server and of this host"
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => {
            "the server's certificate is for another name; use a name that it lists, or renew it with this one"
        }
        C::UnknownIssuer => {
            "the server's certificate was issued by nobody that Mainstay trusts; add the issuer to outbound.ca_file"
        }
        C::Revoked => "the server's certificate was revoked; renew it",
        C::BadSignature => {
            "the server's certificate is not signed by the issuer that it names; renew it, or check outbound.ca_file"
        }
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => {
            "the server's certificate is not meant for servers; issue one that is"
        }
        _ => {
            "the server's certificate can't be trusted; issue one for a server, by an authority that outbound.ca_file lists"
        }
    }
}

fn tls(message: &'static str) -> FetchError {
    FetchError::new(FetchErrorKind::Tls, message)
}

/// The system's authorities, or the public ones where the system has none, and the operator's own.
fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, WebError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    let (trusted, _) = roots.add_parsable_certificates(system.certs);
    if trusted == 0 {
        tracing::info!(event = "tls", "the system trusts no authority: using the public ones");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if let Some(path) = ca_file {
        let unusable = || WebError::NoCertificate { path: path.to_owned() };
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|_| unusable())?;
        }
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, WebError> {
    authority::certificates(path).map_err(|error| match error {
        AuthorityError::Unreadable(source) => WebError::CaFile { path: path.to_owned(), source },
        AuthorityError::NoCertificate => WebError::NoCertificate { path: path.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> String {
        connector(Some(path)).err().expect("it is refused").to_string()
    }

    #[test]
    fn a_file_without_certificates_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let told = refused(&folder.path().join("absent.pem"));
        assert!(told.contains("absent.pem can't be read"), "{told}");
        let path = folder.path().join("ca.pem");
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
        {
            std::fs::write(&path, text).unwrap();
            let told = refused(&path);
            assert!(told.contains("ca.pem holds no certificate"), "{told}");
        }
        std::fs::write(&path, vec![b'x'; 2 * 1024 * 1024]).unwrap();
        assert!(refused(&path).contains("larger than 1048576 bytes"), "{}", refused(&path));
    }

    #[test]
    fn without_a_file_the_system_is_trusted() {
        assert!(connector(None).is_ok());
        assert!(roots(None).unwrap().len() > 10);
    }
}
