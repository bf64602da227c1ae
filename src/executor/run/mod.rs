//! One run: its inputs, its supervision and its result.

pub mod attendant;
pub mod certify;
mod charts;
mod checked;
pub mod collect;
pub mod drive;
pub mod ending;
mod finish;
pub mod given;
pub mod output;
mod pipe;
mod reached;
