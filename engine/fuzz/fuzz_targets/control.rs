//! Fuzz target: see `assay_fuzz::control`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::control(bytes);
});
