//! The desk's engine, with a PostgreSQL of the tests' own.

mod alone;
mod attacks;
mod cluster;
mod commands;
mod delivery;
mod evidence;
mod failover;
mod gateways;
mod hostile;
mod lost;
mod noise;
mod rights;
mod routes;
mod rows;
mod schema;
mod seats;
mod way;
