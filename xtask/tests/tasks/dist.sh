# Installs, upgrades and removes packages in a copy of this machine's file system, and prints `ok WHAT` for each check that
# succeeds. Runs in a mount namespace of its own. Arguments: an empty directory; the directories with the packages and
# with those of revision 2. dpkg runs the scripts by chroot, as debootstrap does; no systemd runs.
set -u
work=$1 packages=$2 newer=$3
mount -t tmpfs tmpfs "$work" && mkdir "$work/upper" "$work/work" "$work/root" || exit 1
mount -t overlay -o lowerdir=/,upperdir="$work/upper",workdir="$work/work" tree "$work/root" || exit 1
for folder in proc dev sys; do mount --bind /$folder "$work/root/$folder" || exit 1; done
mkdir "$work/root/run/packages" "$work/root/run/newer" || exit 1
mount --bind "$packages" "$work/root/run/packages" && mount --bind "$newer" "$work/root/run/newer" || exit 1

in_tree() { LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$work/root" "$@" >&2 </dev/null; }
check() {
    what=$1; shift
    if "$@"; then echo "ok $what"; else echo "FAILED $what"; fi
}
tree=$work/root

names='acm-mio ib-acme-rs libibacm1 libibacm-dev libacmrs ib-sim acm-replay'
# Without the packages that these depend on, which this machine need not have.
install_debs() { in_tree sh -c "cd /run/$1 && for name in $names; do set -- \"\$@\" \${name}_*.deb; done && dpkg --force-depends -i \"\$@\""; }
install_rpms() { in_tree sh -c "cd /run/$2 && rpm --dbpath /run/rpm --force-debian --nodeps $1 *.rpm"; }
is_gone() { ! (cd "$tree" && find etc usr var lib -path var/lib/dpkg -prune -o -name '*acm-mio*' -print | grep . >&2); }
is_alternative() { [ "$(readlink "$tree/usr/bin/ib_acme")" = /etc/alternatives/ib_acme ] && in_tree test -x /usr/bin/ib_acme; }
# The stand-ins of completions contain the name of the program.
completes() {
    for file in bash-completion/completions/ib_acme fish/vendor_completions.d/ib_acme.fish zsh/site-functions/_ib_acme; do
        in_tree grep -qx '# completions of ib_acme' "/usr/share/$file" || return 1
    done
}
has_no_completions() {
    for file in bash-completion/completions/ib_acme fish/vendor_completions.d/ib_acme.fish zsh/site-functions/_ib_acme; do
        [ ! -e "$tree/usr/share/$file" ] && [ ! -L "$tree/usr/share/$file" ] || return 1
    done
}
is_ibacms() { [ -f "$tree/usr/bin/ib_acme" ] && [ ! -L "$tree/usr/bin/ib_acme" ]; }

# ibacm is installed, as on a node that changes over.
check 'ib_acme is that of ibacm' is_ibacms
# An account of a person must not get the devices.
not() { ! "$@"; }
not_installed() { [ ! -e "$tree/usr/lib/udev/rules.d/60-acm-mio.rules" ] && [ ! -e "$tree/usr/sbin/acm-mio" ]; }
person() { in_tree useradd -u "$1" -s "$2" acm; }
in_tree sh -c 'userdel acm; groupdel acm'
person 1500 /usr/sbin/nologin
check 'package is refused with an ordinary account acm' not in_tree sh -c 'dpkg --force-depends -i /run/packages/acm-mio_*.deb'
check 'nothing of it is installed' not_installed
in_tree userdel acm
person 900 /bin/bash
check 'package is refused with an account acm with a login shell' not in_tree sh -c 'dpkg --force-depends -i /run/packages/acm-mio_*.deb'
check 'rpm is refused with an account acm with a login shell' not in_tree sh -c 'rpm --dbpath /run/rpm --force-debian --nodeps -i /run/packages/acm-mio-*.rpm'
check 'nothing of either is installed' not_installed
mkdir -p "$tree/etc/udev/rules.d" && : > "$tree/etc/udev/rules.d/60-acm-mio.rules"
check 'package is installed if a rule of the administrator replaces that of the package' in_tree sh -c 'dpkg --force-depends -i /run/packages/acm-mio_*.deb'
rm "$tree/etc/udev/rules.d/60-acm-mio.rules"
check 'upgrade warns only' in_tree sh -c 'dpkg --force-depends -i /run/newer/acm-mio_*.deb'
check 'package is purged again' in_tree dpkg --purge acm-mio
in_tree userdel acm
check 'packages are installed beside ibacm' install_debs packages
check 'ib_acme is still that of ibacm' is_ibacms
check 'completions are not those of the ib_acme of ibacm' has_no_completions
check 'user acm is in its group and rdma' in_tree sh -c '[ "$(id -nG acm)" = "acm rdma" ]'
enabled() { find "$tree/etc/systemd" -name 'acm-mio.*' | grep . >&2; }
not_enabled() { ! enabled; }
check 'nothing is enabled' not_enabled
check 'daemon starts' in_tree acm-mio

check 'names of ibacm are refused beside ibacm' not in_tree sh -c 'dpkg --force-depends -i /run/packages/acm-as-ibacm_*.deb'

# An administrator enables the daemon and changes files.
check 'units are enabled' in_tree systemctl enable acm-mio.socket acm-mio.service
echo '# changed' >> "$tree/etc/logrotate.d/acm-mio"
echo 'log_level 1' > "$tree/etc/rdma/ibacm_opts.cfg"
check 'newer packages are installed' install_debs newer
changed() { grep -q '# changed' "$tree/etc/logrotate.d/acm-mio" && grep -q 'log_level 1' "$tree/etc/rdma/ibacm_opts.cfg"; }
check 'configuration is kept' changed
check 'units are still enabled' enabled

check 'ibacm is removed' in_tree dpkg --force-depends --remove ibacm
check 'ib_acme is that of this project' is_alternative
check 'ib_acme has completions' completes
is_alias() { in_tree ibacm && in_tree systemctl is-enabled ibacm.service ibacm.socket; }
check 'names of ibacm are installed without it' in_tree sh -c 'dpkg --force-depends -i /run/newer/acm-as-ibacm_*.deb'
check 'command and units of ibacm are those of this project' is_alias
is_no_alias() { ! (cd "$tree" && ls usr/sbin/ibacm lib/systemd/system/ibacm.service lib/systemd/system/ibacm.socket 2>/dev/null | grep . >&2); }
check 'names of ibacm are removed' in_tree dpkg --purge acm-as-ibacm
check 'no name of ibacm is left' is_no_alias
mkdir -p "$tree/var/log/acm-mio"
check 'packages are removed' in_tree dpkg --remove $names
check 'changed configuration stays' changed
check 'packages are purged' in_tree dpkg --purge $names
check 'nothing is left' is_gone
check 'no client is left' test ! -e "$tree/usr/bin/ib_acme" -a ! -L "$tree/usr/bin/ib_acme"
check 'no completions are left' has_no_completions
check 'configuration for ibacm stays' grep -q 'log_level 1' "$tree/etc/rdma/ibacm_opts.cfg"

# The packages for systems with RPM, which make the user themselves.
in_tree userdel acm
# A group of this name may exist.
in_tree groupadd -r acm
check 'rpm packages are installed' install_rpms -i packages
check 'rpm daemon starts' in_tree acm-mio
check 'rpm user is in its group and rdma' in_tree sh -c '[ "$(id -nG acm)" = "acm rdma" ]'
check 'rpm client is ib_acme' is_alternative
check 'rpm ib_acme has completions' completes
check 'rpm units are enabled' in_tree systemctl enable acm-mio.socket acm-mio.service
check 'rpm command and units of ibacm are those of this project' is_alias
echo '# changed' >> "$tree/etc/logrotate.d/acm-mio"
check 'newer rpm packages are installed' install_rpms -U newer
check 'rpm configuration is kept' changed
check 'rpm units are still enabled' enabled
rpms='acm-mio acm-as-ibacm ib-acme-rs libibacm libibacm-devel libacmrs ib-sim acm-replay acm-debuginfo'
check 'rpm packages are removed' in_tree rpm --dbpath /run/rpm --force-debian -e $rpms
check 'rpm units are disabled' not_enabled
rm -f "$tree/etc/logrotate.d/acm-mio.rpmsave"
check 'nothing is left of rpm packages' is_gone
check 'configuration for ibacm stays after rpm' grep -q 'log_level 1' "$tree/etc/rdma/ibacm_opts.cfg"
