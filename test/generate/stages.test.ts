import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Stage, staleFiles, writeStages } from '../../tools/generate/stages.ts';

/** Three stages, each made of the file of the one before. */
function chain() {
  const folder = mkdtempSync(join(tmpdir(), 'generate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string) => pathToFileURL(join(folder, name));
  const read = (name: string) => readFileSync(fileOf(name), 'utf8');
  writeFileSync(fileOf('source'), 'first');
  const stages = ['source', 'schema', 'types'].map(
    (from, index): Stage =>
      async () => [{ file: fileOf(['schema', 'types', 'report'][index]!), text: `${from} of ${read(from)}` }],
  );
  return { stages, read, write: (text: string) => writeFileSync(fileOf('source'), text) };
}

test('once is enough: each stage is made of what the one before has written', async () => {
  const { stages, read, write } = chain();
  await writeStages(stages);
  write('second');
  await writeStages(stages);
  expect(read('report')).toBe('types of schema of source of second');
  expect(await staleFiles(stages)).toEqual([]);
});

test('a file that differs, and one that is not there, are stale', async () => {
  const { stages, write } = chain();
  await writeStages(stages);
  write('second');
  expect((await staleFiles(stages)).map(({ pathname }) => pathname.split('/').at(-1))).toEqual(['schema']);
  const missing = new URL('missing', import.meta.url);
  expect(await staleFiles([async () => [{ file: missing, text: '' }]])).toEqual([missing]);
});
