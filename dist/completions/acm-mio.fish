complete -c acm-mio -s A -d 'Address configuration file' -r -F
complete -c acm-mio -s O -d 'Option configuration file' -r -F
complete -c acm-mio -l fabric -d 'The fabric to serve: `devices` (the default: all InfiniBand ports of this machine), `embedded` (a simulated one in this process, which others may join at DIR/fabric.sock), or `sim:PATH?node=NAME` (a simulated one that another process serves at PATH)' -r -f -a "devices\t''
embedded\t''
sim:\t''"
complete -c acm-mio -l metrics -d 'Write the metrics of the running daemon into FILE, for node_exporter\'s textfile collector, and exit: 0, or 1 if that failed; then FILE is removed. A new file with mode 0644 replaces FILE at once. A FILE that has something other than metrics of acm-mio, and a link, device or pipe, is refused and stays. `-` is standard output' -r -F
complete -c acm-mio -l recording -d 'Start, stop or show a recording of the running daemon, and exit: 0, or 1 if that failed. `start FILE[,size=64M,files=4][,mask=names][,time=600]` records for that many seconds, into a file with a full path that the daemon\'s user may write; `stop` ends it earlier. The recording can be shown and counted, but not replayed. Only root and the daemon\'s user may do this. `status` prints its newest file, the size and number of all its files and the remaining time; members of the daemon\'s group may do this, too' -r -f -a "start\t''
stop\t''
status\t''"
complete -c acm-mio -l cache -d 'Show or change the cache of the running daemon, and exit: 0, or 1 if that failed. `list [CONDITION...]` prints a line for each entry; `explain NAME` prints where an entry comes from, when it expires and who used it; `flush CONDITION...` or `flush all` removes entries, so that the next request starts a lookup. A CONDITION is `name=NAME` (a name, IP address, LID or GID; a `*` at the end stands for any text), `endpoint=mlx5_0/1`, `state=ready`, `user=USER` (the last one: name or number), `id=ID`, `older=SECONDS` or `newer=SECONDS` (since the path was confirmed). Members of the daemon\'s group may list and explain. Only root and the daemon\'s user may flush' -r -f -a "list\t''
explain\t''
flush\t''
all\t''
name=\t''
endpoint=\t''
user=\t''
id=\t''
older=\t''
newer=\t''
state=unknown\t''
state=failed\t''
state=asking\t''
state=located\t''
state=routing\t''
state=ready\t''"
complete -c acm-mio -l kernel -d 'Respond to the kernel\'s path requests over netlink: `on`, `off`, or `any` (to those of other privileged programs as well: for tests). The default is on, and off with a simulated fabric' -r -f -a "on\t'Respond to requests of the kernel'
off\t'Open no socket'
any\t'Respond to requests of programs as well. These need CAP_NET_ADMIN to send one'"
complete -c acm-mio -l interfaces -d 'Interfaces whose IP addresses this node serves: `on` (IPoIB interfaces), `off`, or `alias` (interfaces whose alias is `infiniband GID [PKEY]`: for simulated fabrics). The default is on, and off with a simulated fabric' -r -f -a "on\t'Serve addresses of IPoIB interfaces'
off\t'Open no socket'
alias\t'Serve addresses of interfaces of any type whose alias names a port: `infiniband GID [PKEY]`'"
complete -c acm-mio -l record -d 'Record the inputs and outputs of the daemon\'s core, for acm-replay and Wireshark: `FILE[,size=64M,files=4][,mask=names][,time=SECONDS]`. FILE is the newest file, FILE.1 the one before it. A reader of the files can guess transaction ids, so that only the daemon\'s user may read them. `mask=names` replaces names and IP addresses. After `time` seconds the recording ends' -r
complete -c acm-mio -l run-dir -d 'Directory of the sockets, port files and the lock file. It is created if it is missing' -r -F
complete -c acm-mio -l start-limit -d 'Seconds that a daemon may take until it serves; after that it is killed' -r
complete -c acm-mio -s D -d 'Run as a daemon (the default). `-P` has precedence, as in ibacm'
complete -c acm-mio -s P -d 'Run as a process in the foreground'
complete -c acm-mio -l systemd -d 'Take the sockets from systemd, and notify it when they are served'
complete -c acm-mio -l require-device -d 'Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one'
complete -c acm-mio -l check -d 'Check the prerequisites of the daemon on this machine, with these files and this fabric, print advice, and exit: 0 if it would serve, 1 if not, 3 if it would serve and SIGHUP would not apply the option or the address file'
complete -c acm-mio -l status -d 'Print the state and the counters of the running daemon, and exit: 0, or 1 if none responds in the run directory'
complete -c acm-mio -l reload -d 'Make the running daemon read its files again, as SIGHUP does, wait until they are applied, and exit: 0, or 1 if a file is not applied, or the log or a preload file cannot be opened, with the reason. Prints which options need a restart. Only root and the daemon\'s user may do this'
complete -c acm-mio -l json -d 'Print JSON: with `--cache`, a line for each entry, with times in seconds before or after now; with `--check`, a line for each finding: `verdict` (`ok`, `warn`, `reload` or `fail`), `what` and `advice`; with `--status`, a line for each metric: `name`, `kind`, `labels`, and `value`, or `count` and `sum`'
complete -c acm-mio -s h -l help -d 'Print help'
complete -c acm-mio -s V -l version -d 'Print version'
