import { randomUUID } from 'node:crypto';
import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import {
  copyOf,
  isSame,
  type JsonObject,
  namespacedName,
  objectAt,
  perObject,
  textAt,
  timeText,
} from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { type HookName, newestKnownRelease, type Release } from '../../runtimehooks/index.ts';
import { SimulatedCluster } from '../../topology/index.ts';
import { type Caller, type Condition, Player, type Stage } from './player.ts';

export type Blueprint = SimulatedCluster['blueprint'];

export interface RehearsedCluster {
  /** In v1beta2, with a topology. */
  cluster: JsonObject;
  /** Its class. If undefined, upgrades take one minor per step, and nothing is patched. */
  blueprint: Blueprint | undefined;
}

export type WorkerSettings = ReturnType<SimulatedCluster['workers']>[number];

export interface WorkerGroup extends Pick<WorkerSettings, 'kind' | 'topologyName' | 'name'> {
  /** Version of its template; undefined before it has been created. */
  version: string | undefined;
  /** When its machines will have that version, in ms; undefined if they already have it. */
  readyAt: number | undefined;
}

export const newReconcile = () => ({
  /** Hooks that block, with their messages. */
  blocking: new Map<string, string>(),
  /** When the next reconcile is due because a hook blocks, in ms. */
  requeueAt: undefined as number | undefined,
  /** Whether something was written, so that another reconcile follows. */
  isChanged: false,
});

export interface ClusterOptions extends Stage {
  newUid?: (() => string) | undefined;
  start?: Date | undefined;
  /** Otherwise a simulation might never end. */
  limits: { maxCalls: number; maxFailures: number };
  release?: Release | undefined;
  schemaOf?: SchemaOf | undefined;
  edit?: UserEdit | undefined;
}

/** What happens to a control plane, and to a group of workers. */
const verbs = {
  creating: ['is created at', 'are created at'],
  upgrading: ['upgrades to', 'upgrade to'],
  ready: ['is at', 'are at'],
  gone: ['is gone; it was at', 'are gone; they were at'],
} as const;

/** A Cluster, and what a controller remembers about it. One that already has its references counts as created. */
export class State extends Player {
  readonly limits: ClusterOptions['limits'];
  readonly start: Date;
  readonly name: string;
  readonly namespace: string;
  readonly made: SimulatedCluster;
  /** The Cluster as it is stored, without status: a new object after each change. */
  cluster: JsonObject & { metadata: JsonObject; spec: JsonObject };
  controlPlane: {
    kind: string;
    name: string;
    version: string | undefined;
    readyAt: number | undefined;
    isInitialized: boolean;
  };
  readonly workers: readonly WorkerGroup[];
  reconcile = newReconcile();
  playsMachines = false;
  readonly waits = new Map<string, { until: number; message: string }>();
  plan: { key: string; until: number; response: JsonObject } | undefined;
  lastLoggedPlan = '';
  failures = 0;
  condition: Condition | undefined;
  isDeleted = false;
  readonly #reported = new Set<string>();
  readonly edit: UserEdit;
  readonly #settingsOf: (cluster: JsonObject) => readonly WorkerSettings[];

  constructor({ cluster: given, blueprint }: RehearsedCluster, caller: Caller, options: ClusterOptions) {
    super(namespacedName(given), caller, options);
    const { newUid = randomUUID, start = new Date(), limits, release = newestKnownRelease } = options;
    const { edit = () => undefined, schemaOf = () => undefined } = options;
    const { status: _status, ...cluster } = copyOf(given) as State['cluster'];
    const { metadata, spec } = cluster as State['cluster'];
    const isCreated = spec.controlPlaneRef !== undefined;
    const version = isCreated ? textAt(spec, 'topology', 'version') : undefined;
    this.limits = limits;
    this.start = start;
    this.edit = edit;
    this.name = textAt(metadata, 'name');
    this.namespace = textAt(metadata, 'namespace') || 'default';
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
    this.made = new SimulatedCluster(blueprint, { release, schemaOf, newUid });
    const { kind, name } = this.made.references(this.cluster).controlPlaneRef;
    this.controlPlane = {
      kind: String(kind),
      name: String(name),
      version,
      readyAt: undefined,
      isInitialized: isCreated,
    };
    this.#settingsOf = perObject((current: JsonObject) => this.made.workers(current));
    this.workers = this.settings.map((group) => ({ ...group, version, readyAt: undefined }));
  }

  get settings(): readonly WorkerSettings[] {
    return this.#settingsOf(this.cluster);
  }

  /** The settings of a group now; one that a user has removed has no Machines. */
  settingsOf({ kind, topologyName }: WorkerGroup): Pick<WorkerSettings, 'replicas' | 'isDeferred' | 'isOnDelete'> {
    const known = this.settings.find((one) => one.kind === kind && one.topologyName === topologyName);
    return known ?? { replicas: 0, isDeferred: false, isOnDelete: false };
  }

  /** Fills in the defaults of the Cluster, and returns why Cluster API's webhook refuses it. */
  admit(): string[] {
    const { cluster, refusals } = this.made.admit(this.cluster);
    this.cluster = { ...this.cluster, spec: objectAt(cluster, 'spec') };
    return refusals;
  }

  override get pendingHooks(): string {
    return textAt(annotationsOf(this.cluster), pendingHooksAnnotation);
  }

  get pending(): ReadonlySet<string> {
    return new Set(this.pendingHooks.split(',').filter((hook) => hook !== ''));
  }

  get target(): string {
    return textAt(this.cluster, 'spec', 'topology', 'version');
  }

  /** The message of the last condition in one line. */
  get conditionMessage(): string {
    return this.condition?.message.replaceAll('\n  * ', '; ') ?? '';
  }

  /** Sets fields of the Cluster, as an API server does: with a new resourceVersion and, for its spec, a new generation. */
  write({ metadata, spec }: { metadata?: JsonObject; spec?: JsonObject }): void {
    const { resourceVersion, generation } = this.cluster.metadata;
    this.cluster = {
      ...this.cluster,
      spec: { ...this.cluster.spec, ...spec },
      metadata: {
        ...this.cluster.metadata,
        ...metadata,
        resourceVersion: String(Number(resourceVersion) + 1),
        generation: Number(generation) + (spec === undefined ? 0 : 1),
      },
    };
  }

  annotate(key: string, value: string | undefined): void {
    const { [key]: _known, ...others } = annotationsOf(this.cluster);
    this.write({ metadata: { annotations: value === undefined ? others : { ...others, [key]: value } } });
  }

  tellControlPlane(happens: keyof typeof verbs): void {
    const { name, version = '' } = this.controlPlane;
    this.tell({ kind: 'control-plane', text: `control plane ${name} ${verbs[happens][0]} ${version}` });
  }

  tellWorker({ topologyName, version = '' }: WorkerGroup, happens: keyof typeof verbs): void {
    this.tell({ kind: 'worker', text: `workers ${topologyName} ${verbs[happens][1]} ${version}` });
  }

  findOnce(severity: 'error' | 'warning', text: string, remedy: string): void {
    if (!this.#reported.has(text)) {
      this.#reported.add(text);
      this.find(severity, text, remedy);
    }
  }

  tellCondition(condition: Condition): void {
    if (!isSame(this.condition, condition)) {
      this.condition = condition;
      this.tell(condition);
    }
  }

  setPending(add: readonly string[], remove: readonly string[] = []): void {
    const pending = new Set([...this.pending, ...add]).difference(new Set(remove));
    const hooks = [...pending].sort().join(',');
    if (hooks !== this.pendingHooks) {
      this.annotate(pendingHooksAnnotation, hooks === '' ? undefined : hooks);
      this.tell({ kind: 'pending-hooks', text: `pending hooks: ${hooks === '' ? 'none' : hooks}` });
    }
  }
}

/** Changes the spec as a user would, before a hook, or when nothing more happens on its own; says what was changed. */
export type UserEdit = (spec: JsonObject, hook: HookName | undefined) => string | undefined;

/** Cluster API's annotation that lets the deletion of a Cluster proceed. */
export const okToDeleteAnnotation = 'runtime.cluster.x-k8s.io/ok-to-delete';

export const annotationsOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata', 'annotations');
