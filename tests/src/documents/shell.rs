//! A shell in its own namespaces and directories.
use crate::{Binary, binary, node::hide_devices, poll, preload, program};
use core::time::Duration;
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};
use tempfile::TempDir;

/// Maximum time of a command. Some commands build programs.
const LIMIT: Duration = Duration::from_secs(600);

/// A shell. Its processes end when it is dropped.
#[derive(Debug)]
pub(super) struct Shell {
    process: Child,
    input: ChildStdin,
    folder: TempDir,
    commands: usize,
}

/// Result of a command.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) status: i32,
    /// File of the output, also of later output in the background.
    output: PathBuf,
    /// The temporary directory, which stands for `/tmp`.
    tmp: String,
}

impl Executed {
    pub(super) fn printed(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.output).unwrap_or_default()).replace(&self.tmp, "/tmp")
    }
}

impl Shell {
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run", "log", "tmp", "home", "output"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let namespaces = ["--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child"];
        let mut command = Command::new(program("unshare", "util-linux"));
        command.args(namespaces).arg(program("bash", "bash")).args(["--noprofile", "--norc"]);
        let own = binary(Binary::AcmMio).parent().unwrap().to_owned();
        // ib-sim looks for this library beside its program.
        let _ = preload();
        let places = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<PathBuf>>();
        command.env("PATH", env::join_paths([own].into_iter().chain(places)).unwrap());
        command.env("TMPDIR", folder.path().join("tmp")).current_dir(folder.path().join("home"));
        let lines = fs::File::create(folder.path().join("output/shell")).unwrap();
        let mut process =
            command.stdin(Stdio::piped()).stdout(lines.try_clone().unwrap()).stderr(lines).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let mut shell = Self { process, input, folder, commands: 0 };
        let ip = program("ip", "iproute2").display().to_string();
        let at = shell.folder.path().display().to_string();
        let places = format!("mount --bind {at}/run /run && mount --bind {at}/log /var/log && {ip} link set lo up");
        let ready = shell.execute(&format!("{places} && {}", hide_devices()));
        assert_eq!(ready.status, 0, "this test needs namespaces, as root: {}", ready.printed());
        shell
    }

    /// Executes a command and waits until the shell is ready for the next one.
    pub(super) fn execute(&mut self, command: &str) -> Executed {
        self.commands += 1;
        let file = |what: &str| self.folder.path().join("output").join(format!("{what}.{}", self.commands));
        let (output, status) = (file("output"), file("status"));
        let script = format!("{{ {command}\n}} >{} 2>&1 </dev/null\necho $? >{}\n", output.display(), status.display());
        self.input.write_all(script.as_bytes()).unwrap();
        let code = poll::within(LIMIT, || {
            if self.process.try_wait().unwrap().is_some() {
                return Some(-1);
            }
            fs::read_to_string(&status).ok()?.strip_suffix('\n')?.parse().ok()
        });
        let tmp = self.folder.path().join("tmp").display().to_string();
        let executed = Executed { status: code.unwrap_or(-1), output, tmp };
        assert!(executed.status >= 0, "no end of {command:?}: {}{}", executed.printed(), self.errors());
        executed
    }

    /// Returns the output of the shell itself.
    fn errors(&self) -> String {
        fs::read_to_string(self.folder.path().join("output/shell")).unwrap_or_default()
    }
}

/// Returns the project's directory.
pub(super) fn clone() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns a command that runs in the project's directory.
pub(super) fn in_clone(command: &str) -> String {
    format!("(cd '{}'\n{command}\n)", clone().display())
}

impl Drop for Shell {
    fn drop(&mut self) {
        // This ends the shell's process namespace, too.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
