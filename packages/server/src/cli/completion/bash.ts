/**
 * Completion for bash 3.2 (macOS) and newer, with nothing else installed. The words are passed on as
 * they are and never evaluated. bash breaks words at the characters of COMP_WORDBREAKS, of which `:`
 * and `=` stand in our words: the pieces are joined again, and what readline has already behind it
 * is taken off each answer.
 */
export const bashScript = `# Completion of somnus for bash. In ~/.bashrc: source <(somnus completion bash)
_somnus() {
    local rest=\${COMP_LINE:0:COMP_POINT} word before current answer kind value broken i
    local -a words args
    COMPREPLY=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        before=\${rest%%[![:space:]]*}
        rest=\${rest#"$before"}
        word=$rest
        if ((i < COMP_CWORD)); then
            word=\${COMP_WORDS[i]}
            rest=\${rest#"$word"}
        fi
        if ((i == 0)) || [[ -n $before ]]; then
            words+=("$word")
        else
            words[\${#words[@]}-1]+=$word
        fi
    done
    for ((i = 1; i < \${#words[@]}; i++)); do
        word=\${words[i]//\\\\/}
        word=\${word#[\\"\\']}
        args+=("=\${word%[\\"\\']}")
    done
    ((\${#args[@]})) || return 0
    current=\${args[\${#args[@]}-1]#=}
    answer=$(somnus completion answer "\${args[@]}" 2>/dev/null) || return 0
    broken=
    if [[ \${words[\${#words[@]}-1]} != [\\"\\']* ]]; then
        [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && broken=\${current%"\${current##*:}"}
        [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && word=\${current%"\${current##*=}"} &&
            ((\${#word} > \${#broken})) && broken=$word
    fi
    kind=\${answer%%$'\\n'*}
    while IFS=$'\\t' read -r value _; do
        [[ -n $value ]] && COMPREPLY+=("\${value#"$broken"}")
    done <<<"\${answer#"$kind"}"
    if [[ $kind == values ]]; then
        compopt +o default +o bashdefault 2>/dev/null
    elif [[ $kind == folders ]]; then
        compopt -o dirnames +o default +o bashdefault 2>/dev/null
    fi
    return 0
}
complete -o bashdefault -o default -F _somnus somnus
`;
