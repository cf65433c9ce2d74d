#compdef acm-replay

autoload -U is-at-least

_acm-replay() {
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
'(--anonymize)--plot=[Draw all requests over time into this file (SVG, for a browser) instead of replaying]:FILE:_files' \
'(--print --stats --from --to)--anonymize=[Write a copy with other names and IP addresses, and replay the copy. GIDs, LIDs and user ids stay. The file must not exist yet; only its owner can read it]:FILE:_files' \
'--from=[Show only facts at or after this time of the core'\''s clock]:SECONDS:_default' \
'--to=[Show only facts at or before this time of the core'\''s clock]:SECONDS:_default' \
'--print[Print one line for each fact instead of replaying\: > is an input, < is an output]' \
'--stats[Print counts and durations instead of replaying]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Trace files; - is standard input. --plot and --anonymize take one file:_files' \
&& ret=0
}

(( $+functions[_acm-replay_commands] )) ||
_acm-replay_commands() {
    local commands; commands=()
    _describe -t commands 'acm-replay commands' commands "$@"
}

if [ "$funcstack[1]" = "_acm-replay" ]; then
    _acm-replay "$@"
else
    compdef _acm-replay acm-replay
fi
