import { didYouMean } from '../../base/index.ts';
import { addHandlers, hookNames } from '../../extension/scaffold/index.ts';
import { defineCommand } from '../framework/command.ts';
import { UsageError } from '../framework/program.ts';

export const command = defineCommand({
  description: 'Adds handlers to the project in the current folder, which new-extension created.',
  args: [['<hooks...>', 'Runtime Hooks to write handlers for']],
  run({ io }, hooks: string[]) {
    const unknown = hooks.find((hook) => !hookNames.includes(hook));
    if (unknown !== undefined) {
      const remedy = didYouMean(unknown, hookNames, `the hooks are ${hookNames.join(', ')}`);
      throw new UsageError(`add-handler: ${JSON.stringify(unknown)} is not a hook; ${remedy}`);
    }
    for (const file of addHandlers('.', [...new Set(hooks)])) {
      io.stdout.write(`${file}\n`);
    }
  },
});
