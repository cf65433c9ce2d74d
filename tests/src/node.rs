//! A daemon at a node of a fabric.
use crate::{Acme, Binary, Connection, Fabric, Finished, Process, binary, ib_acme, poll, process::run, program};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Name of the socket for clients in the run directory.
pub const UNIX_SOCKET: &str = "ibacm-unix.sock";

/// End of a shell script that executes the program in its arguments.
const RUN: &str = "exec \"$0\" \"$@\"";

/// A daemon in its own run directory.
#[derive(Debug)]
pub struct Node {
    /// The daemon's process.
    pub process: Process,
    folder: TempDir,
}

/// The settings of a daemon's start.
#[derive(Clone, Debug)]
pub struct NodeBuilder {
    fabric: Option<String>,
    options: String,
    addresses: Option<String>,
    arguments: Vec<String>,
    /// The command that starts the program, and its arguments.
    wrapper: Vec<String>,
}

impl Node {
    /// Returns the settings of node `number` of the fabric, numbered from 1. Its addresses are nodeN, 10.77.0.N and
    /// fd00::N. It runs in the foreground with log level 2.
    #[must_use]
    pub fn at(fabric: &Fabric, number: u32) -> NodeBuilder {
        let lines = |address: &str| format!("{address}{number} sim0 1 default\n");
        NodeBuilder {
            fabric: Some(format!("sim:{}?node=node{number}", fabric.socket().display())),
            addresses: Some(["node", "10.77.0.", "fd00::"].map(lines).concat()),
            ..Self::alone()
        }
    }

    /// Returns the settings of node 1 of a fabric within the daemon.
    #[must_use]
    pub fn embedded() -> NodeBuilder {
        NodeBuilder {
            fabric: Some("embedded".into()),
            addresses: Some("node1 sim0 1 default\n".into()),
            ..Self::alone()
        }
    }

    /// Returns the settings of a daemon without a fabric and without an address file.
    #[must_use]
    pub fn alone() -> NodeBuilder {
        NodeBuilder {
            fabric: None,
            options: "support_ips_in_addr_cfg 1\nlog_file stderr\nlog_level 2\n".into(),
            addresses: None,
            arguments: vec!["-P".into()],
            wrapper: Vec::new(),
        }
    }

    /// Returns the run directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the socket for clients.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir().join(UNIX_SOCKET)
    }

    /// Returns the log so far, if it is standard error.
    #[must_use]
    pub fn log(&self) -> String {
        self.process.stderr()
    }

    /// Connects to the daemon.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::open(&self.socket())
    }

    /// Runs `ib_acme` with the daemon.
    #[must_use]
    pub fn acme(&self, arguments: &[&str]) -> Acme {
        ib_acme(self.socket().to_str().unwrap(), arguments)
    }

    /// Runs `acmctl` with the daemon.
    pub fn ctl(&self, arguments: &[&str]) -> Finished {
        run(binary(Binary::AcmCtl), &[&["--run-dir", self.dir().to_str().unwrap()], arguments].concat())
    }

    /// Returns the output of `acmctl status --all`, also if something is wrong.
    #[must_use]
    pub fn status(&self) -> String {
        let finished = self.ctl(&["status", "--all"]);
        assert!(matches!(finished.code, Some(0 | 4)), "{finished}");
        finished.stdout
    }

    /// Runs a program in the daemon's namespace ([`NodeBuilder::own_namespace`]).
    pub fn run_inside(&self, name: &Path, arguments: &[&str]) -> Finished {
        let id = self.process.id().to_string();
        let mut words = vec!["--target", &id, "--user", "--mount", "--net", "--preserve-credentials"];
        words.push(name.to_str().unwrap());
        run(program("nsenter", "util-linux"), &[&words, arguments].concat())
    }

    /// Returns the names of the files in the run directory that clients use.
    #[must_use]
    pub fn client_files(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "sock" || end == "port"))
            .filter(|name| name != "fabric.sock")
            .collect();
        names.sort();
        names
    }
}

/// Returns a shell script that hides this machine's devices in a namespace.
pub(crate) fn hide_devices() -> String {
    let hide = "if test -d FOLDER; then mount -t tmpfs none FOLDER; fi";
    let folders = ["/sys/class/infiniband", "/sys/class/infiniband_mad", "/sys/class/infiniband_verbs"];
    folders.map(|folder| hide.replace("FOLDER", folder)).join(" && ")
}

impl NodeBuilder {
    /// Adds a line to the option file; `DIR` stands for the run directory.
    #[must_use]
    pub fn option(mut self, line: &str) -> Self {
        self.options += line;
        self.options += "\n";
        self
    }

    /// Sets the text of the address file.
    #[must_use]
    pub fn addresses(mut self, text: &str) -> Self {
        self.addresses = Some(text.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Starts the daemon in the background.
    #[must_use]
    pub fn daemon(mut self) -> Self {
        self.arguments.retain(|argument| argument != "-P");
        self
    }

    /// Sets the text of the option file; `DIR` stands for the run directory.
    #[must_use]
    pub fn options(mut self, text: &str) -> Self {
        self.options = text.into();
        self
    }

    /// Starts the daemon after a shell script, such as one that sets a limit: the test's own limits do not change.
    #[must_use]
    pub fn after(mut self, script: &str) -> Self {
        self.wrapper = ["/bin/sh", "-c", &format!("{script} && {RUN}")].map(str::to_owned).to_vec();
        self
    }

    /// Limits the number of file descriptors.
    #[must_use]
    pub fn descriptors(self, limit: u32) -> Self {
        self.after(&format!("ulimit -n {limit}"))
    }

    /// Sets the soft limit of file descriptors, which the daemon may raise.
    #[must_use]
    pub fn soft_descriptors(self, limit: u32) -> Self {
        self.after(&format!("ulimit -S -n {limit}"))
    }

    /// Starts the daemon in its own network namespace without this machine's devices, with its run directory as /run
    /// and /var/log.
    #[must_use]
    pub fn own_namespace(self) -> Self {
        let ip = program("ip", "iproute2").display().to_string();
        let places = format!("mount --bind DIR /run && mount --bind DIR /var/log && {ip} link set lo up");
        self.unshare(&format!("{places} && {}", hide_devices()))
    }

    /// Mounts the run directory as /etc/rdma, too, so that files of ibacm can be there.
    #[must_use]
    pub fn own_etc_rdma(self) -> Self {
        self.unshare("mount --bind DIR /etc/rdma")
    }

    /// Hides this machine's devices from the daemon.
    #[must_use]
    pub fn without_devices(self) -> Self {
        self.unshare(&hide_devices())
    }

    /// Starts the daemon in its own namespaces after a shell script; `DIR` stands for the run directory.
    fn unshare(mut self, script: &str) -> Self {
        let unshare = program("unshare", "util-linux").display().to_string();
        let script = format!("{script} && {RUN}");
        let words = [&unshare, "--user", "--map-root-user", "--mount", "--net", "/bin/sh", "-c", &script];
        self.wrapper = words.map(str::to_owned).to_vec();
        self
    }

    /// Starts the daemon in a new run directory and does not wait.
    #[must_use]
    pub fn spawn(self) -> Node {
        self.spawn_in(tempfile::tempdir().unwrap())
    }

    /// Writes the daemon's files into a run directory, starts the daemon there, and does not wait.
    #[must_use]
    pub fn spawn_in(self, folder: TempDir) -> Node {
        let process = Process::start(&mut self.command(folder.path()));
        Node { process, folder }
    }

    /// Writes the daemon's files into a run directory and returns the command that starts the daemon there.
    #[must_use]
    pub fn command(&self, dir: &Path) -> Command {
        self.command_of(&[binary(Binary::AcmMio).to_str().unwrap()], dir)
    }

    /// Runs `acmctl check` with the files and arguments of the daemon.
    pub fn check(&self, dir: &Path) -> Finished {
        Process::start(&mut self.check_command(dir)).wait()
    }

    /// Returns the command of [`NodeBuilder::check`].
    pub fn check_command(&self, dir: &Path) -> Command {
        self.command_of(&[binary(Binary::AcmCtl).to_str().unwrap(), "check"], dir)
    }

    fn command_of(&self, program: &[&str], dir: &Path) -> Command {
        let own = dir.to_str().unwrap();
        let (options, addresses) = (dir.join("opts"), dir.join("addr"));
        if !self.options.is_empty() {
            fs::write(&options, self.options.replace("DIR", own)).unwrap();
        }
        if let Some(text) = &self.addresses {
            fs::write(&addresses, text).unwrap();
        }
        let program = program.iter().map(|word| (*word).to_owned());
        let words = self.wrapper.iter().map(|word| word.replace("DIR", own)).chain(program);
        let words: Vec<String> = words.chain(self.arguments.iter().cloned()).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("--run-dir").arg(dir);
        // The daemon fails if a file in its arguments is missing.
        for (option, path) in [("-O", options), ("-A", addresses)] {
            if path.exists() {
                command.arg(option).arg(path);
            }
        }
        if let Some(fabric) = &self.fabric {
            command.args(["--fabric", fabric]);
        }
        command
    }

    /// Starts the daemon and waits until it serves.
    #[must_use]
    pub fn serve(self) -> Node {
        let node = self.spawn();
        poll::until("the daemon's socket", || Connection::try_open(&node.socket()).ok());
        node
    }

    /// Starts the daemon and waits until it has joined its group, or both groups with `route_prot acm`.
    #[must_use]
    pub fn join(self) -> Node {
        let groups = 1 + usize::from(self.options.contains("route_prot acm"));
        let mut node = self.spawn();
        node.process.wait_for("join successful", groups);
        node
    }
}
