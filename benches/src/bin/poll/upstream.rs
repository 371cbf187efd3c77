//! The services that are polled: one process that answers at every address of the loopback network,
//! with eight dependencies in 2.4 kB.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;

use anyhow::Context as _;
use mainstay_benches::process::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Where a service is asked that turns with every question.
pub(crate) const TURNING: &str = "/turning/";
/// Says that this process is the services.
pub(crate) const ROLE: &str = "upstream";
/// What each service leans on.
pub(crate) const DEPENDENCIES: u32 = 8;
/// The longest question.
const MAX_QUESTION: usize = 8 * 1024;
/// Answers that differ in their latencies.
const ANSWERS: u32 = 64;
/// What makes an answer as long as the goal says.
const DESCRIPTION: &str = "keeps what the service must not forget, and is asked for it in the course of \
    nearly every request; a copy of it stands by";

/// The process of the services, ended with this value.
pub(crate) struct Upstream {
    _server: Server,
    pub(crate) port: u16,
}

impl Upstream {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let server = Server::start(Command::new(std::env::current_exe()?).arg(ROLE))?;
        let (_, port) = server.address.rsplit_once(':').context("the upstream has no port")?;
        Ok(Self { port: port.parse()?, _server: server })
    }
}

/// Where service `number` is asked: each on an address, and so on a host, of its own.
pub(crate) fn host(number: u32) -> String {
    let [_, high, middle, low] = (number + 1).to_be_bytes();
    format!("127.{}.{middle}.{low}", high + 1)
}

/// Answers until it is killed.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:0").await?;
    let address = format!("http://{}\n", listener.local_addr()?);
    std::io::Write::write_all(&mut std::io::stderr(), address.as_bytes())?;
    let well: Vec<String> = (0..ANSWERS).map(|turn| answer(turn, true)).collect();
    let turning = (0..ANSWERS).map(|turn| answer(turn, turn % 2 == 0)).collect();
    let answers = Arc::new([well, turning]);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(converse(stream, Arc::clone(&answers)));
    }
}

/// One answer for each question, which comes whole: nobody asks ahead.
async fn converse(mut stream: TcpStream, answers: Arc<[Vec<String>; 2]>) -> anyhow::Result<()> {
    let mut question = [0; MAX_QUESTION];
    let mut filled = 0;
    let own = usize::from(stream.local_addr()?.port() ^ stream.peer_addr()?.port());
    let [well, turning] = &*answers;
    let mut turns = well.iter().zip(turning).cycle().skip(own % well.len());
    loop {
        let free = question.get_mut(filled..).context("the question is too long")?;
        let read = stream.read(free).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        if question.get(..filled).unwrap_or_default().ends_with(b"\r\n\r\n") {
            let (well, turning) = turns.next().context("no answer")?;
            let is_turning = question.get(b"GET ".len()..).unwrap_or_default();
            let is_turning = is_turning.starts_with(TURNING.as_bytes());
            let answer = if is_turning { turning } else { well };
            stream.write_all(answer.as_bytes()).await?;
            filled = 0;
        }
    }
}

fn answer(turn: u32, is_well: bool) -> String {
    let is_well = |number| is_well || number > 0;
    let items: Vec<Value> =
        (0..DEPENDENCIES).map(|number| dependency(number, turn, is_well(number))).collect();
    let body = Value::from(items).to_string();
    let mut answer = String::new();
    let _ = write!(
        answer,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    answer
}

fn dependency(number: u32, turn: u32, is_well: bool) -> Value {
    let latency = 3 + (number * 37 + turn * 13) % 90;
    json!({
        "name": format!("dependency-{number}"),
        "type": "database",
        "description": DESCRIPTION,
        "impact": "orders wait",
        "healthy": is_well,
        "health": {"state": if is_well { 0 } else { 2 }, "code": 200, "latency": latency},
        "lastChecked": "2026-01-01T00:00:00.000Z",
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_answer_is_as_long_as_the_goal_says() {
        let length = answer(7, true).split_once("\r\n\r\n").unwrap().1.len();
        assert!((2_300..2_500).contains(&length), "{length}");
    }

    #[test]
    fn every_service_has_a_host_of_its_own() {
        let hosts: HashSet<_> = (0..5_000).map(host).collect();
        assert_eq!(hosts.len(), 5_000);
        assert_eq!((host(0), host(65_535)), ("127.1.0.1".to_owned(), "127.2.0.0".to_owned()));
    }
}
