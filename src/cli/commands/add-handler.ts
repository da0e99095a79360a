import { addHandlers, hookNames } from '../../extension/scaffold/index.ts';
import { defineCommand } from '../framework/command.ts';

export const command = defineCommand({
  description: 'Adds handlers to the project in the current folder, which new-extension created.',
  args: [['<hooks...>', 'Runtime Hooks to write handlers for', hookNames]],
  run({ io }, hooks: string[]) {
    for (const file of addHandlers('.', [...new Set(hooks)])) {
      io.stdout.write(`${file}\n`);
    }
  },
});
