//! One request and its answer, as text.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The largest answer that is read.
const MAX_ANSWER: u64 = 1024 * 1024;

/// Sends `request`, which asks to close the connection, and gives all that comes back.
///
/// # Errors
/// When the connection breaks or the answer is no text.
pub async fn exchange(address: &str, request: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8(answer)?)
}
