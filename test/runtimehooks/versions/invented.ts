import { type JsonObject, objectsAt } from '../../../src/kubernetes/index.ts';
import { int32, list, object, ref, string, stringMap } from '../../../src/runtimehooks/catalog/schema.ts';
import { defineHook, hooks } from '../../../src/runtimehooks/index.ts';
import { defineHookVersions } from '../../../src/runtimehooks/versions/index.ts';

const { group, name, summary, purpose } = hooks.BeforeClusterUpgrade;
const meta = { apiVersion: string(), kind: string(), settings: stringMap() };
const cluster = ref('sigs.k8s.io.cluster-api.api.core.v1beta2.Cluster');
const step = (version: string) =>
  object('A step.', {
    required: version === 'v1' ? { to: string() } : { version: string() },
    optional: version === 'v1alpha1' ? {} : { reason: string() },
  });

/** v1beta1 of a made-up hook: a renamed field, a new field in requests, one with a default in responses. */
export const beforeClusterUpgradeV1beta1 = defineHook({
  group,
  name,
  summary,
  purpose,
  version: 'v1beta1',
  introduced: '1.14',
  blockingSince: '1.14',
  request: object('An upgrade is about to begin.', {
    required: { cluster, fromVersion: string(), toVersion: string() },
    optional: {
      ...meta,
      dryRun: { type: 'boolean' },
      controlPlaneUpgrades: list(step('v1beta1')),
      workersUpgrades: list(step('v1beta1')),
    },
  }),
  response: object('Whether it may.', {
    required: { status: string('', { enum: ['Failure', 'Success'] }), retryAfterSeconds: int32() },
    optional: {
      apiVersion: string(),
      kind: string(),
      message: string(),
      severity: string('How bad waiting is.', { enum: ['Info', 'Warning'], default: 'Info' }),
    },
  }),
});

/** v1, which has the wait in an object. */
export const beforeClusterUpgradeV1 = defineHook({
  group,
  name,
  summary,
  purpose,
  version: 'v1',
  introduced: '1.14',
  blockingSince: '1.14',
  request: object('An upgrade is about to begin.', {
    required: { cluster, fromVersion: string(), toVersion: string() },
    optional: {
      ...meta,
      dryRun: { type: 'boolean' },
      controlPlaneUpgrades: list(step('v1')),
      workersUpgrades: list(step('v1')),
    },
  }),
  response: object('Whether it may.', {
    required: { status: string('', { enum: ['Failure', 'Success'] }), retryAfterSeconds: int32() },
    optional: {
      apiVersion: string(),
      kind: string(),
      notes: object('For readers.', { optional: { text: string(), severity: string() } }),
    },
  }),
});

/** The steps of an upgrade, each changed. */
const steps = (request: JsonObject, change: (step: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    ['controlPlaneUpgrades', 'workersUpgrades']
      .filter((field) => request[field] !== undefined)
      .map((field) => [field, objectsAt(request, field).map(change)]),
  );

/** A request of v1 in v1beta1. */
export const toSteps = (request: JsonObject): JsonObject => ({
  ...request,
  ...steps(request, ({ to = '', ...step }) => ({ ...step, version: to })),
});

/** The three versions. */
export const beforeClusterUpgradeVersions = defineHookVersions([
  {
    older: hooks.BeforeClusterUpgrade,
    newer: beforeClusterUpgradeV1beta1,
    request({ fromVersion = '', toVersion = '', dryRun: _, ...same }) {
      const renamed = { fromKubernetesVersion: fromVersion, toKubernetesVersion: toVersion };
      return { ...same, ...renamed, ...steps(same, ({ reason: _, ...step }) => step) };
    },
  },
  {
    older: beforeClusterUpgradeV1beta1,
    newer: beforeClusterUpgradeV1,
    request: toSteps,
    response: ({ message = '', severity = '', ...same }) => ({ ...same, notes: { text: message, severity } }),
  },
]);
