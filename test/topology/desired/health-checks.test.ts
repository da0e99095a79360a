import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { remediationTexts } from '../../../src/topology/desired/health-checks.ts';
import { prepared } from '../../../src/topology/index.ts';

const now = new Date('2026-08-01T12:00:00Z');
const condition = (type: string, status: string, minutesAgo: number, reason = ''): JsonObject => ({
  type,
  status,
  reason,
  lastTransitionTime: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
});

/** A Machine as a plan keeps it. */
const machine = (name: string, conditions: JsonObject[] = [], more: JsonObject = {}, annotations: JsonObject = {}) => ({
  machine: prepared({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name, creationTimestamp: '2026-07-01T00:00:00Z', annotations },
    spec: {},
    status: {
      nodeRef: { name },
      conditions: [condition('Deleting', 'False', 99), condition('InfrastructureReady', 'True', 99), ...conditions],
      ...more,
    },
  }),
  bootstrapConfig: undefined,
  infrastructureMachine: undefined,
});

const cluster = (...conditions: JsonObject[]) => prepared({ kind: 'Cluster', metadata: {}, status: { conditions } });
const unhealthy = (list: string, type: string, status: string, timeoutSeconds = 300): JsonObject => ({
  checks: { [list]: [{ type, status, timeoutSeconds }] },
});
const triggerIf = (check: JsonObject, fields: JsonObject): JsonObject => ({
  ...check,
  remediation: { triggerIf: fields },
});

const healthy = machine('a', [condition('NodeReady', 'True', 99), condition('NodeHealthy', 'True', 99)]);
const notReady = (minutes: number, reason = 'NodeNotReady') =>
  machine('b', [condition('NodeReady', 'False', minutes, reason), condition('NodeHealthy', 'False', minutes)]);
const ready = unhealthy('unhealthyNodeConditions', 'Ready', 'False');
const withoutNode = (minutes: number) =>
  machine('b', [], {
    nodeRef: null,
    conditions: [condition('InfrastructureReady', 'True', minutes)],
  });

const none = 'no more Machines are unhealthy by the health check at once';
const one = 'the health check has 1 of 2 Machines (b) remediated at once, which are unhealthy by it';
const tooMany =
  '1 of 2 Machines (b) are unhealthy by the health check at once, and it has none remediated: so many are not allowed (triggerIf)';

describe('a changed health check remediates at once', () => {
  test.each<
    [string, JsonObject, ReturnType<typeof machine>, string[], before?: JsonObject | undefined, of?: JsonObject]
  >([
    ['a Machine whose Node is not ready for long enough', ready, notReady(6), [one]],
    ['not one whose Node was ready a while ago', ready, notReady(4), [none]],
    ['not one whose Node nobody can look at', ready, notReady(6, 'ConnectionDown'), [none]],
    [
      'not one that was unhealthy before',
      ready,
      notReady(6),
      [none],
      unhealthy('unhealthyNodeConditions', 'Ready', 'False', 60),
    ],
    [
      'one that was unhealthy before, if so many are allowed now',
      triggerIf(ready, { unhealthyLessThanOrEqualTo: '50%' }),
      notReady(6),
      [one],
      triggerIf(ready, { unhealthyLessThanOrEqualTo: '49%' }),
    ],
    ['not more than are allowed', triggerIf(ready, { unhealthyLessThanOrEqualTo: 0 }), notReady(6), [tooMany]],
    ['not fewer than a range', triggerIf(ready, { unhealthyInRange: '[2-3]' }), notReady(6), [tooMany]],
    ['as many as a range', triggerIf(ready, { unhealthyInRange: '[1-3]' }), notReady(6), [one]],
    [
      'a Machine with a condition of its own',
      unhealthy('unhealthyMachineConditions', 'DiskFull', 'True'),
      machine('b', [condition('DiskFull', 'True', 6)]),
      [one],
    ],
    ['one that is marked', {}, machine('b', [], {}, { 'cluster.x-k8s.io/remediate-machine': '' }), [one]],
    ['one without a Node', { checks: { nodeStartupTimeoutSeconds: 60 } }, withoutNode(2), [one]],
    [
      'not one whose infrastructure has become ready',
      { checks: { nodeStartupTimeoutSeconds: 60 } },
      withoutNode(0),
      [none],
    ],
    ['none, if Machines have any time', { checks: { nodeStartupTimeoutSeconds: 0 } }, withoutNode(999), [none]],
    [
      'none of a Cluster without a control plane',
      ready,
      notReady(6),
      [none],
      undefined,
      cluster(condition('ControlPlaneInitialized', 'False', 1)),
    ],
    [
      'none of a Cluster without infrastructure',
      ready,
      notReady(6),
      [none],
      undefined,
      cluster(condition('InfrastructureReady', 'False', 1)),
    ],
    [
      'nobody knows, of conditions that Machines do not tell',
      unhealthy('unhealthyNodeConditions', 'NetworkUnavailable', 'True'),
      healthy,
      [none, 'conditions of Nodes are not known: NetworkUnavailable'],
    ],
    [
      'none, of pressures while Nodes are healthy',
      unhealthy('unhealthyNodeConditions', 'DiskPressure', 'True'),
      healthy,
      [none],
    ],
    [
      'nobody knows, of pressures otherwise',
      unhealthy('unhealthyNodeConditions', 'DiskPressure', 'True'),
      notReady(6),
      [none, 'conditions of Nodes are not known: DiskPressure'],
    ],
  ])('%s', (_, after, second, expected, before, of = cluster()) => {
    expect(remediationTexts(before, after, [healthy, second], of, now)).toEqual(expected);
  });

  test('which one is skipped does not count', () => {
    const skipped = machine(
      'c',
      [],
      {},
      { 'cluster.x-k8s.io/skip-remediation': '', 'cluster.x-k8s.io/remediate-machine': '' },
    );
    expect(remediationTexts(undefined, ready, [healthy, notReady(6), skipped], cluster(), now)).toEqual([one]);
  });

  test('nobody knows which, without the status of Machines', () => {
    const { machine: object } = healthy;
    const bare = { ...healthy, machine: { ...object, status: undefined } as unknown as JsonObject };
    expect(remediationTexts(undefined, ready, [bare], cluster(), now).join()).toContain(
      'the status of Machines is not known',
    );
  });
});

test('of the conditions of a Machine that is well, none is kept', () => {
  expect(objectAt(healthy.machine, 'status')).toEqual({
    nodeRef: {},
    conditions: [expect.objectContaining({ type: 'Deleting' })],
  });
});
