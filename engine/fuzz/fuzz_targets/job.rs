//! Fuzz target: see `assay_fuzz::job`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::job(bytes);
});
