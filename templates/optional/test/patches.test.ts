import { deepEqual, equal } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { plan } from './plan.ts';

const readAnswers = (folder: string) =>
  readFileSync(join(folder, 'answers.json'), 'utf8').replaceAll(/(?<="patch": ")[^"]+/g, (patch) =>
    Buffer.from(patch, 'base64').toString(),
  );

// An upgrade of the extension that patches otherwise replaces Machines of Clusters that exist.
test('the Cluster of test/cluster.yaml is patched as recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), '{{name}}-'));
  try {
    const now = join(folder, 'recorded');
    const { code, output } = await plan('--recorded', 'test/recorded', '--record', now);
    equal(code, 0, output);
    const message = 'the patches are not as recorded; if that is meant, record them anew: node test/record.ts';
    deepEqual(readAnswers(now), readAnswers('test/recorded'), `${message}\n${output}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
