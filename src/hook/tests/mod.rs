//! What is refused, what is blocked, what is left alone; and that no text makes the reading fail, hang or take long.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod classes;
mod hostile;
mod tables;
