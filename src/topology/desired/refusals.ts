import { groupOf, type JsonObject, namespacedName, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import {
  clusterClassRefusal,
  isWritten,
  refusalProblem,
  templateRefusal,
  type WriteAnswers,
  writeProblem,
} from '../refusals/index.ts';
import { keyOf, nameIn, type ObjectName } from '../world/objects.ts';
import type { Problem } from '../world/plan-document.ts';
import { classNameOf, hasTopology, templatesIn } from '../world/topologies.ts';
import type { World } from '../world/world.ts';

export interface ClassRefusal {
  ofClass: string;
  /** `control-plane`, `MachineDeployment CLASS`; undefined: all. */
  part: string | undefined;
  problem: Problem;
}

export interface AcceptedWrites {
  /** The second state without the changes of classes and templates that are refused. */
  world: World;
  /** Why an object is not taken as it is in the second state; undefined if it is. */
  refusalOf(name: ObjectName): Problem | undefined;
  /** Whether the API server was asked, with all webhooks, and takes it. */
  isTaken(name: ObjectName): boolean;
  /** Refused writes of classes and templates, by the classes that they would concern. */
  ofClasses: ReadonlyMap<string, readonly ClassRefusal[]>;
}

const isClass = (object: JsonObject): boolean => object.kind === 'ClusterClass' && groupOf(object) === coreGroup;

/** Why Cluster API's webhooks refuse a write of a class or of a template, as far as it is not the schema of its kind that does. */
function webhookProblem(
  object: JsonObject,
  old: JsonObject | undefined,
  clustersOf: ReadonlyMap<string, readonly JsonObject[]>,
): Problem | undefined {
  if (isClass(object)) {
    const refusal = clusterClassRefusal(object, old, clustersOf.get(namespacedName(object)) ?? []);
    return refusal && refusalProblem(object, refusal);
  }
  const reason = old && templateRefusal(old, object);
  return reason === undefined ? undefined : { text: reason };
}

function usesIn(world: World): Map<string, { template: string; ofClass: string; part: string }[]> {
  const uses = world.ofKind(coreGroup, 'ClusterClass').flatMap((clusterClass) =>
    templatesIn(objectAt(clusterClass, 'spec')).map(({ reference, part }) => {
      const [kind, name] = [textAt(reference, 'kind'), textAt(reference, 'name')];
      const template = keyOf({ group: groupOf(reference), kind, namespace: namespaceOf(clusterClass), name });
      return { template, ofClass: namespacedName(clusterClass), part };
    }),
  );
  return Map.groupBy(uses, ({ template }) => template);
}

/**
 * What an API server and Cluster API's webhooks say of the writes of a change.
 *
 * @param given both states, in the versions in which they are given; then the same in the newest ones that are known.
 * @param schemaOf undefined: an API server has already checked what is written.
 * @param answers what an API server said: of these objects, nothing is computed.
 */
export function accepted(
  [given, written]: readonly [World, World],
  [before, after]: readonly [World, World],
  schemaOf: SchemaOf | undefined,
  answers: WriteAnswers = new Map(),
): AcceptedWrites {
  const refused = new Map<string, Problem>();
  const taken = new Set<string>();
  const refusals: ClassRefusal[] = [];
  const instead = new Map<JsonObject, JsonObject | undefined>();
  const uses = usesIn(after);
  const clustersOf = Map.groupBy(before.ofKind(coreGroup, 'Cluster').filter(hasTopology), classNameOf);
  for (const object of after) {
    const name = nameIn(object);
    const old = before.find(name);
    if (!isWritten(object, old, before)) {
      continue;
    }
    const [key, own] = [keyOf(name), written.find(name) ?? object];
    const answer = answers.get(own);
    const problem =
      answer === undefined
        ? ((schemaOf && writeProblem(own, given.find(name), written, schemaOf)) ??
          webhookProblem(object, old, clustersOf))
        : answer.refusal;
    if (problem === undefined) {
      if (answer !== undefined) {
        taken.add(key);
      }
      continue;
    }
    refused.set(key, problem);
    if (isClass(object) || name.kind.endsWith('Template')) {
      const places = isClass(object) ? [{ ofClass: namespacedName(object), part: undefined }] : (uses.get(key) ?? []);
      instead.set(object, old);
      refusals.push(...places.map(({ ofClass, part }) => ({ ofClass, part, problem })));
    }
  }
  const objects = [...after].map((object) => (instead.has(object) ? instead.get(object) : object));
  return {
    world: instead.size === 0 ? after : after.withObjects(objects.filter((object) => object !== undefined)),
    refusalOf: (name) => refused.get(keyOf(name)),
    isTaken: (name) => taken.has(keyOf(name)),
    ofClasses: Map.groupBy(refusals, ({ ofClass }) => ofClass),
  };
}
