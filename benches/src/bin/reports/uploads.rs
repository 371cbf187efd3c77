//! Fifty uploads of the largest file at once: the most memory above that of an idle server, with a folder and with
//! an S3 storage.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mainstay_benches::figure::{median, print};
use mainstay_reports::MAX_FILE_BYTES;
use mainstay_reports::turns::MAX_UPLOADS_PER_USER;
use mainstay_testkit::S3Server;
use tokio::sync::Barrier;

use crate::site::{Site, upload};

const FILES: usize = 50;
const TRIES: usize = 3;
const MEGABYTE: f64 = 1_000_000.0;

pub(crate) async fn measure(binary: &Path) -> anyhow::Result<()> {
    let (above, idle, seconds) = medians(binary, false).await?;
    print("reports.upload_rss_mb", above, "MB")?;
    print("reports.idle_rss_mb", idle, "MB")?;
    print("reports.uploads_s", seconds, "s")?;
    let (above, _, seconds) = medians(binary, true).await?;
    print("reports.upload_s3_rss_mb", above, "MB")?;
    print("reports.uploads_s3_s", seconds, "s")?;
    Ok(())
}

/// The memory above that of the idle server, that one's, and how long it took.
async fn medians(binary: &Path, is_s3: bool) -> anyhow::Result<(f64, f64, f64)> {
    let (mut above, mut idle, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TRIES {
        let one = all_at_once(binary, is_s3).await?;
        above.push((one.most - one.idle) / MEGABYTE);
        idle.push(one.idle / MEGABYTE);
        seconds.push(one.seconds);
    }
    Ok((median(above), median(idle), median(seconds)))
}

struct Memory {
    idle: f64,
    most: f64,
    seconds: f64,
}

async fn all_at_once(binary: &Path, is_s3: bool) -> anyhow::Result<Memory> {
    let folder = tempfile::tempdir()?;
    // It serves from this process, so its own memory is not counted.
    let storage = if is_s3 { Some(S3Server::start().await) } else { None };
    // Nobody may have more under way at once.
    let people = FILES.div_ceil(MAX_UPLOADS_PER_USER);
    let site = Site::start(binary, folder.path(), people, storage.as_ref()).await?;
    let (server, sessions) = (&site.server, &site.sessions);
    let alone = Barrier::new(1);
    // So that the first upload of a process is none of those that count.
    let session = sessions.first().map(String::as_str).unwrap_or_default();
    upload(&server.address, session, b"Ada: it is down", &alone).await?;
    let idle = server.resident_bytes()?;
    server.forget_most_resident()?;
    let text: Arc<[u8]> = vec![b'x'; usize::try_from(MAX_FILE_BYTES)?].into();
    let (all, began) = (Arc::new(Barrier::new(FILES)), Instant::now());
    let tasks: Vec<_> = (0..FILES)
        .zip(sessions.iter().cycle())
        .map(|(_, session)| {
            let (address, session) = (server.address.clone(), session.clone());
            let (text, all) = (Arc::clone(&text), Arc::clone(&all));
            tokio::spawn(async move { upload(&address, &session, &text, &all).await })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok(Memory { idle, most: server.most_resident_bytes()?, seconds })
}
