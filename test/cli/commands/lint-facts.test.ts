import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleNamespace,
  exampleSecret,
  exampleService,
  exampleServiceObject,
} from '../../policy/rules/examples.ts';
import { runProgram } from './io.ts';

const root = mkdtempSync(join(tmpdir(), 'lint-facts-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, ...objects: (JsonObject | string)[]): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, objects.map((one) => (typeof one === 'string' ? one : stringify(one))).join('---\n'));
  return file;
}

async function ruleIds(...args: string[]): Promise<string[]> {
  const { stdout, stderr } = await runProgram(['lint', '--output', 'json', ...args]);
  expect(stderr).toBe('');
  return JSON.parse(stdout).findings.map(({ ruleId }: { ruleId: string }) => ruleId);
}

const wrongPort = example({ clientConfig: { service: { ...exampleService, port: 9443 } } });
const narrowed = example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } });

describe('a folder', () => {
  test('facts come from the other manifests in git', async () => {
    const file = write('app/extension.yaml', wrongPort);
    write('app/service.yaml', exampleServiceObject);
    expect(await ruleIds(file)).toEqual([]);
    expect(await ruleIds(file, '--facts', join(root, 'app'))).toEqual(['service-port-missing']);
  });

  test('with several ExtensionConfigs, including those that are checked', async () => {
    const first = write('twice/one.yaml', example());
    write('twice/two.yaml', example({ name: 'two' }));
    write('secrets/secret.yaml', exampleSecret({}));
    expect(await ruleIds(first, '--facts', join(root, 'twice'), '--facts', join(root, 'secrets'))).toEqual([
      'secret-missing',
      'server-registered-twice',
    ]);
  });

  test('an ExtensionConfig of the same name in the context is the old object', async () => {
    const file = write('change/new.yaml', narrowed);
    write('live/all.yaml', example(), exampleClass(), exampleCluster(), exampleNamespace);
    expect(await ruleIds(file, '--facts', join(root, 'live'))).toEqual(['namespace-selector-excludes']);
  });

  test.each<[string, JsonObject]>([
    ['the namespace of their class', { class: 'quick-start' }],
    ['another namespace', { class: 'quick-start', classNamespace: 'clusters' }],
  ])('Clusters and ClusterClasses may be of v1beta1, with Clusters in %s', async (_name, topology) => {
    const apiVersion = 'cluster.x-k8s.io/v1beta1';
    const namespace = topology.classNamespace === undefined ? 'clusters' : 'elsewhere';
    const folder = `v1beta1-${namespace}`;
    const file = write(`${folder}/new.yaml`, narrowed);
    write(
      `${folder}/live/all.yaml`,
      example(),
      {
        ...exampleClass(),
        apiVersion,
        spec: { patches: [{ name: 'external', external: { generateExtension: 'before-upgrade.my-extension' } }] },
      },
      {
        ...exampleCluster(),
        apiVersion,
        metadata: { namespace, name: 'prod-1' },
        spec: { topology: { ...topology, version: 'v1.34.0' } },
      },
      { ...exampleNamespace, metadata: { name: namespace, labels: { team: 'a' } } },
    );
    expect(await ruleIds(file, '--facts', join(root, folder, 'live'))).toEqual(['namespace-selector-excludes']);
  });

  test('unreadable files count as absent, and are reported', async () => {
    const file = write('templates/extension.yaml', wrongPort);
    write('templates/chart/service.yaml', '{{ if .Values.service }}\na: b\n{{ end }}\n');
    write('templates/service.yaml', exampleServiceObject);
    const { code, stdout, stderr } = await runProgram(['lint', file, '--facts', join(root, 'templates')]);
    expect(stderr).toMatch(/^lint: --facts: \d documents? could not be read and are left out; the first is .*chart/);
    expect(stdout).toContain('service-port-missing');
    expect(code).toBe(0);
  });

  test('levels in the configuration apply to these rules too', async () => {
    const file = write('strict/extension.yaml', wrongPort);
    write('strict/service.yaml', exampleServiceObject);
    write('strict/.extensionconfig-lint.yaml', 'rules: {service-port-missing: deny}\n');
    const { code } = await runProgram(['lint', file, '--facts', join(root, 'strict')]);
    expect(code).toBe(1);
  });

  const file = () => write('plain/extension.yaml', example());
  test.each([
    [
      'that does not exist',
      () => [file(), '--facts', join(root, 'none')],
      /--facts: .*none: cannot be read: no such file or folder/,
    ],
    [
      'without any object that rules use',
      () => [file(), '--facts', write('e/x.yaml', 'a: b\n')],
      /no object in 1 file that/,
    ],
    ['on standard input', () => [file(), '--facts', '-'], /standard input is already being checked/],
  ])('a context %s is a usage error', async (_name, args, message) => {
    const { code, stdout, stderr } = await runProgram(['lint', ...args()]);
    expect(stderr).toMatch(message);
    expect([code, stdout]).toEqual([2, '']);
  });
});
