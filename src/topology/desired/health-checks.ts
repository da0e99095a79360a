import { type JsonObject, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { isDefinedCheck } from '../refusals/index.ts';
import { differencesOf } from '../world/differences.ts';
import type { Cause, GroupPlan } from '../world/plan-document.ts';
import { topologyWorkers } from './desired.ts';

/** A Cluster with its class, in one state; undefined if one of them is not known. */
export interface ClusterOfClass {
  cluster: JsonObject | undefined;
  blueprint: Blueprint | undefined;
}

/** Seconds that a Machine has to become a node, where nobody says so. */
const defaultStartupSeconds = 600;

/** The settings of a group in the topology and in the class; undefined for one that has no health checks. */
function settingsOf({ cluster, blueprint }: ClusterOfClass, { group, kind }: Pick<GroupPlan, 'group' | 'kind'>) {
  if (group === 'control-plane') {
    const topology = objectAt(cluster, 'spec', 'topology', 'controlPlane');
    return blueprint?.controlPlane.machines === undefined
      ? undefined
      : { topology, ofClass: objectAt(blueprint.controlPlane.settings) };
  }
  const worker = topologyWorkers(cluster ?? {}).find(
    (one) => one.kind === kind && textAt(one.topology, 'name') === group,
  );
  return kind !== 'MachineDeployment' || worker === undefined
    ? undefined
    : {
        topology: worker.topology,
        ofClass: objectAt(blueprint?.machineDeployments.get(textAt(worker.topology, 'class'))?.settings),
      };
}

/**
 * The spec of the MachineHealthCheck of a group: what the topology says, all of it, or else the class
 * (exp/topology/scope/blueprint.go, v1.14); undefined if the group has none.
 */
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
    ...((triggerIf !== undefined || templateRef !== undefined) && {
      remediation: { ...(triggerIf !== undefined && { triggerIf }), ...(templateRef !== undefined && { templateRef }) },
    }),
  };
}

/** The fields of the MachineHealthCheck of a group that change. */
export function healthCheckChanges(
  before: ClusterOfClass,
  after: ClusterOfClass,
  group: Pick<GroupPlan, 'group' | 'kind' | 'name'>,
): Cause[] {
  if (before.cluster === undefined || before.blueprint === undefined || after.blueprint === undefined) {
    return [];
  }
  const object = `MachineHealthCheck ${namespaceOf(before.cluster)}/${group.name}`;
  return differencesOf(healthCheckOf(before, group), healthCheckOf(after, group), ['spec']).map(
    ({ path, before: was, after: wanted }): Cause => ({
      object,
      field: path.join('.'),
      ...(was !== undefined && { before: was }),
      ...(wanted !== undefined && { after: wanted }),
    }),
  );
}
