//! Readers of recorded applications: the first byte chooses the format, in the order of `weir list traces`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    weir::workload::replay::attempt_any(bytes);
});
