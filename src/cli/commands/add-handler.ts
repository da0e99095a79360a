import { join } from 'node:path';
import { didYouMean } from '../../base/index.ts';
import { addHandlers, hookNames, ProjectError } from '../../extension/scaffold/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, textFlag } from '../framework/flags.ts';
import { FailureError, UsageError } from '../framework/program.ts';

const addHandlerFlags = {
  project: textFlag('DIR', 'folder of the project', { default: '.' }),
} satisfies Flags;

export const command = defineCommand({
  description: 'Adds handlers to a project that new-extension created.',
  args: [['<hooks...>', 'Runtime Hooks to write handlers for']],
  flags: addHandlerFlags,
  run({ flags: { project }, io }, hooks: string[]) {
    const unknown = hooks.find((hook) => !hookNames.includes(hook));
    if (unknown !== undefined) {
      const remedy = didYouMean(unknown, hookNames, `the hooks are ${hookNames.join(', ')}`);
      throw new UsageError(`add-handler: ${JSON.stringify(unknown)} is not a hook; ${remedy}`);
    }
    try {
      for (const file of addHandlers(project, [...new Set(hooks)])) {
        io.stdout.write(`${join(project, file)}\n`);
      }
    } catch (error) {
      throw error instanceof ProjectError ? new FailureError(error.message) : error;
    }
  },
});
