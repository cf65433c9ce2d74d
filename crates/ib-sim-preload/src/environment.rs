//! The variables that `ib-sim run` sets in the environment.
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The node of this process, and where to find its server and its files.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The server's socket.
    pub(crate) socket: PathBuf,
    pub(crate) node: String,
    /// The folder with the node's files.
    pub(crate) tree: PathBuf,
}

/// Returns the node, or `None` if a variable is missing. The environment is read at the first call only.
pub(crate) fn get() -> Option<&'static Environment> {
    static ENVIRONMENT: OnceLock<Option<Environment>> = OnceLock::new();
    ENVIRONMENT
        .get_or_init(|| {
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
    /// Returns the name that one of the host's devices has in the subnet.
    pub(crate) fn device(&self, number: u8) -> String {
        if number == 0 { self.node.clone() } else { format!("{}:{number}", self.node) }
    }

    /// Returns the path of a file in the node's `/sys/class`.
    pub(crate) fn class(&self, below: &str) -> PathBuf {
        self.tree.join(Path::new("sys/class").join(below))
    }
}
