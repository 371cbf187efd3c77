//! How the databases go about what owners ask for.
