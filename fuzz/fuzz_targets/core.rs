#![no_main]
libfuzzer_sys::fuzz_target!(|operations: Vec<acm_fuzz::Operation>| { acm_fuzz::core(&operations); });
