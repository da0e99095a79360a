import { expect, test } from 'vitest';
import { readBehaviours } from '../../src/extension/sample/index.ts';
import { blocksOf } from './blocks.ts';
import { readPage } from './pages.ts';

test.each([
  ['docs/extensions.md', 'behaviour.yaml', 4],
  ['docs/rehearse.md', 'backups.yaml', 2],
])('%s: %s is a behaviour file', (page, name, handlers) => {
  const text = blocksOf(readPage(page)).find(({ file }) => file === name)?.text;
  expect(readBehaviours(text ?? '').size).toBe(handlers);
});
