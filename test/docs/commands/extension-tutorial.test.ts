import { expect } from 'vitest';
import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/extension-tutorial.md', {
  'docs/extension-tutorial.md': async ({ printed }) => {
    const calls = [...printed].filter(([commands]) => commands.includes(' call ')).map(([, output]) => output);
    const blocks = expect.stringContaining('a backup is made before the upgrade');
    expect(calls).toEqual([blocks, expect.not.stringContaining('a backup is made')]);
  },
});
