//! Both programs and their daemons.
use acm_tests::{Binary, Fabric, Finished, Node, Process, binary, program, until};
use std::{
    os::unix::{fs::symlink, process::CommandExt},
    path::PathBuf,
    process::Command,
};
use tempfile::TempDir;

/// Both programs. Each run has its own directory.
pub(crate) struct Both(pub(crate) [PathBuf; 2]);

impl Both {
    pub(crate) fn new() -> Self {
        Self([program("ib_acme", "ibacm"), binary(Binary::IbAcme)])
    }

    /// Runs Debian's and this project's program and returns both results.
    pub(crate) fn run(&self, arguments: &[&str]) -> [Finished; 2] {
        self.0.each_ref().map(|program| {
            let mut command = Command::new(program);
            let mut finished = Process::start(command.arg0("ib_acme").args(arguments)).wait();
            // Debian's prints no notes.
            finished.stderr =
                finished.stderr.split_inclusive('\n').filter(|line| !line.starts_with("note: ")).collect();
            finished
        })
    }

    /// Runs both programs and checks that the results are equal.
    pub(crate) fn same(&self, arguments: &[&str]) -> Finished {
        let [theirs, ours] = self.run(arguments);
        assert_eq!(ours, theirs, "{arguments:?}\nours: {ours}\nDebian's: {theirs}");
        ours
    }

    /// Does the same with words separated by blanks, at a service.
    pub(crate) fn run_same(&self, service: &str, words: &str) -> Finished {
        self.same(&[&["-S", service], words.split(' ').collect::<Vec<_>>().as_slice()].concat())
    }

    /// Waits until both succeed with this text and the same result. A lookup may fail because of its short time-out, and a
    /// counter may change between the two.
    pub(crate) fn succeeds(&self, service: &str, words: &str, text: &str) {
        let arguments = [&["-S", service], words.split(' ').collect::<Vec<_>>().as_slice()].concat();
        until(&format!("both succeed alike: {words}"), || {
            let [theirs, ours] = self.run(&arguments);
            (ours.code == Some(0) && ours.stdout.contains(text) && ours == theirs).then_some(())
        });
    }

    /// Checks that both fail with this text.
    pub(crate) fn fails(&self, service: &str, words: &str, text: &str) {
        let finished = self.run_same(service, words);
        assert!(finished.code == Some(255) && finished.stdout.contains(text), "{words}: {finished}");
    }
}

/// Two nodes. node1 has two ports in two partitions each, and addresses to which this machine has routes.
pub(crate) struct Two {
    pub(crate) fabric: Fabric,
    _nodes: [Node; 2],
    pub(crate) folder: TempDir,
}

impl Two {
    pub(crate) fn start() -> Self {
        let fabric = Fabric::serve(2, &["--ports", "2", "--pkeys", "ffff,8001", "--subnet-timeout", "8"]);
        let loopback = ["127.0.0.1", "::1"].map(|ip| format!("{ip} sim0 1 default\n")).concat();
        let more = "node1b sim0 2 default\nnode1c sim0 1 8001\n";
        let of = |number| {
            let names = ["node", "10.77.0.", "fd00::"].map(|name| format!("{name}{number} sim0 1 default\n")).concat();
            let names = if number == 1 { names + &loopback + more } else { names };
            // Short waits, and without a negative cache that would change the second program's result.
            Node::at(&fabric, number).addresses(&names).option("timeout 200").option("negative_timeout 0").join()
        };
        let nodes = [of(1), of(2)];
        let folder = tempfile::tempdir().unwrap();
        for (number, node) in (1..).zip(&nodes) {
            symlink(node.socket(), folder.path().join(format!("node{number}"))).unwrap();
        }
        Self { fabric, _nodes: nodes, folder }
    }

    pub(crate) fn service(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}
