//! The fabric and its daemons. They run as separate processes, which this process ends.
use acm_client::{Counter, Service};
use core::{error::Error, time::Duration};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};
use tempfile::TempDir;

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// The number of tries while waiting, and the time between them: 1 min in total.
const TRIES: u32 = 1200;
const PAUSE: Duration = Duration::from_millis(50);

/// A fabric of the nodes node1, node2, ...
pub(crate) struct Site {
    folder: TempDir,
    programs: PathBuf,
    nodes: u32,
    // Fields are dropped in order: the daemons end before the fabric.
    daemons: Vec<Running>,
    _fabric: Running,
}

/// A process that receives SIGTERM on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.0.id()) {
            // The process may have ended already.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.0.wait();
    }
}

impl Site {
    /// Starts a fabric and waits until its ports are active. With the name of an ibsim, uses the subnet manager of that
    /// ibsim.
    pub(crate) fn start(nodes: u32, ibsim: Option<&str>, settings: &[String]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("storm-").tempdir()?;
        // The examples are in a subdirectory of the programs' directory.
        let own = env::current_exe()?;
        let programs = own.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned();
        let mut command = command(&programs, "ib-sim")?;
        command.arg("serve").arg("--socket").arg(folder.path().join("fabric.sock"));
        command.arg("--tree").arg(folder.path().join("tree"));
        for node in 1..=nodes {
            command.args(["--node", &format!("node{node}")]);
        }
        command.args(ibsim.map(|name| format!("--ibsim={name}")));
        command.args(settings.iter().flat_map(|setting| ["--set", setting]));
        let log = fs::File::create(folder.path().join("fabric.log"))?;
        let fabric = Running(command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?);
        let site = Self { folder, programs, nodes, daemons: Vec::new(), _fabric: fabric };
        let count = usize::try_from(nodes)?;
        site.wait("the fabric's ports", "fabric.log", || Ok(site.gids()?.len() == count))?;
        Ok(site)
    }

    /// Starts a daemon at each node and waits until each daemon has joined its group.
    pub(crate) fn start_daemons(&mut self) -> Result<()> {
        for node in 1..=self.nodes {
            let name = format!("node{node}");
            let folder = self.folder.path().join(&name);
            fs::create_dir(&folder)?;
            let options = folder.join("opts");
            fs::write(&options, format!("log_file {}\nlog_level 1\nserver_mode unix\n", folder.join("log").display()))?;
            let mut command = command(&self.programs, "acm-mio")?;
            let fabric = format!("sim:{}?node={name}", self.folder.path().join("fabric.sock").display());
            command.args(["-P", "--fabric", &fabric, "--run-dir"]).arg(&folder).arg("-O").arg(options);
            let out = fs::File::create(folder.join("out"))?;
            self.daemons.push(Running(command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).spawn()?));
        }
        for node in 1..=self.nodes {
            let log = format!("node{node}/log");
            let joined = || Ok(self.read(&log).contains("join successful") && self.socket(node).exists());
            self.wait("a daemon's group", &log, joined)?;
        }
        Ok(())
    }

    /// Returns the address of a node's daemon.
    pub(crate) fn service(&self, node: u32) -> Service {
        Service::Unix(self.socket(node))
    }

    fn socket(&self, node: u32) -> PathBuf {
        self.folder.path().join(format!("node{node}/ibacm-unix.sock"))
    }

    /// Returns the GIDs of the active ports, in the order of the nodes.
    pub(crate) fn gids(&self) -> Result<Vec<String>> {
        let ports = self.control(&["ports"])?;
        let active = ports.lines().filter(|line| line.contains(" active "));
        Ok(active.filter_map(|line| line.split_once(" gid ")?.1.split(' ').next().map(str::to_owned)).collect())
    }

    /// Returns a command that runs a program at every node, with the node's devices.
    pub(crate) fn at_nodes(&self) -> Result<Command> {
        let mut command = command(&self.programs, "ib-sim")?;
        command.args(["run", "--no-namespaces", "--socket"]).arg(self.folder.path().join("fabric.sock")).arg("--");
        Ok(command)
    }

    /// Sets the fabric's counters to zero.
    pub(crate) fn begin_counting(&self) -> Result<()> {
        self.control(&["stats", "reset"]).map(|_| ())
    }

    /// Returns the sum of these counters of the fabric.
    pub(crate) fn fabric_counters(&self, names: &[&str]) -> Result<u64> {
        let stats = self.control(&["stats"])?;
        let values = stats.lines().filter_map(|line| line.split_once(' '));
        values.filter(|(name, _)| names.contains(name)).map(|(_, value)| Ok(value.trim().parse::<u64>()?)).sum()
    }

    /// Returns the sum of a counter of all daemons.
    pub(crate) fn daemon_counter(&self, counter: Counter) -> Result<u64> {
        let mut sum = 0;
        for node in 1..=self.nodes {
            let mut client = acm_client::Client::connect(self.service(node))?;
            sum += client.counters(acm_client::PerfTarget::Total)?.get(counter);
        }
        Ok(sum)
    }

    fn control(&self, words: &[&str]) -> Result<String> {
        let mut command = command(&self.programs, "ib-sim")?;
        let done =
            command.args(["ctl", "--socket"]).arg(self.folder.path().join("fabric.sock")).args(words).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).trim().into());
        }
        Ok(String::from_utf8(done.stdout)?)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Waits until the condition is true. An error of the condition counts as false.
    fn wait(&self, what: &str, log: &str, mut condition: impl FnMut() -> Result<bool>) -> Result<()> {
        for _ in 0..TRIES {
            if condition().unwrap_or(false) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(format!("waited in vain for {what}: {}", self.read(log)).into())
    }
}

/// Returns a command for a program of this project, in the same directory as this program.
fn command(programs: &Path, name: &str) -> io::Result<Command> {
    let path = programs.join(name);
    if path.is_file() {
        return Ok(Command::new(path));
    }
    let how = "cargo build -p ib-sim -p ib-sim-preload -p acm-mio, with this one's profile";
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{} is missing: {how}", path.display())))
}
