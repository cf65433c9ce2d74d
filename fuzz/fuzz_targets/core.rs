#![no_main]
libfuzzer_sys::fuzz_target!(|facts: Vec<acm_fuzz::Fact>| acm_fuzz::core(&facts));
