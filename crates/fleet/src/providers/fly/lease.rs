//! Whose a lease is. Pure.

use mainstay_base::Secret;
use serde::Deserialize;

use crate::providers::machine::Machine;

/// Who holds a machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// We do, by this nonce.
    Us(Secret<String>),
    /// Somebody else.
    Another,
    /// Nobody, or nobody any more.
    Nobody,
}

/// A lease as Fly tells it; what is not needed is left out.
#[derive(Debug, Deserialize)]
pub(super) struct ToldLease {
    data: Lease,
}

#[derive(Debug, Deserialize)]
struct Lease {
    #[serde(default)]
    nonce: String,
    #[serde(default)]
    description: String,
}

/// What we write on our leases of a machine. Its name is that of one order, and one order has one operation at a
/// time: so whoever else wrote it is no more, or waits for no answer any more.
pub(super) fn sign(machine: &Machine) -> String {
    format!("an operation of Mainstay on {}", machine.name)
}

impl ToldLease {
    /// What shows that one holds it.
    pub(super) fn nonce(self) -> Option<Secret<String>> {
        (!self.data.nonce.is_empty()).then(|| Secret::new(self.data.nonce))
    }

    /// Whose it is, where ours has this written on it.
    pub(super) fn holder(self, ours: &str) -> Holder {
        match self.data.description == ours {
            true => self.nonce().map_or(Holder::Another, Holder::Us),
            false => Holder::Another,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(lease: &str) -> Holder {
        let told = format!(r#"{{"status":"success","data":{lease}}}"#);
        serde_json::from_str::<ToldLease>(&told).unwrap().holder("ours")
    }

    #[test]
    fn only_what_we_wrote_on_it_makes_a_lease_ours() {
        let us = Holder::Us(Secret::new("n".to_owned()));
        assert_eq!(holder(r#"{"nonce":"n","description":"ours"}"#), us);
        for lease in [
            r#"{"nonce":"n","description":"fly deploy","owner":"o@tokens.fly.io"}"#,
            r#"{"nonce":"n"}"#,
            r#"{"description":"ours"}"#,
        ] {
            assert_eq!(holder(lease), Holder::Another, "{lease}");
        }
    }
}
