//! What `ib-sim run` says in the environment.
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Which node this process is at.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) socket: PathBuf,
    pub(crate) node: String,
    pub(crate) tree: PathBuf,
}

/// As it was when the program first looked for a device: later changes of the environment do not count.
pub(crate) fn get() -> Option<&'static Environment> {
    static OWN: OnceLock<Option<Environment>> = OnceLock::new();
    OWN.get_or_init(|| {
        let variable = |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
        Some(Environment {
            socket: variable("IB_SIM_SOCKET")?.into(),
            node: variable("IB_SIM_NODE")?.into_string().ok()?,
            tree: variable("IB_SIM_TREE")?.into(),
        })
    })
    .as_ref()
}

impl Environment {
    /// The name in the subnet of one of the host's devices.
    pub(crate) fn device(&self, number: u8) -> String {
        if number == 0 { self.node.clone() } else { format!("{}:{number}", self.node) }
    }

    /// A file in the node's `/sys/class`.
    pub(crate) fn class(&self, below: &str) -> PathBuf {
        self.tree.join(Path::new("sys/class").join(below))
    }
}
