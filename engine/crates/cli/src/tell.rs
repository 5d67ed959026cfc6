//! Lines for people on standard error.

/// Prints a line. If nobody can be told, nothing is lost: the exit code says it, too, and what was begun is ended in order.
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
