//! Logs and traces: [`style`] (how a line looks) → [`text`] or [`json`] → [`lines`] → standard error, with
//! [`panic`](mod@panic) for what should never happen. With the `otel` feature, traces also go to a
//! collector.

pub mod json;
pub mod lines;
#[cfg(feature = "otel")]
pub mod otel;
pub mod panic;
pub mod style;
pub mod text;
mod time;

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mainstay_base::Clock;
use tracing::Subscriber;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::config::environment::Screen;
use crate::config::{Config, log};
use json::JsonLines;
use lines::Lines;
use style::Style;
use time::ClockTime;

/// How long the last traces may take to leave when the program ends.
pub const FLUSH: Duration = Duration::from_secs(2);

/// How long the last log lines may take to leave when the program ends.
pub const LOG_FLUSH: Duration = Duration::from_secs(1);

/// The log of the process, for [`flush_log`].
static LOG: OnceLock<Lines> = OnceLock::new();

/// A part of the subscriber.
pub type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Logging that could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The directives were refused.
    #[error("log.level {0}")]
    Level(crate::config::problem::Reason),
    /// The thread that writes the log did not start.
    #[error("the log can't be written; check the limits on threads")]
    Thread(#[source] io::Error),
    /// Somebody was first.
    #[error("logging is already set up in this process; start it once")]
    AlreadySet,
    /// The exporter was refused.
    #[cfg(feature = "otel")]
    #[error("traces can't be sent to {endpoint}; check telemetry.otlp_endpoint")]
    Exporter {
        /// The collector.
        endpoint: String,
        /// Why.
        source: opentelemetry_otlp::ExporterBuildError,
    },
}

/// Keeps the telemetry of the process until it ends. Dropped, also by a panic, it flushes the log.
#[derive(Debug)]
#[must_use = "stop it when the program ends, or the last traces are lost"]
pub struct Telemetry {
    #[cfg(feature = "otel")]
    exporter: Option<otel::Exporter>,
}

impl Telemetry {
    /// Sends what still waits, within [`FLUSH`] and [`LOG_FLUSH`]. Call it outside the runtime.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        #[cfg(feature = "otel")]
        if let Some(exporter) = self.exporter.take() {
            exporter.stop();
        }
        flush_log(LOG_FLUSH);
    }
}

/// Waits until the log of the process is written, for at most `limit`.
pub fn flush_log(limit: Duration) {
    if let Some(lines) = LOG.get() {
        lines.flush(limit);
    }
}

/// Sets up logging for the whole process, panics included.
///
/// # Errors
/// [`TelemetryError`] when the settings do not do.
pub fn install(
    config: &Config,
    screen: Screen,
    clock: Arc<dyn Clock>,
) -> Result<Telemetry, TelemetryError> {
    let style = Style::choose(config.log.format, screen);
    #[cfg_attr(not(feature = "otel"), expect(unused_mut, reason = "traces are one more layer"))]
    let mut layers = vec![log_layer(style, clock, log()?)];
    #[cfg(feature = "otel")]
    let exporter = config.telemetry.otlp_endpoint.as_deref().map(otel::start).transpose()?;
    #[cfg(feature = "otel")]
    layers.extend(exporter.as_ref().map(otel::Exporter::layer));
    set_up(&config.log.level, layers)?;
    Ok(Telemetry {
        #[cfg(feature = "otel")]
        exporter,
    })
}

/// Sets up logging for a program that has no configuration: what matters, to standard error.
///
/// # Errors
/// [`TelemetryError`] when it is set up already.
pub fn install_plain(screen: Screen, clock: Arc<dyn Clock>) -> Result<Telemetry, TelemetryError> {
    let style = Style::choose(log::LogFormat::Auto, screen);
    set_up("info", vec![log_layer(style, clock, log()?)])?;
    Ok(Telemetry {
        #[cfg(feature = "otel")]
        exporter: None,
    })
}

fn set_up(level: &str, layers: Vec<BoxedLayer>) -> Result<(), TelemetryError> {
    let filter = log::filter(level).map_err(TelemetryError::Level)?;
    tracing::subscriber::set_global_default(subscriber(filter, layers))
        .map_err(|_| TelemetryError::AlreadySet)?;
    panic::log_panics();
    Ok(())
}

/// The way to standard error, made once for the process.
fn log() -> Result<Lines, TelemetryError> {
    let lines = Lines::start(io::stderr(), |dropped| {
        tracing::warn!(dropped, "{dropped} log lines were dropped: nobody read them in time");
    })
    .map_err(TelemetryError::Thread)?;
    LOG.set(lines.clone()).map_err(|_| TelemetryError::AlreadySet)?;
    Ok(lines)
}

/// What receives spans and events: the layers behind the filter.
pub fn subscriber(
    filter: EnvFilter,
    layers: Vec<BoxedLayer>,
) -> impl Subscriber + Send + Sync + 'static {
    tracing_subscriber::registry().with(layers).with(filter)
}

/// Writes each event as one line of the given style.
pub fn log_layer<W>(style: Style, clock: Arc<dyn Clock>, writer: W) -> BoxedLayer
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A log that can't be written must not end the program: reporting that would be an
    // `eprintln!`, which panics when nobody reads standard error.
    let layer = fmt::layer().with_timer(ClockTime(clock)).log_internal_errors(false);
    match style {
        Style::Text { color } => {
            layer.with_ansi(color).fmt_fields(text::fields()).with_writer(writer).boxed()
        }
        Style::Json => layer
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(true)
            .with_writer(JsonLines(writer))
            .boxed(),
    }
}
