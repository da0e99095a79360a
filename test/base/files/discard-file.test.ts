import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { discardFile } from '../../../src/base/index.ts';

test('a temporary file is removed, and one that could not be created is no error', () => {
  const folder = mkdtempSync(join(tmpdir(), 'discard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a');
  writeFileSync(file, '');
  for (const path of [join(file, 'below'), join(folder, 'x'.repeat(300)), file, file]) {
    discardFile(path);
  }
  expect(existsSync(file)).toBe(false);
});
