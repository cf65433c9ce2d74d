//! A shell with a place of its own.
use crate::{Binary, binary, node::hide_devices, poll, preload, program};
use core::time::Duration;
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};
use tempfile::TempDir;

/// How long a command may take: some build.
const LIMIT: Duration = Duration::from_secs(600);

/// A shell; all that was started in it ends with it.
#[derive(Debug)]
pub(super) struct Shell {
    process: Child,
    input: ChildStdin,
    folder: TempDir,
    commands: usize,
}

/// What a command has done.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) status: i32,
    /// Where all is that it prints, also later and in the background.
    output: PathBuf,
    /// The temporary directory as readers have it, and as it is here.
    tmp: String,
}

impl Given {
    pub(super) fn printed(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.output).unwrap_or_default()).replace(&self.tmp, "/tmp")
    }
}

impl Shell {
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run", "log", "tmp", "home", "said"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let namespaces = ["--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child"];
        let mut command = Command::new(program("unshare", "util-linux"));
        command.args(namespaces).arg(program("bash", "bash")).args(["--noprofile", "--norc"]);
        let own = binary(Binary::AcmMio).parent().unwrap().to_owned();
        // Beside the programs, where ib-sim looks for it.
        let _ = preload();
        let places = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<PathBuf>>();
        command.env("PATH", env::join_paths([own].into_iter().chain(places)).unwrap());
        command.env("TMPDIR", folder.path().join("tmp")).current_dir(folder.path().join("home"));
        let lines = fs::File::create(folder.path().join("said/shell")).unwrap();
        let mut process =
            command.stdin(Stdio::piped()).stdout(lines.try_clone().unwrap()).stderr(lines).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let mut shell = Self { process, input, folder, commands: 0 };
        let ip = program("ip", "iproute2").display().to_string();
        let at = shell.folder.path().display().to_string();
        let places = format!("mount --bind {at}/run /run && mount --bind {at}/log /var/log && {ip} link set lo up");
        let ready = shell.give(&format!("{places} && {}", hide_devices()));
        assert_eq!(ready.status, 0, "this test needs namespaces, as root: {}", ready.printed());
        shell
    }

    /// Gives it a command and waits until the shell is ready for the next one.
    pub(super) fn give(&mut self, command: &str) -> Given {
        self.commands += 1;
        let said = |what: &str| self.folder.path().join("said").join(format!("{what}.{}", self.commands));
        let (output, status) = (said("output"), said("status"));
        let script = format!("{{ {command}\n}} >{} 2>&1 </dev/null\necho $? >{}\n", output.display(), status.display());
        self.input.write_all(script.as_bytes()).unwrap();
        let code = poll::within(LIMIT, || {
            if self.process.try_wait().unwrap().is_some() {
                return Some(-1);
            }
            fs::read_to_string(&status).ok()?.strip_suffix('\n')?.parse().ok()
        });
        let tmp = self.folder.path().join("tmp").display().to_string();
        let given = Given { status: code.unwrap_or(-1), output, tmp };
        assert!(given.status >= 0, "no end of {command:?}: {}{}", given.printed(), self.said());
        given
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said/shell")).unwrap_or_default()
    }
}

/// The project's own directory.
pub(super) fn clone() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A command for the project's own directory.
pub(super) fn in_clone(command: &str) -> String {
    format!("(cd '{}'\n{command}\n)", clone().display())
}

impl Drop for Shell {
    fn drop(&mut self) {
        // With it goes its namespace of processes.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
