//! For tests: releases a child that failed the examination, which product code cannot do; and a host that made
//! no child.

use std::path::PathBuf;

use super::host::Host;
use super::states::{Confined, Held};
use crate::model::Isolation;

impl Confined {
    /// Holds the child as if the examination had found nothing missing.
    pub(crate) fn held_despite_missing_layers(self) -> Held {
        let isolation = Isolation {
            tier: self.confinement().tier,
            layers: Vec::new(),
        };
        self.held_unexamined(isolation)
    }
}

/// Says that it is this helper, and leaves every process alone.
pub(super) struct Stranger {
    pub helper: i32,
    pub between: usize,
}

impl Host for Stranger {
    fn helper(&self) -> i32 {
        self.helper
    }

    fn between(&self) -> usize {
        self.between
    }

    fn start(&self) -> &'static str {
        "cold"
    }

    fn folder(&self) -> Option<&PathBuf> {
        None
    }
}
