//! The desk's engine, with a PostgreSQL of the tests' own.

mod attacks;
mod cluster;
mod commands;
mod delivery;
mod hostile;
mod lost;
mod rights;
mod rows;
mod schema;
mod seats;
