import { defineCommand } from '../framework/command.ts';

/** Scripts that ask the program for candidates. No word is evaluated, so that a Tab after `$(…)` runs nothing. */
const completionScripts: Readonly<Record<'bash' | 'zsh' | 'fish', string>> = {
  // Also for bash 3.2 (macOS): no negative indices, no mapfile. Bash splits words at "=", but the program needs them
  // whole.
  bash: `# bash completion for extensionconfig-webhook; in ~/.bashrc: source <(extensionconfig-webhook completion bash)
_extensionconfig_webhook_complete() {
  local current="\${COMP_WORDS[COMP_CWORD]}" i line directive=4
  local -a words
  words=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ "\${COMP_WORDS[i]}" == "=" || "\${COMP_WORDS[i - 1]}" == "=" ]]; then
      words[\${#words[@]} - 1]+="\${COMP_WORDS[i]}"
    else
      words+=("\${COMP_WORDS[i]}")
    fi
  done
  [[ "$current" == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == :* ]]; then
      directive="\${line#:}"
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(command extensionconfig-webhook __complete -- "\${words[@]}" 2>/dev/null)
  if [[ "$directive" == 0 ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "$current")
  fi
}
complete -F _extensionconfig_webhook_complete extensionconfig-webhook
`,
  zsh: `#compdef extensionconfig-webhook
# zsh completion for extensionconfig-webhook; in ~/.zshrc: source <(extensionconfig-webhook completion zsh)
_extensionconfig-webhook() {
  local -a lines candidates
  local line directive
  lines=("\${(@f)$(command extensionconfig-webhook __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  directive=\${lines[-1]#:}
  for line in "\${(@)lines[1,-2]}"; do
    if [[ $line == *$'\\t'* ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      candidates+=("\${line//:/\\\\:}")
    fi
  done
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  if (( \${#candidates} )); then
    _describe 'extensionconfig-webhook' candidates
  elif [[ $directive == 0 ]]; then
    _files
  fi
}
if [[ $funcstack[1] == _extensionconfig-webhook ]]; then
  _extensionconfig-webhook "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _extensionconfig-webhook extensionconfig-webhook
fi
`,
  fish: `# fish completion for extensionconfig-webhook; in ~/.config/fish/config.fish: extensionconfig-webhook completion fish | source
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
`,
};

const help = `
  bash   echo 'source <(extensionconfig-webhook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(extensionconfig-webhook completion zsh)' >> ~/.zshrc
  fish   extensionconfig-webhook completion fish >
           ~/.config/fish/completions/extensionconfig-webhook.fish

kubectl's own completion completes "kubectl extensionconfig" if
kubectl_complete-extensionconfig is on the PATH.`;

export const command = defineCommand({
  description: 'Prints a shell script that completes commands, flags and files.',
  args: [['<SHELL>', 'shell to print the script for', Object.keys(completionScripts)]],
  help,
  run({ io }, shell: string) {
    io.stdout.write(completionScripts[shell as keyof typeof completionScripts]);
  },
});
