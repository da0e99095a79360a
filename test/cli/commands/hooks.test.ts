import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterApiHooks } from '../../../src/runtimehooks/index.ts';
import { runProgram } from './io.ts';

test('the list contains every hook, as a table and as JSON', async () => {
  const { code, stdout } = await runProgram(['hooks']);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^HOOK +VERSION +SINCE +STATE +BLOCKS +WHAT IT IS FOR$/);
  expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(clusterApiHooks.map(({ name }) => name));
  const json = JSON.parse((await runProgram(['hooks', '--output', 'json'])).stdout);
  expect(json[8]).toMatchObject({
    name: 'AfterClusterUpgrade',
    introduced: 'v1.2',
    phase: 'supported',
    blocking: true,
  });
});

test('the list can be that of a release', async () => {
  const args = ['hooks', '--output', 'json', '--cluster-api-version', '1.11'];
  const rows: { name: string; phase: string; blocking: boolean }[] = JSON.parse((await runProgram(args)).stdout);
  const rowOf = (name: string) => rows.find((row) => row.name === name);
  // It will be able to block.
  expect(rowOf('UpdateMachine')).toMatchObject({ phase: 'future', blocking: true });
  // It could not block before 1.12.
  expect(rowOf('AfterClusterUpgrade')).toMatchObject({ phase: 'supported', blocking: false });
});

test.each(clusterApiHooks.map(({ name }) => name))('%s is explained with its messages', async (name) => {
  const { code, stdout } = await runProgram(['hooks', name]);
  expect(code).toBe(0);
  expect(stdout).toContain(`${name}Request:`);
  expect(stdout).toContain(`\n  kind: ${name}Response\n`);
  const json = JSON.parse((await runProgram(['hooks', name, '--output', 'json'])).stdout);
  expect(json.request.sample).toMatchObject({ kind: `${name}Request` });
});

test('a document for an earlier release has its fields, and says what else changed', async () => {
  const documentOf = async (...args: string[]) =>
    JSON.parse((await runProgram(['openapi', '--output', 'json', ...args])).stdout);
  const fieldsOf = (document: { components: { schemas: Record<string, { properties: object }> } }, kind: string) => {
    const [, schema] = Object.entries(document.components.schemas).find(([name]) => name.endsWith(`.${kind}`)) ?? [];
    return Object.keys(schema?.properties ?? {});
  };
  const [old, older, newest] = [
    await documentOf('--cluster-api-version', '1.11'),
    await documentOf('--cluster-api-version', '1.3'),
    await documentOf(),
  ];
  const own = ['cluster', 'fromKubernetesVersion', 'toKubernetesVersion', 'apiVersion', 'kind'];
  expect(fieldsOf(older, 'BeforeClusterUpgradeRequest')).toEqual(own);
  expect(fieldsOf(old, 'BeforeClusterUpgradeRequest')).toEqual([...own, 'settings']);
  const lists = ['controlPlaneUpgrades', 'workersUpgrades'];
  expect(fieldsOf(newest, 'BeforeClusterUpgradeRequest')).toEqual([...own, 'settings', ...lists]);
  expect(fieldsOf(old, 'AfterClusterUpgradeResponse')).not.toContain('retryAfterSeconds');
  expect(fieldsOf(newest, 'AfterClusterUpgradeResponse')).toContain('retryAfterSeconds');
  expect(old.info.description).toContain('notes on changes, are those of v1.');
  expect(newest.info.description).not.toContain('notes on changes');
});

test('fields and other changes are explained with their releases', async () => {
  const explanation = await runProgram(['hooks', 'AfterControlPlaneUpgrade']);
  expect(explanation.stdout).toMatch(/\n {2}controlPlaneUpgrades +list of UpgradeStepInfo +since v1\.12 /);
  expect(explanation.stdout).toContain('\nSince v1.12 it is called after each step of an upgrade, ');
  const json = JSON.parse(
    (await runProgram(['hooks', 'AfterClusterUpgrade', '--output', 'json', '--cluster-api-version', '1.5'])).stdout,
  );
  expect(json.request.fieldsSince).toEqual({ settings: 'v1.4' });
  expect(json.response).toMatchObject({ fieldsSince: { retryAfterSeconds: 'v1.12' } });
  expect(json.response.sample).not.toHaveProperty('retryAfterSeconds');
  expect(json.changes.map(({ release }: { release: string }) => release)).toEqual(['v1.11', 'v1.13']);
});

test.each([
  ['GeneratePatches', '1.10', 'v1beta1'],
  ['GeneratePatches', '1.11', 'v1beta2'],
  ['ValidateTopology', '1.4', 'v1beta1'],
  ['ValidateTopology', '1.12', 'v1beta2'],
])('the sample of %s in %s has holders of the core version %s', async (hook, release, version) => {
  const { stdout } = await runProgram(['hooks', hook, '--cluster-api-version', release, '--output', 'json']);
  const { changes, request } = JSON.parse(stdout);
  expect(request.sample.items[0].holderReference).toEqual({
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: 'Cluster',
    namespace: 'default',
    name: 'example',
    fieldPath: 'spec.infrastructureRef',
  });
  expect(changes).toContainEqual({ release: 'v1.11', text: 'holders in the core group are v1beta2 (before: v1beta1)' });
});

test.each([
  ['BeforeClusterCreate', '1.10', { apiVersion: 'cluster.x-k8s.io/v1beta1', class: 'example' }],
  ['BeforeWorkersUpgrade', '1.12', { apiVersion: 'cluster.x-k8s.io/v1beta1', class: 'example' }],
  ['BeforeClusterCreate', '1.13', { apiVersion: 'cluster.x-k8s.io/v1beta2', classRef: { name: 'example' } }],
  // It has sent v1beta2 from the start.
  ['GenerateUpgradePlan', '1.12', { apiVersion: 'cluster.x-k8s.io/v1beta2', classRef: { name: 'example' } }],
])('the sample of %s in %s has the Cluster of that release', async (hook, release, { apiVersion, ...reference }) => {
  const args = ['hooks', hook, '--cluster-api-version', release];
  const { request } = JSON.parse((await runProgram([...args, '--output', 'json'])).stdout);
  expect(request.sample.cluster).toMatchObject({ apiVersion, spec: { topology: { version: 'v1.33.0' } } });
  const { class: name, classRef } = request.sample.cluster.spec.topology;
  expect({ class: name, classRef }).toEqual(reference);
  const text = (await runProgram(args)).stdout;
  expect(parse(text.split('\nA request:\n')[1]?.split('\nA response:\n')[0] ?? '')).toEqual(request.sample);
});

test('for an unknown hook, a similar name is suggested', async () => {
  const { code, stderr } = await runProgram(['hooks', 'BeforeClusterCreat']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('did you mean BeforeClusterCreate') });
});

test('openapi prints the same document as YAML and JSON, for a release', async () => {
  const yaml = await runProgram(['openapi']);
  const json = await runProgram(['openapi', '--output', 'json']);
  // Reading all of it takes the yaml library a tenth of a second.
  const { openapi, info, ...others } = JSON.parse(json.stdout);
  const [head = '', ...sections] = yaml.stdout.split(/^(?=\w+:$)/m).slice(1);
  expect(parse(`openapi: ${openapi}\n${head}`)).toEqual({ openapi, info });
  expect(sections.map((section) => section.split(':')[0])).toEqual(Object.keys(others));
  const old = JSON.parse((await runProgram(['openapi', '--output', 'json', '--cluster-api-version', '1.4'])).stdout);
  expect(old.info.version).toBe('v1.4');
  expect(Object.keys(old.paths)).toHaveLength(10);
});
