//! Shared libraries and the programs that load them: providers, `libibacm`, `LD_PRELOAD`; and the code of ib-mad.
mod c_library;
mod in_ibacm;
mod mad_instructions;
mod preload;
mod providers;
