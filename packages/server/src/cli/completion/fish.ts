/** Completion for fish, which takes values and their descriptions separated by a tab. */
export const fishScript = `# Completion of somnus for fish: ~/.config/fish/completions/somnus.fish
function __somnus_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct | string collect)
    set -l args
    for word in $before[2..-1]
        set -a args "=$word"
    end
    set -l answer (somnus completion answer $args "=$current" 2>/dev/null)
    for line in $answer[2..-1]
        printf '%s\\n' $line
    end
    switch "$answer[1]"
        case folders
            __fish_complete_directories "$current"
        case files
            __fish_complete_path "$current"
    end
end
complete -c somnus -f -a '(__somnus_complete)'
`;
