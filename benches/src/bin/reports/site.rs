//! A site that takes files and makes no reports of them, and people who upload.

use std::path::Path;
use std::process::Command;

use mainstay_benches::account::{create_admin, session};
use mainstay_benches::process::Server;
use mainstay_testkit::{S3Server, s3};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;

/// Nobody may upload more often in a minute.
pub(crate) const UPLOADS_EACH: usize = 20;
/// Bytes that are sent at once.
const CHUNK: usize = 64 * 1024;
const HEAD: &str =
    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"call.txt\"\r\n\r\n";
const TAIL: &str = "\r\n--b--\r\n";

pub(crate) struct Site {
    pub(crate) server: Server,
    /// The headers of each who is signed in.
    pub(crate) sessions: Vec<String>,
}

impl Site {
    /// Serves from `folder`, for so many people; files go to the storage, if there is one.
    pub(crate) async fn start(
        binary: &Path,
        folder: &Path,
        people: usize,
        storage: Option<&S3Server>,
    ) -> anyhow::Result<Self> {
        let emails: Vec<String> =
            (0..people).map(|number| format!("user{number}@example.com")).collect();
        for email in &emails {
            create_admin(binary, folder, email)?;
        }
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder).env_clear();
        command.env("LLM_PROVIDER", "fake").env("MAINSTAY_JOBS_EMBEDDED", "false");
        if let Some(storage) = storage {
            command
                .env("S3_ENDPOINT", storage.endpoint())
                .env("S3_REGION", s3::REGION)
                .env("S3_BUCKET", s3::BUCKET)
                .env("S3_ACCESS_KEY_ID", s3::ACCESS_KEY_ID)
                .env("S3_SECRET_ACCESS_KEY", s3::SECRET_ACCESS_KEY);
        }
        let server = Server::start(&mut command)?;
        let mut sessions = Vec::new();
        for email in &emails {
            sessions.push(session(&server.address, email).await?);
        }
        Ok(Self { server, sessions })
    }
}

/// Uploads `text`; all that share a barrier are under way before one of them goes on.
pub(crate) async fn upload(
    address: &str,
    session: &str,
    text: &[u8],
    all: &Barrier,
) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST /api/files/upload HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: \
         multipart/form-data; boundary=b\r\ncontent-length: {}\r\n{session}\r\n{HEAD}",
        HEAD.len() + text.len() + TAIL.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let (first, rest) = text.split_at(text.len().min(CHUNK));
    stream.write_all(first).await?;
    all.wait().await;
    // Whoever is refused early is told why, and has nobody to write to.
    let sent = async {
        for chunk in rest.chunks(CHUNK) {
            stream.write_all(chunk).await?;
        }
        stream.write_all(TAIL.as_bytes()).await
    };
    let sent = sent.await;
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer).await;
    anyhow::ensure!(read.is_ok() || !answer.is_empty(), "no answer: {sent:?} {read:?}");
    anyhow::ensure!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    Ok(sent?)
}
