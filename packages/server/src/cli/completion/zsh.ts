/**
 * Completion for zsh: as a file of $fpath, where its first line makes it known, and sourced after
 * compinit. `_describe` takes `value:description`, so colons of values are escaped.
 */
export const zshScript = `#compdef somnus
# Completion of somnus for zsh. In ~/.zshrc, after compinit: source <(somnus completion zsh)
_somnus() {
    local kind line said tab=$'\\t'
    local -a answer described
    answer=("\${(@f)$(somnus completion answer "=\${(@Q)^words[2,CURRENT]}" 2>/dev/null)}")
    kind=$answer[1]
    for line in $answer[2,-1]; do
        said=\${line#*$tab}
        described+=("\${\${line%%$tab*}//:/\\\\:}\${said:+:$said}")
    done
    (( $#described )) && _describe -V 'somnus' described
    [[ $kind == values ]] && return
    compset -P '--*='
    if [[ $kind == folders ]]; then
        _files -/
    elif [[ $kind == files ]]; then
        _files
    fi
}
if [[ $funcstack[1] == _somnus ]]; then
    _somnus "$@"
else
    compdef _somnus somnus
fi
`;
