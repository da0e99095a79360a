import { groupOf, isSame, type JsonObject, nameOf, objectAt, textAt } from '../kubernetes/index.ts';
import type { SchemaOf } from '../kubernetes/schema/index.ts';
import type { HookName, Release } from '../runtimehooks/index.ts';
import { type Blueprint, kindOfTemplate, readBlueprint } from './blueprint/blueprint.ts';
import { kubeadm } from './control-planes/index.ts';
import { clusterInRequest } from './desired/cluster-in-request.ts';
import { type DecidedVersions, desiredFor, infrastructureName, inputFor, isDeferred } from './desired/computed.ts';
import { type Desired, type DesiredGroup, workerOf } from './desired/desired.ts';
import { type Existing, factsIn, workerKey } from './desired/existing.ts';
import { checkNewGroup, reconciled, storedGroup } from './desired/group-changes.ts';
import { lowestVersion, upgradeSteps } from './desired/upgrade-steps.ts';
import { upgradeStepAnnotation } from './patches/items.ts';
import { type AskPatch, templateProblems } from './patches/patch-templates.ts';
import {
  admittedCluster,
  type ClusterFacts,
  causeLine,
  clusterApiSchemaOf,
  upgradeConcurrency,
  versionChangeProblem,
} from './refusals/index.ts';
import { MadeGroup, type PlayOptions, replicasOf } from './rollout/index.ts';
import { type GroupObjects, groupParts } from './world/groups.ts';
import { generatedName } from './world/names.ts';
import type { GroupPlan } from './world/plan-document.ts';
import { upgradeStepText } from './world/releases.ts';

/** The versions that one reconcile decides on. `isPending`: the group waits for its version. */
interface Decided extends DecidedVersions {
  workers: readonly (DecidedVersions['workers'][number] & { isPending: boolean })[];
}

const isSameGroup = ({ objects: one }: DesiredGroup, { objects: other }: DesiredGroup): boolean =>
  groupParts.every((part) => isSame(one[part], other[part]));

/** Kinds without a class: those of Cluster API's own providers for development. */
const defaultKinds = {
  infrastructure: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DockerCluster' },
  controlPlane: { apiGroup: kubeadm.group, kind: kubeadm.kind },
};

const workerKeyOf = ({ kind, topologyName }: { kind: string; topologyName: string }) => workerKey(kind, topologyName);

/** What Cluster API makes of a Cluster with a topology. When hooks are called, and which versions groups get, others decide. */
export class SimulatedCluster {
  readonly blueprint: Blueprint;
  readonly upgradeConcurrency = upgradeConcurrency;
  readonly lowestVersion = lowestVersion;
  readonly upgradeSteps = upgradeSteps;
  readonly #class: Blueprint | undefined;
  readonly #options: { release: Release; schemaOf: SchemaOf; newUid: () => string };
  #desired: Desired | undefined;
  /** The groups of workers that wait for their version, by `workerKey`: until then nothing of them changes. */
  #waiting: ReadonlySet<string> = new Set();
  readonly #written = new Map<string, { group: DesiredGroup; objects: GroupObjects; made: MadeGroup }>();
  #rotations = 0;

  /** @param blueprint undefined: the class is not known, and nothing is made of templates. */
  constructor(
    blueprint: Blueprint | undefined,
    options: { release: Release; schemaOf: SchemaOf; newUid: () => string },
  ) {
    this.blueprint = blueprint ?? readBlueprint({}, () => undefined);
    this.#class = blueprint;
    this.#options = options;
  }

  get hasClass(): boolean {
    return this.#class !== undefined;
  }

  get #existing(): Existing {
    const workers = new Map([...this.#written].map(([key, { objects }]) => [key, objects]));
    const controlPlane = workers.get('control-plane');
    workers.delete('control-plane');
    return { infrastructureCluster: undefined, controlPlane, workers };
  }

  #inputFor(cluster: JsonObject, decided?: DecidedVersions) {
    const { release, newUid } = this.#options;
    return inputFor(release, cluster, this.blueprint, this.#existing, decided, newUid);
  }

  /** A new Cluster with the defaults of its variables, and why Cluster API's webhook refuses it. */
  admit(given: JsonObject): { cluster: JsonObject; refusals: string[] } {
    const { cluster, refusal } = admittedCluster(given, undefined, this.#facts);
    return { cluster, refusals: [...new Set(refusal?.causes.map(causeLine))] };
  }

  get #facts(): ClusterFacts {
    return factsIn(this.#existing, this.#class, this.#class);
  }

  /** Why Cluster API's webhook refuses another version in the topology now; undefined if it accepts it. */
  versionRefusal(cluster: JsonObject, to: string): string | undefined {
    return versionChangeProblem(cluster, to, this.#facts);
  }

  inRequest(cluster: JsonObject, hook: HookName): JsonObject {
    return clusterInRequest(cluster, hook, this.#options.release, this.blueprint);
  }

  /** The annotation of the upgrade step, and its value; undefined if the Cluster has none. */
  upgradeStep(step: string | undefined): [name: string, value: string | undefined] {
    return [upgradeStepAnnotation, upgradeStepText(this.#options.release, step)];
  }

  references(cluster: JsonObject): Record<'infrastructureRef' | 'controlPlaneRef', JsonObject> {
    const kindOf = (part: keyof typeof defaultKinds) => {
      const reference = objectAt(this.blueprint.spec, part, 'templateRef');
      return reference.kind === undefined
        ? defaultKinds[part]
        : { apiGroup: groupOf(reference), kind: kindOfTemplate(reference) };
    };
    const input = this.#inputFor(cluster);
    return {
      infrastructureRef: { ...kindOf('infrastructure'), name: infrastructureName(input) },
      controlPlaneRef: { ...kindOf('controlPlane'), name: input.controlPlane.name },
    };
  }

  /** The groups of workers in the topology of a Cluster, MachineDeployments first, and whether a user keeps them from being upgraded. */
  workers(cluster: JsonObject) {
    const input = this.#inputFor(cluster);
    return input.workers.map((place) => ({
      kind: place.kind,
      name: place.name,
      topologyName: place.topologyName,
      replicas: replicasOf({ spec: place.topology }),
      isDeferred: isDeferred(cluster, place.kind, place.topologyName),
      isOnDelete: textAt(workerOf(input, place, {}, {}), 'spec', 'rollout', 'strategy', 'type') === 'OnDelete',
    }));
  }

  /** Returns what an API server would refuse or drop of templates. @throws {ReconcileFailed} if a patch cannot be applied. */
  async desire(cluster: JsonObject, decided: Decided, ask: AskPatch): Promise<ReturnType<typeof templateProblems>> {
    const desired = await desiredFor(this.#inputFor(cluster, decided), ask);
    this.#desired = desired;
    this.#waiting = new Set(decided.workers.filter(({ isPending }) => isPending).map(workerKeyOf));
    return templateProblems(desired.patched, this.#options.schemaOf);
  }

  /** Returns whether an object that existed is another one now. @throws {WriteFailed} for the first that cannot be written. */
  write(cluster: JsonObject): boolean {
    let isChanged = false;
    const known = clusterApiSchemaOf(this.#options.release);
    const schemaOf: SchemaOf = (object) => this.#options.schemaOf(object) ?? known(object);
    for (const group of this.#desired?.groups ?? []) {
      const key = group.worker === undefined ? 'control-plane' : workerKeyOf(group.worker);
      const last = this.#written.get(key);
      if (last === undefined) {
        checkNewGroup(group, schemaOf);
        const objects = storedGroup(group.objects, schemaOf);
        this.#written.set(key, { group, objects, made: new MadeGroup(group, objects) });
      } else if (!this.#waiting.has(key) && !isSameGroup(last.group, group)) {
        const newName = (base: string, kind: string) => generatedName(base, `${kind} rotated ${++this.#rotations}`);
        const objects = reconciled(last.objects, last.group.objects, group, nameOf(cluster), schemaOf, newName);
        this.#written.set(key, { group, objects, made: last.made });
        isChanged ||= !isSame(last.objects.object.spec ?? null, objects.object.spec ?? null);
      }
    }
    return isChanged;
  }

  /** The groups whose Machines are made of other objects than those that were written last: the control plane first. */
  get outdated() {
    return [...this.#written].flatMap(([key, { group, objects, made }]) =>
      made.isOf(objects) ? [] : [{ key, kind: group.kind, topologyName: group.worker?.topologyName }],
    );
  }

  /** Rolls out what was written last of a group, and returns the plan of that; undefined for one that was not written. */
  async rollOut({ key }: { key: string }, cluster: JsonObject, options: PlayOptions): Promise<GroupPlan | undefined> {
    const { objects, made } = this.#written.get(key) ?? {};
    return objects && made?.rollOut(cluster, objects, { ...options, clusterApiVersion: this.#options.release });
  }
}
