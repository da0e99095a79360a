import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { int32, list, object, string } from '../../../src/runtimehooks/catalog/schema.ts';
import { clusterApiHooks, type HookDefinition, hooks, type MessageSchema } from '../../../src/runtimehooks/index.ts';
import {
  decodeResponse,
  messageProblems,
  sampleRequest,
  sampleResponse,
} from '../../../src/runtimehooks/messages/index.ts';
import { limitWork } from '../../support/work.ts';
import { recordedCalls } from './recorded.ts';

const hookOf = (kind: unknown) => clusterApiHooks.find(({ request }) => request.kind === kind) as HookDefinition;

test.each(clusterApiHooks.map((hook) => [hook.name, hook] as const))('the samples of %s are valid', (_, hook) => {
  expect(messageProblems(hook, 'request', sampleRequest(hook), 'strict')).toEqual([]);
  expect(messageProblems(hook, 'response', sampleResponse(hook), 'strict')).toEqual([]);
});

// Cluster API sends no status: what is in a Cluster that a user passes is of the release that wrote it.
test.each([
  ['BeforeClusterUpgrade', 'cluster', ['cluster']],
  ['in-place/UpdateMachine', 'machine', ['desired', 'machine']],
  ['in-place/CanUpdateMachineSet', 'machine set', ['current', 'machineSet']],
])('a request of %s with any status of its %s is valid', (file, _, path) => {
  const [folder, name] = file.includes('/') ? file.split('/') : ['', file];
  const call = new URL(`../../support/fixtures/runtime-sdk/main/${folder}/calls/${name}.json`, import.meta.url);
  const { body } = JSON.parse(readFileSync(call, 'utf8')) as { body: JsonObject };
  const holder = path.reduce((object, field) => object[field] as JsonObject, body);
  holder.status = {
    controlPlane: { upgradePlan: ['v1.31.0'], versions: [{ version: 'v1.30.0', replicas: 1 }] },
    a: [1],
  };
  expect(messageProblems(hookOf(body.kind), 'request', body, 'strict')).toEqual([]);
});

test('a sample has the fields that matter to readers', () => {
  expect(sampleRequest(hooks.BeforeClusterUpgrade)).toMatchObject({
    apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
    kind: 'BeforeClusterUpgradeRequest',
    cluster: { kind: 'Cluster', spec: { topology: { version: 'v1.33.0' } } },
    fromKubernetesVersion: 'v1.32.0',
    controlPlaneUpgrades: [{ version: 'v1.33.0' }],
    settings: { region: 'eu' },
  });
  expect(sampleResponse(hooks.BeforeClusterUpgrade)).toMatchObject({ status: 'Success', retryAfterSeconds: 0 });
});

describe('messages that Cluster API sent and received', () => {
  test.each(recordedCalls.map((call) => [call.file, call] as const))('%s is valid', (_file, { body, answer }) => {
    const hook = hookOf(body.kind);
    expect(messageProblems(hook, 'request', body, 'strict')).toEqual([]);
    expect(decodeResponse(hook, answer)).toEqual({ response: answer });
  });

  test("answers of Cluster API's own server are valid, also without apiVersion and kind", () => {
    const answers = JSON.parse(
      readFileSync(new URL('../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url), 'utf8'),
    ) as { request: { path: string }; response: { status: number; body: string } }[];
    const seen = answers.flatMap(({ request, response }) => {
      const hook = clusterApiHooks.find(({ name }) => request.path.split('/')[3] === name.toLowerCase());
      return hook === undefined || response.status !== 200
        ? []
        : [decodeResponse(hook, JSON.parse(response.body) as Json)];
    });
    expect(seen.length).toBeGreaterThan(5);
    for (const decoded of seen) {
      expect(decoded).toHaveProperty('response.status');
    }
  });
});

describe('a request to be sent', () => {
  const good = () => structuredClone(sampleRequest(hooks.BeforeClusterUpgrade)) as Record<string, never>;
  test.each<[string, (request: Record<string, unknown>) => void, string, string]>([
    ['without a required field', (request) => delete request.toKubernetesVersion, 'toKubernetesVersion', 'must be set'],
    [
      'with an unknown field',
      (request) => {
        request.clustr = {};
      },
      'clustr',
      'is not a field of this message',
    ],
    [
      'with a wrong type inside',
      (request) => {
        (request.cluster as { spec: { topology: { version: unknown } } }).spec.topology.version = 1;
      },
      'cluster.spec.topology.version',
      'must be of type string, not number',
    ],
    [
      'with a wrong item',
      (request) => {
        request.workersUpgrades = [{ version: 'v1.33.0' }, {}];
      },
      'workersUpgrades[1].version',
      'must be set',
    ],
  ])('reports %s', (_name, change, field, message) => {
    const request = good();
    change(request);
    expect(messageProblems(hooks.BeforeClusterUpgrade, 'request', request, 'strict')).toEqual([{ field, message }]);
  });
});

// How Cluster API's decoder (encoding/json) reads responses.
describe('an answer', () => {
  test.each<[string, HookDefinition, Json, Json]>([
    ['that is null is empty', hooks.BeforeClusterCreate, null, {}],
    [
      'has its fields in any case',
      hooks.BeforeClusterCreate,
      { Status: 'Success', RETRYAFTERSECONDS: 5 },
      { status: 'Success', retryAfterSeconds: 5 },
    ],
    [
      'keeps unknown fields, whatever they are',
      hooks.BeforeClusterCreate,
      { status: 'Success', more: [1], __proto__x: null },
      { status: 'Success', more: [1], __proto__x: null },
    ],
    [
      'has nulls for absent fields',
      hooks.BeforeClusterCreate,
      { status: 'Success', message: null },
      { status: 'Success' },
    ],
    [
      'has nulls in a list of objects for objects without fields',
      hooks.GeneratePatches,
      { items: [null, { uid: 'a' }] },
      { items: [{}, { uid: 'a' }] },
    ],
    [
      'may have one field in another case, in the last of many items',
      hooks.GeneratePatches,
      { status: 'Success', items: [{ uid: 'a' }, { uid: 'b' }, { UID: 'c' }] },
      { status: 'Success', items: [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }] },
    ],
    [
      'keeps nulls in a list of anything',
      hooks.DiscoverVariables,
      { variables: [{ name: 'a', schema: { openAPIV3Schema: { enum: [null] } } }] },
      { variables: [{ name: 'a', schema: { openAPIV3Schema: { enum: [null] } } }] },
    ],
    ['may lack required fields', hooks.BeforeClusterCreate, {}, {}],
    ['may have any status', hooks.BeforeClusterCreate, { status: 'Maybe' }, { status: 'Maybe' }],
    [
      'keeps the keys of maps as they are',
      hooks.DiscoverVariables,
      { variables: [{ name: 'a', schema: { openAPIV3Schema: { properties: { Type: { TYPE: 'string' } } } } }] },
      { variables: [{ name: 'a', schema: { openAPIV3Schema: { properties: { Type: { type: 'string' } } } } }] },
    ],
  ])('%s', (_name, hook, answer, response) => {
    expect(decodeResponse(hook, answer)).toEqual({ response });
  });

  test('with a patch of 20 MiB is read', () => {
    const patch = 'QUJD'.repeat((20 * 1024 * 1024) / 4);
    const answer = { status: 'Success', items: [{ uid: 'a', patchType: 'JSONPatch', patch }] };
    expect(decodeResponse(hooks.GeneratePatches, answer)).toEqual({ response: answer });
  });
});

test.each<[string, MessageSchema, unknown, string | undefined]>([
  ['a text that is too short', string('', { minLength: 2 }), '\u{1f600}', 'must have at least 2 characters'],
  ['a text that is long enough in characters', string('', { maxLength: 1 }), '\u{1f600}', undefined],
  ['a text that does not match', string('', { pattern: '^a+$' }), 'ab', 'must match ^a+$'],
  ['a number that is too large', int32('', { maximum: 5 }), 6, 'must be at most 5'],
  ['a number of 33 bits', int32(), 2 ** 32, 'must be of format int32'],
  ['a list that is too long', list(string(), '', { maxItems: 1 }), ['a', 'b'], 'must have at most 1 items'],
  [
    'neither of two types',
    { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    true,
    'must be of type integer or string, not boolean',
  ],
  ['one of two types', { oneOf: [{ type: 'integer' }, { type: 'string' }] }, 5, undefined],
  ['a field that a program set to undefined', string(), undefined, 'must be set'],
])('what a schema asks for: %s', (_, schema, value, message) => {
  const response = {
    ...hooks.Discovery.response,
    schema: object('', { required: { status: string(), field: schema } }),
  };
  const hook = { ...hooks.Discovery, response };
  expect(messageProblems(hook, 'response', { status: 'Success', field: value }, 'strict')).toEqual(
    message === undefined ? [] : [{ field: 'field', message }],
  );
});

describe('problems of long texts are found in linear time, and take little room', () => {
  const mebibytes = 4;
  const cluster = sampleRequest(hooks.BeforeClusterUpgrade).cluster as { metadata: object };
  const timed = (creationTimestamp: string) => ({
    cluster: { ...cluster, metadata: { ...cluster.metadata, creationTimestamp } },
  });
  const fill = (piece: string) => piece.repeat((mebibytes * 1024 * 1024) / piece.length);
  test.each<[string, Record<string, Json>, string]>([
    ['a name that is escaped in paths', { settings: { [fill('~/')]: 1 } }, 'must be of type string, not number'],
    ['a plain name', { settings: { [fill('k')]: 1 } }, 'must be of type string, not number'],
    ['a time with many letters T', timed(fill('T')), 'must be of format date-time'],
    ['a time with many spaces', timed(`2026-01-01 ${fill(' t ')}`), 'must be of format date-time'],
  ])('%s', (_, fields, message) => {
    const request = { ...sampleRequest(hooks.BeforeClusterUpgrade), ...fields };
    using _work = limitWork(400);
    for (const strictness of ['received', 'strict'] as const) {
      const [problem] = messageProblems(hooks.BeforeClusterUpgrade, 'request', request, strictness);
      expect(problem?.message).toBe(message);
      expect(problem?.field.length).toBeLessThan(600);
    }
  });
});
