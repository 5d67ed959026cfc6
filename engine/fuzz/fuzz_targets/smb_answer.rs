//! Fuzz target: see `assay_fuzz::smb_answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::smb_answer(bytes);
});
