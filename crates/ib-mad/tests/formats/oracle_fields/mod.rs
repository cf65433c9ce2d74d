//! Comparison of field tables and codes with those of other programs: `testdata/oracle`.
mod codes;
mod masks;
mod names;
mod places;
mod readme;
mod tables;
mod values;
