import { type DefineCommand, exitCode, UsageError } from '../../framework/program.ts';
import { completionScripts } from './scripts.ts';

const shells = Object.keys(completionScripts) as (keyof typeof completionScripts)[];

const help = `
  bash   echo 'source <(extensionconfig-webhook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(extensionconfig-webhook completion zsh)' >> ~/.zshrc
  fish   extensionconfig-webhook completion fish >
           ~/.config/fish/completions/extensionconfig-webhook.fish

kubectl's own completion completes "kubectl extensionconfig" if
kubectl_complete-extensionconfig is on the PATH.`;

/** `completion SHELL`: the completion script of a shell. */
export const define: DefineCommand = (command, io, end) => {
  command
    .description('Prints a shell script that completes commands, flags and values.')
    .addArgument(
      command
        .createArgument('<SHELL>', 'shell to print the script for')
        .choices(shells)
        .argParser((shell) => {
          if (!Object.hasOwn(completionScripts, shell)) {
            throw new UsageError(
              `completion: ${JSON.stringify(shell)} is not allowed: it must be one of ${shells.join(', ')}`,
            );
          }
          return shell;
        }),
    )
    .addHelpText('after', help)
    .action((shell: keyof typeof completionScripts) => {
      io.stdout.write(completionScripts[shell]('extensionconfig-webhook'));
      end(exitCode.ok);
    });
};
