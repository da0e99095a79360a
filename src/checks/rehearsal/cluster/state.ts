import { pendingHooksAnnotation } from '../../../extensionconfig/index.ts';
import {
  copyOf,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  perObject,
  textAt,
  timeText,
} from '../../../kubernetes/index.ts';
import type { Release } from '../../../runtimehooks/index.ts';
import { clusterInV1beta1 } from '../core-v1beta1.ts';
import type { RehearsedCluster } from './blueprint.ts';
import type { Effect, RehearsedHook, SimulatedEvent, Simulation } from './effects.ts';
import type { Names } from './names.ts';
import { has, newestRelease } from './releases.ts';

/** Kinds of groups of workers, in the order of Cluster API. */
export const workerKinds = ['MachineDeployment', 'MachinePool'] as const;
export type WorkerKind = (typeof workerKinds)[number];
/** The lists of their topologies and classes. */
export const workerLists = { MachineDeployment: 'machineDeployments', MachinePool: 'machinePools' } as const;

/** A group of worker machines. */
export interface WorkerGroup {
  kind: WorkerKind;
  /** Its name in the topology: `md-0`. */
  topologyName: string;
  class: string;
  /** Name of the object. */
  name: string;
  /** Version of its template; undefined before it has been created. */
  version: string | undefined;
  /** When its machines will have that version, in ms; undefined if they already have it. */
  readyAt: number | undefined;
}

/** The templates of the Machines of a group, as Cluster API writes them for the Cluster. */
export interface MachineTemplateObjects {
  bootstrap: JsonObject;
  infrastructure: JsonObject;
}

/** A MachineSet: the Machines of one version and one pair of templates. */
export interface MachineSet extends MachineTemplateObjects {
  name: string;
  /** The label `machine-template-hash`. */
  hash: string;
  revision: number;
  version: string;
}

/** A Machine of a group. */
export interface Machine {
  name: string;
  /** The MachineSet that it belongs to. */
  set: MachineSet;
}

/** What a group of workers consists of. */
export interface GroupMachines {
  current: MachineSet;
  machines: Machine[];
  /** The MachineSet of a rollout that has not been played. */
  next: MachineSet | undefined;
}

/** The state of one Cluster: the Cluster itself, and what a controller remembers about it. */
export interface State {
  readonly subject: RehearsedCluster;
  readonly names: Names;
  /** The release of Cluster API that is simulated. */
  readonly release: Release;
  /** Milliseconds since the simulation began. */
  now: number;
  readonly start: Date;
  /** The Cluster as it is stored, without status. */
  cluster: JsonObject & { metadata: JsonObject; spec: JsonObject };
  controlPlane: {
    kind: string;
    name: string;
    /** Version in its spec; undefined before it has been created. */
    version: string | undefined;
    /** When its machines will have that version, in ms; undefined if they already have it. */
    readyAt: number | undefined;
    /** The version of its machines, while an upgrade has not been played for them. */
    previous: string | undefined;
    isInitialized: boolean;
  };
  workers: WorkerGroup[];
  /** Whether the Machines of MachineDeployments are played, as they may be updated in place. */
  playsMachines: boolean;
  /** What groups of workers consist of, by their names. */
  readonly machines: Map<string, GroupMachines>;
  /** The templates with all patches, by the names of their holders and the fields there. */
  readonly patched: Map<string, JsonObject>;
  pending: Set<string>;
  waits: Map<string, { until: number; message: string }>;
  /** The cached plan of an extension. */
  plan: { key: string; until: number; controlPlane: readonly string[]; workers: readonly string[] } | undefined;
  /** The plan that was reported last. */
  toldPlan: string;
  /** Number of reconciles that have failed in a row. */
  failures: number;
  calls: number;
  /** How often each hook has blocked in a row. */
  blocked: Map<string, number>;
  /** The last condition that was reported. */
  condition: string;
  isDeleted: boolean;
  /** The templates of the class with the metadata of this Cluster, by the place where they are used. */
  readonly templates: Map<string, JsonObject>;
  /** The last round of patches: its input, and what the patches of the class made of the templates. */
  round: { input: string; patches: Map<string, PatchedTemplates>; results: readonly JsonObject[] } | undefined;
  /** What was reported of patched templates, with the changes that Cluster API ignores, by the place of the template. */
  readonly toldTemplates: Map<string, { object: JsonObject; ignored: readonly string[] }>;
  /** Reports made so far, because each is made only once. */
  reported: Set<string>;
  /** Pending edits of the user. */
  edits: UserEdit[];
}

/** What the patches of one answer made of templates. */
export interface PatchedTemplates {
  before: readonly JsonObject[];
  /** The patches, by which the same answer is recognized. */
  answer: Json[];
  after: readonly JsonObject[];
  /** The changes that Cluster API ignores, as JSON pointers, by template. */
  ignored: readonly (readonly string[])[];
}

/** A change that the user makes during an upgrade or a deletion. */
export interface UserEdit {
  /** The hook before whose first call it is made; absent: when nothing more happens on its own. */
  before?: string;
  text: string;
  apply(spec: JsonObject): void;
}

/** Cluster API's annotation that lets the deletion of a Cluster proceed. */
export const okToDeleteAnnotation = 'runtime.cluster.x-k8s.io/ok-to-delete';
/** Cluster API's annotation with the current step of an upgrade. */
export const upgradeStepAnnotation = 'topology.internal.cluster.x-k8s.io/upgrade-step';

/** Names of the pending hooks, as in the annotation. */
export const pendingHooksOf = (state: State): string => [...state.pending].sort().join(',');

/** Whether a hook is pending. */
export const isPending = (state: State, hook: string): boolean => state.pending.has(hook);

/** The version in the topology. */
export const targetOf = (state: State): string => textAt(state.cluster, 'spec', 'topology', 'version');

/** The annotations of an object; empty if it has none. */
export const annotationsOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata', 'annotations');

/** Sets or removes an annotation of the Cluster. */
export function annotate(state: State, key: string, value: string | undefined): void {
  const annotations = { ...annotationsOf(state.cluster) };
  if (value === undefined) {
    delete annotations[key];
  } else {
    annotations[key] = value;
  }
  const metadata: JsonObject = { ...state.cluster.metadata, annotations };
  if (Object.keys(annotations).length === 0) {
    delete metadata.annotations;
  }
  state.cluster.metadata = metadata;
  wrote(state, 'metadata');
}

/** Updates resourceVersion and generation for a write, as an API server does. */
export function wrote(state: State, what: 'metadata' | 'spec'): void {
  const { resourceVersion, generation } = state.cluster.metadata;
  state.cluster.metadata = {
    ...state.cluster.metadata,
    resourceVersion: String(Number(resourceVersion) + 1),
    generation: Number(generation) + (what === 'spec' ? 1 : 0),
  };
}

/** The message of the last condition in one line. */
export function conditionMessage({ condition }: State): string {
  const { message = '' } = condition === '' ? {} : (JSON.parse(condition) as { message?: string });
  return message.replaceAll('\n  * ', '; ');
}

/** Adds pending hooks to the annotation, and removes those that have been called. */
export function* setPending(state: State, add: readonly string[], remove: readonly string[] = []): Simulation {
  for (const hook of add) {
    state.pending.add(hook);
  }
  for (const hook of remove) {
    state.pending.delete(hook);
  }
  const hooks = pendingHooksOf(state);
  if (hooks !== textAt(state.cluster, 'metadata', 'annotations', pendingHooksAnnotation)) {
    annotate(state, pendingHooksAnnotation, hooks === '' ? undefined : hooks);
    yield tell(state, { kind: 'pending-hooks', hooks });
  }
}

export const tell = ({ now }: State, event: SimulatedEvent): Effect => ({ do: 'tell', at: now, event });

/** Reports something that no condition says, once for each subject: by default, its text. */
export function* findOnce(
  state: State,
  severity: 'error' | 'warning',
  text: string,
  remedy: string,
  subject = text,
): Simulation {
  if (!state.reported.has(subject)) {
    state.reported.add(subject);
    yield tell(state, { kind: 'finding', severity, text, remedy });
  }
}

/** Reports an event of a group of workers. */
export function workerEvent(
  state: State,
  { name, topologyName: group, version = '' }: WorkerGroup,
  happens: Extract<SimulatedEvent, { kind: 'worker' }>['state'],
): Effect {
  return tell(state, { kind: 'worker', state: happens, version, name, group });
}

/** The Cluster as in requests of a hook: a copy without status. */
export function clusterInRequest(state: State, hook: RehearsedHook): JsonObject {
  const { kind, apiVersion, metadata, spec } = state.cluster;
  const cluster = copyOf({ kind: kind ?? '', apiVersion: apiVersion ?? '', metadata, spec });
  // The plan's hook, new in v1.12, got v1beta2 from the beginning.
  if (has(state.release, 'clustersInV1beta2') || hook === 'GenerateUpgradePlan') {
    return cluster;
  }
  const { blueprint } = state.subject;
  return clusterInV1beta1(cluster, (reference) => {
    const templates = [blueprint?.infrastructureCluster, blueprint?.controlPlane.template];
    const origin = templates.find((template) => textAt(template, 'kind') === `${textAt(reference, 'kind')}Template`);
    return textAt(origin, 'apiVersion') || `${textAt(reference, 'apiGroup')}/v1beta1`;
  });
}

/** The user's annotation with the number of groups of one kind that may be upgraded at a time. */
export const concurrencyAnnotation = 'topology.cluster.x-k8s.io/upgrade-concurrency';

/** How many groups of one kind may be upgraded at a time. */
export const upgradeConcurrency = ({ cluster }: State): number =>
  Math.max(1, Number(textAt(cluster, 'metadata', 'annotations', concurrencyAnnotation)));

/** Desired number of machines of a group. */
export function replicasOf(state: State, worker: WorkerGroup): number {
  const { replicas } = topologyOf(state, worker);
  return typeof replicas === 'number' ? replicas : 1;
}

/** The topologies of worker groups by name, since their lists may be long. */
const byName = perObject(
  (list: readonly Json[]): ReadonlyMap<string, JsonObject> =>
    new Map(list.filter(isJsonObject).map((group) => [textAt(group, 'name'), group])),
);

/** The topology's settings for a group. */
export function topologyOf({ cluster }: State, { kind, topologyName }: WorkerGroup): JsonObject {
  const list = fieldAt(cluster, 'spec', 'topology', 'workers', workerLists[kind]);
  return (Array.isArray(list) ? byName(list).get(topologyName) : undefined) ?? {};
}

/** The annotation by which a user keeps a group from being upgraded. */
export function deferralOf(state: State, worker: WorkerGroup): 'defer' | 'hold' | undefined {
  const annotations = annotationsOf(topologyOf(state, worker));
  return holdAnnotation in annotations ? 'hold' : deferAnnotation in annotations ? 'defer' : undefined;
}

/** The user's annotation that keeps a group of workers from being upgraded. */
export const deferAnnotation = 'topology.cluster.x-k8s.io/defer-upgrade';
/** The user's annotation that keeps a group of workers, and those behind it, from being upgraded. */
export const holdAnnotation = 'topology.cluster.x-k8s.io/hold-upgrade-sequence';

/** The name of an object by the naming template of the class, if it has one. */
export function nameOf(
  { subject, names }: { subject: RehearsedCluster; names: Names },
  template: string,
  purpose: string,
  group?: { kind: 'machineDeployment' | 'machinePool'; topologyName: string },
): string {
  const cluster = textAt(subject.cluster, 'metadata', 'name');
  const values = {
    'cluster.name': cluster,
    ...(group !== undefined && { [`${group.kind}.topologyName`]: group.topologyName }),
  };
  const base = group === undefined ? cluster : `${cluster}-${group.topologyName}`;
  return (template === '' ? undefined : names.rendered(template, values, purpose)) ?? names.generated(base, purpose);
}

function workersIn({ subject, names }: { subject: RehearsedCluster; names: Names }): WorkerGroup[] {
  return workerKinds.flatMap((kind) => {
    return objectsAt(subject.cluster, 'spec', 'topology', 'workers', workerLists[kind]).map((topology) => {
      const topologyName = textAt(topology, 'name');
      const { [workerLists[kind]]: classes } = subject.blueprint ?? {
        machineDeployments: undefined,
        machinePools: undefined,
      };
      const settings = classes?.get(textAt(topology, 'class'))?.settings;
      return {
        kind,
        topologyName,
        class: textAt(topology, 'class'),
        name: nameOf({ subject, names }, textAt(settings, 'naming', 'template'), kind, {
          kind: kind === 'MachinePool' ? 'machinePool' : 'machineDeployment',
          topologyName,
        }),
        version: undefined,
        readyAt: undefined,
      } as const;
    });
  });
}

/** A Cluster before its controller has seen it. A Cluster that already has its references counts as created. */
export function initialState(
  subject: RehearsedCluster,
  names: Names,
  start: Date,
  release: Release = newestRelease,
): State {
  const cluster = copyOf(subject.cluster) as State['cluster'];
  const { status: _status, ...rest } = cluster;
  const isCreated = fieldAt(cluster, 'spec', 'controlPlaneRef') !== undefined;
  const version = isCreated ? textAt(cluster, 'spec', 'topology', 'version') : undefined;
  const pending = textAt(cluster, 'metadata', 'annotations', pendingHooksAnnotation);
  return {
    subject,
    names,
    release,
    now: 0,
    start,
    cluster: {
      ...rest,
      metadata: {
        ...cluster.metadata,
        namespace: textAt(cluster, 'metadata', 'namespace') || 'default',
        uid: textAt(cluster, 'metadata', 'uid') || names.uid(),
        creationTimestamp: textAt(cluster, 'metadata', 'creationTimestamp') || timeText(start),
        resourceVersion: '1',
        generation: 1,
      },
    } as State['cluster'],
    controlPlane: {
      kind: subject.kinds.controlPlane.kind,
      name:
        textAt(cluster, 'spec', 'controlPlaneRef', 'name') ||
        nameOf(
          { subject, names },
          textAt(subject.blueprint?.controlPlane.settings, 'naming', 'template'),
          'ControlPlane',
        ),
      version,
      readyAt: undefined,
      previous: undefined,
      isInitialized: isCreated,
    },
    workers: workersIn({ subject, names }).map((worker) => ({ ...worker, version })),
    playsMachines: false,
    machines: new Map(),
    patched: new Map(),
    pending: new Set(pending === '' ? [] : pending.split(',')),
    waits: new Map(),
    plan: undefined,
    toldPlan: '',
    failures: 0,
    calls: 0,
    blocked: new Map(),
    condition: '',
    isDeleted: false,
    templates: new Map(),
    round: undefined,
    toldTemplates: new Map(),
    reported: new Set(),
    edits: [],
  };
}
