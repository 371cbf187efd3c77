//! Traces to an OpenTelemetry collector: OTLP over plain HTTP, in batches, from a thread of its
//! own.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;

use super::{BoxedLayer, FLUSH, TelemetryError};

/// The name of the program, in traces and in the targets of its spans.
const NAME: &str = "mainstay";

/// How OpenTelemetry begins the name of a program that nobody named.
const UNNAMED: &str = "unknown_service";

/// The longest that sending one batch may take.
const EXPORT: Duration = Duration::from_secs(5);

/// Sends spans until it is stopped.
#[derive(Debug)]
pub struct Exporter {
    provider: SdkTracerProvider,
}

/// Starts sending to the collector at `endpoint`.
///
/// # Errors
/// [`TelemetryError::Exporter`] when the endpoint can't be used.
pub fn start(endpoint: &str) -> Result<Exporter, TelemetryError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{endpoint}/v1/traces"))
        .with_timeout(EXPORT)
        .build()
        .map_err(|source| TelemetryError::Exporter { endpoint: endpoint.to_owned(), source })?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource())
        .build();
    Ok(Exporter { provider })
}

impl Exporter {
    /// Gives the exporter the spans of Mainstay's own crates. Those of the HTTP client under the
    /// exporter would make new ones for ever.
    #[must_use]
    pub fn layer(&self) -> BoxedLayer {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(NAME))
            .with_filter(filter_fn(|metadata| metadata.target().starts_with(NAME)))
            .boxed()
    }

    /// Sends what still waits.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Who sends. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` may name it, as everywhere.
fn resource() -> Resource {
    let name = Resource::builder().build().get(&Key::new("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with(UNNAMED));
    let builder = Resource::builder()
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if is_named { builder.build() } else { builder.with_service_name(NAME).build() }
}
