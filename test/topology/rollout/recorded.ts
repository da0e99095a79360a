import { type JsonObject, objectAt, objectsAt, textAt } from '../../../src/kubernetes/index.ts';
import type { HookAnswer, HookCall } from '../../../src/topology/index.ts';
import type { ExistingMachine, GroupChange, GroupObjects } from '../../../src/topology/rollout/index.ts';
import type { RecordedChange } from '../recorded.ts';

const named = (objects: readonly JsonObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && textAt(object, 'metadata', 'name') === name);

const referred = (objects: readonly JsonObject[], object: JsonObject, ...path: string[]) => {
  const reference = objectAt(object, ...path);
  return named(objects, textAt(reference, 'kind'), textAt(reference, 'name'));
};

const kinds = ['KubeadmControlPlane', 'MachineDeployment'];
const deploymentLabel = 'topology.cluster.x-k8s.io/deployment-name';

const groupOf = (object: JsonObject): string =>
  object.kind === 'KubeadmControlPlane'
    ? 'control-plane'
    : textAt(object, 'metadata', 'labels', deploymentLabel) || textAt(object, 'metadata', 'name');

const isOf = (cluster: string) => (object: JsonObject) =>
  kinds.includes(textAt(object, 'kind')) &&
  textAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name') === cluster;

function groupObjects(objects: readonly JsonObject[], object: JsonObject | undefined): GroupObjects | undefined {
  if (object === undefined) {
    return undefined;
  }
  const spec =
    object.kind === 'KubeadmControlPlane' ? ['spec', 'machineTemplate', 'spec'] : ['spec', 'template', 'spec'];
  return {
    object,
    bootstrap: referred(objects, object, ...spec, 'bootstrap', 'configRef'),
    infrastructure: referred(objects, object, ...spec, 'infrastructureRef'),
  };
}

const isOwnedBy = (owner: JsonObject) => (object: JsonObject) =>
  objectsAt(object, 'metadata', 'ownerReferences').some(
    (reference) => reference.kind === owner.kind && reference.name === textAt(owner, 'metadata', 'name'),
  );

/** The groups of the recorded Cluster, with the objects as they really were before and after. */
export function groupChanges({ before, after, expected }: RecordedChange): GroupChange[] {
  const clusters = before.filter(({ kind }) => kind === 'Cluster');
  return clusters.flatMap((cluster) => {
    const name = textAt(cluster, 'metadata', 'name');
    const own = [...before, ...after].filter(isOf(name));
    const groups = new Map(own.map((object) => [groupOf(object), object]));
    return [...groups]
      .filter(([group]) => expected[group] !== undefined)
      .map(([group, { kind }]): GroupChange => {
        const find = (objects: readonly JsonObject[]) =>
          objects.filter(isOf(name)).find((object) => object.kind === kind && groupOf(object) === group);
        const [old, next] = [find(before), find(after)];
        const owner = old ?? next ?? {};
        const machineSets = before.filter((object) => object.kind === 'MachineSet' && isOwnedBy(owner)(object));
        const machines = before
          .filter(
            (object) => object.kind === 'Machine' && [owner, ...machineSets].some((one) => isOwnedBy(one)(object)),
          )
          .map(
            (machine): ExistingMachine => ({
              machine,
              bootstrapConfig: referred(before, machine, 'spec', 'bootstrap', 'configRef'),
              infrastructureMachine: referred(before, machine, 'spec', 'infrastructureRef'),
            }),
          );
        const version = (object: JsonObject | undefined) =>
          textAt(object, 'spec', 'version') || textAt(object, 'spec', 'template', 'spec', 'version');
        return {
          cluster,
          group,
          kind: textAt(owner, 'kind'),
          name: textAt(owner, 'metadata', 'name'),
          before: groupObjects(before, old),
          after: groupObjects(after, next),
          machineSets: machineSets.flatMap((set) => groupObjects(before, set) ?? []),
          machines,
          versions: [...new Set([version(old), version(next)])].filter((text) => text !== ''),
          notes: [],
          from: () => undefined,
        };
      });
  });
}

/** The answer of the recorded extension to a hook; none if it was not asked. */
export function answerTo({ hook }: HookCall, { exchanges }: RecordedChange): HookAnswer {
  const exchange = exchanges.find((other) => other.hook === hook.toLowerCase());
  return exchange === undefined ? { is: 'none' } : { is: 'answered', response: exchange.response, handler: 'updater' };
}
