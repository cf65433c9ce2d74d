//! One library: opened, asked for its provider, and looked at.
#![expect(unsafe_code, reason = "the library's own function")]
use crate::functions::Functions;
use acm_provider::abi::{self, Provider, ProviderQuery};
use core::{
    ffi::{CStr, c_char, c_void},
    ptr,
};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};
use nix::{libc, unistd::geteuid};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Bytes of a provider's name that are looked at; ibacm takes 63.
const LONGEST_NAME: usize = 63;

/// Why a library is not used.
#[derive(Debug, thiserror::Error)]
#[error("provider library {}: {why}", path.display())]
pub struct Refused {
    /// The library's file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Wrong,
}

/// What is wrong with a library.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is a directory, a device, a pipe.
    #[error("no regular file")]
    NotRegular,
    /// Whoever can write to it would be root.
    #[error("{0}, and the daemon runs as root")]
    NotRoots(&'static str),
    /// The system's loader does not take it.
    #[error("{0}")]
    NotLoaded(String),
    /// It has no `provider_query`.
    #[error("no function provider_query")]
    NoQuery,
    /// It cannot serve.
    #[error("provider_query gave {0}")]
    QueryFailed(i32),
    /// `provider_query` wrote no pointer.
    #[error("provider_query gave no provider")]
    NoProvider,
    /// It is for another interface.
    #[error("made for version {0} of the interface of providers; this is version {expected}", expected = abi::VERSION)]
    Version(u32),
    /// It was compiled with another `struct acm_provider`.
    #[error("its struct acm_provider has {0} bytes, not {expected}", expected = size_of::<Provider>())]
    Size(usize),
    /// It has no name, or one that no line of the options can have.
    #[error("its provider has no usable name")]
    Name,
    /// One of its functions is a null pointer.
    #[error("its provider has no function {0}")]
    NoFunction(&'static str),
}

/// A library that may be used. It stays open until the program ends.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    name: String,
    functions: Functions,
    /// Where it is in memory: first byte, and the one after the last.
    range: (usize, usize),
}

impl Library {
    /// Opens a library and asks it for its provider. The function `provider_query` is called here.
    ///
    /// # Errors
    /// [`Refused`], which says what is wrong.
    pub fn open(path: &Path) -> Result<Self, Refused> {
        let refused = |why| Refused { path: path.into(), why };
        let path = fs::canonicalize(path).map_err(|error| refused(error.into()))?;
        look(&path).map_err(refused)?;
        load(path.clone()).map_err(|why| Refused { path, why })
    }

    /// What its provider is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The library's file, an absolute path without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) const fn functions(&self) -> Functions {
        self.functions
    }

    pub(crate) const fn range(&self) -> (usize, usize) {
        self.range
    }
}

/// Whether a file may be loaded: who can write to it, or put another in its place, is root when we are.
fn look(path: &Path) -> Result<(), Wrong> {
    let file = fs::metadata(path)?;
    if !file.is_file() {
        return Err(Wrong::NotRegular);
    }
    if !geteuid().is_root() {
        return Ok(());
    }
    let folder = fs::metadata(path.parent().unwrap_or(path))?;
    trusted(&file, "it is not root's", "others than root may write to it")?;
    trusted(&folder, "its directory is not root's", "others than root may write to its directory")
}

fn trusted(metadata: &fs::Metadata, owner: &'static str, mode: &'static str) -> Result<(), Wrong> {
    if metadata.uid() != 0 {
        return Err(Wrong::NotRoots(owner));
    }
    let (group, others) = (metadata.mode() & 0o020 != 0 && metadata.gid() != 0, metadata.mode() & 0o002 != 0);
    if group || others {
        return Err(Wrong::NotRoots(mode));
    }
    Ok(())
}

fn load(path: PathBuf) -> Result<Library, Wrong> {
    // SAFETY: what a library does when it is loaded is its own affair: whoever named it in the options trusts it.
    // All symbols are looked up now: one that is missing is said here, and not in the middle of a call.
    let handle = unsafe { Handle::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let handle = handle.map_err(|error| Wrong::NotLoaded(reason(&error, &path)))?;
    // SAFETY: the function has this type in each provider's library.
    let query = unsafe { handle.get::<ProviderQuery>(abi::PROVIDER_QUERY.to_bytes_with_nul()) };
    let query = *query.map_err(|_| Wrong::NoQuery)?;
    // It is never closed, whatever it says: it may have started threads.
    core::mem::forget(handle);
    let (mut provider, mut version) = (ptr::null_mut::<Provider>(), 0);
    // SAFETY: both pointers are ours to write.
    let result = unsafe { query(&raw mut provider, &raw mut version) };
    if result != 0 {
        return Err(Wrong::QueryFailed(result));
    }
    if provider.is_null() {
        return Err(Wrong::NoProvider);
    }
    if version != abi::VERSION {
        return Err(Wrong::Version(version));
    }
    // SAFETY: the library says that a provider of this version is there, which begins with its size.
    let size = unsafe { (&raw const (*provider).size).read() };
    if size != size_of::<Provider>() {
        return Err(Wrong::Size(size));
    }
    // SAFETY: it is as large as it has to be, and the library leaves it alone: all providers of ibacm have it as constant.
    let provider = unsafe { &*provider };
    let functions = Functions::of(provider).map_err(Wrong::NoFunction)?;
    let name = name(provider.name).ok_or(Wrong::Name)?;
    let range = range_of(query as *const c_void).ok_or(Wrong::NoQuery)?;
    Ok(Library { path, name, functions, range })
}

/// What the system's loader says, without the path that stands before it anyway.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_owned(),
        other => other.to_string(),
    };
    let path = format!("{}: ", path.display());
    text.strip_prefix(&path).map_or(text.clone(), ToOwned::to_owned)
}

/// A provider's name: 1 to 63 printable characters of ASCII without spaces.
fn name(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the library says that a text is there, and it is constant.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    let usable = !text.is_empty() && text.len() <= LONGEST_NAME && text.iter().all(u8::is_ascii_graphic);
    usable.then(|| text.iter().copied().map(char::from).collect())
}

/// Where the library with this function is in memory.
fn range_of(function: *const c_void) -> Option<(usize, usize)> {
    let mut found = Looking { address: function.addr(), range: None };
    // SAFETY: the function keeps to what it is given: this pointer, and facts of one library that are valid meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut found).cast()) };
    found.range
}

struct Looking {
    address: usize,
    range: Option<(usize, usize)>,
}

unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _size: libc::size_t, looking: *mut c_void) -> libc::c_int {
    // SAFETY: dl_iterate_phdr gives both, and the second is what `range_of` gave it.
    let (info, looking) = unsafe { (&*info, &mut *looking.cast::<Looking>()) };
    let base = usize::try_from(info.dlpi_addr).unwrap_or(0);
    let (mut first, mut end) = (usize::MAX, 0);
    for index in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: so many headers are there.
        let header = unsafe { info.dlpi_phdr.add(index).read() };
        if header.p_type != libc::PT_LOAD {
            continue;
        }
        let start = base.saturating_add(usize::try_from(header.p_vaddr).unwrap_or(0));
        first = first.min(start);
        end = end.max(start.saturating_add(usize::try_from(header.p_memsz).unwrap_or(0)));
    }
    if (first..end).contains(&looking.address) {
        looking.range = Some((first, end));
        return 1;
    }
    0
}
