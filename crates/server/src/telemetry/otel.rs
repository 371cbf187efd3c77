//! Traces to an OpenTelemetry collector: OTLP over plain HTTP, in batches, from a thread of its
//! own. What a caller's trace asked for stands in that trace: requests, and the jobs they enqueued.

use std::time::Duration;

use mainstay_jobs::Traceparent;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer;
use tracing_subscriber::registry::LookupSpan;

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
        Adopt
            .and_then(tracing_opentelemetry::layer().with_tracer(self.provider.tracer(NAME)))
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

/// The field in which a span says whose trace it is a part of.
const TRACEPARENT: &str = "traceparent";

/// Puts a span that names its caller into the caller's trace. A span has its place from when it is
/// first entered on, so that this must be asked before the layer that exports.
struct Adopt;

/// The caller of a span that was not entered yet.
struct Caller(SpanContext);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Adopt {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: layer::Context<'_, S>) {
        let mut found = Found(None);
        attributes.record(&mut found);
        if let (Some(caller), Some(span)) = (found.0, context.span(id)) {
            span.extensions_mut().insert(Caller(caller));
        }
    }

    fn on_enter(&self, id: &Id, context: layer::Context<'_, S>) {
        let caller = context.span(id).and_then(|span| span.extensions_mut().remove::<Caller>());
        if let Some(Caller(caller)) = caller {
            let parent = Context::new().with_remote_span_context(caller);
            // It fails only for a span that has its place, and this one was never entered.
            let _ = Span::current().set_parent(parent);
        }
    }
}

struct Found(Option<SpanContext>);

impl Visit for Found {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == TRACEPARENT {
            self.0 = Traceparent::parse(value).as_ref().and_then(span_context);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

fn span_context(trace: &Traceparent) -> Option<SpanContext> {
    let mut parts = trace.as_str().split('-').skip(1);
    let trace_id = TraceId::from_hex(parts.next()?).ok()?;
    let span_id = SpanId::from_hex(parts.next()?).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(parts.next()?, 16).ok()?);
    Some(SpanContext::new(trace_id, span_id, flags, true, TraceState::NONE))
}
