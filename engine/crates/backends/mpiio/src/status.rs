//! MPI's answers as faults.

use crate::ffi;
use assay_core::{fault_message, SetupError};
use assay_spec::{Fault, FaultDomain};

/// The fault of a negative number that the shim has returned.
#[cold]
pub(crate) fn fault(number: i64) -> Fault {
    Fault::new(FaultDomain::Mpi, -number as i32)
}

/// Bytes, or a fault.
#[inline]
pub(crate) fn bytes_or_fault(number: i64) -> Result<u64, Fault> {
    u64::try_from(number).map_err(|_| fault(number))
}

/// An error outside operations, with the library's own message.
pub(crate) fn error(action: &'static str, object: impl Into<String>, number: i32) -> SetupError {
    let fault = fault(i64::from(number));
    let message = format!("{}: {}", fault_message(fault), ffi::error_message());
    SetupError::new(action, object, message).because(fault)
}
