//! One try: one connection, one conversation, one letter.

use std::time::Duration;

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::extension::ClientId;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::config::MailConfig;
use super::error::StartError;
use super::failure::Failure;
use super::message::Letter;
use super::stream::Wire;
use super::tls::Encryption;

/// How long the server has for a good-bye.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Gives a letter to whoever carries it.
pub(crate) trait Transport: Send + Sync + 'static {
    /// Tries once. It ends in bounded time.
    fn deliver(&self, letter: &Letter) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// The mail server of the configuration.
pub(crate) struct Smtp {
    host: String,
    port: u16,
    encryption: Encryption,
    credentials: Option<Credentials>,
    hello: ClientId,
    attempt_timeout: Duration,
}

impl Smtp {
    pub(crate) fn new(config: &MailConfig) -> Result<Self, StartError> {
        let server = &config.server;
        let credentials = server
            .login
            .as_ref()
            .map(|login| Credentials::new(login.user.clone(), login.password.expose().clone()));
        Ok(Self {
            host: server.host.clone(),
            port: server.port,
            encryption: Encryption::prepare(config)?,
            credentials,
            hello: ClientId::Domain(config.from.domain().to_owned()),
            attempt_timeout: config.pace.attempt_timeout,
        })
    }

    async fn hand_over(&self, letter: &Letter) -> Result<AsyncSmtpConnection, Failure> {
        let mut connection = self.connect().await?;
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        connection.send(&letter.envelope, &letter.bytes).await?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, Failure> {
        let lost = |error: std::io::Error| Failure::unreachable(&error);
        let address = (self.host.as_str(), self.port);
        let tcp = TcpStream::connect(address).await.map_err(lost)?;
        // A letter goes out in two writes: the second must not wait for an answer to the first.
        tcp.set_nodelay(true).map_err(lost)?;
        let peer = tcp.peer_addr().map_err(lost)?;
        match &self.encryption {
            Encryption::Never => self.greet(Box::new(Wire::new(tcp, peer))).await,
            Encryption::StartTls(parameters) => {
                let mut connection = self.greet(Box::new(Wire::new(tcp, peer))).await?;
                if !connection.can_starttls() {
                    return Err(Failure::NoStartTls);
                }
                connection.starttls(parameters.clone(), &self.hello).await?;
                Ok(connection)
            }
            Encryption::Implicit { connector, name } => {
                let tls = connector.connect(name.clone(), tcp).await.map_err(lost)?;
                self.greet(Box::new(Wire::new(tls, peer))).await
            }
        }
    }

    async fn greet(&self, wire: Box<dyn AsyncTokioStream>) -> Result<AsyncSmtpConnection, Failure> {
        Ok(AsyncSmtpConnection::connect_with_transport(wire, &self.hello).await?)
    }
}

impl Transport for Smtp {
    async fn deliver(&self, letter: &Letter) -> Result<(), Failure> {
        let given = timeout(self.attempt_timeout, self.hand_over(letter)).await;
        let mut connection = given.unwrap_or(Err(Failure::Timeout))?;
        // The server has the letter: how it takes the good-bye must not send it again.
        let _ = timeout(QUIT_TIMEOUT, connection.quit()).await;
        Ok(())
    }
}
