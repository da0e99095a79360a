import {
  type CallEffect,
  type EffectOutcome,
  type HandlerCall,
  handlerCall,
  type SimulatedEvent,
} from '../../../../src/checks/rehearsal/cluster/effects.ts';
import { State } from '../../../../src/checks/rehearsal/cluster/state.ts';
import { readInput } from '../../../../src/checks/rehearsal/index.ts';
import { type Scenario, simulateCluster } from '../../../../src/checks/rehearsal/simulation/simulate.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import type { Release } from '../../../../src/runtimehooks/index.ts';
import { createNames } from '../../../../src/topology/index.ts';
import { objectsOf } from '../rehearsing.ts';

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
export type Answer = JsonObject | { error: string } | 'none' | 'restart';

/** The record of one simulation. */
export interface Simulated {
  calls: CallEffect[];
  /** Calls and events in their order. */
  log: string[];
  conditions: Extract<SimulatedEvent, { kind: 'condition' }>[];
  events: { at: number; event: SimulatedEvent }[];
  end: { isComplete: boolean; reason: string; at: number };
  state: State;
}

const fakeCall = (hook: string, { message = '', retryAfterSeconds = 0 }: JsonObject): HandlerCall =>
  handlerCall(`${hook}.fake`, { message: String(message), retryAfterSeconds: Number(retryAfterSeconds) });

function outcomeOf(hook: string, answer: Answer): EffectOutcome {
  if (answer === 'none') {
    return { ok: true, response: { status: 'Success' }, calls: [] };
  }
  if (answer === 'restart') {
    return { ok: 'restart', calls: [fakeCall(hook, {})] };
  }
  if ('error' in answer) {
    const error = `failed to call extension handlers for hook "${hook}": ${answer.error}`;
    return { ok: false, error, calls: [{ ...fakeCall(hook, {}), status: 'Failure', error }] };
  }
  return { ok: true, response: { status: 'Success', ...answer }, calls: [fakeCall(hook, answer)] };
}

const versions = (list: unknown) => (list as { version: string }[]).map(({ version }) => version.slice(1)).join(' ');

/** A call with its versions in one line: `BeforeClusterUpgrade 1.29.0 → 1.33.0 C[1.30.0 1.31.0] W[1.31.0]`. */
export function callLine({ hook, request }: CallEffect): string {
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

/** Rehearses a simulation with fake responses, without a network and without a clock. */
export function simulate(
  answers: (effect: CallEffect, nth: number) => Answer | undefined,
  {
    yaml = '',
    maxCalls = 200,
    maxFailures = 5,
    release,
    ...scenario
  }: Partial<Scenario> & { yaml?: string; maxCalls?: number; maxFailures?: number; release?: Release } = {},
): Simulated {
  const upgrades = scenario.upgrades ?? [];
  const { subjects } = readInput(yaml === '' ? [] : objectsOf(yaml), upgrades[0]);
  let uids = 0;
  const state = new State({
    subject: subjects[0]!,
    names: createNames(() => `uid-${++uids}`),
    start: new Date('2026-08-21T10:00:00Z'),
    limits: { maxCalls, maxFailures },
    release,
  });
  const simulation = simulateCluster(state, { upgrades, isDeleted: false, updatesInPlace: false, ...scenario });
  const simulated: Omit<Simulated, 'end'> = { calls: [], log: [], conditions: [], events: [], state };
  const nth = new Map<string, number>();
  let given: EffectOutcome | undefined;
  for (;;) {
    const { done, value } = simulation.next(given);
    if (done) {
      return { ...simulated, end: value };
    }
    given = undefined;
    if (value.do === 'call') {
      const number = (nth.get(value.hook) ?? 0) + 1;
      nth.set(value.hook, number);
      const answer = answers(value, number) ?? {};
      if (answer !== 'none') {
        simulated.calls.push(structuredClone(value));
        simulated.log.push(callLine(value));
      }
      given = outcomeOf(value.hook, answer);
    } else if (value.do === 'tell') {
      simulated.events.push({ at: value.at, event: value.event });
      simulated.log.push(value.event.kind);
      if (value.event.kind === 'condition') {
        simulated.conditions.push(value.event);
      }
    }
  }
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
