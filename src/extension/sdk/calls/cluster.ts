import { fieldAt, type Json, type JsonObject } from '../../../kubernetes/index.ts';

/** Longest name in the log, in characters: the maximum in Kubernetes. */
const maxLength = 253;

function joined(namespace: Json | undefined, name: Json | undefined): string | undefined {
  return typeof name === 'string'
    ? `${typeof namespace === 'string' ? namespace : ''}/${name}`.slice(0, 2 * maxLength)
    : undefined;
}

/** The Cluster that a request is about, as `NAMESPACE/NAME`; undefined if the request names none. */
export function clusterOf(request: JsonObject): string | undefined {
  if (request.cluster !== undefined) {
    return joined(fieldAt(request.cluster, 'metadata', 'namespace'), fieldAt(request.cluster, 'metadata', 'name'));
  }
  if (Array.isArray(request.variables)) {
    const builtin = request.variables.find((variable) => fieldAt(variable, 'name') === 'builtin');
    return joined(fieldAt(builtin, 'value', 'cluster', 'namespace'), fieldAt(builtin, 'value', 'cluster', 'name'));
  }
  for (const object of [fieldAt(request, 'desired', 'machine'), fieldAt(request, 'desired', 'machineSet')]) {
    if (object !== undefined) {
      return joined(fieldAt(object, 'metadata', 'namespace'), fieldAt(object, 'spec', 'clusterName'));
    }
  }
  return undefined;
}
