//! The crate's tables of fields and codes against those of other programs: `testdata/oracle`.
mod codes;
mod masks;
mod names;
mod places;
mod readme;
mod tables;
mod values;
