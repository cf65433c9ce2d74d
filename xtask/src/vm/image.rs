//! Debian's kernel, and an initial file system that mounts the host's root.
use super::error::{VmError, output};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// Debian packages that the machine needs on the host: to boot, and (from libibverbs-dev on) for the tests to be built with the
/// feature `verbs` of ib-device and to run with it.
const PACKAGES: &[&str] = &[
    "qemu-system-x86",
    "busybox-static",
    "cpio",
    "kmod",
    "iproute2",
    "libibverbs-dev",
    "librdmacm-dev",
    "libclang-dev",
    "pkg-config",
    "ibverbs-providers",
    // A C program for librdmacm, and its own pair of client and server; a stand-in for systemd.
    "gcc",
    "libc6-dev",
    "python3-minimal",
    "rdmacm-utils",
    // The units under a real systemd, and a client.
    "systemd",
    "ibacm",
];
/// Modules that mounting the root takes; everything else comes from the shared root.
const ROOT_MODULES: &[&str] = &["virtio_pci", "9pnet_virtio", "9p", "overlay"];

/// What QEMU boots.
pub(super) struct Image {
    pub(super) kernel: PathBuf,
    pub(super) initramfs: PathBuf,
    /// Directory that holds both and the kernel's modules, at the same path in the guest.
    pub(super) dir: PathBuf,
}

/// The image in `dir`, made if it is not there. Remove the directory to take a newer kernel.
pub(super) fn ensure(dir: &Path) -> Result<Image, VmError> {
    fs::create_dir_all(dir).map_err(VmError::io("creating", dir))?;
    let dir = dir.canonicalize().map_err(VmError::io("resolving", dir))?;
    let image = Image { kernel: dir.join("vmlinuz"), initramfs: dir.join("initramfs"), dir };
    if !image.initramfs.exists() {
        eprintln!("vm-test: making the machine's kernel and initial file system in {}", image.dir.display());
        make(&image)?;
    }
    Ok(image)
}

/// Installs what is missing of [`PACKAGES`].
pub(super) fn install_packages() -> Result<(), VmError> {
    let installed = |package: &&&str| {
        let state = output(Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]));
        state.is_ok_and(|state| state == "installed")
    };
    let missing: Vec<_> = PACKAGES.iter().filter(|package| !installed(package)).collect();
    if !missing.is_empty() {
        eprintln!("vm-test: installing {missing:?}");
        output(Command::new("apt-get").args(["update", "-q"]))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "-qy", "--no-install-recommends"]).args(missing);
        output(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}

/// The kernel's package, after a look at newer package lists if these have none.
fn kernel_package() -> Result<String, VmError> {
    let find = || {
        let text = output(Command::new("apt-cache").args(["depends", "linux-image-amd64"])).ok()?;
        let named = |line: &str| line.trim().strip_prefix("Depends: ").map(String::from);
        text.lines().filter_map(named).find(|name| name.starts_with("linux-image-"))
    };
    if let Some(name) = find() {
        return Ok(name);
    }
    output(Command::new("apt-get").args(["update", "-q"]))?;
    find().ok_or(VmError::NoKernel)
}

fn make(image: &Image) -> Result<(), VmError> {
    let package = kernel_package()?;
    let version = package.trim_start_matches("linux-image-");
    let root = image.dir.join("kernel");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(VmError::io("removing", &root))?;
    }
    fs::create_dir_all(&root).map_err(VmError::io("creating", &root))?;
    let download = |package| output(Command::new("apt-get").args(["download", "-q", package]).current_dir(&root));
    if download(&package).is_err() {
        // Lists that are older than the server's newest kernel name one that is gone.
        output(Command::new("apt-get").args(["update", "-q"]))?;
        download(&package)?;
    }
    shell(&root, &format!("dpkg-deb -x {package}_*.deb . && rm -f {package}_*.deb && depmod -b . {version}"))?;
    let built = root.join("boot").join(format!("vmlinuz-{version}"));
    fs::copy(&built, &image.kernel).map_err(VmError::io("copying", built))?;

    let tree = image.dir.join("tree");
    shell(
        &image.dir,
        "rm -rf tree && mkdir -p tree/bin tree/m tree/proc tree/sys tree/dev tree/ro tree/rw tree/newroot",
    )?;
    shell(&image.dir, "cp \"$(command -v busybox)\" tree/bin/busybox")?;
    let mut load = String::new();
    for module in module_files(&root, version)? {
        let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::copy(&module, tree.join("m").join(&name)).map_err(VmError::io("copying", &module))?;
        load.push_str(&format!("insmod /m/{name}\n"));
    }
    let init = tree.join("init");
    fs::write(&init, init_script(&image.dir, &load)).map_err(VmError::io("writing", &init))?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).map_err(VmError::io("writing", &init))?;
    shell(&tree, "find . | cpio -oH newc --quiet | gzip -1 > ../initramfs.new")?;
    // Last: its presence says that everything else is complete.
    fs::rename(image.dir.join("initramfs.new"), &image.initramfs).map_err(VmError::io("making", &image.initramfs))
}

/// Files of [`ROOT_MODULES`] and of what they depend on, in the order of loading.
fn module_files(root: &Path, version: &str) -> Result<Vec<PathBuf>, VmError> {
    let (mut seen, mut files) = (BTreeSet::new(), Vec::new());
    for module in ROOT_MODULES {
        let mut modprobe = Command::new("/sbin/modprobe");
        let text = output(modprobe.arg("-d").arg(root).args(["-S", version, "--show-depends", module]))?;
        let paths = text.lines().filter_map(|line| line.trim().strip_prefix("insmod "));
        for path in paths.map(|path| PathBuf::from(path.trim())) {
            if seen.insert(path.clone()) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn init_script(dir: &Path, load: &str) -> String {
    format!(
        "#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
{load}
share=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o $share,ro,cache=loose root /ro && mount -t tmpfs tmpfs /rw && mkdir /rw/upper /rw/work &&
mount -t overlay -o lowerdir=/ro,upperdir=/rw/upper,workdir=/rw/work root /newroot || poweroff -f
mount -t tmpfs run /newroot/run
mkdir -p /newroot/run/out /newroot/lib/modules
mount -t 9p -o $share out /newroot/run/out
# Where the kernel itself looks when it wants a module.
mount --bind /ro{}/kernel/lib/modules /newroot/lib/modules
for d in proc sys dev; do mount --move /$d /newroot/$d; done
exec switch_root /newroot /bin/sh /run/out/.guest
",
        dir.display()
    )
}

fn shell(dir: &Path, line: &str) -> Result<(), VmError> {
    output(Command::new("sh").args(["-ec", line]).current_dir(dir)).map(drop)
}
