//! `./scripts/bench journeys`: the CPU time of a step of a journey (templates, request, checks, capture, record)
//! beside that of the same requests by the client alone, and by curl, a process for each.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::{Secret, SystemClock};
use mainstay_benches::cpu;
use mainstay_benches::figure::{self, median, print};
use mainstay_journeys::{Courier, Journey, Options, run};
use mainstay_outbound::{Policy, Web, WebOptions, WebRequest};
use mainstay_standins::payments::{PaymentServer, Settling};
use serde_json::json;
use url::Url;

/// As many steps as a journey may have, half of them posting and half of them looking.
const PAIRS: u32 = 50;
const ROUNDS: usize = 7;

fn main() -> anyhow::Result<()> {
    let base = service()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut ours, mut bare, mut curl) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(per_step(|| runtime.block_on(travel(&base)))?);
        bare.push(per_step(|| runtime.block_on(ask(&base)))?);
    }
    for _ in 0..ROUNDS.div_ceil(3) {
        curl.push(by_curl(&base)?);
    }
    let (ours, bare) = (median(ours), median(bare));
    print("journeys.step_cpu_ms", ours, "ms")?;
    print("journeys.bare_step_cpu_ms", bare, "ms")?;
    print("journeys.bare_ratio", ours / bare, "x")?;
    print("journeys.curl_cpu_ms", median(curl), "ms")?;
    figure::finish("journeys")
}

/// The payment service on threads of its own, whose CPU time is not counted. It stays until the bench ends.
fn service() -> anyhow::Result<String> {
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(server) = PaymentServer::start(Settling::NeverSettles).await else { return };
            if tell.send(server.base_url()).is_ok() {
                std::future::pending::<()>().await;
            }
        });
    });
    told.recv().context("the payment service did not start")
}

/// The milliseconds of CPU time of this thread that each step takes.
fn per_step(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let before = cpu::thread_time();
    work()?;
    Ok(each(cpu::thread_time().saturating_sub(before)))
}

fn each(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0 / f64::from(PAIRS * 2)
}

fn web() -> anyhow::Result<Web> {
    let policy = Policy { private: true, ..Policy::default() };
    Ok(Web::new(&WebOptions::new(policy, Arc::new(SystemClock::new()))?)?)
}

/// The journey, read, run and recorded.
async fn travel(base: &str) -> anyhow::Result<()> {
    let steps: String = (0..PAIRS)
        .map(|pair| {
            format!(
                "- id: create{pair}\n  post: '{{{{ base }}}}/authorizations'\n  \
                 json: {{user_id: u-1, amount: 1200}}\n  \
                 expect: {{status: 201, json: {{status: processing}}}}\n  capture: {{id: $.id}}\n\
                 - id: look{pair}\n  get: '{{{{ base }}}}/authorizations/{{{{ id }}}}'\n  \
                 headers: {{X-Key: '{{{{ secret.KEY }}}}'}}\n  \
                 expect: {{json: {{status: processing, id: '{{{{ id }}}}'}}}}\n"
            )
        })
        .collect();
    let text = format!("journey: bench\nvars: {{base: null}}\nsteps:\n{steps}");
    let journey = Journey::parse(&text).ok().context("the journey is right")?;
    let clock = Arc::new(SystemClock::new());
    let options = Options {
        mode: None,
        vars: [("base".to_owned(), json!(base))].into(),
        secrets: [("KEY".to_owned(), Secret::new("k-4711".to_owned()))].into(),
        courier: Courier::new(web()?, clock.clone())?,
        clock,
    };
    let record = run(&journey, options, Arc::new(())).await?;
    anyhow::ensure!(record.is_passed(), "the journey failed: {:?}", record.failures);
    Ok(())
}

/// The same requests, and nothing else.
async fn ask(base: &str) -> anyhow::Result<()> {
    let web = web()?;
    let create = Url::parse(&format!("{base}/authorizations"))?;
    let look = Url::parse(&format!("{base}/authorizations/a-1"))?;
    let body = r#"{"amount":1200,"user_id":"u-1"}"#;
    for _ in 0..PAIRS {
        web.fetch(&WebRequest::post("bench", &create, body).build()?).await?;
        web.fetch(&WebRequest::get("bench", &look).build()?).await?;
    }
    Ok(())
}

/// The milliseconds of CPU time that each request takes by a process of curl.
fn by_curl(base: &str) -> anyhow::Result<f64> {
    let before = children_time()?;
    for _ in 0..PAIRS {
        curl(&["--data-raw", r#"{"user_id":"u-1"}"#, &format!("{base}/authorizations")])?;
        curl(&[&format!("{base}/authorizations/a-1")])?;
    }
    Ok(each(children_time()?.saturating_sub(before)))
}

fn curl(arguments: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("curl").arg("-sS").args(arguments).stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "curl failed");
    Ok(())
}

/// The CPU time of all children that have ended, by Linux' `/proc`.
fn children_time() -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // What stands behind the name in brackets: cutime and cstime are the 14th and 15th of it.
    let fields = stat.rsplit_once(')').context("no stat")?.1;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks = ticks.map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_secs(ticks) / u32::try_from(rustix::param::clock_ticks_per_second())?)
}
