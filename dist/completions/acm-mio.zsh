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
