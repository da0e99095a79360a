import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { list, object, string, stringMap } from '../../../src/runtimehooks/catalog/schema.ts';
import { defineHook, hooks, type MessageSchema } from '../../../src/runtimehooks/index.ts';
import { messageProblems, sampleRequest } from '../../../src/runtimehooks/messages/index.ts';
import { defineHookVersions } from '../../../src/runtimehooks/versions/index.ts';
import {
  beforeClusterUpgradeV1,
  beforeClusterUpgradeV1beta1,
  beforeClusterUpgradeVersions,
  toSteps,
} from './invented.ts';

const { requestFor, responseFor } = beforeClusterUpgradeVersions;
const group = 'hooks.runtime.cluster.x-k8s.io';

// Rule 2 of the Runtime SDK.
describe('a request is converted to older versions, step by step', () => {
  const { cluster } = sampleRequest(hooks.BeforeClusterUpgrade) as { cluster: JsonObject };
  const request = {
    apiVersion: `${group}/v1`,
    kind: 'BeforeClusterUpgradeRequest',
    cluster,
    fromVersion: 'v1.32.0',
    toVersion: 'v1.33.0',
    dryRun: true,
    controlPlaneUpgrades: [{ to: 'v1.33.0', reason: 'asked for' }],
    settings: { region: 'eu' },
  };

  test('to the adjacent version', () => {
    expect(messageProblems(beforeClusterUpgradeV1, 'request', request, 'strict')).toEqual([]);
    const converted = requestFor('v1beta1', request);
    expect(converted).toMatchObject({
      apiVersion: `${group}/v1beta1`,
      dryRun: true,
      controlPlaneUpgrades: [{ version: 'v1.33.0', reason: 'asked for' }],
    });
    expect(messageProblems(beforeClusterUpgradeV1beta1, 'request', converted, 'strict')).toEqual([]);
  });

  test('over two versions, without what the oldest cannot represent', () => {
    const converted = requestFor('v1alpha1', request);
    expect(converted).toEqual({
      apiVersion: `${group}/v1alpha1`,
      kind: 'BeforeClusterUpgradeRequest',
      cluster,
      fromKubernetesVersion: 'v1.32.0',
      toKubernetesVersion: 'v1.33.0',
      controlPlaneUpgrades: [{ version: 'v1.33.0' }],
      settings: { region: 'eu' },
    });
    expect(messageProblems(hooks.BeforeClusterUpgrade, 'request', converted, 'strict')).toEqual([]);
  });
});

describe('a response is converted to newer versions, step by step', () => {
  const response = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'BeforeClusterUpgradeResponse',
    status: 'Success',
    message: 'wait',
    retryAfterSeconds: 5,
  };

  test('to the adjacent version, with the default of a new field', () => {
    expect(responseFor('v1beta1', response)).toEqual({
      ...response,
      apiVersion: `${group}/v1beta1`,
      severity: 'Info',
    });
  });

  test('over two versions, with the default of the version in between', () => {
    expect(responseFor('v1', response)).toEqual({
      apiVersion: `${group}/v1`,
      kind: 'BeforeClusterUpgradeResponse',
      status: 'Success',
      retryAfterSeconds: 5,
      notes: { text: 'wait', severity: 'Info' },
    });
  });

  test('is unchanged in its own version', () => {
    expect(responseFor('v1alpha1', response)).toBe(response);
  });
});

const older = hooks.BeforeClusterUpgrade;

test.each<[string, Parameters<typeof defineHookVersions>[0], string]>([
  [
    'fields that a request loses or gets under another name, but no function changes',
    [{ older, newer: beforeClusterUpgradeV1beta1 }],
    'Hook=BeforeClusterUpgrade and v1beta1: a request converted to v1alpha1 is not valid: fromKubernetesVersion must be set; toKubernetesVersion must be set; fromVersion is not a field of this message; toVersion is not a field of this message; dryRun is not a field of this message; controlPlaneUpgrades[0].reason is not a field of this message; workersUpgrades[0].reason is not a field of this message',
  ],
  [
    'fields of a response',
    [{ older: beforeClusterUpgradeV1beta1, newer: beforeClusterUpgradeV1, request: toSteps }],
    'a response converted to v1 is not valid: message is not a field of this message; severity is not a field of this message',
  ],
  [
    'versions of two hooks',
    [{ older: hooks.BeforeClusterCreate, newer: beforeClusterUpgradeV1beta1 }],
    'Hook=BeforeClusterUpgrade is not a version of',
  ],
  ['no version', [], 'a hook with versions needs at least one change'],
  [
    'two ways from a version',
    [
      { older, newer: beforeClusterUpgradeV1beta1 },
      { older, newer: beforeClusterUpgradeV1 },
    ],
    'each change of BeforeClusterUpgrade must begin with the version that the one before it ends with',
  ],
  [
    'the newest change first',
    [
      { older: beforeClusterUpgradeV1beta1, newer: beforeClusterUpgradeV1 },
      { older, newer: beforeClusterUpgradeV1beta1 },
    ],
    'each change of BeforeClusterUpgrade must begin with the version that the one before it ends with',
  ],
  [
    'a circle',
    [
      { older, newer: beforeClusterUpgradeV1beta1 },
      { older: beforeClusterUpgradeV1beta1, newer: older },
    ],
    'each change of BeforeClusterUpgrade must begin with the version that the one before it ends with',
  ],
])('rejected: %s', (_, changes, message) => {
  expect(() => defineHookVersions(changes)).toThrow(message);
});

describe('a message that cannot be converted', () => {
  const { cluster } = sampleRequest(older) as { cluster: JsonObject };
  const request = {
    apiVersion: `${group}/v1beta1`,
    kind: 'BeforeClusterUpgradeRequest',
    cluster,
    toVersion: 'v1.33.0',
  };

  test('to a version that nobody defined, or from one', () => {
    expect(() => requestFor('v2', request)).toThrow(`cannot convert "${group}/v2"`);
    expect(() => responseFor('v1', { apiVersion: `${group}/v2`, status: 'Success' })).toThrow(
      `cannot convert "${group}/v2"`,
    );
  });

  test('a request to a newer version, and a response to an older one', () => {
    expect(() => requestFor('v1', request)).toThrow('requests are converted to older versions');
    expect(() => responseFor('v1alpha1', { apiVersion: `${group}/v1`, status: 'Success' })).toThrow(
      'responses to newer ones',
    );
  });

  test('because the older version does not allow a value', () => {
    const { name, summary, purpose } = older;
    const envelope = { apiVersion: string(), kind: string() };
    const inVersion = (version: string, modes: string[]) =>
      defineHook({
        ...{ group, name, summary, purpose, version, introduced: '1.14' },
        request: object('', {
          required: { mode: string('', { enum: modes }) },
          optional: { ...envelope, settings: stringMap() },
        }),
        response: object('', {
          required: { status: string('', { enum: ['Failure', 'Success'] }) },
          optional: { ...envelope, message: string() },
        }),
      });
    const narrow = inVersion('v1alpha2', ['a']);
    const newer = inVersion('v1beta1', ['a', 'b']);
    const versions = defineHookVersions([{ older: narrow, newer }]);
    const message = { apiVersion: `${group}/v1beta1`, mode: 'a' };
    expect(versions.requestFor('v1alpha2', message)).toMatchObject({ apiVersion: `${group}/v1alpha2`, mode: 'a' });
    expect(() => versions.requestFor('v1alpha2', { ...message, mode: 'b' })).toThrow(
      expect.objectContaining({ path: ['mode'], message: 'must be one of a in v1alpha2' }),
    );
  });
});

test('new fields in a list, in an object and in the items of a patch get copies of their defaults', () => {
  const { name, summary, purpose } = older;
  const envelope = { apiVersion: string(), kind: string() };
  const inVersion = (version: string, note: Readonly<Record<string, MessageSchema>>) =>
    defineHook({
      ...{ group, name, summary, purpose, version, introduced: '1.14' },
      request: object('', { required: {}, optional: { ...envelope, settings: stringMap() } }),
      response: object('', {
        required: { status: string('', { enum: ['Failure', 'Success'] }) },
        optional: {
          ...envelope,
          message: string(),
          names: list(string('')),
          notes: list(object('', { required: { text: string('') }, optional: note })),
          extra: stringMap(),
        },
      }),
    });
  const labels = { ...stringMap(), default: { team: 'none' } };
  const from = inVersion('v1alpha2', {});
  const versions = defineHookVersions([
    { older: from, newer: inVersion('v1beta1', { severity: string('', { default: 'Info' }), labels }) },
  ]);
  const response = {
    ...{ apiVersion: `${group}/v1alpha2`, kind: from.response.kind, status: 'Success' },
    names: ['a'],
    notes: [{ text: 'one' }, { text: 'two', labels: null }],
    extra: { key: 'value' },
  };
  const converted = versions.responseFor('v1beta1', response);
  expect(converted).toEqual({
    ...response,
    apiVersion: `${group}/v1beta1`,
    notes: [
      { text: 'one', severity: 'Info', labels: { team: 'none' } },
      { text: 'two', severity: 'Info', labels: null },
    ],
  });
  const [first] = converted.notes as { labels: object }[];
  expect(first?.labels).not.toBe(labels.default);
});

test.each([
  ['another name', { ...hooks.AfterClusterUpgrade, group: older.group }],
  ['another group', { ...beforeClusterUpgradeV1beta1, group: 'hooks.example.com' }],
])('versions of hooks with %s are rejected', (_, newer) => {
  expect(() => defineHookVersions([{ older, newer }])).toThrow(/ is not a version of .*Hook=BeforeClusterUpgrade$/);
});

test('errors name the versions that there are', () => {
  const all = `${group}/v1alpha1, ${group}/v1beta1, ${group}/v1`;
  const rule =
    'requests are converted to older versions and responses to newer ones, and those of BeforeClusterUpgrade are';
  expect(() => requestFor('v2', { apiVersion: `${group}/v1` })).toThrow(
    expect.objectContaining({ path: ['apiVersion'], message: `cannot convert "${group}/v2": ${rule} ${all}` }),
  );
  expect(() => responseFor('v2', { apiVersion: `${group}/v1` })).toThrow(`cannot convert "${group}/v2"`);
});
