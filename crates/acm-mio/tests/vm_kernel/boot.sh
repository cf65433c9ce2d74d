# Included by scripts that start a real systemd as the first process of a PID namespace, and print `ok WHAT` for each
# check that succeeds.
export SYSTEMD_PAGER=cat SYSTEMD_COLORS=0
units=/run/systemd/system run=/run/acm-test outside= systemd=

# Starts systemd with a target that has these lines.
boot() {
    printf '[Unit]\n%s\n' "$1" > $units/acm-test.target
    container=acm unshare --pid --fork --mount --mount-proc --cgroup \
        /lib/systemd/systemd --system --unit=acm-test.target --log-level=warning --log-target=console --show-status=false &
    outside=$!
    until_true has_started
}
has_started() { systemd=$(pgrep -P $outside) && in_it systemctl show -p Version >/dev/null 2>&1; }
# The first process of a PID namespace ends with all its other processes.
halt() { kill -9 $systemd; wait $outside 2>/dev/null; }

# In the root directory of that systemd, which may be a tree of its own.
in_it() { nsenter -t "$systemd" -r -p -m -C "$@"; }
show() { in_it systemctl show -p "$1" --value acm-mio.service; }
until_true() { for _ in $(seq 60); do "$@" && return 0; sleep 1; done; return 1; }
check() {
    what=$1; shift
    if "$@"; then echo "ok $what"; else echo "FAILED $what"; in_it systemctl -l status acm-mio.service ibacm.service; fi
}

# Starts a program that requests the path from node $1 to node $2, and again in `connection_kept`, on one connection as
# librdmacm does. SIGPIPE would end it.
hold_connection() {
    in_it perl -MIO::Socket::UNIX -e '
        ($source, $dest, $file) = @ARGV;
        $socket = IO::Socket::UNIX->new(Peer => "/run/ibacm-unix.sock") or die;
        sub ask {
            syswrite $socket, pack("CCx4Sa8", 1, 1, 160, "request!") . pack("LSx2a64" x 2, 1, 1, $source, 2, 1, $dest);
            sysread $socket, $response, 1024 or die "closed\n";
            syswrite STDOUT, unpack("x2C", $response) . "\n";
        }
        ask(); until (-e $file) { sleep 1 } ask();
    ' "$1" "$2" $run/again > $run/statuses &
    holder=$!
    until_true test -s $run/statuses
}
# True if both requests succeed.
connection_kept() { touch $run/again; wait $holder && [ "$(tr '\n' ' ' < $run/statuses)" = '0 0 ' ]; }

mkdir -p $units $run
# Services that are slow and not needed here.
for name in systemd-udevd systemd-udev-trigger systemd-tmpfiles-setup systemd-tmpfiles-setup-dev systemd-timesyncd \
    systemd-random-seed systemd-update-utmp systemd-sysctl systemd-modules-load systemd-journal-flush \
    systemd-machine-id-commit systemd-remount-fs systemd-sysusers systemd-binfmt ldconfig; do
    ln -sf /dev/null $units/$name.service
done
ln -sf /dev/null $units/systemd-udevd-control.socket
ln -sf /dev/null $units/systemd-udevd-kernel.socket
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
# Leaves nothing behind for the next script.
trap 'halt; umount -l /sys/fs/cgroup; rm -rf /run/systemd $run' EXIT
