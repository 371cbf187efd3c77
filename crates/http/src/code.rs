//! The stable codes of errors, each with its status and its short phrase.

use axum::http::StatusCode;

/// One line for each code, so that none can miss its status, its word or its phrase.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident: $status:ident, $name:literal, $phrase:literal;)*) => {
        /// What went wrong, in a word that programs can rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            const fn entry(self) -> (StatusCode, &'static str, &'static str) {
                match self {
                    $(Self::$code => (StatusCode::$status, $name, $phrase),)*
                }
            }
        }
    };
}

codes! {
    /// An alias of this text exists.
    AliasTaken: CONFLICT, "alias_taken", "The alias exists already";
    /// The address is one that Mainstay does not call.
    BlockedAddress: UNPROCESSABLE_ENTITY, "blocked_address", "The address may not be called";
    /// The body is larger than allowed.
    BodyTooLarge: PAYLOAD_TOO_LARGE, "body_too_large", "The body is too large";
    /// The body came too slowly.
    BodyTooSlow: REQUEST_TIMEOUT, "body_too_slow", "The body came too slowly";
    /// The body ended early or could not be read.
    BodyUnreadable: BAD_REQUEST, "body_unreadable", "The body could not be read";
    /// Too much of this kind of work is under way.
    Busy: SERVICE_UNAVAILABLE, "busy", "Mainstay is busy";
    /// A request that changes something does not come from the site itself.
    Csrf: FORBIDDEN, "csrf", "The request does not come from this site";
    /// The uploaded file has no bytes.
    EmptyFile: BAD_REQUEST, "empty_file", "The file is empty";
    /// The file was stored, and its report could not be queued.
    EnqueueFailed: SERVICE_UNAVAILABLE, "enqueue_failed", "The report could not be queued";
    /// The upload of the file failed, so there is nothing to try again.
    FileNeverStored: CONFLICT, "file_never_stored", "The file was never stored";
    /// Only a failed file can be tried again.
    FileNotFailed: CONFLICT, "file_not_failed", "The file has not failed";
    /// The uploaded file is larger than allowed.
    FileTooLarge: PAYLOAD_TOO_LARGE, "file_too_large", "The file is too large";
    /// The caller's role does not reach so far.
    Forbidden: FORBIDDEN, "forbidden", "Your role does not allow this";
    /// The form was loaded too long ago, or its timestamp is not ours.
    FormExpired: BAD_REQUEST, "form_expired", "The form has expired";
    /// The request's line and headers are larger than allowed.
    HeadTooLarge: REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", "The head of the request is too large";
    /// The host of the service has as many polls in flight as it may have.
    HostBusy: TOO_MANY_REQUESTS, "host_busy", "The host is busy";
    /// Something failed on our side.
    Internal: INTERNAL_SERVER_ERROR, "internal", "Something failed on our side";
    /// The text is no alias.
    InvalidAlias: BAD_REQUEST, "invalid_alias", "The alias is not valid";
    /// The body can be read, but is not of the expected shape.
    InvalidBody: BAD_REQUEST, "invalid_body", "The body is not valid";
    /// The text is no canonical name.
    InvalidCanonicalName: BAD_REQUEST, "invalid_canonical_name", "The canonical name is not valid";
    /// What a net should run can't be run.
    InvalidDefinition: BAD_REQUEST, "invalid_definition", "The definition is not valid";
    /// The document of services can't be applied.
    InvalidDocument: BAD_REQUEST, "invalid_document", "The document is not valid";
    /// The e-mail or the password is wrong.
    InvalidCredentials: UNAUTHORIZED, "invalid_credentials", "The e-mail or the password is wrong";
    /// The text is no e-mail address that is taken here.
    InvalidEmail: BAD_REQUEST, "invalid_email", "The e-mail address is not valid";
    /// A share can't last so long or so short.
    InvalidExpiresIn: BAD_REQUEST, "invalid_expires_in", "The share can't last so long";
    /// The uploaded file is of another kind.
    InvalidFileType: BAD_REQUEST, "invalid_file_type", "The kind of file is not accepted";
    /// No format has this name.
    InvalidFormat: BAD_REQUEST, "invalid_format", "The format is not valid";
    /// Further headers of a service can't be sent.
    InvalidHeaders: BAD_REQUEST, "invalid_headers", "The headers are not valid";
    /// No service is asked at this address.
    InvalidHealthEndpoint: BAD_REQUEST, "invalid_health_endpoint", "The health endpoint is not valid";
    /// `Host` is missing, doubled or unreadable.
    InvalidHost: BAD_REQUEST, "invalid_host", "The host is not valid";
    /// `If-Match` names no generation.
    InvalidIfMatch: BAD_REQUEST, "invalid_if_match", "The header If-Match is not valid";
    /// The multipart body can't be read, or has other parts than expected.
    InvalidMultipart: BAD_REQUEST, "invalid_multipart", "The upload is not as expected";
    /// The link's token is unknown, used, revoked or too old.
    InvalidOrExpiredToken: BAD_REQUEST, "invalid_or_expired_token", "The link is not valid any more";
    /// The text is no kind of job.
    InvalidJobKind: BAD_REQUEST, "invalid_job_kind", "The kind of job is not valid";
    /// The file is no journey: `mistakes` says where and why.
    InvalidJourney: BAD_REQUEST, "invalid_journey", "The journey is not valid";
    /// The text is no name of a service.
    InvalidName: BAD_REQUEST, "invalid_name", "The name is not valid";
    /// The path is not readable, or a part of it is not of the expected kind.
    InvalidPath: BAD_REQUEST, "invalid_path", "The path is not valid";
    /// The interval is out of its bounds.
    InvalidPollIntervalMs: BAD_REQUEST, "invalid_poll_interval_ms", "The poll interval is not valid";
    /// The query is not of the expected shape.
    InvalidQuery: BAD_REQUEST, "invalid_query", "The query is not valid";
    /// The text is no region of a provider.
    InvalidRegion: BAD_REQUEST, "invalid_region", "The region is not valid";
    /// The mapping can't be used.
    InvalidSchemaConfig: BAD_REQUEST, "invalid_schema_config", "The schema mapping is not valid";
    /// The size of a worker is none that its provider has.
    InvalidSize: BAD_REQUEST, "invalid_size", "The size is not valid";
    /// The text is no name of a team.
    InvalidTeam: BAD_REQUEST, "invalid_team", "The team is not valid";
    /// The time for a request is out of its bounds.
    InvalidTimeoutMs: BAD_REQUEST, "invalid_timeout_ms", "The timeout is not valid";
    /// The time of the incident is none.
    InvalidWindow: BAD_REQUEST, "invalid_window", "The time of the incident is not accepted";
    /// The invite was accepted, was revoked or has expired.
    InviteNotPending: CONFLICT, "invite_not_pending", "The invite is not pending";
    /// The failed job has left the queue by age.
    JobArchived: CONFLICT, "job_archived", "The job is archived";
    /// The job has ended, so that it can't be cancelled.
    JobFinished: CONFLICT, "job_finished", "The job has ended";
    /// The job has not failed, so that it can't be tried again.
    JobNotFailed: CONFLICT, "job_not_failed", "The job has not failed";
    /// Another job about the same thing is unfinished.
    JobSubjectTaken: CONFLICT, "job_subject_taken", "The same work is under way";
    /// The journey was edited meanwhile.
    JourneyChanged: CONFLICT, "journey_changed", "The journey was changed meanwhile";
    /// Nobody else could administer Mainstay.
    LastAdmin: CONFLICT, "last_admin", "This is the last active admin";
    /// The body is not JSON.
    MalformedJson: BAD_REQUEST, "malformed_json", "The body is not JSON";
    /// The path exists, but not for this method.
    MethodNotAllowed: METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here";
    /// A service of this name exists.
    NameTaken: CONFLICT, "name_taken", "The name is taken";
    /// Something else is being done to the net.
    NetBusy: CONFLICT, "net_busy", "The net is busy";
    /// The agent does not take the net.
    NetRefused: UNPROCESSABLE_ENTITY, "net_refused", "The worker refuses the net";
    /// The net is for no worker.
    NotAssigned: CONFLICT, "not_assigned", "The net is assigned to no worker";
    /// Nothing is at this path.
    NotFound: NOT_FOUND, "not_found", "There is nothing here";
    /// An ephemeral worker is not stopped.
    NotPersistent: CONFLICT, "not_persistent", "The worker is ephemeral";
    /// The service is not polled by this instance.
    NotPolled: CONFLICT, "not_polled", "The service is not polled here";
    /// No instance polls the service now, or the one that does did not answer.
    NotPolledNow: SERVICE_UNAVAILABLE, "not_polled_now", "Nobody polls the service now";
    /// An operation was called off by what its owner asked for next.
    OperationCalledOff: CONFLICT, "operation_called_off", "The operation was called off";
    /// Whoever carried an operation out died.
    OperationGivenUp: SERVICE_UNAVAILABLE, "operation_given_up", "The operation was given up";
    /// An operation took too long.
    OperationTimedOut: GATEWAY_TIMEOUT, "operation_timed_out", "The operation took too long";
    /// The provider does not make what was ordered.
    OrderRefused: UNPROCESSABLE_ENTITY, "order_refused", "The provider refuses the order";
    /// A poll of the service is under way.
    PollInProgress: CONFLICT, "poll_in_progress", "A poll is under way";
    /// The service was polled, and the result can't be written down now.
    PollNotRecorded: SERVICE_UNAVAILABLE, "poll_not_recorded", "The poll is not recorded";
    /// Something stands in the way at the provider.
    ProviderConflict: CONFLICT, "provider_conflict", "Something stands in the way at the provider";
    /// The provider refuses our token.
    ProviderDenied: BAD_GATEWAY, "provider_denied", "The provider refuses the token";
    /// The provider is not set up.
    ProviderNotConfigured: CONFLICT, "provider_not_configured", "The provider is not set up";
    /// The provider wants to be left alone.
    ProviderThrottled: SERVICE_UNAVAILABLE, "provider_throttled", "The provider limits the calls";
    /// The provider can't be reached.
    ProviderUnavailable: BAD_GATEWAY, "provider_unavailable", "The provider can't be reached";
    /// The report could not be read from the storage.
    ReportFetchFailed: INTERNAL_SERVER_ERROR, "report_fetch_failed", "report_fetch_failed";
    /// The file has no report.
    ReportNotReady: CONFLICT, "report_not_ready", "report_not_ready";
    /// No language model is configured.
    ReportsNotConfigured: SERVICE_UNAVAILABLE, "reports_not_configured", "Reports are switched off";
    /// The storage did not take the file.
    S3PutFailed: SERVICE_UNAVAILABLE, "s3_put_failed", "The file could not be stored";
    /// The service was edited or removed while it was polled.
    ServiceChanged: CONFLICT, "service_changed", "The service was changed meanwhile";
    /// The run has ended, so that it can't be cancelled.
    RunEnded: CONFLICT, "run_ended", "The run has ended";
    /// A run of the journey has not ended.
    RunInProgress: CONFLICT, "run_in_progress", "A run is under way";
    /// More requests came than are allowed in this time.
    RateLimited: TOO_MANY_REQUESTS, "rate_limited", "There are too many requests";
    /// The API token's scope does not reach so far.
    ScopeMissing: FORBIDDEN, "scope_missing", "The token's scope does not allow this";
    /// A dependency was to be linked to the service that leans on it.
    SelfLink: CONFLICT, "self_link", "A service does not lean on itself";
    /// An API token can't do this: it needs a person who is signed in.
    SessionRequired: FORBIDDEN, "session_required", "This needs a session";
    /// The first account exists already.
    SetupDone: CONFLICT, "setup_done", "Mainstay is set up already";
    /// The link was taken back.
    ShareRevoked: GONE, "share_revoked", "The link was taken back";
    /// What was read has changed since.
    Stale: PRECONDITION_FAILED, "stale", "It has changed since you read it";
    /// The answer took too long.
    TimedOut: SERVICE_UNAVAILABLE, "timed_out", "The answer took too long";
    /// There are as many aliases as there may be.
    TooManyAliases: CONFLICT, "too_many_aliases", "There are too many aliases";
    /// Too many sign-ins failed.
    TooManyAttempts: TOO_MANY_REQUESTS, "too_many_attempts", "There were too many attempts";
    /// More changes than are applied at once.
    TooManyChanges: BAD_REQUEST, "too_many_changes", "There are too many changes at once";
    /// The user has as many files as one may have.
    TooManyFiles: CONFLICT, "too_many_files", "There are too many files";
    /// More headers than allowed.
    TooManyHeaders: REQUEST_HEADER_FIELDS_TOO_LARGE, "too_many_headers", "There are too many headers";
    /// The user has as many nets as one may have.
    TooManyNets: CONFLICT, "too_many_nets", "There are too many nets";
    /// There are as many journeys as there may be.
    TooManyJourneys: CONFLICT, "too_many_journeys", "There are too many journeys";
    /// There are as many services as there may be.
    TooManyServices: CONFLICT, "too_many_services", "There are too many services";
    /// The file has as many shares as one may have.
    TooManyShares: CONFLICT, "too_many_shares", "There are too many shares";
    /// The user has as many API tokens as one may have.
    TooManyTokens: CONFLICT, "too_many_tokens", "There are too many API tokens";
    /// The user has as many uploads under way as one may have.
    TooManyUploads: TOO_MANY_REQUESTS, "too_many_uploads", "There are too many uploads at once";
    /// The user has as many workers as one may have.
    TooManyWorkers: CONFLICT, "too_many_workers", "There are too many workers";
    /// The request carries no session and no API token that is valid.
    Unauthenticated: UNAUTHORIZED, "unauthenticated", "You are not signed in";
    /// `Host` names a site that this is not.
    UnknownHost: MISDIRECTED_REQUEST, "unknown_host", "The host is not known here";
    /// The body is of another kind than expected.
    UnsupportedMediaType: UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The kind of body is not supported";
    /// The upload was given up while it went on.
    UploadInterrupted: CONFLICT, "upload_interrupted", "The upload was given up";
    /// The user is disabled.
    UserDisabled: FORBIDDEN, "user_disabled", "The account is disabled";
    /// A user with this e-mail exists.
    UserExists: CONFLICT, "user_exists", "The user exists already";
    /// The password is shorter or longer than allowed.
    WeakPassword: BAD_REQUEST, "weak_password", "The password is not accepted";
    /// Something else is being done to the worker.
    WorkerBusy: CONFLICT, "worker_busy", "The worker is busy";
    /// The worker has as many nets as one may have.
    WorkerFull: CONFLICT, "worker_full", "The worker has too many nets";
    /// The worker's machine does not exist any more.
    WorkerGone: CONFLICT, "worker_gone", "Worker is no longer available";
    /// A net needs a ready worker.
    WorkerNotReady: CONFLICT, "worker_not_ready", "The worker is not ready";
    /// The worker does not answer.
    WorkerUnavailable: BAD_GATEWAY, "worker_unavailable", "Worker is no longer available";
    /// The worker stands elsewhere than it would have to.
    WrongStatus: CONFLICT, "wrong_status", "The worker can't do that now";
}

impl Code {
    /// The code as it stands in the answer.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().1
    }

    pub(crate) const fn status(self) -> StatusCode {
        self.entry().0
    }

    pub(crate) const fn phrase(self) -> &'static str {
        self.entry().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_code_is_one_snake_case_word_of_its_own_with_an_error_status() {
        let mut seen = HashSet::new();
        for &code in Code::ALL {
            let name = code.name();
            assert!(seen.insert(name), "{name} is there twice");
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{name}"
            );
            assert!(code.status().is_client_error() || code.status().is_server_error(), "{name}");
            assert!(!code.phrase().ends_with('.'), "{name}");
        }
    }

    #[test]
    fn the_codes_of_the_monitor_have_the_agreed_statuses() {
        for (status, names) in [
            (
                400,
                &[
                    "invalid_name",
                    "invalid_health_endpoint",
                    "invalid_format",
                    "invalid_schema_config",
                    "invalid_poll_interval_ms",
                    "invalid_timeout_ms",
                    "invalid_headers",
                    "invalid_team",
                    "invalid_alias",
                    "invalid_canonical_name",
                    "invalid_document",
                    "too_many_changes",
                ][..],
            ),
            (409, &["name_taken", "alias_taken", "poll_in_progress", "not_polled", "self_link"]),
            (422, &["blocked_address"]),
            (429, &["host_busy"]),
        ] {
            for name in names {
                let code = Code::ALL.iter().find(|code| code.name() == *name);
                assert_eq!(code.unwrap().status().as_u16(), status, "{name}");
            }
        }
    }

    #[test]
    fn the_codes_of_reports_have_the_agreed_statuses() {
        for (status, names) in [
            (400, &["empty_file", "invalid_file_type", "invalid_multipart", "invalid_window"][..]),
            (409, &["report_not_ready", "file_not_failed", "file_never_stored"]),
            (410, &["share_revoked"]),
            (413, &["file_too_large"]),
            (500, &["report_fetch_failed"]),
            (503, &["reports_not_configured", "s3_put_failed", "enqueue_failed"]),
        ] {
            for name in names {
                let code = Code::ALL.iter().find(|code| code.name() == *name);
                assert_eq!(code.unwrap().status().as_u16(), status, "{name}");
            }
        }
    }

    #[test]
    fn the_codes_of_the_fleet_have_the_agreed_statuses() {
        for (status, names) in [
            (400, &["invalid_definition", "invalid_if_match", "invalid_region"][..]),
            (409, &["worker_gone", "not_persistent", "worker_busy", "net_busy", "wrong_status"]),
            (409, &["worker_not_ready", "not_assigned", "provider_conflict"]),
            (409, &["provider_not_configured"]),
            (412, &["stale"]),
            (502, &["worker_unavailable", "provider_unavailable", "provider_denied"]),
            (503, &["provider_throttled"]),
            (504, &["operation_timed_out"]),
        ] {
            for name in names {
                let code = Code::ALL.iter().find(|code| code.name() == *name);
                assert_eq!(code.unwrap().status().as_u16(), status, "{name}");
            }
        }
        let gone = Code::WorkerGone.phrase();
        assert_eq!(
            (gone, Code::WorkerUnavailable.phrase()),
            (gone, "Worker is no longer available")
        );
    }

    #[test]
    fn the_codes_of_accounts_have_the_agreed_statuses() {
        for (status, names) in [
            (
                400,
                &["invalid_email", "weak_password", "invalid_or_expired_token", "form_expired"][..],
            ),
            (401, &["unauthenticated", "invalid_credentials"]),
            (403, &["forbidden", "user_disabled", "session_required", "csrf", "scope_missing"]),
            (
                409,
                &[
                    "user_exists",
                    "last_admin",
                    "setup_done",
                    "invite_not_pending",
                    "too_many_tokens",
                ],
            ),
            (429, &["too_many_attempts", "rate_limited"]),
            (503, &["busy"]),
        ] {
            for name in names {
                let code = Code::ALL.iter().find(|code| code.name() == *name);
                assert_eq!(code.unwrap().status().as_u16(), status, "{name}");
            }
        }
    }
}
