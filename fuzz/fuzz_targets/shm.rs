#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| acm_fuzz::shm(bytes));
