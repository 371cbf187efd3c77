//! What the operator lets pass: the setting `outbound.allow`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use url::Host;

use super::cidr::Cidr;

/// The most entries of the list: each call looks through it.
pub const MAX_ENTRIES: usize = 1_000;

/// The most characters of a wrong entry that its error repeats.
const MAX_SHOWN: usize = 80;

/// Networks, hosts and suffixes whose inner addresses may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    networks: Vec<Cidr>,
    hosts: Vec<Box<str>>,
    /// With their leading dot.
    suffixes: Vec<Box<str>>,
}

/// An entry that can't stand in the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("outbound.allow: \"{entry}\" {problem}")]
pub struct AllowError {
    /// The entry, shortened.
    pub entry: String,
    /// What is wrong with it.
    pub problem: AllowProblem,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowProblem {
    /// Neither address, network, host nor suffix.
    #[error("is no network, host or suffix; write 10.0.0.0/8, fd00::/8, db.internal or *.internal")]
    NotAnEntry,
    /// A network with a prefix that its family does not have.
    #[error("has no prefix of 0 to 32 for IPv4, 0 to 128 for IPv6; write 10.0.0.0/8 or fd00::/8")]
    Prefix,
    /// A network with bits that its prefix cuts off.
    #[error("has bits beyond its prefix; write {0}")]
    BitsBeyondPrefix(Cidr),
    /// An IPv4 address inside of an IPv6 one.
    #[error("wraps an IPv4 address, which is judged unwrapped; write it as IPv4")]
    Wrapped,
    /// An IPv4 address in an old spelling.
    #[error("is an old spelling of an address; write {0}")]
    OldSpelling(Ipv4Addr),
    /// One entry too many.
    #[error("is one entry more than the {MAX_ENTRIES} that fit; list networks or suffixes instead")]
    TooMany,
}

impl AllowList {
    /// What it was parsed from, or what means the same.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let networks = self.networks.iter().map(Cidr::to_string);
        let hosts = self.hosts.iter().map(ToString::to_string);
        let suffixes = self.suffixes.iter().map(|suffix| format!("*{suffix}"));
        networks.chain(hosts).chain(suffixes).collect()
    }

    /// Reads entries: networks (`10.0.0.0/8`, `fd00::/8`), addresses, hosts and suffixes
    /// (`*.internal`). Blank ones count for nothing.
    ///
    /// # Errors
    /// [`AllowError`] names the first entry that is wrong.
    pub fn parse<I>(entries: I) -> Result<Self, AllowError>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let mut list = Self::default();
        for entry in entries {
            let entry = entry.as_ref().trim();
            if !entry.is_empty() {
                list.add(entry).map_err(|problem| AllowError::new(entry, problem))?;
            }
        }
        Ok(list)
    }

    /// Whether the list names this host, as a whole or by a suffix.
    #[must_use]
    pub fn names(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_same = |listed: &str| listed.eq_ignore_ascii_case(host);
        self.hosts.iter().any(|listed| is_same(listed))
            || self.suffixes.iter().any(|suffix| ends_with(host, suffix))
    }

    /// Whether a network of the list holds this address.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    fn add(&mut self, entry: &str) -> Result<(), AllowProblem> {
        if self.len() >= MAX_ENTRIES {
            return Err(AllowProblem::TooMany);
        }
        if let Some(suffix) = entry.strip_prefix("*.") {
            self.suffixes.push(format!(".{}", name(suffix)?).into());
        } else if entry.contains('/') {
            self.networks.push(network(entry)?);
        } else if let Ok(address) = entry.parse() {
            self.networks.push(unwrapped(Cidr::of(address))?);
        } else {
            self.hosts.push(name(entry)?.into());
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.networks.len().saturating_add(self.hosts.len()).saturating_add(self.suffixes.len())
    }
}

impl AllowError {
    fn new(entry: &str, problem: AllowProblem) -> Self {
        let entry = entry.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
        Self { entry, problem }
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.entries().join(", "))
    }
}

/// `.internal` ends `db.internal`, and not `internal` itself.
fn ends_with(host: &str, suffix: &str) -> bool {
    let split = host.len().checked_sub(suffix.len()).filter(|at| *at > 0);
    let end = split.and_then(|at| host.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

fn network(entry: &str) -> Result<Cidr, AllowProblem> {
    let (address, prefix) = entry.split_once('/').ok_or(AllowProblem::NotAnEntry)?;
    let address: IpAddr = address.parse().map_err(|_| AllowProblem::NotAnEntry)?;
    let is_plain = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
    let prefix = prefix.parse().ok().filter(|_| is_plain).ok_or(AllowProblem::Prefix)?;
    let network = Cidr::new(address, prefix).ok_or(AllowProblem::Prefix)?;
    if network != network.truncated() {
        return Err(AllowProblem::BitsBeyondPrefix(network.truncated()));
    }
    unwrapped(network)
}

/// A mapped address is judged as the IPv4 address it is, so such an entry would never match.
fn unwrapped(network: Cidr) -> Result<Cidr, AllowProblem> {
    match network.address() {
        IpAddr::V6(six) if six.to_ipv4_mapped().is_some() => Err(AllowProblem::Wrapped),
        _ => Ok(network),
    }
}

/// The name as a URL would have it: in lower case, international names in ASCII.
fn name(entry: &str) -> Result<String, AllowProblem> {
    match Host::parse(entry.strip_suffix('.').unwrap_or(entry)) {
        Ok(Host::Domain(name)) if is_name(&name) => Ok(name),
        Ok(Host::Ipv4(address)) => Err(AllowProblem::OldSpelling(address)),
        _ => Err(AllowProblem::NotAnEntry),
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.bytes().all(is_allowed) && name.split('.').all(|label| !label.is_empty())
}

#[cfg(test)]
#[path = "allow_tests.rs"]
mod tests;
