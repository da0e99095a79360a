import { isJsonObject, type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import type { Variable } from '../../../runtimehooks/index.ts';
import { HandlerFailure } from '../handlers/handler.ts';
import { segmentsOf, step } from '../objects/json-path.ts';

interface ObjectMetadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Of a MachineDeployment or a MachinePool. */
interface WorkersBuiltins {
  version?: string;
  metadata?: ObjectMetadata;
  /** Name of its class. */
  class?: string;
  name?: string;
  /** Its name in `spec.topology.workers`. */
  topologyName?: string;
  replicas?: number;
  bootstrap?: { configRef?: { name?: string } };
  infrastructureRef?: { name?: string };
}

/**
 * The variable `builtin`, which Cluster API sends with each request (`Builtins` in its package api/runtime/hooks/v1alpha1, as
 * of 1.14). Where a template is used decides which of `controlPlane`, `machineDeployment` and `machinePool` it has.
 */
export interface BuiltinVariables {
  cluster?: {
    name?: string;
    namespace?: string;
    uid?: string;
    metadata?: ObjectMetadata;
    topology?: {
      version?: string;
      classRef?: { name: string; namespace: string };
      /** As `classRef`, in older releases. */
      class?: string;
      classNamespace?: string;
    };
    network?: { serviceDomain?: string; services?: string[]; pods?: string[] };
  };
  controlPlane?: {
    version?: string;
    metadata?: ObjectMetadata;
    name?: string;
    replicas?: number;
    machineTemplate?: { infrastructureRef?: { name?: string } };
  };
  machineDeployment?: WorkersBuiltins;
  machinePool?: WorkersBuiltins;
}

/** Reads variables by paths such as `builtin.cluster.topology.version` or `disks[0].size`. */
export interface Variables {
  /** The value at a path; undefined when it is absent. */
  get(path: string): Json | undefined;
  has(path: string): boolean;
  /** The value, or `fallback` if it is absent. @throws {HandlerFailure} for another type, and for neither of the two. */
  string(path: string, fallback?: string): string;
  number(path: string, fallback?: number): number;
  boolean(path: string, fallback?: boolean): boolean;
  object(path: string, fallback?: JsonObject): JsonObject;
  list(path: string, fallback?: Json[]): Json[];
}

/** Maximum number of fields of an object in `builtin`, which has some ten: they are merged for each template. */
const maxFields = 1000;

function mergedDeep(below: Json | undefined, above: Json): Json {
  if (!isJsonObject(below) || !isJsonObject(above)) {
    return above;
  }
  const merged = { ...below };
  if (Object.keys(merged).length > maxFields) {
    throw new HandlerFailure(`variable builtin has more than ${maxFields} fields, and is merged for each template`);
  }
  for (const [name, field] of Object.entries(above)) {
    setOwn(merged, name, mergedDeep(Object.hasOwn(below, name) ? below[name] : undefined, field));
  }
  return merged;
}

/** By name: of several with the same one the last counts, as for Cluster API. */
export type VariableLayer = ReadonlyMap<string, Json>;

export function layerOf(variables: readonly Variable[] = []): VariableLayer {
  return new Map(variables.map(({ name, value }) => [name, value as Json]));
}

/** Access to the variables of a request below those of one of its items. */
export function layeredVariables(below: VariableLayer, above: VariableLayer): Variables {
  let builtin: Json | undefined;
  const get = (path: string) => {
    const [name, ...rest] = segmentsOf(path);
    const ofItem = above.get(String(name));
    if (name !== 'builtin' || ofItem === undefined) {
      return rest.reduce(step, ofItem ?? below.get(String(name)));
    }
    builtin ??= mergedDeep(below.get(name), ofItem);
    return rest.reduce(step, builtin);
  };
  // They work without the object, too: patchers may take out those that they need.
  return {
    get,
    has: (path) => get(path) !== undefined,
    string: typed<string>(get, 'a string', (value) => typeof value === 'string'),
    number: typed<number>(get, 'a number', (value) => typeof value === 'number'),
    boolean: typed<boolean>(get, 'true or false', (value) => typeof value === 'boolean'),
    object: typed<JsonObject>(get, 'an object', isJsonObject),
    list: typed<Json[]>(get, 'a list', Array.isArray),
  };
}

/**
 * Variables by path and type, such as `variablesOf(request.variables, item.variables)` of a ValidateTopology request: those
 * of an item take precedence, and `builtin` is merged field by field.
 */
export function variablesOf(variables: readonly Variable[] | undefined, ofItem?: readonly Variable[]): Variables {
  return layeredVariables(layerOf(variables), layerOf(ofItem));
}

function typed<T extends Json>(get: Variables['get'], kind: string, is: (value: Json) => boolean) {
  return (path: string, fallback?: T): T => {
    const value = get(path);
    if (value === undefined ? fallback === undefined : !is(value)) {
      throw new HandlerFailure(`variable ${path} is not ${value === undefined ? 'set' : kind}`);
    }
    return (value ?? fallback) as T;
  };
}
