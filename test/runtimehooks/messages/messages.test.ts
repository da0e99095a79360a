import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fieldAt, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { clusterApiHooks, type HookDefinition, hooks } from '../../../src/runtimehooks/index.ts';
import {
  decodeResponse,
  messageProblem,
  problemText,
  sampleRequest,
  sampleResponse,
  unknownFields,
} from '../../../src/runtimehooks/messages/index.ts';
import { limitWork, sized } from '../../support/work.ts';
import { recordedCalls } from './recorded.ts';

const hookOf = (kind: unknown) => clusterApiHooks.find(({ request }) => request.kind === kind) as HookDefinition;

test.each(clusterApiHooks.map((hook) => [hook.name, hook] as const))('the samples of %s are valid', (_, hook) => {
  expect(messageProblem(hook, 'request', sampleRequest(hook))).toBeUndefined();
  expect(messageProblem(hook, 'response', sampleResponse(hook))).toBeUndefined();
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
  expect(messageProblem(hookOf(body.kind), 'request', body)).toBeUndefined();
});

test('a sample has a uid for what a handler keys its work by, and machines instead of templates', () => {
  const [machine, set] = (['UpdateMachine', 'CanUpdateMachineSet'] as const).map((hook) =>
    fieldAt(sampleRequest(hooks[hook]), 'desired'),
  );
  const uids = [
    fieldAt(sampleRequest(hooks.BeforeClusterUpgrade), 'cluster', 'metadata', 'uid'),
    fieldAt(sampleRequest(hooks.GeneratePatches), 'variables', 0, 'value', 'cluster', 'uid'),
    fieldAt(machine, 'machine', 'metadata', 'uid'),
    fieldAt(set, 'machineSet', 'metadata', 'uid'),
  ];
  expect(uids).toEqual(uids.map(() => expect.stringMatching(/^[0-9a-f-]{36}$/)));
  expect([fieldAt(machine, 'infrastructureMachine', 'kind'), fieldAt(machine, 'bootstrapConfig', 'kind')]).toEqual([
    'ExampleMachine',
    'KubeadmConfig',
  ]);
  expect(fieldAt(set, 'infrastructureMachineTemplate', 'kind')).toBe('ExampleMachineTemplate');
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
    expect(messageProblem(hook, 'request', body)).toBeUndefined();
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
    expect(messageProblem(hooks.BeforeClusterUpgrade, 'request', request)).toEqual({ field, message });
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

  // As Go reads it, with the field, the type that it must have, and the type that it has.
  test.each<[keyof typeof hooks, Json, string]>([
    ['Discovery', [], 'the message must be of type object, not array'],
    ['Discovery', { Status: true }, 'status must be of type string, not boolean'],
    ['Discovery', { handlers: [{ name: 'a' }, { name: 2 }] }, 'handlers[1].name must be of type string, not number'],
    ['BeforeClusterCreate', { retryAfterSeconds: 1.5 }, 'retryAfterSeconds must be of type integer, not number'],
    ['BeforeClusterCreate', { retryAfterSeconds: 2147483648 }, 'retryAfterSeconds must be of format int32'],
    ['GeneratePatches', { items: [{ uid: 'a', patch: 'abc!' }] }, 'items[0].patch must be standard base64'],
  ])('to %s that is %j is refused', (hook, answer, problem) => {
    expect(decodeResponse(hooks[hook], answer)).toEqual({ problem });
  });

  test('with a patch of 20 MiB is read', () => {
    const patch = 'QUJD'.repeat((20 * 1024 * 1024) / 4);
    const answer = { status: 'Success', items: [{ uid: 'a', patchType: 'JSONPatch', patch }] };
    expect(decodeResponse(hooks.GeneratePatches, answer)).toEqual({ response: answer });
  });
});

test.each<[string, keyof typeof hooks, object, string | undefined]>([
  ['a status that does not exist', 'Discovery', { status: 'Fine' }, 'status must be one of Failure, Success'],
  [
    'a number of 33 bits',
    'BeforeClusterCreate',
    { status: 'Success', retryAfterSeconds: 2 ** 32 },
    'retryAfterSeconds must be of format int32',
  ],
  [
    'bytes',
    'GeneratePatches',
    { status: 'Success', items: [{ uid: 'a', patchType: 'JSONPatch', patch: '?' }] },
    'items[0].patch must be standard base64',
  ],
  ['a field that a program set to undefined', 'Discovery', { status: undefined }, 'status must be set'],
  ['a field that is inherited', 'Discovery', Object.create({ status: 'Success' }) as object, 'status must be set'],
  ['an unknown field', 'AfterControlPlaneInitialized', { status: 'Success', affectsAvailability: false }, undefined],
])('an answer with %s', (_, hook, response, problem) => {
  const found = messageProblem(hooks[hook], 'response', response);
  expect(found && problemText(found)).toBe(problem);
});

test('a number or a text may be either, and nothing else', () => {
  const request = sampleRequest(hooks.UpdateMachine) as { desired: { machine: { metadata: object } } };
  const withRollout = (maxUnavailable: unknown) => ({
    ...sampleRequest(hooks.BeforeClusterCreate),
    cluster: {
      metadata: request.desired.machine.metadata,
      spec: {
        topology: {
          workers: { machineDeployments: [{ healthCheck: { remediation: { maxInFlight: maxUnavailable } } }] },
        },
      },
    },
  });
  expect([1, '10%'].map((value) => messageProblem(hooks.BeforeClusterCreate, 'request', withRollout(value)))).toEqual([
    undefined,
    undefined,
  ]);
  expect(messageProblem(hooks.BeforeClusterCreate, 'request', withRollout(true))?.message).toBe(
    'must be of type integer or string, not boolean',
  );
});

test('fields that nobody reads are listed, but for those of a status', () => {
  const request = {
    ...sampleRequest(hooks.BeforeClusterUpgrade),
    clustr: {},
    workersUpgrades: [{ version: 'v1.33.0' }, { version: 'v1.34.0', 'a b': 1 }],
    cluster: { spec: { topologi: {} }, status: { any: [1] } },
    settings: { any: 'text' },
  };
  expect(unknownFields(hooks.BeforeClusterUpgrade, 'request', request)).toEqual([
    'cluster.spec.topologi',
    'workersUpgrades[1][a b]',
    'clustr',
  ]);
});

describe('problems of long texts are found in linear time, and take little room', () => {
  const cluster = sampleRequest(hooks.BeforeClusterUpgrade).cluster as { metadata: object };
  const timed = (creationTimestamp: string) => ({
    cluster: { ...cluster, metadata: { ...cluster.metadata, creationTimestamp } },
  });
  const fill = (piece: string) => piece.repeat(sized(4 * 1024 * 1024) / piece.length);
  test.each<[string, Record<string, Json>, string]>([
    ['a name that is escaped in paths', { settings: { [fill('~/')]: 1 } }, 'must be of type string, not number'],
    ['a plain name', { settings: { [fill('k')]: 1 } }, 'must be of type string, not number'],
    ['a time with many letters T', timed(fill('T')), 'must be of format date-time'],
    ['a time with many spaces', timed(`2026-01-01 ${fill(' t ')}`), 'must be of format date-time'],
  ])('%s', (_, fields, message) => {
    const request = { ...sampleRequest(hooks.BeforeClusterUpgrade), ...fields };
    // ajv escapes a name for its path, and this takes it apart: some 0.3 s for a mebibyte of nothing but such characters.
    using _work = limitWork(5_000);
    const problem = messageProblem(hooks.BeforeClusterUpgrade, 'request', request);
    expect(problem?.message).toBe(message);
    expect(problem?.field.length).toBeLessThan(600);
  });
});
