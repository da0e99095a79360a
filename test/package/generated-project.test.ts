import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { addHandlers, hookNames } from '../../src/extension/scaffold/index.ts';
import { compile, linkedProject, runTests } from './linked-project.ts';

test('the generated project compiles, and its tests pass; those of what is not written yet are named', {
  timeout: 120_000,
}, async () => {
  const folder = await linkedProject(hookNames);
  expect(await compile(folder)).toBe('');
  // Its plan passes two minors, as Cluster API asks.
  writeFileSync(
    join(folder, 'test/plan.test.ts'),
    `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { applyPatches, callHandler, requestFor } from 'cluster-api-extension/testing';
import { generatePatches } from '../src/handlers/generate-patches.ts';
import { generateUpgradePlan } from '../src/handlers/generate-upgrade-plan.ts';

test('a plan of two minors', async () => {
  const [from, to] = ['v1.31.2', 'v1.33.1'];
  const versions = { fromControlPlaneKubernetesVersion: from, fromWorkersKubernetesVersion: from, toKubernetesVersion: to };
  const { result, response } = await callHandler(generateUpgradePlan, requestFor('GenerateUpgradePlan', versions));
  deepEqual([result, response.controlPlaneUpgrades], ['success', [{ version: 'v1.32.0' }, { version: to }]]);
});

test('a MachineDeployment that overrides a variable', async () => {
  const [item] = requestFor('GeneratePatches').items;
  const request = requestFor('GeneratePatches', {
    variables: [{ name: 'tier', value: 'gold' }],
    items: [
      { ...item!, uid: '1' },
      { ...item!, uid: '2', variables: [{ name: 'tier', value: 'silver' }] },
    ],
  });
  const { response } = await callHandler(generatePatches, request);
  const tiers = applyPatches(request, response).map((template) => {
    const { spec } = template as { spec: { template: { metadata: { labels: Record<string, string> } } } };
    return spec.template.metadata.labels['example.com/tier'];
  });
  deepEqual(tiers, ['gold', 'silver']);
});
`,
  );
  const stdout = await runTests(folder);
  expect(stdout).toMatch(/^# fail 0$/m);
  expect(stdout).toMatch(/^ok \d+ - a plan of two minors$/m);
  expect(stdout).toMatch(/^ok \d+ - the Cluster of test\/cluster.yaml is patched as recorded$/m);
  expect(stdout).toMatch(/^ok \d+ - a MachineDeployment that overrides a variable$/m);
  expect(stdout).not.toMatch(/^not ok /m);
  expect(stdout.match(/^ok .* # SKIP.*$/gm)).toEqual([
    expect.stringMatching(/^ok \d+ - update-machine: the same request gets the same answer # SKIP to do/),
    expect.stringMatching(/^ok \d+ - update-machine: may be called again after it succeeded # SKIP to do/),
  ]);
});

test('a patch that changes fails the tests, which show what it does to Machines and how to record it', {
  timeout: 120_000,
}, async () => {
  const folder = await linkedProject(['BeforeClusterCreate']);
  addHandlers(folder, ['GeneratePatches']);
  const answers = join(folder, 'test/recorded/answers.json');
  const objects = join(folder, 'test/recorded/objects.json');
  const recorded = [answers, objects].map((file) => readFileSync(file, 'utf8'));
  const record = () => promisify(execFile)(process.execPath, ['test/record.ts'], { cwd: folder });
  await record();
  expect([answers, objects].map((file) => readFileSync(file, 'utf8'))).toEqual(recorded);
  expect(await runTests(folder)).toMatch(/^# fail 0$/m);

  const file = join(folder, 'src/handlers/generate-patches.ts');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(', tier);', ", 'other');");
  expect(changed).not.toBe(text);
  writeFileSync(file, changed);
  const stdout = await runTests(folder);
  expect(stdout).toMatch(/^not ok \d+ - the Cluster of test\/cluster.yaml is patched as recorded$/m);
  expect(stdout).toContain('record them anew: node test/record.ts');
  expect(stdout).toContain('6 of 6 Machines are replaced');
  await record();
  expect(await runTests(folder)).toMatch(/^# fail 0$/m);

  const now = readFileSync(answers, 'utf8');
  writeFileSync(file, text.replace('template.metadata.labels', 'template.spec.misspelt'));
  expect(await runTests(folder)).toMatch(/^not ok \d+ - the Cluster .*[\s\S]*field not declared in schema/m);
  await expect(record()).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('field not declared in schema'),
    stderr: expect.stringMatching(/test\/recorded stays as it was: correct the handlers first$/m),
  });
  expect(readFileSync(answers, 'utf8')).toBe(now);
});
