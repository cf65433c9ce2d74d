complete -c acm-mio -s A -d 'Address configuration file' -r -F
complete -c acm-mio -s O -d 'Option configuration file' -r -F
complete -c acm-mio -l fabric -d 'The fabric to serve: `devices` (the default: all InfiniBand ports of this machine), `embedded` (a simulated one in this process, which others may join at DIR/fabric.sock), or `sim:PATH?node=NAME` (a simulated one that another process serves at PATH)' -r -f -a "devices\t''
embedded\t''
sim:\t''"
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
complete -c acm-mio -s h -l help -d 'Print help'
complete -c acm-mio -s V -l version -d 'Print version'
