import { type HandlerCall, handlerCall } from '../../../src/checks/rehearsal/cluster/effects.ts';
import { type Entry, htmlPage } from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** The response of one handler. */
export const call = (more: Partial<HandlerCall> = {}): HandlerCall => handlerCall('up.one', more);

let number = 0;
export const callEntry = (at: number, hook: 'BeforeClusterUpgrade' | 'GeneratePatches', answer = call()): Entry => ({
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
export const event = (at: number, what: Extract<Entry, { type: 'event' }>['event']): Entry => ({
  type: 'event',
  cluster: 'n/c',
  at,
  event: what,
});
export const blocked = call({ retryAfterSeconds: 5400, message: 'backups run' });
export const object = (image: string): JsonObject => ({ kind: 'T', spec: { image } });

/** A simulation with an upgrade that a hook blocks for a while. */
export const simulation: readonly Entry[] = [
  event(0, { kind: 'user', text: 'sets spec.topology.version to v1.32.0', flag: '→ v1.32.0' }),
  event(0, { kind: 'control-plane', state: 'ready', version: 'v1.31.0', name: 'c-x' }),
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
  event(16_200_000, { kind: 'pending-hooks', hooks: 'AfterClusterUpgrade' }),
  callEntry(16_200_000, 'GeneratePatches'),
  callEntry(16_201_000, 'GeneratePatches'),
  event(16_201_000, {
    kind: 'templates',
    isFirst: true,
    changes: [
      {
        holder: 'Cluster n/c spec.controlPlaneRef',
        template: 'T t',
        before: object('a'),
        after: object('b'),
        ignored: ['/metadata/name'],
      },
    ],
  }),
  event(16_201_000, { kind: 'control-plane', state: 'upgrading', version: 'v1.32.0', name: 'c-x' }),
  event(16_381_000, { kind: 'control-plane', state: 'ready', version: 'v1.32.0', name: 'c-x' }),
  { type: 'end', cluster: 'n/c', at: 16_381_000, isComplete: true, reason: '', calls: 6 },
];

/** HTML that would end its surrounding element, and run a script. */
const hostile = `</script></style></svg><img src=x onerror="document.title='caught'"><b id=bad>'"&`;
/** A simulation, and another one in which every text is hostile. */
export const hostilePage = () =>
  htmlPage([
    ...simulation,
    callEntry(16_382_000, 'BeforeClusterUpgrade', call({ status: 'Failure', error: hostile, handler: hostile })),
    event(16_382_000, { kind: 'worker', state: 'ready', version: hostile, name: hostile, group: hostile }),
    event(16_382_000, { kind: 'user', text: hostile, flag: hostile }),
    event(16_382_000, { kind: 'condition', status: 'False', reason: hostile, message: hostile }),
    event(16_382_000, { kind: 'fault', text: hostile }),
    event(16_382_000, {
      kind: 'templates',
      isFirst: true,
      changes: [
        { holder: hostile, template: hostile, before: object('a'), after: object(hostile), ignored: [hostile] },
      ],
    }),
    { type: 'end', cluster: hostile, at: 0, isComplete: false, reason: hostile, calls: 1 },
  ]);
