#compdef extensionconfig-webhook
# zsh completion for extensionconfig-webhook; in ~/.zshrc: source <(extensionconfig-webhook completion zsh)
_extensionconfig-webhook() {
  local -a lines candidates
  local line directive
  lines=("${(@f)$(command extensionconfig-webhook __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  directive=${lines[-1]#:}
  for line in "${(@)lines[1,-2]}"; do
    if [[ $line == *$'\t'* ]]; then
      candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    else
      candidates+=("${line//:/\\:}")
    fi
  done
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  if (( ${#candidates} )); then
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
