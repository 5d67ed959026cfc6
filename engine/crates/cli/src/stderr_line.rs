//! Lines for users on standard error.

/// Print a line on standard error. If that fails, nothing is lost: the exit code reports it, too, and the engine ends
/// in order.
macro_rules! stderr_line {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
