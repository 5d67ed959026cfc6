//! The kind of targets that are accessed through MPI-IO.

use crate::capability;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_posix::place::claim::clean;
use assay_posix::place::Place;
use assay_spec::{BackendCapabilities, Job, MpiioTarget, PlaceAnswer, Target};
use std::sync::Arc;

/// Files that are accessed through MPI-IO.
pub struct MpiFiles;

/// The version of the MPI library that this program is linked to; none if it is linked to none.
pub fn library() -> Option<String> {
    #[cfg(feature = "mpi")]
    return Some(crate::ffi::library());
    #[cfg(not(feature = "mpi"))]
    None
}

/// Ends MPI, if this process has started it. The main thread calls it before the process ends. `well`: all ranks have
/// completed the job; otherwise some may be missing, and are waited for 5 s only.
pub fn leave(well: bool) {
    #[cfg(any(feature = "mpi", test))]
    crate::ranks::leave(well);
    #[cfg(not(any(feature = "mpi", test)))]
    let _ = well;
}

fn of(target: &Target) -> Result<&MpiioTarget, SetupError> {
    match target {
        Target::Mpiio(target) => Ok(target),
        other => Err(wrong_kind(other, "mpiio")),
    }
}

impl Kind for MpiFiles {
    fn general(&self) -> BackendCapabilities {
        capability::general()
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let target = of(target)?;
        capability::at(&Place::directory(&target.root, &target.directory, target.run.as_deref())?)
    }

    #[cfg(feature = "mpi")]
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        Ok(Arc::new(crate::backend::MpiBackend::open(of(&job.target)?, job)?))
    }

    #[cfg(not(feature = "mpi"))]
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let message =
            "this engine is linked to no MPI: use assay-engine-mpi, which `make engine` builds where there is mpicc";
        Err(SetupError::new("open", &of(&job.target)?.root, message))
    }

    fn clean(&self, target: &Target, whole: bool, lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let target = of(target)?;
        clean(&target.root, &target.directory, target.run.as_deref(), whole, lock_ns)
    }
}
