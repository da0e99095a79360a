import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { messageProblems, sampleRequest } from '../../../src/runtimehooks/messages/index.ts';
import { defineHookVersions } from '../../../src/runtimehooks/versions/index.ts';
import { beforeClusterUpgradeV1, beforeClusterUpgradeV1beta1, beforeClusterUpgradeVersions } from './invented.ts';

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

test('a difference that no change lists is reported', () => {
  expect(() => defineHookVersions([{ older: hooks.BeforeClusterUpgrade, newer: beforeClusterUpgradeV1beta1 }])).toThrow(
    /fromKubernetesVersion: only .*v1alpha1 has it/,
  );
});

test('versions of two hooks are rejected', () => {
  expect(() => defineHookVersions([{ older: hooks.BeforeClusterCreate, newer: beforeClusterUpgradeV1beta1 }])).toThrow(
    'Hook=BeforeClusterUpgrade is not a version of',
  );
});
