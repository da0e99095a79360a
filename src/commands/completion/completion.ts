import { type DefineCommand, exitCode } from '../../cli/index.ts';
import { completionScripts } from './scripts.ts';

const shells = Object.keys(completionScripts) as (keyof typeof completionScripts)[];

const help = `
  bash   echo 'source <(extensionconfig-webhook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(extensionconfig-webhook completion zsh)' >> ~/.zshrc
  fish   extensionconfig-webhook completion fish >
           ~/.config/fish/completions/extensionconfig-webhook.fish

"kubectl extensionconfig" is completed by kubectl's own completion, where
kubectl_complete-extensionconfig is on the PATH.`;

/** `completion SHELL`: the completion script of a shell. */
export const defineCompletion: DefineCommand = (command, io, end) => {
  command
    .description('Prints a script that completes commands, flags and values with the Tab key.')
    .addArgument(command.createArgument('<shell>', 'shell that the script is for').choices(shells))
    .addHelpText('after', help)
    .action((shell: keyof typeof completionScripts) => {
      io.stdout.write(completionScripts[shell]('extensionconfig-webhook'));
      end(exitCode.ok);
    });
};
