# fish completion for extensionconfig-webhook; in ~/.config/fish/config.fish: extensionconfig-webhook completion fish | source
function __extensionconfig_webhook_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command extensionconfig-webhook __complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l prefix (string match -r -- '^-[^=]*=' "$current")
    switch "$lines[-1]"
        case ':0'
            __fish_complete_path (string replace -r -- '^-[^=]*=' '' "$current")
        case '*'
            for line in $lines[1..-2]
                echo "$prefix$line"
            end
    end
end
complete -c extensionconfig-webhook -e
complete -c extensionconfig-webhook -f -a '(__extensionconfig_webhook_complete)'
