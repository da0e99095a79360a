import {
  isSame,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  own,
  selectsLabels,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { nonEmpty, ownedLabel } from '../patches/items.ts';
import { isDefinedCheck } from '../refusals/index.ts';
import { differencesOf, plainCause } from '../world/differences.ts';
import type { GroupChange } from '../world/groups.ts';
import { present } from '../world/objects.ts';
import type { Cause, GroupPlan } from '../world/plan-document.ts';
import { topologyOf, workersIn } from '../world/topologies.ts';
import type { World } from '../world/world.ts';
import { labelsOf } from './existing.ts';
import { remediationTexts } from './remediation.ts';

export interface ClusterOfClass {
  cluster: JsonObject | undefined;
  blueprint: Blueprint | undefined;
}

const defaultStartupSeconds = 600;

/** The settings of a group in the topology and in the class; undefined for one that has no health checks. */
function settingsOf({ cluster, blueprint }: ClusterOfClass, { group, kind }: Pick<GroupPlan, 'group' | 'kind'>) {
  if (group === 'control-plane') {
    const topology = objectAt(topologyOf(cluster), 'controlPlane');
    return blueprint?.controlPlane.machines === undefined
      ? undefined
      : { topology, ofClass: objectAt(blueprint.controlPlane.settings) };
  }
  const isGroup = ({ worker }: { worker: JsonObject }) => textAt(worker, 'name') === group;
  const topology = workersIn(topologyOf(cluster)).find((one) => one.kind === kind && isGroup(one))?.worker;
  return kind !== 'MachineDeployment' || topology === undefined
    ? undefined
    : { topology, ofClass: objectAt(blueprint?.machineDeployments.get(textAt(topology, 'class'))?.settings) };
}

/** All of it comes from the topology, or else from the class (exp/topology/scope/blueprint.go, v1.14). */
function healthCheckOf(state: ClusterOfClass, group: Pick<GroupPlan, 'group' | 'kind'>): JsonObject | undefined {
  const settings = settingsOf(state, group);
  const [own, ofClass] = [objectAt(settings?.topology, 'healthCheck'), objectAt(settings?.ofClass, 'healthCheck')];
  const source = isDefinedCheck(own) ? own : ofClass;
  if (!isDefinedCheck(source) || own.enabled === false) {
    return undefined;
  }
  const { triggerIf, templateRef } = objectAt(source.remediation);
  return {
    checks: { nodeStartupTimeoutSeconds: defaultStartupSeconds, ...objectAt(source.checks) },
    ...nonEmpty('remediation', present({ triggerIf, templateRef })),
  };
}

function machineLabels({ group, name, machines: [first] = [], cluster, before, after }: GroupChange) {
  const { object = {} } = after ?? before ?? {};
  const isControlPlane = group === 'control-plane';
  const made = {
    ...objectAt(object, 'spec', isControlPlane ? 'machineTemplate' : 'template', 'metadata', 'labels'),
    'cluster.x-k8s.io/cluster-name': nameOf(cluster),
    ...(isControlPlane ? { 'cluster.x-k8s.io/control-plane': '' } : { 'cluster.x-k8s.io/deployment-name': name }),
  };
  return textValues(first === undefined ? made : objectAt(first.machine, 'metadata', 'labels'));
}

/** The specs of a group's MachineHealthChecks in one state, by name: that of its topology, and those that users write. */
function checksOf(state: ClusterOfClass, world: World, change: GroupChange): Map<string, JsonObject> {
  const { cluster, group, name } = change;
  const isOfUser = (check: JsonObject) =>
    own(labelsOf(check), ownedLabel) === undefined &&
    selectsLabels(objectAt(check, 'spec', 'selector'), machineLabels(change));
  const ofUsers = world.findOfCluster('MachineHealthCheck', cluster).filter(isOfUser);
  const ofTopology = healthCheckOf(state, change);
  return new Map([
    ...(ofTopology ? [[name || group, ofTopology] as const] : []),
    ...ofUsers.map((check) => [nameOf(check), objectAt(check, 'spec')] as const),
  ]);
}

export function healthCheckChanges(
  [before, after]: readonly [ClusterOfClass, ClusterOfClass],
  [old, next]: readonly [World, World],
  change: GroupChange,
  now: Date,
): { healthCheck: Cause[]; texts: string[] } {
  const isKnown = before.blueprint !== undefined && after.blueprint !== undefined;
  const none = { cluster: undefined, blueprint: undefined };
  const [was, wanted] = [
    checksOf(isKnown ? before : none, old, change),
    checksOf(isKnown ? after : none, next, change),
  ];
  const changed = [...new Set([...was.keys(), ...wanted.keys()])].filter(
    (name) => !isSame(was.get(name), wanted.get(name)),
  );
  return {
    healthCheck: changed.flatMap((name) =>
      differencesOf(was.get(name), wanted.get(name), ['spec']).map((difference) =>
        plainCause(`MachineHealthCheck ${namespaceOf(change.cluster)}/${name}`, difference),
      ),
    ),
    texts: changed.flatMap((name) => {
      const spec = wanted.get(name);
      return spec === undefined ? [] : remediationTexts(was.get(name), spec, change.machines, change.cluster, now);
    }),
  };
}
