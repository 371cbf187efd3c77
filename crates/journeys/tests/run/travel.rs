//! How the journeys of these tests are run.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use mainstay_base::{Secret, SystemClock};
use mainstay_journeys::report::StepState;
use mainstay_journeys::{Courier, Journey, Mode, Options, RunRecord, run};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;
use tokio::net::TcpSocket;

pub(crate) const AUTHORISE: &str = include_str!("../journeys/authorise.yaml");

pub(crate) fn options(mode: Option<Mode>, base: Option<&str>, is_private: bool) -> Options {
    let clock = Arc::new(SystemClock::new());
    let policy = Policy { private: is_private, ..Policy::default() };
    let web = Web::new(&WebOptions::new(policy, clock.clone()).unwrap()).unwrap();
    let courier = Courier::new(web, clock.clone()).unwrap();
    let vars = base.map(|base| ("base".to_owned(), json!(base))).into_iter().collect();
    Options { mode, vars, secrets: BTreeMap::new(), courier, clock }
}

/// Longer than anything takes that settles, also where the machine is busy.
pub(crate) const LONG: &str = "20s";
/// Over soon, for what does not settle however long it is asked.
pub(crate) const SOON: &str = "400ms";

/// The journey of the guide, at the pace of a test.
pub(crate) fn quick(within: &str) -> Journey {
    let text = AUTHORISE
        .replace("every: 500ms", "every: 50ms")
        .replace("within: 30s", &format!("within: {within}"))
        .replace("within: 800ms", "within: 10s");
    Journey::parse(&text).unwrap()
}

pub(crate) async fn travel(settling: Settling, mode: Mode) -> RunRecord {
    travel_within(LONG, settling, mode).await
}

pub(crate) async fn travel_within(within: &str, settling: Settling, mode: Mode) -> RunRecord {
    let server = PaymentServer::start(settling).await.unwrap();
    let options = options(Some(mode), Some(&server.base_url()), true);
    run(&quick(within), options, Arc::new(())).await.unwrap()
}

pub(crate) async fn travel_by(
    text: &str,
    server: &PaymentServer,
    secrets: &[(&str, &str)],
) -> RunRecord {
    let mut options = options(None, Some(&server.base_url()), true);
    let secrets = secrets.iter();
    options.secrets = secrets
        .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
        .collect();
    run(&Journey::parse(text).unwrap(), options, Arc::new(())).await.unwrap()
}

pub(crate) fn events(run: &RunRecord) -> Vec<&str> {
    run.events.iter().map(|event| event.name.as_str()).collect()
}

pub(crate) fn states(run: &RunRecord) -> Vec<StepState> {
    run.steps.iter().map(|step| step.state).collect()
}

/// A service that answers everything so.
pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, answer) = (listener.local_addr().unwrap(), answer.into());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4_096]).await;
            let _ = stream.write_all(&answer).await;
        }
    });
    address
}

/// A port at which nobody listens, and nobody else can while this is held.
pub(crate) struct Closed(TcpSocket);

impl Closed {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self(socket)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}
