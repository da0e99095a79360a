import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';

/** Longest name in the log: those of Kubernetes have 253 characters at most. */
const maxLength = 253;

const at = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value);

function joined(namespace: Json | undefined, name: Json | undefined): string | undefined {
  return typeof name === 'string'
    ? `${typeof namespace === 'string' ? namespace : ''}/${name}`.slice(0, 2 * maxLength)
    : undefined;
}

/** The Cluster that a request is about, as `NAMESPACE/NAME`; undefined where it names none. */
export function clusterOf(request: JsonObject): string | undefined {
  if (request.cluster !== undefined) {
    return joined(at(request.cluster, 'metadata', 'namespace'), at(request.cluster, 'metadata', 'name'));
  }
  if (Array.isArray(request.variables)) {
    const builtin = request.variables.find((variable) => at(variable, 'name') === 'builtin');
    return joined(at(builtin, 'value', 'cluster', 'namespace'), at(builtin, 'value', 'cluster', 'name'));
  }
  for (const object of [at(request, 'desired', 'machine'), at(request, 'desired', 'machineSet')]) {
    if (object !== undefined) {
      return joined(at(object, 'metadata', 'namespace'), at(object, 'spec', 'clusterName'));
    }
  }
  return undefined;
}
