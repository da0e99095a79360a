import { fieldAt, isSame, type JsonObject, nameOf, objectAt, textAt } from '../kubernetes/index.ts';
import type { Blueprint } from './blueprint/blueprint.ts';
import { type Existing, existingOf, machinesOf } from './desired/existing.ts';
import { ifKnown, type PlannedState } from './desired/planned-state.ts';
import type { Planning } from './planning.ts';
import { type ClusterFacts, clusterRefusal, defaultedCluster, refusalProblem } from './refusals/index.ts';
import { withVariables } from './variables/variables.ts';
import { nameIn, writable } from './world/objects.ts';
import type { Problem } from './world/plan-document.ts';
import { hasTopology, topologyOf } from './world/topologies.ts';

export interface ClusterBefore {
  cluster: JsonObject | undefined;
  /** Of its class; undefined if it has none yet, or its class is not known. */
  blueprint: Blueprint | undefined;
  existing: Existing;
}

export async function clusterBefore(
  state: PlannedState,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<ClusterBefore> {
  const blueprint = was !== undefined && hasTopology(was) ? await ifKnown(state.classOf(was)) : undefined;
  const cluster = was && blueprint ? withVariables(blueprint, was).cluster : was;
  const isTopology = hasTopology(was) || hasTopology(wanted);
  return { cluster, blueprint, existing: existingOf(cluster ?? wanted, state.world, isTopology) };
}

/** A Cluster that is applied without a list of variables keeps the one that is stored, with the defaults of then. */
function withKeptVariables(old: JsonObject | undefined, wanted: JsonObject): JsonObject {
  const variables = fieldAt(topologyOf(old), 'variables');
  const topology = topologyOf(wanted);
  return variables === undefined || topology.variables !== undefined || !hasTopology(wanted)
    ? wanted
    : { ...wanted, spec: { ...objectAt(wanted, 'spec'), topology: { ...topology, variables } } };
}

/** The objects of a Cluster that Cluster API's webhooks look up: those before the change, with their status. */
function factsOf(
  { world }: PlannedState,
  { cluster: was, blueprint: old, existing }: ClusterBefore,
  blueprint: Blueprint | undefined,
): ClusterFacts {
  return {
    blueprint,
    oldClass: old?.spec,
    controlPlane: existing.controlPlane?.object,
    workers: [...existing.workers.values()].map(({ object }) => object),
    machinesOf: (object) => {
      const group = { kind: textAt(object, 'kind'), name: nameOf(object), isControlPlane: false };
      return machinesOf(was ?? {}, world, group).machines?.map(({ machine }) => machine) ?? [];
    },
  };
}

/**
 * The Cluster that is stored after a write, and why the API server or Cluster API refuses the write, if it does: then the
 * Cluster stays as it is. A new Cluster that is refused is not stored.
 */
export async function written(
  { before: stateBefore, after, writes }: Planning,
  before: ClusterBefore,
  wanted: JsonObject,
): Promise<{ cluster: JsonObject; refusal: Problem | undefined }> {
  const { cluster: was } = before;
  const unwritten = writes.refusalOf(nameIn(wanted));
  if (unwritten !== undefined) {
    return { cluster: was ?? wanted, refusal: unwritten };
  }
  const applied = withKeptVariables(was, wanted);
  // Nobody writes a Cluster that is applied as it is.
  const isUnchanged = was !== undefined && isSame(writable(was), writable(applied));
  if (isUnchanged || writes.isTaken(nameIn(wanted))) {
    return { cluster: isUnchanged ? was : wanted, refusal: undefined };
  }
  const blueprint = hasTopology(wanted) ? await ifKnown(after.classOf(wanted)) : undefined;
  const facts = factsOf(stateBefore, before, blueprint);
  const { cluster, refusal = clusterRefusal(cluster, was, facts) } = defaultedCluster(applied, was, facts);
  return refusal === undefined
    ? { cluster, refusal }
    : { cluster: was ?? wanted, refusal: refusalProblem(wanted, refusal) };
}
