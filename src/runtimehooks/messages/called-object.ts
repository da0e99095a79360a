import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';

/** The object that a request is about, and its Cluster. */
interface RequestObject {
  /** Empty if the request does not tell. */
  namespace: string;
  name: string;
  uid: string | undefined;
  /** The name of the Cluster. */
  cluster: string;
}

/** The object that a request is about: a Cluster, Machine or MachineSet; undefined if the request names none. */
export function objectOf(request: JsonObject): RequestObject | undefined {
  const { cluster, variables } = request;
  let metadata: Json | undefined;
  let clusterName: Json | undefined;
  if (cluster !== undefined) {
    metadata = fieldAt(cluster, 'metadata');
    clusterName = fieldAt(metadata, 'name');
  } else if (Array.isArray(variables)) {
    const builtin = variables.find((variable) => fieldAt(variable, 'name') === 'builtin');
    metadata = fieldAt(builtin, 'value', 'cluster');
    clusterName = fieldAt(metadata, 'name');
  } else {
    const object = fieldAt(request, 'desired', 'machine') ?? fieldAt(request, 'desired', 'machineSet');
    metadata = fieldAt(object, 'metadata');
    clusterName = fieldAt(object, 'spec', 'clusterName');
  }
  if (!isJsonObject(metadata) || typeof clusterName !== 'string') {
    return undefined;
  }
  const { namespace, name, uid } = metadata;
  return {
    namespace: typeof namespace === 'string' ? namespace : '',
    name: typeof name === 'string' ? name : '',
    uid: typeof uid === 'string' ? uid : undefined,
    cluster: clusterName,
  };
}
