//! Failures outside operations.

use crate::as_errno;
use assay_spec::Fault;
use std::fmt;

/// A failure to open, create or prepare something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError {
    /// The attempted action: open, create, preallocate, cache, ...
    pub action: &'static str,
    /// The file, directory or device.
    pub object: String,
    /// Requested bytes, if the action has a size.
    pub length: u64,
    /// The fault that the storage or the kernel reported, if any.
    pub fault: Option<Fault>,
    /// What went wrong and how to mend it, one line.
    pub message: String,
    /// There are no credentials for the service, or they are unreadable.
    pub no_credentials: bool,
}

impl SetupError {
    /// An error with the engine's own message.
    pub fn new(action: &'static str, object: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        SetupError { action, object: object.into(), length: 0, fault: None, message, no_credentials: false }
    }

    /// An error for missing or unreadable credentials.
    pub fn no_credentials(message: impl Into<String>) -> Self {
        SetupError { no_credentials: true, ..SetupError::new("find", "credentials", message) }
    }

    /// An error that the kernel reported.
    pub fn os(action: &'static str, object: impl Into<String>, errno: rustix::io::Errno) -> Self {
        let code = errno.raw_os_error();
        SetupError::new(action, object, os_message(code)).because(Fault::os(code))
    }

    /// The same error, with the fault that the storage or the kernel reported.
    #[must_use]
    pub fn because(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// The kernel's errno, or the one that corresponds to the fault, if there is one.
    pub fn errno(&self) -> Option<i32> {
        self.fault.and_then(as_errno)
    }

    /// The same error, with a size in bytes.
    #[must_use]
    pub fn with_length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }
}

/// The C library's text for an errno.
pub fn os_message(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.action, self.object, self.message)
    }
}

impl std::error::Error for SetupError {}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spec::FaultDomain;
    use rustix::io::Errno;

    #[test]
    fn an_error_is_one_line_and_keeps_its_number() {
        let error = SetupError::os("preallocate", "f0", Errno::NOSPC).with_length(7);
        assert_eq!(error.to_string(), "preallocate f0: No space left on device");
        assert_eq!((error.errno(), error.length), (Some(Errno::NOSPC.raw_os_error()), 7));
        let own = SetupError::new("open", "f0", "is a mount");
        assert_eq!((own.to_string().as_str(), own.errno()), ("open f0: is a mount", None));
    }

    /// Faults of every protocol map to an errno where one corresponds.
    #[test]
    fn a_fault_of_a_service_has_the_corresponding_errno() {
        let of = |fault| SetupError::new("open", "f0", "").because(fault).errno();
        assert_eq!(of(Fault::new(FaultDomain::Nfs, 2)), Some(Errno::NOENT.raw_os_error()));
        assert_eq!(of(Fault::new(FaultDomain::Mpi, 42)), Some(Errno::NOENT.raw_os_error()));
        assert_eq!(of(Fault::new(FaultDomain::Http, 500)), None);
    }
}
