import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiReports } from '../../tools/build/build-packages.ts';
import { programReport, programReportFile } from '../../tools/generate/program-report.ts';
import { declarations } from '../support/declarations.ts';

const folder = new URL('../../docs/api/', import.meta.url);

test('what users rely on is what docs/api says: after a change, npm run generate and a line in CHANGELOG.md', async () => {
  const reports = new Map([...(await apiReports(await declarations())), [programReportFile, await programReport()]]);
  expect(readdirSync(folder).toSorted()).toEqual([...reports.keys()].toSorted());
  for (const [file, text] of reports) {
    expect(text, file).toBe(readFileSync(new URL(file, folder), 'utf8'));
  }
});
