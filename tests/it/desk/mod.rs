//! The desk's engine, with a PostgreSQL of the tests' own.

mod cluster;
mod commands;
mod delivery;
mod hostile;
mod rights;
mod rows;
mod schema;
