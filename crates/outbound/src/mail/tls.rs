//! Whom to trust: the public authorities that the binary brings along, so that no package of the
//! system is needed and every machine trusts the same, and those of `mail.ca_file`.

use std::path::Path;
use std::sync::Arc;

use lettre::transport::smtp::client::{Certificate, TlsParameters};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::config::MailConfig;
use super::error::StartError;
use super::server::TlsPolicy;
use crate::authority::{self, AuthorityError};

/// How a conversation is encrypted, with all that it takes.
pub(crate) enum Encryption {
    /// From the first byte.
    Implicit {
        /// Begins it.
        connector: TlsConnector,
        /// Whom the certificate must name.
        name: ServerName<'static>,
    },
    /// By STARTTLS.
    StartTls(TlsParameters),
    /// Not at all.
    Never,
}

impl Encryption {
    /// Reads the certificates and prepares what the server's policy asks for.
    pub(crate) fn prepare(config: &MailConfig) -> Result<Self, StartError> {
        let extra = config.ca_file.as_deref().map_or_else(|| Ok(vec![]), certificates)?;
        let host = &config.server.host;
        match config.server.tls {
            TlsPolicy::Never => Ok(Self::Never),
            TlsPolicy::Implicit => implicit(host, extra),
            TlsPolicy::StartTls => start_tls(host, extra),
        }
    }
}

fn implicit(host: &str, extra: Vec<CertificateDer<'static>>) -> Result<Encryption, StartError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for certificate in extra {
        roots.add(certificate).map_err(|error| StartError::Tls(error.to_string()))?;
    }
    let config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| StartError::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| StartError::Tls(error.to_string()))?;
    Ok(Encryption::Implicit { connector: TlsConnector::from(Arc::new(config)), name })
}

fn start_tls(host: &str, extra: Vec<CertificateDer<'static>>) -> Result<Encryption, StartError> {
    let wrong = |error: lettre::transport::smtp::Error| StartError::Tls(error.to_string());
    let mut builder = TlsParameters::builder(host.to_owned());
    for certificate in extra {
        let certificate = Certificate::from_der(certificate.to_vec()).map_err(wrong)?;
        builder = builder.add_root_certificate(certificate);
    }
    builder.build_rustls().map(Encryption::StartTls).map_err(wrong)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    authority::certificates(path).map_err(|error| match error {
        AuthorityError::Unreadable(source) => StartError::CaFile { path: path.to_owned(), source },
        AuthorityError::NoCertificate => StartError::NoCertificate { path: path.to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(server: &str, ca_file: Option<&Path>) -> Result<Encryption, StartError> {
        let from = "mainstay@example.org".parse().unwrap();
        let mut config = MailConfig::new(server.parse().unwrap(), from);
        config.ca_file = ca_file.map(Path::to_owned);
        Encryption::prepare(&config)
    }

    #[test]
    fn each_policy_has_its_encryption() {
        assert!(matches!(prepared("smtps://h", None), Ok(Encryption::Implicit { .. })));
        assert!(matches!(prepared("smtp://h", None), Ok(Encryption::StartTls(_))));
        assert!(matches!(prepared("smtp://h?tls=none", None), Ok(Encryption::Never)));
    }

    #[test]
    fn a_file_without_certificates_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent.pem");
        let refused = prepared("smtps://h", Some(&absent)).err().unwrap().to_string();
        assert!(refused.contains("absent.pem can't be read"), "{refused}");
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
            let path = folder.path().join("ca.pem");
            std::fs::write(&path, text).unwrap();
            let refused = prepared("smtp://h", Some(&path)).err().unwrap().to_string();
            assert!(refused.contains("ca.pem holds no certificate"), "{refused}");
        }
    }
}
