//! Shared by the targets: stacks as large as the program's, and the policies.

pub mod ballot;
pub mod log;
pub mod note;
pub mod query;

use std::sync::{Arc, OnceLock};
use std::thread;

use countersign::policy::{Policy, builtin};

/// The analyser worker's stack.
pub const WORKER: usize = 128 * 1024 * 1024;
/// Any other thread's stack.
pub const THREAD: usize = 2 * 1024 * 1024;

/// Runs `work` on a stack of this size. An overflow aborts the process, which is a finding.
pub fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        thread::Builder::new()
            .stack_size(bytes)
            .spawn_scoped(scope, work)
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

/// The built-in policies.
pub fn policies() -> &'static [Arc<Policy>] {
    static POLICIES: OnceLock<Vec<Arc<Policy>>> = OnceLock::new();
    POLICIES.get_or_init(|| builtin().expect("the built-in policies are sound"))
}

/// Unicode's control and format characters, listed from the standard instead of the program's own
/// tables: C0, C1, bidi controls, zero-width characters, tags.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
