//! `./scripts/bench http`: what the HTTP surface costs beside a bare hyper server, what knowing the
//! caller adds ([`accounts`]), and what the binary costs to start and to keep.
#![expect(clippy::disallowed_methods, reason = "a bench is told by the environment what to run")]

mod accounts;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use mainstay_benches::figure::{self, median, print};
use mainstay_benches::load;
use mainstay_benches::process::Server;
use tokio::net::TcpListener;

/// Says that this process is the peer.
const PEER: &str = "bare-hyper";
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_secs(2);
const CONNECTIONS: usize = 16;
const STARTS: usize = 9;
/// What `/healthz` answers, so that both send the same.
const ALIVE: &[u8] = br#"{"status":"alive"}"#;
const MEGABYTE: f64 = 1_000_000.0;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    if std::env::args().nth(1).as_deref() == Some(PEER) {
        return runtime.block_on(serve_bare());
    }
    let binary = PathBuf::from(std::env::var_os("MAINSTAY_BINARY").context("MAINSTAY_BINARY")?);
    runtime.block_on(compare_rates(&binary))?;
    runtime.block_on(accounts::measure(&binary))?;
    measure_start(&binary)?;
    print("http.binary_mb", byte_count(&binary)? / MEGABYTE, "MB")?;
    figure::finish("http")
}

/// Both servers in turn, round by round, so that a noisy minute hits both.
async fn compare_rates(binary: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ours = Server::start(&mut serve(binary, folder.path()))?;
    let peer = Server::start(Command::new(std::env::current_exe()?).arg(PEER))?;
    let (mut cpu_ratios, mut rate_ratios) = (Vec::new(), Vec::new());
    let (mut our_costs, mut peer_costs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let our = round(&ours, "/healthz", "").await?;
        let bare = round(&peer, "/healthz", "").await?;
        cpu_ratios.push(bare.cpu_us / our.cpu_us);
        rate_ratios.push(our.rate / bare.rate);
        our_costs.push(our.cpu_us);
        peer_costs.push(bare.cpu_us);
    }
    print("http.healthz_ratio", median(rate_ratios), "x")?;
    print("http.healthz_cpu_ratio", median(cpu_ratios), "x")?;
    print("http.healthz_cpu_us", median(our_costs), "us")?;
    print("hyper.bare_cpu_us", median(peer_costs), "us")?;
    Ok(())
}

struct Round {
    /// Answers in a second.
    rate: f64,
    /// CPU time of the server for one answer.
    cpu_us: f64,
}

#[expect(clippy::cast_precision_loss, reason = "a round has far fewer than 2^52 requests")]
async fn round(server: &Server, path: &str, headers: &str) -> anyhow::Result<Round> {
    let before = server.cpu()?;
    let answered = load::requests(&server.address, path, headers, CONNECTIONS, ROUND).await? as f64;
    let cpu = server.cpu()?.saturating_sub(before).as_secs_f64();
    Ok(Round { rate: answered / ROUND.as_secs_f64(), cpu_us: cpu * 1_000_000.0 / answered })
}

/// From an empty folder until it says that it is ready.
fn measure_start(binary: &Path) -> anyhow::Result<()> {
    let (mut cpu, mut resident) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&mut serve(binary, folder.path()))?;
        cpu.push(server.cpu()?.as_secs_f64() * 1_000.0);
        std::thread::sleep(Duration::from_secs(1));
        resident.push(server.resident_bytes()? / MEGABYTE);
    }
    print("http.start_cpu_ms", median(cpu), "ms")?;
    print("http.rss_mb", median(resident), "MB")?;
    Ok(())
}

fn serve(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder).env_clear();
    command
}

fn byte_count(file: &Path) -> anyhow::Result<f64> {
    let bytes = std::fs::metadata(file)?.len();
    Ok(f64::from(u32::try_from(bytes).context("the binary is beyond 4 GB")?))
}

/// The least that hyper can do: one fixed answer, no router, no limits, no log, no metrics.
async fn serve_bare() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("http://{}\n", listener.local_addr()?).as_bytes(),
    )?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(alive)),
        );
    }
}

async fn alive(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(ALIVE)));
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    Ok(response)
}
