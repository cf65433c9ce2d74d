//! A control group with limits, of version 1 or 2.
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A control group, removed when dropped. Its processes must have ended then.
#[derive(Debug)]
pub struct ControlGroup {
    /// The directory of the controller of memory, and with version 1 that of the controller of tasks.
    folders: Vec<PathBuf>,
}

impl ControlGroup {
    /// Creates a group with a limit of memory in bytes and of tasks. `None` on a system where none can be made.
    #[must_use]
    pub fn new(name: &str, memory: u64, tasks: u64) -> Option<Self> {
        let folder = |root: &str| Path::new(root).join(format!("{name}-{}", std::process::id()));
        let with = |controllers: &[(&str, &str, u64)]| {
            let mut group = Self { folders: Vec::new() };
            for (root, file, limit) in controllers {
                let folder = folder(root);
                if !group.folders.contains(&folder) {
                    fs::create_dir(&folder).ok()?;
                    group.folders.push(folder.clone());
                }
                // A file that the kernel does not provide cannot be created.
                fs::write(folder.join(file), limit.to_string()).ok()?;
            }
            Some(group)
        };
        let memory_root = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", memory);
        with(&[memory_root, ("/sys/fs/cgroup/pids", "pids.max", tasks)])
            .or_else(|| with(&[("/sys/fs/cgroup", "memory.max", memory), ("/sys/fs/cgroup", "pids.max", tasks)]))
    }

    /// Returns a command of a shell that moves the shell into the group.
    #[must_use]
    pub fn enter(&self) -> String {
        let enter = |folder: &PathBuf| format!("echo $$ > {}/cgroup.procs", folder.display());
        self.folders.iter().map(enter).collect::<Vec<_>>().join(" && ")
    }

    /// Returns the memory of the group in bytes, without pages of files that the kernel can drop at any time.
    ///
    /// # Errors
    /// The system's error.
    pub fn memory(&self) -> io::Result<u64> {
        let folder = self.folders.first().ok_or(io::ErrorKind::NotFound)?;
        let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        let used = number("memory.usage_in_bytes").or_else(|| number("memory.current"));
        let droppable = self.statistics(&["inactive_file", "active_file"])?;
        Ok(used.ok_or(io::ErrorKind::InvalidData)?.saturating_sub(droppable))
    }

    /// Returns the memory of the processes themselves in bytes, such as their heaps: not that of the kernel for them, and
    /// no shared memory.
    ///
    /// # Errors
    /// The system's error.
    pub fn anonymous(&self) -> io::Result<u64> {
        // The names of the two versions of control groups.
        self.statistics(&["rss", "anon"])
    }

    /// Returns the sum of these values of `memory.stat`.
    fn statistics(&self, names: &[&str]) -> io::Result<u64> {
        let folder = self.folders.first().ok_or(io::ErrorKind::NotFound)?;
        let stat = fs::read_to_string(folder.join("memory.stat"))?;
        let of = |name: &&str| -> Option<u64> {
            stat.lines().find_map(|line| line.strip_prefix(*name)?.strip_prefix(' ')?.parse().ok())
        };
        Ok(names.iter().filter_map(of).sum())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}
