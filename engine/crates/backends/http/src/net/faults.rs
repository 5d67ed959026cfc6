//! Failures below HTTP, as faults.

use assay_core::{Fault, MALFORMED_ANSWER};
use std::error::Error;
use std::io;

/// The fault of an I/O error: the kernel's number, or the closest one.
pub(crate) fn of_io(error: &io::Error) -> Fault {
    let known = error.raw_os_error().or_else(|| error.get_ref().and_then(|inner| errno_below(inner)));
    Fault::os(known.unwrap_or(match error.kind() {
        io::ErrorKind::UnexpectedEof => libc::ECONNABORTED,
        io::ErrorKind::TimedOut => libc::ETIMEDOUT,
        io::ErrorKind::ConnectionReset => libc::ECONNRESET,
        io::ErrorKind::BrokenPipe | io::ErrorKind::WriteZero => libc::EPIPE,
        // TLS: a message breaks the protocol, or the certificate is not trusted.
        _ => libc::EPROTO,
    }))
}

fn errno_below(error: &(dyn Error + 'static)) -> Option<i32> {
    let mut error = Some(error);
    while let Some(this) = error {
        if let Some(errno) = this.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(errno);
        }
        error = this.source();
    }
    None
}

/// The fault of an error during the TLS handshake: a peer that speaks another protocol is distinguished from one that is
/// not trusted.
pub(crate) fn of_handshake(error: &io::Error) -> Fault {
    let below = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match below {
        Some(rustls::Error::InvalidMessage(_)) => Fault::os(libc::EPROTOTYPE),
        _ => of_io(error),
    }
}

/// The fault of an HTTP error.
pub(crate) fn of_http(error: &hyper::Error) -> Fault {
    let mut below = error.source();
    while let Some(this) = below {
        if let Some(io) = this.downcast_ref::<io::Error>() {
            return of_io(io);
        }
        below = this.source();
    }
    if error.is_parse() {
        return MALFORMED_ANSWER;
    }
    // Closed before or within an answer.
    Fault::os(libc::ECONNABORTED)
}
