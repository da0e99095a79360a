import { defineCommand } from '../../framework/command.ts';
import { UsageError } from '../../framework/program.ts';
import { completionScripts } from './scripts.ts';

const shells = Object.keys(completionScripts);

const help = `
  bash   echo 'source <(extensionconfig-webhook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(extensionconfig-webhook completion zsh)' >> ~/.zshrc
  fish   extensionconfig-webhook completion fish >
           ~/.config/fish/completions/extensionconfig-webhook.fish

kubectl's own completion completes "kubectl extensionconfig" if
kubectl_complete-extensionconfig is on the PATH.`;

export const command = defineCommand({
  description: 'Prints a shell script that completes commands, flags and values.',
  args: [['<SHELL>', `shell to print the script for: ${shells.join(', ')}`, shells]],
  help,
  run({ io }, shell: string) {
    const script = new Map(Object.entries(completionScripts)).get(shell);
    if (script === undefined) {
      throw new UsageError(
        `completion: ${JSON.stringify(shell)} is not allowed: it must be one of ${shells.join(', ')}`,
      );
    }
    io.stdout.write(script);
  },
});
