# bash completion for extensionconfig-webhook; in ~/.bashrc: source <(extensionconfig-webhook completion bash)
# Also for bash 3.2 (macOS): no negative indices, no mapfile. Bash splits words at "=", but the program needs them whole.
_extensionconfig_webhook_complete() {
  local current="${COMP_WORDS[COMP_CWORD]}" i line directive=4
  local -a words
  words=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ "${COMP_WORDS[i]}" == "=" || "${COMP_WORDS[i - 1]}" == "=" ]]; then
      words[${#words[@]} - 1]+="${COMP_WORDS[i]}"
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  [[ "$current" == "=" ]] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == :* ]]; then
      directive="${line#:}"
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <(command extensionconfig-webhook __complete -- "${words[@]}" 2>/dev/null)
  if [[ "$directive" == 0 ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "$current")
  fi
}
complete -F _extensionconfig_webhook_complete extensionconfig-webhook
