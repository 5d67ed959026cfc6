//! Failures outside operations.

use crate::as_errno;
use assay_spec::Fault;
use std::fmt;

/// Something could not be opened, created or treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError {
    /// What was being done: open, create, preallocate, cache, ...
    pub action: &'static str,
    /// File, directory or device.
    pub object: String,
    /// Bytes asked for, if the action has a size.
    pub length: u64,
    /// What the storage or the kernel said, if it said something.
    pub fault: Option<Fault>,
    /// What went wrong and how to mend it, one line.
    pub message: String,
    /// There are no credentials for the service, or they cannot be read.
    pub no_credentials: bool,
}

impl SetupError {
    /// An error with a message of our own.
    pub fn new(action: &'static str, object: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        SetupError { action, object: object.into(), length: 0, fault: None, message, no_credentials: false }
    }

    /// There are no credentials, or they cannot be read.
    pub fn no_credentials(message: impl Into<String>) -> Self {
        SetupError { no_credentials: true, ..SetupError::new("find", "credentials", message) }
    }

    /// An error the kernel gave.
    pub fn os(action: &'static str, object: impl Into<String>, errno: rustix::io::Errno) -> Self {
        let code = errno.raw_os_error();
        SetupError::new(action, object, os_message(code)).because(Fault::os(code))
    }

    /// An error with a message of our own, for which the storage or the kernel gave a number.
    #[must_use]
    pub fn because(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// The kernel's number, or that which says the same, if there is one.
    pub fn errno(&self) -> Option<i32> {
        self.fault.and_then(as_errno)
    }

    /// The same with a size.
    #[must_use]
    pub fn with_length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }
}

/// The C library's words for an errno.
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

    /// An errno is found whatever answered.
    #[test]
    fn a_fault_of_a_service_has_the_errno_that_says_the_same() {
        let of = |fault| SetupError::new("open", "f0", "").because(fault).errno();
        assert_eq!(of(Fault::new(FaultDomain::Nfs, 2)), Some(Errno::NOENT.raw_os_error()));
        assert_eq!(of(Fault::new(FaultDomain::Mpi, 42)), Some(Errno::NOENT.raw_os_error()));
        assert_eq!(of(Fault::new(FaultDomain::Http, 500)), None);
    }
}
