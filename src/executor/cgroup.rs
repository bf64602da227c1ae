//! How the control group of a run is told from others: by its name, from inside and outside.

/// What the name of a run's group begins with.
pub const PREFIX: &str = "countersign-run-";

/// Whether `/proc/<pid>/cgroup` says that the process is in a run's own groups, for memory and
/// processes both.
pub fn is_own(groups: &str) -> bool {
    let own = |controller: &str| {
        groups.lines().any(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next().unwrap_or_default();
            let path = fields.next().unwrap_or_default();
            controllers.split(',').any(|one| one == controller)
                && path
                    .rsplit('/')
                    .next()
                    .is_some_and(|name| name.starts_with(PREFIX))
        })
    };
    // The empty list is version 2, where one group holds every controller.
    own("") || (own("memory") && own("pids"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_group_is_none() {
        assert!(is_own("0::/a/countersign-run-7\n"));
        assert!(is_own(
            "9:pids:/countersign-run-7\n4:memory:/x/countersign-run-7\n0::/\n"
        ));
        assert!(!is_own("9:pids:/countersign-run-7\n4:memory:/\n0::/\n"));
        assert!(!is_own("0::/countersign-run-7/elsewhere\n"));
        assert!(!is_own(""));
    }
}
