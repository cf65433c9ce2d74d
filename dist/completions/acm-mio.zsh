#compdef acm-mio

autoload -U is-at-least

_acm-mio() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-A+[Address configuration file]:addr_file:_files' \
'-O+[Option configuration file]:option_file:_files' \
'--fabric=[The fabric to serve\: \`devices\` (the default\: all InfiniBand ports of this machine), \`embedded\` (a simulated one in this process, which others may join at DIR/fabric.sock), or \`sim\:PATH?node=NAME\` (a simulated one that another process serves at PATH)]:FABRIC:(devices embedded sim\:)' \
'--metrics=[Write the metrics of the running daemon into FILE, for node_exporter'\''s textfile collector, and exit\: 0, or 1 if that failed; then FILE is removed. A new file with mode 0644 replaces FILE at once. A FILE that has something other than metrics of acm-mio, and a link, device or pipe, is refused and stays. \`-\` is standard output]:FILE:_files' \
'*--recording=[Start, stop or show a recording of the running daemon, and exit\: 0, or 1 if that failed. \`start FILE\[,size=64M,files=4\]\[,mask=names\]\[,time=600\]\` records for that many seconds, into a file with a full path that the daemon'\''s user may write; \`stop\` ends it earlier. The recording can be shown and counted, but not replayed. Only root and the daemon'\''s user may do this. \`status\` prints its newest file, the size and number of all its files and the remaining time; members of the daemon'\''s group may do this, too]:COMMAND:(start stop status)' \
'*--cache=[Show or change the cache of the running daemon, and exit\: 0, or 1 if that failed. \`list \[CONDITION...\]\` prints a line for each entry; \`explain NAME\` prints where an entry comes from, when it expires and who used it; \`flush CONDITION...\` or \`flush all\` removes entries, so that the next request starts a lookup. A CONDITION is \`name=NAME\` (a name, IP address, LID or GID; a \`*\` at the end stands for any text), \`endpoint=mlx5_0/1\`, \`state=ready\`, \`user=USER\` (the last one\: name or number), \`id=ID\`, \`older=SECONDS\` or \`newer=SECONDS\` (since the path was confirmed). Members of the daemon'\''s group may list and explain. Only root and the daemon'\''s user may flush]:COMMAND:(list explain flush all name= endpoint= user= id= older= newer= state=unknown state=failed state=asking state=located state=routing state=ready)' \
'--kernel=[Respond to the kernel'\''s path requests over netlink\: \`on\`, \`off\`, or \`any\` (to those of other privileged programs as well\: for tests). The default is on, and off with a simulated fabric]:MODE:((on\:"Respond to requests of the kernel"
off\:"Open no socket"
any\:"Respond to requests of programs as well. These need CAP_NET_ADMIN to send one"))' \
'--interfaces=[Interfaces whose IP addresses this node serves\: \`on\` (IPoIB interfaces), \`off\`, or \`alias\` (interfaces whose alias is \`infiniband GID \[PKEY\]\`\: for simulated fabrics). The default is on, and off with a simulated fabric]:MODE:((on\:"Serve addresses of IPoIB interfaces"
off\:"Open no socket"
alias\:"Serve addresses of interfaces of any type whose alias names a port\: \`infiniband GID \[PKEY\]\`"))' \
'--record=[Record the inputs and outputs of the daemon'\''s core, for acm-replay and Wireshark\: \`FILE\[,size=64M,files=4\]\[,mask=names\]\[,time=SECONDS\]\`. FILE is the newest file, FILE.1 the one before it. A reader of the files can guess transaction ids, so that only the daemon'\''s user may read them. \`mask=names\` replaces names and IP addresses. After \`time\` seconds the recording ends]:FILE:_default' \
'--run-dir=[Directory of the sockets, port files and the lock file. It is created if it is missing]:DIR:_files' \
'--start-limit=[Seconds that a daemon may take until it serves; after that it is killed]:SECONDS:_default' \
'-D[Run as a daemon (the default). \`-P\` has precedence, as in ibacm]' \
'-P[Run as a process in the foreground]' \
'--systemd[Take the sockets from systemd, and notify it when they are served]' \
'--require-device[Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one]' \
'--check[Check the prerequisites of the daemon on this machine, with these files and this fabric, print advice, and exit\: 0 if it would serve, 1 if not, 3 if it would serve and SIGHUP would not apply the option or the address file]' \
'--status[Print the state and the counters of the running daemon, and exit\: 0, or 1 if none responds in the run directory]' \
'--reload[Make the running daemon read its files again, as SIGHUP does, wait until they are applied, and exit\: 0, or 1 if a file is not applied, or the log or a preload file cannot be opened, with the reason. Prints which options need a restart. Only root and the daemon'\''s user may do this]' \
'--json[Print JSON\: with \`--cache\`, a line for each entry, with times in seconds before or after now; with \`--check\`, a line for each finding\: \`verdict\` (\`ok\`, \`warn\`, \`reload\` or \`fail\`), \`what\` and \`advice\`; with \`--status\`, a line for each metric\: \`name\`, \`kind\`, \`labels\`, and \`value\`, or \`count\` and \`sum\`]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
}

(( $+functions[_acm-mio_commands] )) ||
_acm-mio_commands() {
    local commands; commands=()
    _describe -t commands 'acm-mio commands' commands "$@"
}

if [ "$funcstack[1]" = "_acm-mio" ]; then
    _acm-mio "$@"
else
    compdef _acm-mio acm-mio
fi
