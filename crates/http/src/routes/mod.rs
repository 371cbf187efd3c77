//! One file per resource. [`documented`] routes stand in the OpenAPI document.

mod access_requests;
mod account_password;
mod account_sessions;
mod account_tokens;
mod activity;
mod admin_access_requests;
mod admin_audit;
mod admin_invites;
mod admin_jobs;
mod admin_settings;
mod admin_users;
pub(crate) mod agent;
mod aliases;
pub(crate) mod assets;
mod auth;
mod board;
mod dependencies;
mod encoding;
mod entry;
mod events;
mod file_shares;
mod files;
mod files_upload;
mod graph;
mod graph_history;
mod health;
mod instances;
mod invites;
mod journey_runs;
mod journeys;
mod judging;
mod kept;
mod mass_failure;
mod metrics;
mod nets;
mod now;
mod openapi;
mod service_locations;
mod services;
mod services_apply;
mod services_try;
mod setup;
mod shares;
mod system;
mod uptime;
mod worker_operations;
mod workers;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::ErrorBody;
use crate::openapi::Document;
use crate::router::{SharedState, VitalState};
pub(crate) use files_upload::UPLOAD_PATH;

/// How every route answers when it refuses or fails.
#[derive(utoipa::IntoResponses)]
#[response(status = "default", description = "Refused or failed: what happened and what to do")]
#[expect(dead_code, reason = "only the OpenAPI document reads it")]
struct Refusal(ErrorBody);

/// The routes of the OpenAPI document.
pub(crate) fn documented() -> OpenApiRouter<SharedState> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(system::system))
        .routes(routes!(openapi::openapi))
        .routes(routes!(setup::setup_state, setup::set_up))
        .routes(routes!(entry::enter))
        .routes(routes!(auth::login))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::me))
        .routes(routes!(invites::look))
        .routes(routes!(invites::accept))
        .routes(routes!(access_requests::form))
        .routes(routes!(access_requests::request))
        .routes(routes!(account_sessions::list, account_sessions::end_others))
        .routes(routes!(account_sessions::end))
        .routes(routes!(account_password::change))
        .routes(routes!(account_tokens::list, account_tokens::create))
        .routes(routes!(account_tokens::revoke))
        .routes(routes!(admin_users::list))
        .routes(routes!(admin_users::change))
        .routes(routes!(admin_invites::list, admin_invites::create))
        .routes(routes!(admin_invites::revoke))
        .routes(routes!(admin_jobs::list))
        .routes(routes!(admin_jobs::stuck))
        .routes(routes!(admin_jobs::summary))
        .routes(routes!(admin_jobs::find))
        .routes(routes!(admin_jobs::retry))
        .routes(routes!(admin_jobs::cancel))
        .routes(routes!(admin_jobs::pause))
        .routes(routes!(admin_jobs::resume))
        .routes(routes!(services::list, services::create))
        .routes(routes!(services_apply::export))
        .routes(routes!(services_apply::apply))
        .routes(routes!(services_try::test_schema))
        .routes(routes!(services::find, services::change, services::remove))
        .routes(routes!(service_locations::list))
        .routes(routes!(services_try::poll))
        .routes(routes!(services_try::poll_history))
        .routes(routes!(dependencies::find))
        .routes(routes!(dependencies::latency))
        .routes(routes!(dependencies::errors))
        .routes(routes!(dependencies::timeline))
        .routes(routes!(dependencies::link, dependencies::unlink))
        .routes(routes!(instances::list))
        .routes(routes!(activity::recent))
        .routes(routes!(activity::moments))
        .routes(routes!(activity::unstable))
        .routes(routes!(uptime::of_service))
        .routes(routes!(uptime::of_dependency))
        .routes(routes!(graph_history::history))
        .routes(routes!(now::now))
        .routes(routes!(board::board))
        .routes(routes!(board::strips))
        .routes(routes!(board::wallboard))
        .routes(routes!(aliases::list, aliases::create))
        .routes(routes!(aliases::change, aliases::remove))
        .routes(routes!(graph::graph))
        .routes(routes!(graph::impact))
        .routes(routes!(graph::node))
        .routes(routes!(graph::node_then))
        .routes(routes!(graph::suggestions))
        .routes(routes!(graph::confirm))
        .routes(routes!(graph::dismiss))
        .routes(routes!(files::reports))
        .routes(routes!(files::list))
        .routes(routes!(files_upload::upload))
        .routes(routes!(files::find, files::remove))
        .routes(routes!(files::report))
        .routes(routes!(files::retry))
        .routes(routes!(file_shares::list, file_shares::create))
        .routes(routes!(file_shares::revoke))
        .routes(routes!(shares::read))
        .routes(routes!(workers::list, workers::create))
        .routes(routes!(workers::providers))
        .routes(routes!(mass_failure::read))
        .routes(routes!(workers::find, worker_operations::remove))
        .routes(routes!(worker_operations::provision))
        .routes(routes!(worker_operations::start))
        .routes(routes!(worker_operations::stop))
        .routes(routes!(worker_operations::destroy))
        .routes(routes!(worker_operations::health_check))
        .routes(routes!(worker_operations::retry))
        .routes(routes!(nets::list, nets::create))
        .routes(routes!(nets::find, nets::change, nets::remove))
        .routes(routes!(nets::load))
        .routes(routes!(nets::unload))
        .routes(routes!(journeys::list, journeys::create))
        .routes(routes!(journeys::check))
        .routes(routes!(journeys::failing))
        .routes(routes!(journeys::find, journeys::change, journeys::remove))
        .routes(routes!(journey_runs::run))
        .routes(routes!(journey_runs::list))
        .routes(routes!(journey_runs::find))
        .routes(routes!(journey_runs::cancel))
        .routes(routes!(events::follow))
        .routes(routes!(events::history))
        .routes(routes!(admin_access_requests::list))
        .routes(routes!(admin_access_requests::handle))
        .routes(routes!(admin_audit::list))
        .routes(routes!(admin_settings::list))
}

/// The routes of a process that has no site.
pub(crate) fn vitals() -> Router<VitalState> {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .fallback(health::nothing_else)
}

/// The routes that speak another language than JSON.
pub(crate) fn undocumented() -> Router<SharedState> {
    Router::new().route("/metrics", get(metrics::metrics))
}
