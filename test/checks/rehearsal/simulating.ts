import {
  type Entry,
  handlerCall,
  playLife,
  readInput,
  type Scenario,
  State,
} from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Release } from '../../../src/runtimehooks/index.ts';
import { objectsOf } from './rehearsing.ts';

type Caller = ConstructorParameters<typeof State>[1];
type Call = Parameters<Caller>[0];
type Outcome = Awaited<ReturnType<Caller>>;
type Event = Extract<Entry, { type: 'event' }>['event'];

/** A call, and when it was made. */
export type TimedCall = Call & { at: number };

/** Hooks that can block. */
export const blocking = [
  'BeforeClusterCreate',
  'BeforeClusterUpgrade',
  'BeforeControlPlaneUpgrade',
  'AfterControlPlaneUpgrade',
  'BeforeWorkersUpgrade',
  'AfterWorkersUpgrade',
  'AfterClusterUpgrade',
  'BeforeClusterDelete',
];

/** The response of a fake extension: fields of a success, an error, or nothing where no handler is registered. */
export type Answer = JsonObject | { error: string } | 'none';

/** The record of one simulation. */
export interface Simulated {
  calls: TimedCall[];
  /** Calls and events in their order. */
  log: string[];
  conditions: Extract<Event, { kind: 'condition' }>[];
  events: { at: number; event: Event }[];
  end: { isComplete: boolean; reason: string; at: number };
  state: State;
}

const fakeCall = (hook: string, { message = '', retryAfterSeconds = 0 }: JsonObject) =>
  handlerCall(`${hook}.fake`, { message: String(message), retryAfterSeconds: Number(retryAfterSeconds) });

function outcomeOf(hook: string, answer: Answer): Outcome {
  if (answer === 'none') {
    return { ok: true, response: { status: 'Success' }, calls: [] };
  }
  if ('error' in answer) {
    const error = `failed to call extension handlers for hook "${hook}": ${answer.error}`;
    return { ok: false, error, calls: [{ ...fakeCall(hook, {}), status: 'Failure', error }] };
  }
  return { ok: true, response: { status: 'Success', ...answer }, calls: [fakeCall(hook, answer)] };
}

const versions = (list: unknown) => (list as { version: string }[]).map(({ version }) => version.slice(1)).join(' ');

/** A call with its versions in one line: `BeforeClusterUpgrade 1.29.0 → 1.33.0 C[1.30.0 1.31.0] W[1.31.0]`. */
export function callLine({ hook, request }: Pick<Call, 'hook' | 'request'>): string {
  const { kubernetesVersion, fromKubernetesVersion, toKubernetesVersion } = request as Record<
    string,
    string | undefined
  >;
  const parts = [
    hook,
    ...(kubernetesVersion === undefined ? [] : [kubernetesVersion.slice(1)]),
    ...(fromKubernetesVersion === undefined
      ? []
      : [`${fromKubernetesVersion.slice(1)} → ${toKubernetesVersion?.slice(1)}`]),
    ...(request.controlPlaneUpgrades === undefined ? [] : [`C[${versions(request.controlPlaneUpgrades)}]`]),
    ...(request.workersUpgrades === undefined ? [] : [`W[${versions(request.workersUpgrades)}]`]),
  ];
  return parts.join(' ');
}

/** Plays a Cluster with fake responses, without a network and without a clock. */
export async function simulate(
  answers: (call: TimedCall, nth: number) => Answer | undefined,
  {
    yaml = '',
    maxCalls = 200,
    maxFailures = 5,
    release,
    sleep = async () => {},
    ...scenario
  }: Partial<Scenario> & {
    yaml?: string;
    maxCalls?: number;
    maxFailures?: number;
    release?: Release;
    sleep?: (ms: number) => Promise<void>;
  } = {},
): Promise<Simulated> {
  const upgrades = scenario.upgrades ?? [];
  const { subjects } = readInput(yaml === '' ? [] : objectsOf(yaml), upgrades[0]);
  let uids = 0;
  const nth = new Map<string, number>();
  const simulated: Omit<Simulated, 'end' | 'state'> = { calls: [], log: [], conditions: [], events: [] };
  let end = { isComplete: false, reason: '', at: 0 };
  const state: State = new State(
    subjects[0]!,
    async (given) => {
      const call = { ...given, at: state.now };
      const number = (nth.get(call.hook) ?? 0) + 1;
      nth.set(call.hook, number);
      const answer = answers(call, number) ?? {};
      if (answer !== 'none') {
        simulated.calls.push(structuredClone(call));
        simulated.log.push(callLine(call));
      }
      return outcomeOf(call.hook, answer);
    },
    {
      newUid: () => `uid-${++uids}`,
      start: new Date('2026-08-21T10:00:00Z'),
      limits: { maxCalls, maxFailures },
      release,
      sleep,
      signal: new AbortController().signal,
      onEntry(entry) {
        if (entry.type === 'end') {
          end = entry;
        } else if (entry.type === 'event') {
          simulated.events.push(entry);
          simulated.log.push(entry.event.kind);
          if (entry.event.kind === 'condition') {
            simulated.conditions.push(entry.event);
          }
        }
      },
    },
  );
  await playLife(state, { upgrades, isDeleted: false, updatesInPlace: false, ...scenario });
  return { ...simulated, end, state };
}

/** A Cluster without a class, in YAML. */
export const clusterYaml = (version: string, { annotations = '{}', topology = '' } = {}): string => `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: c, namespace: team, annotations: ${annotations} }
spec:
  topology:
    classRef: { name: k }
    version: ${version}
    ${topology === '' ? 'workers: { machineDeployments: [{ class: w, name: md-0, replicas: 2 }, { class: w, name: md-1 }] }' : topology}
`;

/** A ClusterClass that only defines upgrades. */
export const classYaml = (spec: string): string => `---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: { name: k, namespace: team }
spec: ${spec}
`;

const template = (group: string, kind: string, spec: string) => `---
apiVersion: ${group}.cluster.x-k8s.io/v1beta2
kind: ${kind}
metadata: { name: t, namespace: team }
spec: { template: { spec: ${spec} } }
`;
/** A ClusterClass with templates of Machines, with this kind of template for its control plane, and settings of workers. */
export const templatedClass = (controlPlane: string, settings: readonly string[] = []) => {
  const ref = (group: string, kind: string) =>
    `templateRef: { apiVersion: ${group}.cluster.x-k8s.io/v1beta2, kind: ${kind}, name: t }`;
  return [
    classYaml(`
  controlPlane:
    ${ref('controlplane', controlPlane)}
    machineInfrastructure: { ${ref('infrastructure', 'MTemplate')} }
  workers:
    machineDeployments:
      - class: w
        bootstrap: { ${ref('bootstrap', 'BTemplate')} }
        infrastructure: { ${ref('infrastructure', 'MTemplate')} }
${settings.map((line) => `        ${line}\n`).join('')}`),
    // With an etcd of its own, a control plane may have an even number of Machines.
    template(
      'controlplane',
      controlPlane,
      `{ kubeadmConfigSpec: { clusterConfiguration: { etcd: { external: { endpoints: ['https://etcd:2379'], caFile: /a, certFile: /a, keyFile: /a } } }, files: [{ path: /a }] } }`,
    ),
    template('infrastructure', 'MTemplate', '{ size: 3 }'),
    template('bootstrap', 'BTemplate', '{}'),
  ].join('');
};
