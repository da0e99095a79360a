import { defineCommand } from '../../framework/command.ts';
import { completionScripts } from './scripts.ts';

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
