//! Leases on both databases.

mod leases;
