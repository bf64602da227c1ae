//! One run: what it is given, how it is attended, what came of it.

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
