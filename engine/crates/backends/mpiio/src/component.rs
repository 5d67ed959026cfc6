//! Which part of an MPI library does MPI-IO, and what it is known to be unable to do.

use std::collections::{BTreeMap, BTreeSet};

/// How Open MPI names the objects of its components.
const OPEN_MPI: &str = "mca_io_";
/// A component of Open MPI 4 that was seen to crash in MPI_File_iwrite_at_all with any number of ranks above one.
const CRASHES: &str = "romio321";

/// Its name: `romio` where it gives hints of that name (MPICH, Intel MPI); of Open MPI the component that is loaded, and if
/// several are, all of them, as it tells nobody which one has a file. Empty if nothing tells.
pub(crate) fn found(hints: &BTreeMap<String, String>) -> String {
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

/// Why a component cannot do what is asked of it.
pub(crate) fn able(component: &str, nonblocking_together: bool) -> Result<(), String> {
    if component == CRASHES && nonblocking_together {
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
    fn components_are_told_by_what_is_loaded() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 08:01 11 /usr/lib/openmpi3/{file}\n");
        assert_eq!(loaded_in(&line("mca_io_romio321.so")), BTreeSet::from(["romio321".to_owned()]));
        let both = line("mca_io_romio321.so") + &line("mca_io_ompio.so.1") + &line("mca_fs_ufs.so");
        assert_eq!(loaded_in(&both).into_iter().collect::<Vec<_>>(), ["ompio", "romio321"]);
        assert!(loaded_in("7f00-7f01 rw-p 00000000 00:00 0\n").is_empty());
    }

    #[test]
    fn what_crashes_is_refused() {
        assert!(able("romio321", true).is_err());
        assert!(able("romio321", false).is_ok() && able("ompio", true).is_ok());
    }
}
