//! What programs say when something is wrong.

use crate::company::Wire;
use crate::world::Says;

/// The error as a program of this kind tells it.
pub(super) fn of_trouble(says: Says, wire: Wire) -> Option<String> {
    let said = match says {
        Says::Nothing => return None,
        Says::PoolIsBusy => "waited 240 ms for a connection: 48 of 50 are in use",
        Says::PoolIsEmpty => pool_is_empty(wire),
        Says::CertificateExpired => {
            "TLS handshake with api.harbour-bank.example failed: certificate has expired"
        }
        Says::ThirdPartyFails => "api.textline.example answered 502 Bad Gateway",
        Says::QueueLags => "consumer lag is 184 000 messages and grows",
        Says::StorageIsSlow => "a write of 1 KiB took more than 800 ms",
    };
    Some(said.to_owned())
}

fn pool_is_empty(wire: Wire) -> &'static str {
    match wire {
        Wire::Spring => {
            "HikariPool-1 - Connection is not available, request timed out after 850 ms"
        }
        Wire::AspNet => {
            "Npgsql.NpgsqlException: The connection pool has been exhausted (currently 50 of 50)"
        }
        Wire::Proactive | Wire::Status => {
            "FATAL: remaining connection slots are reserved; no connection within 850 ms"
        }
    }
}
