import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiReports } from '../../tools/build/build-packages.ts';

const folder = new URL('../../docs/api/', import.meta.url);

test('what the packages export is what docs/api says: after a change, npm run generate and a line in CHANGELOG.md', async () => {
  const reports = await apiReports();
  expect(readdirSync(folder).toSorted()).toEqual([...reports.keys()].toSorted());
  for (const [file, text] of reports) {
    expect(text, file).toBe(readFileSync(new URL(file, folder), 'utf8'));
  }
});
