_placet_completion() {
    local IFS=$'\n' told type value
    told=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _PLACET_COMPLETE=bash_complete "$1")
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) _placet_completion_quoted "${COMP_WORDS[COMP_CWORD]}" "$value" ;;
        esac
    done <<< "$told"
}

_placet_completion_quoted() {
    local value=$2
    case $1 in
        \'*) value=${value//\'/\'\\\'\'} ;;
        \"*)
            value=${value//\\/\\\\}
            value=${value//\"/\\\"}
            value=${value//\$/\\\$}
            value=${value//\`/\\\`}
            value=${value//!/\"\\!\"}
            ;;
        *) printf -v value '%q' "$value" ;;
    esac
    COMPREPLY+=("$value")
}

complete -o nosort -F _placet_completion placet
