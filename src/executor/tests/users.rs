//! Properties that hold for an ordinary user as well as for root.

use super::bench::as_an_ordinary_user;

/// An owner other than root needs the file's mode to open it again.
#[test]
fn memory_files_are_untouched_for_an_ordinary_user_too() {
    as_an_ordinary_user(&["sandbox::memfd::tests::a_file_shared_by_runs_keeps_no_change_of_a_run"]);
}
