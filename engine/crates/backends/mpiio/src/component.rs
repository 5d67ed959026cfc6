//! Which part of an MPI library does MPI-IO, and its known defects.

use std::collections::{BTreeMap, BTreeSet};

/// How Open MPI's shared objects of MPI-IO components are named.
const OPEN_MPI: &str = "mca_io_";
/// A component of Open MPI 4 that crashes in MPI_File_iwrite_at_all with any number of ranks.
const CRASHING_COMPONENT: &str = "romio321";

/// The component's name: `romio` if the library has hints with that name (MPICH, Intel MPI); with Open MPI the loaded
/// component, or all loaded ones, as nothing shows which of them has a file. Empty if unknown.
pub(crate) fn loaded_component(hints: &BTreeMap<String, String>) -> String {
    let loaded = loaded_in(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default());
    if !loaded.is_empty() {
        return loaded.into_iter().collect::<Vec<_>>().join(" or ");
    }
    let romio = hints.keys().any(|key| key.starts_with("romio_"));
    if romio { "romio" } else { "" }.to_owned()
}

/// Components of Open MPI in a text such as /proc/self/maps.
fn loaded_in(maps: &str) -> BTreeSet<String> {
    let files = maps.lines().filter_map(|line| line.rsplit('/').next());
    files.filter_map(|file| Some(file.strip_prefix(OPEN_MPI)?.split('.').next()?.to_owned())).collect()
}

/// Why a component cannot do what the job needs.
pub(crate) fn check_supported(component: &str, nonblocking_together: bool) -> Result<(), String> {
    if component == CRASHING_COMPONENT && nonblocking_together {
        let message =
            "crashes in nonblocking collective operations: set queue_depth to 1, or use ompio (mpirun --mca io ompio)";
        return Err(format!("Open MPI's {component} {message}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_among_loaded_files() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 08:01 11 /usr/lib/openmpi3/{file}\n");
        assert_eq!(loaded_in(&line("mca_io_romio321.so")), BTreeSet::from(["romio321".to_owned()]));
        let both = line("mca_io_romio321.so") + &line("mca_io_ompio.so.1") + &line("mca_fs_ufs.so");
        assert_eq!(loaded_in(&both).into_iter().collect::<Vec<_>>(), ["ompio", "romio321"]);
        assert!(loaded_in("7f00-7f01 rw-p 00000000 00:00 0\n").is_empty());
    }

    #[test]
    fn what_crashes_is_refused() {
        assert!(check_supported("romio321", true).is_err());
        assert!(check_supported("romio321", false).is_ok() && check_supported("ompio", true).is_ok());
    }
}
