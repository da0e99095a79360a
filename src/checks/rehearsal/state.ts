import { randomUUID } from 'node:crypto';
import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { copyOf, isSame, type JsonObject, objectAt, objectsAt, textAt, timeText } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreVersionIn, hooks, newestKnownRelease, type Release } from '../../runtimehooks/index.ts';
import {
  type Blueprint,
  clusterInV1beta1,
  concurrencyAnnotation,
  type Desired,
  defaultKinds,
  deferAnnotation,
  holdAnnotation,
  type MachineTemplates,
  nameFor,
  namespacedName,
  type ProviderKinds,
  workerLists,
} from '../../topology/index.ts';
import type { Caller } from './calls.ts';
import type { Condition, RehearsedHook, SimulatedEvent } from './events.ts';
import { Player, type Stage } from './player.ts';

/** A Cluster to rehearse, and what is known about it. */
export interface RehearsedCluster {
  /** In v1beta2, with a topology. */
  cluster: JsonObject;
  /** Its class. If undefined, upgrades take one minor per step, and nothing is patched. */
  blueprint: Blueprint | undefined;
}

/** Kinds of groups of workers, in the order of Cluster API. */
export const workerKinds = ['MachineDeployment', 'MachinePool'] as const;
export type WorkerKind = (typeof workerKinds)[number];

/** The templates of the Machines of a group, as Cluster API writes them for the Cluster. */
export interface MachineTemplateObjects {
  bootstrap: JsonObject;
  infrastructure: JsonObject;
}

/** A MachineSet: the Machines of one version and one pair of templates. */
export interface MachineSet extends MachineTemplateObjects {
  /** Its MachineDeployment, as it was when it made this MachineSet. */
  machineDeployment: JsonObject;
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

/** A group of worker machines. */
export class WorkerGroup {
  readonly state: State;
  readonly kind: WorkerKind;
  /** Its place in the list of the topology. */
  readonly #index: number;
  /** Its name in the topology: `md-0`. */
  readonly topologyName: string;
  /** The templates and settings of its class, if that is known. */
  readonly class: MachineTemplates | undefined;
  /** Name of the object. */
  readonly name: string;
  /** Version of its template; undefined before it has been created. */
  version: string | undefined;
  /** When its machines will have that version, in ms; undefined if they already have it. */
  readyAt: number | undefined;
  /** What it consists of; undefined until that is played. */
  group: GroupMachines | undefined;

  constructor(state: State, kind: WorkerKind, index: number, version: string | undefined) {
    this.state = state;
    this.kind = kind;
    this.#index = index;
    this.version = version;
    const { topology } = this;
    this.topologyName = textAt(topology, 'name');
    this.class = state.blueprint?.[workerLists[kind]].get(textAt(topology, 'class'));
    const part = kind === 'MachinePool' ? 'machinePool' : 'machineDeployment';
    this.name = state.nameOf(textAt(this.class?.settings, 'naming', 'template'), kind, part, this.topologyName);
  }

  /** The topology's settings for it. */
  get topology(): JsonObject {
    return objectAt(this.state.cluster, 'spec', 'topology', 'workers', workerLists[this.kind], this.#index);
  }

  get replicas(): number {
    const { replicas } = this.topology;
    return typeof replicas === 'number' ? replicas : 1;
  }

  /** The annotation by which a user keeps it from being upgraded. */
  get deferral(): 'defer' | 'hold' | undefined {
    const annotations = annotationsOf(this.topology);
    return holdAnnotation in annotations ? 'hold' : deferAnnotation in annotations ? 'defer' : undefined;
  }

  tell(happens: Extract<SimulatedEvent, { kind: 'worker' }>['state']): void {
    const { name, topologyName: group, version = '' } = this;
    this.state.tell({ kind: 'worker', state: happens, version, name, group });
  }
}

/** Limits for a simulation that would otherwise never end. */
export interface ClusterApiLimits {
  maxCalls: number;
  maxFailures: number;
}

const newReconcile = () => ({
  /** Hooks that block, with their messages. */
  blocking: new Map<string, string>(),
  /** Whether one of them blocks for a negative time: Cluster API then names none of them during an upgrade. */
  isNegative: false,
  /** When the next reconcile is due because a hook blocks, in ms. */
  requeueAt: undefined as number | undefined,
  /** Whether something was written, so that another reconcile follows. */
  isChanged: false,
});

/** How a Cluster is rehearsed. */
export interface ClusterOptions extends Stage {
  newUid?: (() => string) | undefined;
  start?: Date | undefined;
  limits: ClusterApiLimits;
  /** The release of Cluster API to simulate. Default: the newest that is known. */
  release?: Release | undefined;
  /** The schemas of templates. Default: none is known. */
  schemaOf?: SchemaOf | undefined;
  /** Default: no change. */
  edit?: UserEdit | undefined;
}

/**
 * The state of one Cluster: the Cluster itself, and what a controller remembers about it. It begins before the controller
 * has seen it; a Cluster that already has its references counts as created.
 */
export class State extends Player {
  readonly blueprint: Blueprint | undefined;
  readonly newUid: () => string;
  readonly limits: ClusterApiLimits;
  readonly release: Release;
  readonly start: Date;
  readonly schemaOf: SchemaOf;
  readonly name: string;
  readonly namespace: string;
  readonly kinds: ProviderKinds;
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
  readonly workers: readonly WorkerGroup[];
  /** The current reconcile, or the last one. */
  reconcile = newReconcile();
  /** Whether the Machines of MachineDeployments are played, as they may be updated in place. */
  playsMachines = false;
  /** What Cluster API makes of the Cluster, with all patches; undefined without a class. */
  desired: Desired | undefined;
  readonly pending: Set<string>;
  readonly waits = new Map<string, { until: number; message: string }>();
  /** The cached plan of an extension. */
  plan: { key: string; until: number; controlPlane: readonly string[]; workers: readonly string[] } | undefined;
  lastLoggedPlan = '';
  failures = 0;
  condition: Condition | undefined;
  isDeleted = false;
  /** The last round of patches: its input, and the patched templates. */
  round: { input: string; results: readonly JsonObject[] } | undefined;
  /** What was reported of patched templates, with the changes that Cluster API ignores, by the place of the template. */
  readonly toldTemplates = new Map<string, { object: JsonObject; ignored: readonly string[] }>();
  /** Reports made so far, because each is made only once. */
  readonly reported = new Set<string>();
  readonly edit: UserEdit;

  constructor({ cluster: given, blueprint }: RehearsedCluster, caller: Caller, options: ClusterOptions) {
    super(namespacedName(given), caller, options);
    const { newUid = randomUUID, start = new Date(), limits, release = newestKnownRelease } = options;
    const { edit = () => undefined, schemaOf = () => undefined } = options;
    const { status: _status, ...cluster } = copyOf(given) as State['cluster'];
    const { metadata, spec } = cluster as State['cluster'];
    const isCreated = spec.controlPlaneRef !== undefined;
    const version = isCreated ? textAt(spec, 'topology', 'version') : undefined;
    const pending = textAt(metadata, 'annotations', pendingHooksAnnotation);
    this.blueprint = blueprint;
    this.newUid = newUid;
    this.limits = limits;
    this.release = release;
    this.start = start;
    this.schemaOf = schemaOf;
    this.edit = edit;
    this.name = textAt(metadata, 'name');
    this.namespace = textAt(metadata, 'namespace') || 'default';
    this.kinds = blueprint?.kinds ?? defaultKinds;
    this.cluster = {
      ...(cluster as State['cluster']),
      metadata: {
        ...metadata,
        namespace: this.namespace,
        uid: textAt(metadata, 'uid') || newUid(),
        creationTimestamp: textAt(metadata, 'creationTimestamp') || timeText(start),
        resourceVersion: '1',
        generation: 1,
      },
    };
    const naming = textAt(blueprint?.controlPlane.settings, 'naming', 'template');
    this.controlPlane = {
      kind: this.kinds.controlPlane.kind,
      name: textAt(spec, 'controlPlaneRef', 'name') || this.nameOf(naming, 'ControlPlane'),
      version,
      readyAt: undefined,
      previous: undefined,
      isInitialized: isCreated,
    };
    this.workers = workerKinds.flatMap((kind) =>
      objectsAt(spec, 'topology', 'workers', workerLists[kind]).map(
        (_, index) => new WorkerGroup(this, kind, index, version),
      ),
    );
    this.pending = new Set(pending.split(',').filter((hook) => hook !== ''));
  }

  /** The name of an object by the naming template of the class, if it has one. `part`: of a group of workers. */
  nameOf(template: string, purpose: string, part = '', topologyName = ''): string {
    const values = {
      'cluster.name': this.name,
      ...(part !== '' && { [`${part}.topologyName`]: topologyName }),
    };
    const base = part === '' ? this.name : `${this.name}-${topologyName}`;
    return nameFor(template, values, base, purpose);
  }

  beginReconcile(): void {
    this.reconcile = newReconcile();
  }

  /** Names of the pending hooks, as in the annotation. */
  override get pendingHooks(): string {
    return [...this.pending].sort().join(',');
  }

  /** The version in the topology. */
  get target(): string {
    return textAt(this.cluster, 'spec', 'topology', 'version');
  }

  /** How many groups of workers of one kind may be upgraded at a time. */
  get upgradeConcurrency(): number {
    return Math.max(1, Number(textAt(annotationsOf(this.cluster), concurrencyAnnotation)));
  }

  /** The message of the last condition in one line. */
  get conditionMessage(): string {
    return this.condition?.message.replaceAll('\n  * ', '; ') ?? '';
  }

  /** Sets fields of the Cluster, as an API server does: with a new resourceVersion and, for its spec, a new generation. */
  write({ metadata, spec }: { metadata?: JsonObject; spec?: JsonObject }): void {
    const { resourceVersion, generation } = this.cluster.metadata;
    this.cluster.spec = { ...this.cluster.spec, ...spec };
    this.cluster.metadata = {
      ...this.cluster.metadata,
      ...metadata,
      resourceVersion: String(Number(resourceVersion) + 1),
      generation: Number(generation) + (spec === undefined ? 0 : 1),
    };
  }

  annotate(key: string, value: string | undefined): void {
    const annotations = { ...annotationsOf(this.cluster) };
    if (value === undefined) {
      delete annotations[key];
    } else {
      annotations[key] = value;
    }
    this.write({ metadata: { annotations } });
    if (Object.keys(annotations).length === 0) {
      delete this.cluster.metadata.annotations;
    }
  }

  tellControlPlane(happens: Extract<SimulatedEvent, { kind: 'control-plane' }>['state']): void {
    const { name, version = '' } = this.controlPlane;
    this.tell({ kind: 'control-plane', state: happens, version, name });
  }

  /** Reports something that no condition says, once for each subject: by default, its text. */
  findOnce(severity: 'error' | 'warning', text: string, remedy: string, subject = text): void {
    if (!this.reported.has(subject)) {
      this.reported.add(subject);
      this.find(severity, text, remedy);
    }
  }

  /** Reports the condition TopologyReconciled when it has changed. */
  tellCondition(condition: Condition): void {
    if (!isSame(this.condition, condition)) {
      this.condition = condition;
      this.tell(condition);
    }
  }

  /** Adds pending hooks to the annotation, and removes those that have been called. */
  setPending(add: readonly string[], remove: readonly string[] = []): void {
    for (const hook of add) {
      this.pending.add(hook);
    }
    for (const hook of remove) {
      this.pending.delete(hook);
    }
    const hooks = this.pendingHooks;
    if (hooks !== textAt(annotationsOf(this.cluster), pendingHooksAnnotation)) {
      this.annotate(pendingHooksAnnotation, hooks === '' ? undefined : hooks);
      this.tell({ kind: 'pending-hooks', hooks });
    }
  }

  /** The Cluster as in requests of a hook: a copy without status. */
  clusterInRequest(hook: RehearsedHook): JsonObject {
    const { kind = '', apiVersion = '', metadata, spec } = this.cluster;
    const cluster = copyOf({ kind, apiVersion, metadata, spec });
    if (coreVersionIn(hooks[hook], this.release) === 'v1beta2') {
      return cluster;
    }
    const { blueprint } = this;
    return clusterInV1beta1(cluster, (reference) => {
      const templates = [blueprint?.infrastructureCluster, blueprint?.controlPlane.template];
      const origin = templates.find((template) => textAt(template, 'kind') === `${textAt(reference, 'kind')}Template`);
      return textAt(origin, 'apiVersion') || `${textAt(reference, 'apiGroup')}/v1beta1`;
    });
  }
}

/**
 * Changes the spec of the Cluster as a user would, before a hook is called or, without one, when nothing more happens on
 * its own; says what was changed.
 */
export type UserEdit = (spec: JsonObject, hook: RehearsedHook | undefined) => string | undefined;

/** Cluster API's annotation that lets the deletion of a Cluster proceed. */
export const okToDeleteAnnotation = 'runtime.cluster.x-k8s.io/ok-to-delete';

/** The annotations of an object; empty if it has none. */
export const annotationsOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata', 'annotations');
