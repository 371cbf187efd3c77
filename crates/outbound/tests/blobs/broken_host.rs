//! An object storage that fails: what is told, and that it is left alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_outbound::blobs::parts::PART;
use mainstay_outbound::blobs::place::FAILURES_TO_OPEN;
use mainstay_outbound::{BlobError, BlobErrorKind, BlobOptions, BlobPlace, Blobs, S3Settings};
use mainstay_testkit::{FakeClock, S3Server};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{MOST, PATIENCE, bucket, bytes, key, settings};

/// The time of a call that is to run out of it.
const SHORT: Duration = Duration::from_millis(200);

fn open(settings: S3Settings) -> Blobs {
    Blobs::open_with(&BlobPlace::S3(settings), &BlobOptions::default()).unwrap()
}

fn open_impatient(settings: S3Settings) -> Blobs {
    let options = BlobOptions { timeout: SHORT, ..BlobOptions::default() };
    Blobs::open_with(&BlobPlace::S3(settings), &options).unwrap()
}

/// Each call once, and all their errors, which tell nothing that they should not.
async fn errors(blobs: &Blobs) -> Vec<BlobError> {
    let errors = vec![
        blobs.put(&key("a"), bytes(3)).await.unwrap_err(),
        blobs.get(&key("a"), MOST).await.unwrap_err(),
        blobs.list("", None, 1).await.unwrap_err(),
        blobs.delete(&key("a")).await.unwrap_err(),
    ];
    for error in &errors {
        let text = format!("{error} {error:?}");
        assert!(text.len() > 40 && !text.contains("127.0.0.1"), "{text}");
        assert!(!text.contains("secret-of") && !text.contains("hunter2"), "{text}");
    }
    errors
}

/// Answers whatever is asked with these bytes, and ends the connection.
async fn saying(answer: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut head = [0_u8; 4096];
                drop(stream.read(&mut head).await);
                drop(stream.write_all(answer.as_bytes()).await);
                drop(stream.shutdown().await);
                while matches!(stream.read(&mut head).await, Ok(count) if count > 0) {}
            });
        }
    });
    (endpoint, asked)
}

#[tokio::test]
async fn a_wrong_secret_is_permanent_and_stays_one() {
    let server = S3Server::start().await;
    let secret_access_key = Secret::new("hunter2".to_owned());
    let blobs = open(S3Settings { secret_access_key, ..settings(server.endpoint()) });
    for _ in 0..2 {
        for error in errors(&blobs).await {
            assert_eq!(error.kind(), BlobErrorKind::Permanent, "{error}");
            assert!(error.to_string().contains("S3_SECRET_ACCESS_KEY"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_unknown_key_is_permanent() {
    let server = S3Server::start().await;
    let unknown = S3Settings { access_key_id: "nobody".to_owned(), ..settings(server.endpoint()) };
    for error in errors(&open(unknown)).await {
        assert_eq!(error.kind(), BlobErrorKind::Permanent, "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_transient() {
    let server = S3Server::start().await;
    let blobs = bucket(&server);
    blobs.put(&key("a"), bytes(3)).await.unwrap();
    drop(server);
    for error in errors(&blobs).await {
        assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_transient_after_the_timeout() {
    let (endpoint, asked) = saying("").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    for error in errors(&open_impatient(settings(silent))).await {
        assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
        assert!(error.to_string().contains("200ms"), "{error}");
    }
    // One that ends without a word is no better.
    for error in errors(&open(settings(endpoint))).await {
        assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
    }
    assert_ne!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_a_server_answers_is_sorted() {
    use BlobErrorKind::{Permanent, Transient};
    for (answer, kind, word) in [
        (
            "HTTP/1.1 503 x\r\nContent-Length: 36\r\n\r\n<Error><Code>SlowDown</Code></Error>",
            Transient,
            "503 SlowDown",
        ),
        (
            "HTTP/1.1 404 x\r\nContent-Length: 40\r\n\r\n<Error><Code>NoSuchBucket</Code></Error>",
            Permanent,
            "S3_BUCKET",
        ),
        ("HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n", Transient, "500"),
        ("HTTP/1.1 429 x\r\nContent-Length: 0\r\n\r\n", Transient, "429"),
        (
            "HTTP/1.1 400 x\r\nContent-Length: 27\r\n\r\n<Code><b>evil</b>1</Code>  ",
            Permanent,
            "answered 400;",
        ),
        (
            "HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            Permanent,
            "S3_ENDPOINT",
        ),
        ("HTTP/1.1 200 x\r\nContent-Length: 99\r\n\r\nhalf", Transient, "ended before"),
        ("SSH-2.0-OpenSSH\r\n", Transient, "HTTP/1.1"),
    ] {
        let (endpoint, _) = saying(answer).await;
        for error in errors(&open(settings(endpoint))).await {
            assert_eq!(error.kind(), kind, "{answer}: {error}");
            assert!(error.to_string().contains(word), "{answer}: {error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_fails_is_left_alone_until_its_time() {
    let (endpoint, asked) = saying("HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n").await;
    let clock = Arc::new(FakeClock::new());
    let options = BlobOptions { clock: Arc::clone(&clock) as _, ..BlobOptions::default() };
    let blobs = Blobs::open_with(&BlobPlace::S3(settings(endpoint)), &options).unwrap();
    let bound = usize::try_from(FAILURES_TO_OPEN).unwrap();
    for _ in 0..bound {
        let error = blobs.put(&key("a"), bytes(3)).await.unwrap_err();
        assert_eq!((error.kind(), error.retry_after()), (BlobErrorKind::Transient, None));
    }
    let error = blobs.clone().get(&key("a"), MOST).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Transient);
    assert_eq!(error.retry_after(), Some(options.open_for));
    assert_eq!(asked.load(Ordering::SeqCst), bound);
    clock.advance(options.open_for);
    assert_eq!(blobs.get(&key("a"), MOST).await.unwrap_err().retry_after(), None);
    assert_eq!(asked.load(Ordering::SeqCst), bound + 1);
}

#[tokio::test]
async fn an_upload_that_loses_its_server_is_over() {
    let server = S3Server::start().await;
    let blobs = bucket(&server);
    let mut upload = blobs.upload(&key("a")).await.unwrap();
    upload.write(bytes(PART)).await.unwrap();
    server.stop();
    let error = upload.write(bytes(PART)).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Transient, "{error}");
    let error = upload.write(bytes(1)).await.unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Permanent, "{error}");
    assert_eq!(upload.finish().await.unwrap_err().kind(), BlobErrorKind::Permanent);
}

/// The storage has begun the upload when nobody waits to hear its name any more.
#[tokio::test]
async fn an_upload_that_is_dropped_while_it_begins_is_aborted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let server = S3Server::start().await;
    let mut upload = bucket(&server).upload(&key("a")).await.unwrap();
    tokio::select! {
        biased;
        written = upload.write(bytes(PART)) => panic!("{written:?}"),
        () = std::future::ready(()) => {}
    }
    drop(upload);
    let aborted = "mainstay_blob_calls_total{operation=\"abort\",outcome=\"ok\"} 1";
    let heard = tokio::time::timeout(PATIENCE, async {
        while !recorder.handle().render().contains(aborted) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    heard.await.expect("it is aborted");
    assert_eq!(server.files(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn settings_that_name_no_storage_are_told_by_name() {
    let fine = settings("https://storage.example".to_owned());
    let cases: Vec<(&str, S3Settings)> = vec![
        ("S3_ENDPOINT", S3Settings { endpoint: "storage".to_owned(), ..fine.clone() }),
        ("S3_ENDPOINT", S3Settings { endpoint: "ftp://storage".to_owned(), ..fine.clone() }),
        ("S3_ENDPOINT", S3Settings { endpoint: "http://u:hunter2@s".to_owned(), ..fine.clone() }),
        ("S3_BUCKET", S3Settings { bucket: "a/b".to_owned(), ..fine.clone() }),
        ("S3_BUCKET", S3Settings { bucket: String::new(), ..fine.clone() }),
        ("S3_REGION", S3Settings { region: "eu\r\n".to_owned(), ..fine.clone() }),
        ("S3_ACCESS_KEY_ID", S3Settings { access_key_id: "a b".to_owned(), ..fine.clone() }),
    ];
    for (name, settings) in cases {
        let error = Blobs::open(&BlobPlace::S3(settings)).unwrap_err().to_string();
        assert!(error.starts_with(name) && !error.contains("hunter2"), "{error}");
    }
    assert!(Blobs::open(&BlobPlace::S3(fine.clone())).is_ok());
    assert!(!format!("{fine:?}").contains("secret-of"));
}
