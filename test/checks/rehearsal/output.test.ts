import { expect, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import { createTimeline, type Entry, jsonLine } from '../../../src/checks/rehearsal/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { handlerCall } from './rehearsing.ts';

/** The response of one handler. */
const call = (more: Parameters<typeof handlerCall>[1] = {}) => handlerCall('up.one', more);

let number = 0;
const callEntry = (at: number, hook: 'BeforeClusterUpgrade' | 'GeneratePatches', answer = call()): Entry => ({
  type: 'call',
  cluster: 'n/c',
  number: ++number,
  at,
  hook,
  call: answer,
  kubernetesVersion: undefined,
  fromKubernetesVersion: hook === 'BeforeClusterUpgrade' ? 'v1.31.0' : undefined,
  toKubernetesVersion: hook === 'BeforeClusterUpgrade' ? 'v1.32.0' : undefined,
  controlPlaneUpgrades: hook === 'BeforeClusterUpgrade' ? ['v1.32.0'] : undefined,
  workersUpgrades: undefined,
  machine: undefined,
  pendingHooks: '',
});
const event = (at: number, what: Extract<Entry, { type: 'event' }>['event']): Entry => ({
  type: 'event',
  cluster: 'n/c',
  at,
  event: what,
});
const blocked = call({ retryAfterSeconds: 5400, message: 'backups run' });

/** A simulation with an upgrade that a hook blocks for a while. */
const simulation: readonly Entry[] = [
  event(0, { kind: 'user', text: 'the user sets spec.topology.version to v1.32.0' }),
  event(0, { kind: 'control-plane', text: 'control plane c-x is at v1.31.0' }),
  callEntry(0, 'BeforeClusterUpgrade', blocked),
  event(0, {
    kind: 'condition',
    status: 'False',
    reason: 'ClusterUpgrading',
    message:
      'Cluster is upgrading to v1.32.0\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run',
  }),
  callEntry(5_400_000, 'BeforeClusterUpgrade', blocked),
  callEntry(10_800_000, 'BeforeClusterUpgrade', blocked),
  callEntry(16_200_000, 'BeforeClusterUpgrade'),
  event(16_200_000, { kind: 'pending-hooks', text: 'pending hooks: AfterClusterUpgrade' }),
  callEntry(16_200_000, 'GeneratePatches'),
  callEntry(16_201_000, 'GeneratePatches'),
  event(16_201_000, { kind: 'control-plane', text: 'control plane c-x upgrades to v1.32.0' }),
  event(16_381_000, { kind: 'control-plane', text: 'control plane c-x is at v1.32.0' }),
  { type: 'end', cluster: 'n/c', at: 16_381_000, isComplete: true, reason: '', calls: 6 },
];

test("text: a line per call, identical calls counted, conditions in Cluster API's words", () => {
  const timeline = createTimeline(plain);
  expect(simulation.map((entry) => timeline(entry)).join('')).toBe(`\
  0:00:00  the user sets spec.topology.version to v1.32.0
  0:00:00  control plane c-x is at v1.31.0
  0:00:00  BeforeClusterUpgrade         v1.31.0 → v1.32.0   blocked for 1h30m0s: backups run  (up.one)
           TopologyReconciled False ClusterUpgrading: Cluster is upgrading to v1.32.0
             * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run
           … and 2 more like it, until 3:00:00
  4:30:00  BeforeClusterUpgrade         v1.31.0 → v1.32.0   passed  (up.one)
           pending hooks: AfterClusterUpgrade
  4:30:00  GeneratePatches                                  passed  (up.one)
  4:30:01  control plane c-x upgrades to v1.32.0
  4:33:01  control plane c-x is at v1.32.0
  The lifecycle completed: 4:33:01 of simulated time, 6 calls
`);
});

test('text: the versions of all hooks begin in the same column', () => {
  const columns = Object.keys(hooks).map((hook) => {
    const entry = { ...callEntry(0, 'BeforeClusterUpgrade'), hook } as Entry;
    return createTimeline(plain)(entry).indexOf('v1.31.0');
  });
  expect(new Set(columns).size).toBe(1);
});

test('text: contains no terminal control characters', () => {
  const timeline = createTimeline(plain);
  const hostile = '\u001b]0;x\u0007\r\n\u202e';
  const text = [
    callEntry(0, 'BeforeClusterUpgrade', call({ message: hostile, handler: hostile })),
    callEntry(0, 'BeforeClusterUpgrade', call({ status: 'Failure', error: hostile })),
    event(0, { kind: 'condition', status: 'False', reason: 'ReconcileFailed', message: hostile }),
    event(0, { kind: 'worker', text: hostile }),
    event(0, { kind: 'plan', text: hostile }),
    event(0, { kind: 'finding', severity: 'error', text: hostile, remedy: hostile }),
    { type: 'end' as const, cluster: 'n/c', at: 0, isComplete: false, reason: hostile, calls: 1 },
  ]
    .map((entry) => timeline(entry))
    .join('');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
});

test('json: a record per call and per change of the condition, and one for the end', () => {
  const lines = simulation
    .map(jsonLine)
    .filter((line) => line !== undefined)
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(8);
  expect(lines[1]).toEqual({
    cluster: 'n/c',
    seconds: 0,
    condition: {
      type: 'TopologyReconciled',
      status: 'False',
      reason: 'ClusterUpgrading',
      message:
        'Cluster is upgrading to v1.32.0\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run',
    },
  });
  expect(lines[0]).toEqual({
    cluster: 'n/c',
    call: expect.any(Number),
    seconds: 0,
    hook: 'BeforeClusterUpgrade',
    handler: 'up.one',
    fromKubernetesVersion: 'v1.31.0',
    toKubernetesVersion: 'v1.32.0',
    controlPlaneUpgrades: ['v1.32.0'],
    status: 'Success',
    retryAfterSeconds: 5400,
    message: 'backups run',
    pendingHooks: '',
  });
  expect(lines.at(-1)).toEqual({ cluster: 'n/c', seconds: 16381, end: 'complete', calls: 6 });
});
