import { readFileSync } from 'node:fs';
import { defineCommand } from '../../framework/command.ts';

/** Scripts that ask the program for candidates. No word is evaluated, so that a Tab after `$(…)` runs nothing. */
const completionScripts: Readonly<Record<string, URL>> = {
  bash: new URL('./completion.bash', import.meta.url),
  zsh: new URL('./completion.zsh', import.meta.url),
  fish: new URL('./completion.fish', import.meta.url),
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
    io.stdout.write(readFileSync(completionScripts[shell] as URL, 'utf8'));
  },
});
