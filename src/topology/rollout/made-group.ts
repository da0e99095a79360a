import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { isSame, type JsonObject, nameOf, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { cloneOf, kindWithMachines, type MachineObjects, running } from '../control-planes/index.ts';
import { mergedMetadata } from '../patches/items.ts';
import type { ExistingMachine, GroupChange, GroupObjects, PlanOptions, RolloutStep } from '../world/groups.ts';
import { generatedName } from '../world/names.ts';
import type { GroupPlan } from '../world/plan-document.ts';
import { judgeGroup } from './judge-group.ts';
import { machineSetId, machineSetOf, replicasOf } from './machines.ts';

/** Maximum number of Machines of a group that are simulated individually: the others behave in the same way. */
const maxMachines = 10;

/** A step of a rollout. `desired`: the objects of the Machine, as in the request of UpdateMachine. */
export type MachineStep =
  | { is: 'made' | 'deleted'; name: string }
  | { is: 'updated'; name: string; desired: JsonObject };

export interface PlayOptions extends Omit<PlanOptions, 'follow'> {
  follow: (step: MachineStep) => Promise<void>;
}

function workerMachine(
  machineSet: JsonObject,
  bootstrap: JsonObject,
  infrastructure: JsonObject,
  name: string,
): MachineObjects {
  const namespace = namespaceOf(machineSet);
  const { metadata: ofTemplate = {}, spec = {} } = objectAt(machineSet, 'spec', 'template');
  const own = {
    'cluster.x-k8s.io/deployment-name': textAt(machineSet, 'metadata', 'labels', 'cluster.x-k8s.io/deployment-name'),
    'cluster.x-k8s.io/set-name': nameOf(machineSet),
  };
  const metadata = mergedMetadata([objectAt(ofTemplate), { labels: own }]);
  return running(
    { metadata: { name, namespace, ...metadata }, spec },
    cloneOf(bootstrap, name, namespace, metadata),
    cloneOf(infrastructure, name, namespace, metadata),
  );
}

const inProgress = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';

function inUpdate(objects: Readonly<Record<string, JsonObject>>): JsonObject {
  const marked = Object.entries(objects).map(([part, object]) => {
    const metadata = objectAt(object, 'metadata');
    const pending = part === 'machine' && { [pendingHooksAnnotation]: 'UpdateMachine' };
    const annotations = { ...objectAt(metadata, 'annotations'), [inProgress]: '', ...pending };
    return [part, { ...object, metadata: { ...metadata, annotations } }];
  });
  return Object.fromEntries(marked);
}

interface Origin {
  objects: GroupObjects;
  revision: number;
}

/** The Machines of a group, made up as Cluster API would make them of its objects: all of the same ones. */
export class MadeGroup {
  readonly #group: Pick<GroupChange, 'group' | 'kind' | 'name'>;
  #origin: Origin;
  #names: readonly string[] = [];

  constructor(group: Pick<GroupChange, 'group' | 'kind' | 'name'>, objects: GroupObjects) {
    this.#group = group;
    this.#origin = { objects, revision: 1 };
    this.#scale();
  }

  isOf({ object }: GroupObjects): boolean {
    return isSame(this.#origin.objects.object.spec ?? null, object.spec ?? null);
  }

  /** Updates Machines in place if an extension covers all differences, and replaces the others, also those of OnDelete. */
  async rollOut(cluster: JsonObject, objects: GroupObjects, { follow, ...options }: PlayOptions): Promise<GroupPlan> {
    const before = this.#origin;
    const after = { objects, revision: before.revision + 1 };
    const names = new Set(this.#names);
    let [isRolled, made] = [false, 0];
    const tell = async (step: RolloutStep): Promise<void> => {
      isRolled = true;
      const name = step.is === 'made' ? this.#machineName(after, made++) : step.name;
      if (step.is === 'updated') {
        const { machine, bootstrapConfig = {}, infrastructureMachine = {} } = this.#machine(cluster, after, name);
        return follow({ is: 'updated', name, desired: inUpdate({ machine, bootstrapConfig, infrastructureMachine }) });
      }
      names[step.is === 'made' ? 'add' : 'delete'](name);
      return follow({ is: step.is, name });
    };
    const change: GroupChange = {
      ...this.#group,
      cluster,
      before: before.objects,
      after: objects,
      machineSets: this.#hasMachineSets ? [this.#machineSet(before, this.#names.length)] : [],
      machines: this.#names.map((name) => this.#machine(cluster, before, name)),
      versions: [],
      notes: [],
      from: () => undefined,
    };
    const plan = await judgeGroup(change, { ...options, updatesInPlace: true, follow: tell });
    if (plan.verdict === 'onDelete') {
      for (const name of this.#names) {
        await tell({ is: 'made' });
        await tell({ is: 'deleted', name });
      }
    }
    this.#origin = isRolled ? after : { ...before, objects };
    this.#names = [...names];
    this.#scale();
    return plan;
  }

  #scale(): void {
    const length = Math.min(replicasOf(this.#origin.objects.object), maxMachines);
    this.#names = Array.from({ length }, (_, index) => this.#names[index] ?? this.#machineName(this.#origin, index));
  }

  get #hasMachineSets(): boolean {
    return this.#group.kind === 'MachineDeployment';
  }

  #machineSet({ objects, revision }: Origin, replicas: number): GroupObjects {
    return { ...objects, object: machineSetOf(objects.object, machineSetId(this.#group.name, revision), replicas) };
  }

  #machineName({ revision }: Origin, index: number): string {
    const { name } = this.#hasMachineSets ? machineSetId(this.#group.name, revision) : this.#group;
    return generatedName(name, `machine ${revision} ${index}`);
  }

  /** A Machine, with what is made for it; of a group whose Machines a provider makes, only its name is known. */
  #machine(cluster: JsonObject, origin: Origin, name: string): ExistingMachine {
    const { object, bootstrap = {}, infrastructure = {} } = origin.objects;
    const known = this.#hasMachineSets
      ? workerMachine(this.#machineSet(origin, 0).object, bootstrap, infrastructure, name)
      : kindWithMachines(object)?.machine(object, infrastructure, { cluster: nameOf(cluster), machine: name });
    const machine = { metadata: { name, namespace: namespaceOf(cluster) } };
    return known ?? { machine, bootstrapConfig: undefined, infrastructureMachine: undefined };
  }
}
