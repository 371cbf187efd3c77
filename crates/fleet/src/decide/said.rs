//! What a provider says of a machine whose agent does not answer, for whoever reads why.

use crate::providers::{Exit, HostStatus, ProviderError, ProviderKind, Sighting};

/// What a provider says of a machine, or why it does not.
#[must_use]
pub fn words(kind: ProviderKind, said: &Result<Sighting, ProviderError>) -> String {
    let provider = kind.name();
    match said {
        Ok(seen) => {
            let place = seen.machine.region.as_deref().map(|region| format!(" in {region}"));
            let exit = seen.exit.as_ref().and_then(exit);
            let host = match seen.host {
                HostStatus::Unreachable => ", on a host that it can't reach",
                HostStatus::Ok | HostStatus::Unknown => "",
            };
            let (place, exit) = (place.unwrap_or_default(), exit.unwrap_or_default());
            format!(
                "{provider} says that its machine{place} is {}{exit}{host}",
                seen.provider_state
            )
        }
        Err(error) => format!("{provider} does not say how its machine is: {error}"),
    }
}

/// How it ended the last time, unless somebody asked for that.
fn exit(exit: &Exit) -> Option<String> {
    match exit {
        Exit { requested: true, .. } => None,
        Exit { oom_killed: true, .. } => Some(", and that it ran out of memory".to_owned()),
        Exit { code: Some(code), .. } => Some(format!(", and that its program ended with {code}")),
        Exit { .. } => Some(", and that its program ended by itself".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixture::id;
    use crate::providers::{Machine, MachineName, MachineState};

    fn seen(state: &str, region: Option<&str>, exit: Option<Exit>, host: HostStatus) -> Sighting {
        let name = MachineName::of(id(1), 2);
        let region = region.map(str::to_owned);
        Sighting {
            machine: Machine { id: "m".to_owned(), name, run: None, address: None, region },
            state: MachineState::Failed,
            provider_state: state.to_owned(),
            host,
            exit,
        }
    }

    #[test]
    fn state_region_exit_and_host_are_told() {
        let exit = |code, oom_killed, requested| Some(Exit { code, oom_killed, requested });
        let (ok, lost) = (HostStatus::Ok, HostStatus::Unreachable);
        for (sighting, wanted) in [
            (seen("started", None, None, ok), "fly says that its machine is started"),
            (
                seen("stopped", Some("fra"), exit(Some(137), true, false), ok),
                "fly says that its machine in fra is stopped, and that it ran out of memory",
            ),
            (
                seen("stopped", None, exit(Some(1), false, false), ok),
                "fly says that its machine is stopped, and that its program ended with 1",
            ),
            (
                seen("stopped", None, exit(None, false, false), ok),
                "fly says that its machine is stopped, and that its program ended by itself",
            ),
            (
                seen("stopped", None, exit(Some(0), false, true), ok),
                "fly says that its machine is stopped",
            ),
            (
                seen("started", Some("iad"), None, lost),
                "fly says that its machine in iad is started, on a host that it can't reach",
            ),
        ] {
            assert_eq!(words(ProviderKind::Fly, &Ok(sighting)), wanted);
        }
    }

    #[test]
    fn that_it_says_nothing_is_told_with_the_reason() {
        let said = Err(ProviderError::Denied("401 no".to_owned()));
        let told = words(ProviderKind::Fly, &said);
        assert!(told.starts_with("fly does not say how its machine is: "), "{told}");
        assert!(told.contains("401 no"), "{told}");
    }
}
