import { afterAll, beforeAll, expect, test } from 'vitest';
import { hooksGroup } from '../../src/hooks/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import type { GivenObject } from '../../src/rehearsal/index.ts';
import { caBundle, type ExtensionServer, extensionConfig, startExtension } from '../runtime/extension-server.ts';
import { cpuTimeMs } from '../tools/cpu-time.ts';
import { fixture, objectsOf, played } from './given.ts';

let server: ExtensionServer;
let variables: JsonObject[] = [];
let asked = 0;

const hooks = ['DiscoverVariables', 'GeneratePatches', 'ValidateTopology', 'GenerateUpgradePlan'];
const handlerOf = (hook: string) => hook.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

beforeAll(async () => {
  server = await startExtension(({ url }) => {
    if (url.includes('/discovery')) {
      const handlers = hooks.map((hook) => ({
        name: handlerOf(hook),
        requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
      }));
      return { status: 'Success', handlers };
    }
    asked++;
    return {
      status: 'Success',
      ...(url.includes('/discovervariables') && { variables: variables.map((one) => ({ ...one })) }),
    };
  });
});
afterAll(() => server.close());

const defined = (name: string, schema: JsonObject, required = false) => ({
  name,
  required,
  schema: { openAPIV3Schema: schema },
});

const play = () => played([extensionConfig('lab', { url: server.url, caBundle })], fixture('lab.yaml'));

test.each<[string, JsonObject[], RegExp]>([
  ['one that nobody defines', [], /^Cluster API refuses the Cluster: variable "flavor" is not defined by/],
  [
    'one that is required and missing',
    [defined('flavor', { type: 'string' }), defined('size', { type: 'integer' }, true)],
    /variable "size" is required and not set/,
  ],
  ['a value of another type', [defined('flavor', { type: 'integer' })], /variable "flavor": must be integer/],
  [
    'a value that is not allowed',
    [defined('flavor', { enum: ['small'] })],
    /variable "flavor": must be equal to one of/,
  ],
  [
    'a value without the pattern',
    [defined('flavor', { type: 'string', pattern: '^x' })],
    /variable "flavor": must match pattern/,
  ],
  [
    'a schema that is none',
    [defined('flavor', { type: 'strange' })],
    /variable "flavor": cannot be validated with its schema/,
  ],
  ['a pattern that backtracks', [defined('flavor', { pattern: '(a+)+$', maxLength: 2 })], /variable "flavor": must/],
  ['a name with a dot', [defined('a.b', {})], /has a variable with the name "a\.b"/],
])('variables: %s', async (_, given, reason) => {
  variables = given;
  const { end } = await play();
  expect(end?.isComplete).toBe(false);
  expect(end?.reason).toMatch(reason);
});

test('uniqueItems, which Cluster API refuses since it takes quadratic time, takes none here', async () => {
  variables = [defined('flavor', { type: 'array', items: { type: 'object' }, uniqueItems: true })];
  const items = Array.from({ length: 30_000 }, (_, index) => ({ n: index }));
  const given: GivenObject[] = JSON.parse(JSON.stringify(objectsOf(fixture('lab.yaml'))), (_, value) =>
    value?.value === 'large' ? { ...value, value: items } : value,
  );
  expect(JSON.stringify(given).length).toBeGreaterThan(300_000);
  const started = cpuTimeMs();
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], given);
  expect(end?.reason).toBe('');
  // 450 million comparisons took half a minute.
  expect(cpuTimeMs() - started).toBeLessThan(15_000);
});

test('a default is filled in, as admission does', async () => {
  variables = [defined('flavor', { type: 'string' }), defined('size', { type: 'integer', default: 3 })];
  server.received.length = 0;
  const { end } = await play();
  expect(end?.reason).toBe('');
  const request = server.received
    .map(({ body }) => JSON.parse(body))
    .find(({ kind }) => kind === 'GeneratePatchesRequest');
  expect(request.variables.slice(0, 2)).toEqual([
    { name: 'flavor', value: 'large' },
    { name: 'size', value: 3 },
  ]);
});

test('DiscoverVariables with a name twice stops the class, as upstream', async () => {
  variables = [defined('flavor', { type: 'string' }), defined('flavor', { type: 'string' })];
  const { end } = await play();
  expect(end?.reason).toBe(
    'DiscoverVariables of patch "lab" has a variable with the name "flavor" more than once: Cluster API refuses them all',
  );
});

test('DiscoverVariables that changes its answer is named', async () => {
  variables = [defined('flavor', { type: 'string' })];
  const changing = await startExtension((received) => {
    const { url } = received;
    if (url.includes('/discovery')) {
      const handlers = hooks.map((hook) => ({
        name: handlerOf(hook),
        requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
      }));
      return { status: 'Success', handlers };
    }
    return url.includes('/discovervariables')
      ? { status: 'Success', variables: [defined('flavor', { type: 'string', maxLength: 10 + asked++ })] }
      : { status: 'Success' };
  });
  try {
    const { events } = await played([extensionConfig('lab', { url: changing.url, caBundle })], fixture('lab.yaml'));
    expect(events).toContainEqual(
      expect.objectContaining({ text: 'DiscoverVariables of patch "lab" does not give the same answer each time' }),
    );
  } finally {
    await changing.close();
  }
});
