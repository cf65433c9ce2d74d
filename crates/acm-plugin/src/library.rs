//! A provider's library: checks the file, loads the library, and checks its provider.
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

/// Maximum length of a provider's name in bytes, as in ibacm.
const MAX_NAME: usize = 63;

/// A library that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("provider library {}: {defect}", path.display())]
pub struct Refused {
    /// The library's file.
    pub path: PathBuf,
    /// The reason.
    pub defect: Defect,
}

/// A defect of a library.
#[derive(Debug, thiserror::Error)]
pub enum Defect {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file is a directory, a device or a pipe.
    #[error("no regular file")]
    NotRegular,
    /// A user other than root can change the file. The daemon does not load such a file, because the user would get the
    /// daemon's privileges.
    #[error("{0}, and the daemon runs as root")]
    NotTrusted(&'static str),
    /// The system's loader failed.
    #[error("{0}")]
    NotLoaded(String),
    /// The library has no `provider_query`.
    #[error("no function provider_query")]
    NoQuery,
    /// `provider_query` returned an error.
    #[error("provider_query gave {0}")]
    QueryFailed(i32),
    /// `provider_query` returned a null pointer.
    #[error("provider_query gave no provider")]
    NoProvider,
    /// The library has another version of the interface.
    #[error("made for version {0} of the interface of providers; this is version {expected}", expected = abi::VERSION)]
    Version(u32),
    /// The size of the library's `struct acm_provider` differs from that of ibacm.
    #[error("its struct acm_provider has {0} bytes, not {expected}", expected = size_of::<Provider>())]
    Size(usize),
    /// The provider has no name, or a name that an option line cannot contain.
    #[error("its provider has no usable name")]
    Name,
    /// A function of the provider is a null pointer.
    #[error("its provider has no function {0}")]
    NoFunction(&'static str),
}

/// A checked library, which stays open until the program ends.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    name: String,
    functions: Functions,
    /// Addresses of the library in memory: the first byte, and the byte after the last.
    range: (usize, usize),
}

impl Library {
    /// Opens a library and calls its `provider_query`.
    ///
    /// # Errors
    /// [`Refused`] with the defect of the library.
    pub fn open(path: &Path) -> Result<Self, Refused> {
        let refused = |defect| Refused { path: path.into(), defect };
        let path = fs::canonicalize(path).map_err(|error| refused(error.into()))?;
        check_file(&path).map_err(refused)?;
        load(path.clone()).map_err(|defect| Refused { path, defect })
    }

    /// Returns the name of the provider.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the absolute path of the library's file, without symbolic links.
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

/// Checks that a file is regular. If the process runs as root, only root must be able to write to the file and to all
/// directories of its path, which has no symbolic links.
fn check_file(path: &Path) -> Result<(), Defect> {
    let file = fs::metadata(path)?;
    if !file.is_file() {
        return Err(Defect::NotRegular);
    }
    if !geteuid().is_root() {
        return Ok(());
    }
    check_trust(&file, "it is not root's", "others than root may write to it")?;
    let mut folders = path.ancestors().skip(1);
    if let Some(folder) = folders.next() {
        let folder = fs::metadata(folder)?;
        check_trust(&folder, "its directory is not root's", "others than root may write to its directory")?;
    }
    for folder in folders {
        let folder = fs::metadata(folder)?;
        // With the sticky bit (/tmp), others cannot replace what is root's.
        let is_sticky = folder.uid() == 0 && folder.mode() & 0o1000 != 0;
        if !is_sticky {
            check_trust(
                &folder,
                "a directory of its path is not root's",
                "others than root may write to a directory of its path",
            )?;
        }
    }
    Ok(())
}

fn check_trust(metadata: &fs::Metadata, owner: &'static str, mode: &'static str) -> Result<(), Defect> {
    if metadata.uid() != 0 {
        return Err(Defect::NotTrusted(owner));
    }
    let (group, others) = (metadata.mode() & 0o020 != 0 && metadata.gid() != 0, metadata.mode() & 0o002 != 0);
    if group || others {
        return Err(Defect::NotTrusted(mode));
    }
    Ok(())
}

fn load(path: PathBuf) -> Result<Library, Defect> {
    // SAFETY: loading runs the library's initializers. The administrator who names the library in the options trusts
    // them. RTLD_NOW resolves all symbols, so that a missing symbol is an error here and not during a call.
    let handle = unsafe { Handle::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let handle = handle.map_err(|error| Defect::NotLoaded(reason(&error, &path)))?;
    // SAFETY: the interface of providers defines the type of this function.
    let query = unsafe { handle.get::<ProviderQuery>(abi::PROVIDER_QUERY.to_bytes_with_nul()) };
    let query = *query.map_err(|_| Defect::NoQuery)?;
    // Never close the library, even after an error: it may have started threads.
    core::mem::forget(handle);
    let (mut provider, mut version) = (ptr::null_mut::<Provider>(), 0);
    // SAFETY: both pointers are to local variables that the function may write.
    let result = unsafe { query(&raw mut provider, &raw mut version) };
    if result != 0 {
        return Err(Defect::QueryFailed(result));
    }
    if provider.is_null() {
        return Err(Defect::NoProvider);
    }
    if version != abi::VERSION {
        return Err(Defect::Version(version));
    }
    // SAFETY: the pointer is to a provider of this version, which begins with its size.
    let size = unsafe { (&raw const (*provider).size).read() };
    if size != size_of::<Provider>() {
        return Err(Defect::Size(size));
    }
    // SAFETY: the size is checked. Libraries do not change the structure: it is a constant in all providers of ibacm.
    let provider = unsafe { &*provider };
    let functions = Functions::of(provider).map_err(Defect::NoFunction)?;
    let name = name(provider.name).ok_or(Defect::Name)?;
    let range = range_of(query as *const c_void).ok_or(Defect::NoQuery)?;
    Ok(Library { path, name, functions, range })
}

/// Returns the message of the system's loader without the path, because the message of [`Refused`] contains the path.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_owned(),
        other => other.to_string(),
    };
    let path = format!("{}: ", path.display());
    text.strip_prefix(&path).map_or(text.clone(), ToOwned::to_owned)
}

/// Returns a provider's name: 1 to 63 printable ASCII characters without spaces.
fn name(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the name of a provider is a constant string that ends with a 0.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    let usable = !text.is_empty() && text.len() <= MAX_NAME && text.iter().all(u8::is_ascii_graphic);
    usable.then(|| text.iter().copied().map(char::from).collect())
}

/// Returns the addresses of the library that contains this function.
fn range_of(function: *const c_void) -> Option<(usize, usize)> {
    let mut search = RangeSearch { address: function.addr(), range: None };
    // SAFETY: `check_object` uses only its arguments: this pointer, and the information of one object during the call.
    unsafe { libc::dl_iterate_phdr(Some(check_object), (&raw mut search).cast()) };
    search.range
}

struct RangeSearch {
    address: usize,
    range: Option<(usize, usize)>,
}

unsafe extern "C" fn check_object(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> libc::c_int {
    // SAFETY: dl_iterate_phdr passes both pointers. The second one is the pointer to the search in `range_of`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<RangeSearch>()) };
    let base = usize::try_from(info.dlpi_addr).unwrap_or(0);
    let (mut first, mut end) = (usize::MAX, 0);
    for index in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: the object has `dlpi_phnum` headers.
        let header = unsafe { info.dlpi_phdr.add(index).read() };
        if header.p_type != libc::PT_LOAD {
            continue;
        }
        let start = base.saturating_add(usize::try_from(header.p_vaddr).unwrap_or(0));
        first = first.min(start);
        end = end.max(start.saturating_add(usize::try_from(header.p_memsz).unwrap_or(0)));
    }
    if (first..end).contains(&search.address) {
        search.range = Some((first, end));
        return 1;
    }
    0
}
