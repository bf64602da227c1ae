//! Data sets and the inputs of agents: described, converted and counted in a jail of their own.

pub mod bounds;
pub mod cells;
pub mod convert;
pub mod datasets;
mod dates;
pub mod media;
mod numbers;
mod spellings;
pub mod stamp;
