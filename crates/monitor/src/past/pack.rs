//! A portion of a keyframe, packed: JSON without names of fields, deflated.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};

use super::state::{PastDependency, PastService, PastState};
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

/// A portion that unpacks to more than this was not packed here.
const MAX_UNPACKED: u64 = 64 << 20;

/// A portion that can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a portion of a keyframe can't be read")]
pub(crate) struct Damaged;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Portion {
    services: Vec<Service>,
    dependencies: Vec<Dependency>,
}

/// Number, id, name, status, since when, stale since when.
#[derive(Debug, Serialize, Deserialize)]
struct Service(i64, Id, String, ServiceStatus, i64, Option<i64>);

/// Number, id, number of the service, name, canonical name if it is another, status, since when, missing
/// since when, the linked service, whether it is closed.
#[derive(Debug, Serialize, Deserialize)]
struct Dependency(i64, Id, i64, String, Option<String>, u8, i64, Option<i64>, Option<Id>, bool);

/// Packs a part of a state.
pub(crate) fn pack(part: &PastState) -> Vec<u8> {
    let mut portion = Portion {
        services: part.services.iter().map(service).collect(),
        dependencies: part.dependencies.iter().map(dependency).collect(),
    };
    // Neighbours are alike, and the same state is packed in one way.
    portion.services.sort_unstable_by_key(|one| one.0);
    portion.dependencies.sort_unstable_by_key(|one| one.0);
    // Numbers and texts always have a JSON form, and into memory nothing fails.
    let plain = serde_json::to_vec(&portion).unwrap_or_default();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Adds a packed part to a state.
pub(crate) fn unpack(packed: &[u8], state: &mut PastState) -> Result<(), Damaged> {
    let mut plain = Vec::new();
    let mut decoder = DeflateDecoder::new(packed).take(MAX_UNPACKED);
    decoder.read_to_end(&mut plain).map_err(|_| Damaged)?;
    let portion: Portion = serde_json::from_slice(&plain).map_err(|_| Damaged)?;
    for Service(number, id, name, status, since, stale) in portion.services {
        let service = PastService {
            id,
            name,
            status,
            status_since: Timestamp::from_millis(since),
            stale_since: stale.map(Timestamp::from_millis),
        };
        state.services.insert(number, service);
    }
    for one in portion.dependencies {
        let (number, dependency) = unpack_dependency(one)?;
        state.dependencies.insert(number, dependency);
    }
    Ok(())
}

fn unpack_dependency(one: Dependency) -> Result<(i64, PastDependency), Damaged> {
    let Dependency(number, id, service_no, name, canonical, said, since, missing, link, is_closed) =
        one;
    let said = DependencyStatus::ALL.get(usize::from(said)).copied().ok_or(Damaged)?;
    let dependency = PastDependency {
        id,
        service_no,
        canonical_name: canonical.unwrap_or_else(|| name.clone()),
        name,
        said,
        said_since: Timestamp::from_millis(since),
        missing_since: missing.map(Timestamp::from_millis),
        linked_service_id: link,
        is_closed,
    };
    Ok((number, dependency))
}

fn service((number, one): (&i64, &PastService)) -> Service {
    let stale = one.stale_since.map(Timestamp::as_millis);
    let since = one.status_since.as_millis();
    Service(*number, one.id, one.name.clone(), one.status, since, stale)
}

fn dependency((number, one): (&i64, &PastDependency)) -> Dependency {
    let said = DependencyStatus::ALL.iter().position(|status| *status == one.said);
    Dependency(
        *number,
        one.id,
        one.service_no,
        one.name.clone(),
        (one.canonical_name != one.name).then(|| one.canonical_name.clone()),
        said.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX),
        one.said_since.as_millis(),
        one.missing_since.map(Timestamp::as_millis),
        one.linked_service_id,
        one.is_closed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u32) -> Id {
        format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap()
    }

    prop_compose! {
        fn services()(
            number in 1_i64..50, name in ".{0,20}", status in 0_usize..4, since in any::<i64>(),
            stale in proptest::option::of(any::<i64>()),
        ) -> (i64, PastService) {
            let at = Timestamp::from_millis;
            (number, PastService {
                id: id(7), name, status: ServiceStatus::ALL[status], status_since: at(since),
                stale_since: stale.map(at),
            })
        }
    }

    prop_compose! {
        fn dependencies()(
            number in 1_i64..50, name in ".{0,20}", alias in proptest::option::of(".{0,20}"),
            said in 0_usize..5, since in any::<i64>(), missing in proptest::option::of(any::<i64>()),
            link in proptest::option::of(0_u32..9), is_closed in any::<bool>(),
        ) -> (i64, PastDependency) {
            let at = Timestamp::from_millis;
            (number, PastDependency {
                id: id(8), service_no: 3, canonical_name: alias.unwrap_or_else(|| name.clone()), name,
                said: DependencyStatus::ALL[said], said_since: at(since), missing_since: missing.map(at),
                linked_service_id: link.map(id), is_closed,
            })
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            services in proptest::collection::vec(services(), 0..20),
            dependencies in proptest::collection::vec(dependencies(), 0..20),
        ) {
            let state = PastState {
                services: services.into_iter().collect(),
                dependencies: dependencies.into_iter().collect(),
            };
            let mut unpacked = PastState::default();
            unpack(&pack(&state), &mut unpacked).unwrap();
            prop_assert_eq!(unpacked, state);
        }

        #[test]
        fn what_was_not_packed_is_refused_and_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(unpack(&bytes, &mut PastState::default()), Err(Damaged));
        }
    }
}
