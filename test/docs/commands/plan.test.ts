import { expect } from 'vitest';
import { blocksOf } from '../blocks.ts';
import { everyCommandRuns, type Ran } from '../every-command.ts';
import { readPage } from '../pages.ts';

everyCommandRuns('docs/plan.md', { 'docs/plan.md': inspectOutput });

/** What the page shows of the output is what is printed. */
async function inspectOutput({ printed }: Ran): Promise<void> {
  const shown = blocksOf(readPage('docs/plan.md')).filter(({ language }) => language === 'console');
  expect(shown).toHaveLength(2);
  const output = [...printed.values()].join('\n');
  for (const { text } of shown) {
    expect(output).toContain(text);
  }
}
