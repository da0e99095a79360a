import { Registry as MetricsRegistry } from 'prom-client';
import { expect, test } from 'vitest';
import { OpenApi } from '../../../src/sandbox/openapi/open-api.ts';
import { Registry } from '../../../src/sandbox/resources/registry.ts';
import type { Resource } from '../../../src/sandbox/resources/resource.ts';

function resourceOf(group: string, plural: string, size: number): Resource {
  const kind = plural.toUpperCase();
  return {
    group,
    version: 'v1',
    plural,
    singular: plural,
    kind,
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced: false,
    storage: `${plural}.${group}`,
    storageVersion: 'v1',
    hasStatus: false,
    hasGeneration: true,
    selectableFields: [],
    isCustom: true,
    isTerminating: false,
    schema: { type: 'object', properties: { size: { type: 'integer', maximum: size } } },
    columns: [],
    deprecation: undefined,
    conversion: undefined,
    strategy: {},
  } as Resource;
}

function start() {
  const registry = new Registry();
  const metrics = new MetricsRegistry();
  const openapi = new OpenApi(registry, () => new Date(0), metrics);
  const set = (group: string, plural: string, size: number) =>
    registry.set(`${plural}.${group}`, [resourceOf(group, plural, size)]);
  async function lines(name: string): Promise<string[]> {
    return (await metrics.metrics()).split('\n').filter((line) => line.startsWith(name));
  }
  return { registry, openapi, set, lines };
}

test('a change of one among 200 definitions rebuilds only the document of its group and version', async () => {
  const { openapi, set, lines } = start();
  for (let index = 0; index < 200; index++) {
    set(`g${Math.floor(index / 5)}.example.com`, `p${index}`, 0);
  }
  const built = async () =>
    Number((await lines('crd_openapi_v3_aggregation_duration_seconds_count'))[0]?.split(' ')[1]);
  const before = openapi.root();
  expect(await built()).toBe(40);
  set('g7.example.com', 'p36', 1);
  const after = openapi.root();
  expect(await built()).toBe(41);
  const [old, current] = [before, after].map(({ paths }) => Object.entries(paths as Record<string, object>));
  const changed = current?.filter(([, value], index) => JSON.stringify(value) !== JSON.stringify(old?.[index]?.[1]));
  expect(changed?.map(([path]) => path)).toEqual(['apis/g7.example.com/v1']);
  openapi.root();
  expect(await built()).toBe(41);
});

test('documents of removed versions are dropped', async () => {
  const { registry, openapi, set } = start();
  for (let index = 0; index < 300; index++) {
    const group = `g${index}.example.com`;
    set(group, 'p', 0);
    expect(openapi.document(group, 'v1')).toBeDefined();
    registry.set(`p.${group}`, []);
  }
  expect(openapi.size).toBeLessThan(250);
});
