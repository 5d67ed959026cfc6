//! How much tests do; a module of each crate whose tests have large counts.

/// The first number, or the second where `ASSAY_SOAK` asks for many.
pub(crate) fn times(small: u32, large: u32) -> u32 {
    let soak = std::env::var("ASSAY_SOAK").unwrap_or_default();
    if matches!(soak.as_str(), "" | "0") {
        small
    } else {
        large
    }
}
