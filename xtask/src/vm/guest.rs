//! One run of the machine: the guest's script, QEMU, the command's exit status.
use super::{error::VmError, image::Image};
use core::time::Duration;
use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// Modules that the command finds loaded.
const RDMA_MODULES: &str = "rdma_rxe ib_umad ib_uverbs rdma_ucm veth";

/// Text as one word of a shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A command as a line of a shell.
pub(super) fn command_line(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Boots, runs `script` (shell text) as root in the current directory, and gives its exit status.
pub(super) fn run(image: &Image, out: &Path, script: &str, memory_mib: u32, timeout: Duration) -> Result<u8, VmError> {
    fs::create_dir_all(out).map_err(VmError::io("creating", out))?;
    let out = out.canonicalize().map_err(VmError::io("resolving", out))?;
    let (status, console, guest) = (out.join("status"), out.join("console.log"), out.join(".guest"));
    let _ = fs::remove_file(&status);
    fs::write(&guest, guest_script(script)).map_err(VmError::io("writing", &guest))?;
    let seconds = timeout.as_secs();
    let ended = qemu(image, &out, &console, memory_mib, seconds)
        .status()
        .map_err(VmError::io("running", "qemu-system-x86_64"))?;
    let text = fs::read_to_string(&status).unwrap_or_default();
    if let Ok(status) = text.trim().parse() {
        return Ok(status);
    }
    // What timeout(1) exits with when it had to end, or to kill, the machine.
    if matches!(ended.code(), Some(124 | 137) | None) {
        return Err(VmError::TimeUp(seconds));
    }
    let log = String::from_utf8_lossy(&fs::read(&console).unwrap_or_default()).into_owned();
    let lines: Vec<_> = log.lines().rev().take(40).collect();
    Err(VmError::Died(lines.into_iter().rev().collect::<Vec<_>>().join("\n")))
}

fn guest_script(script: &str) -> String {
    let path = env::var("PATH").unwrap_or_default();
    let dir = env::current_dir().unwrap_or_else(|_| "/".into());
    format!(
        "export PATH={}:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root OUT=/run/out ACM_VM=1 RUST_BACKTRACE=1
stty -F /dev/ttyS1 raw -echo
exec </dev/null >/dev/ttyS1 2>&1
mkdir -p /dev/shm /dev/pts; mount -t tmpfs shm /dev/shm; mount -t devpts pts /dev/pts
ulimit -l unlimited; ip link set lo up
modprobe -a {RDMA_MODULES} || echo 'vm-test: modprobe failed'
cd {}
(
{script}
)
status=$?
dmesg > /run/out/dmesg
echo $status > /run/out/status.new; mv /run/out/status.new /run/out/status
sync; busybox poweroff -f
",
        quote(&path),
        quote(&dir.to_string_lossy()),
    )
}

fn qemu(image: &Image, out: &Path, console: &Path, memory_mib: u32, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", &seconds.to_string(), "qemu-system-x86_64", "-nodefaults", "-no-user-config"]);
    command.args(["-display", "none", "-no-reboot", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"]);
    command.args(["-smp", "1", "-m", &memory_mib.to_string()]);
    command.arg("-kernel").arg(&image.kernel).arg("-initrd").arg(&image.initramfs);
    command.args(["-append", "console=ttyS0 loglevel=4 panic=-1 oops=panic mitigations=off nowatchdog"]);
    let share = |path: &Path, rest: &str| format!("local,path={},security_model=none,{rest}", path.display());
    command.args(["-virtfs", &share(Path::new("/"), "mount_tag=root,readonly=on,multidevs=remap")]);
    command.args(["-virtfs", &share(out, "mount_tag=out")]);
    command.args(["-serial", &format!("file:{}", console.display()), "-serial", "stdio"]);
    command.stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_gets_back_the_words() {
        let words = ["printf", "%s.", "a b", "it's", "$HOME", ""].map(String::from);
        let output = Command::new("sh").args(["-c", &command_line(&words)]).output().unwrap();
        assert_eq!(output.stdout, b"a b.it's.$HOME..");
    }
}
