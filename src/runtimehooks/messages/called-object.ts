import { fieldAt, isJsonObject, type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';

/** The object that a request is about, and its Cluster. */
interface RequestObject {
  /** Empty if the request does not tell. */
  namespace: string;
  name: string;
  uid: string | undefined;
  cluster: string;
}

/** The object that a request is about, by the hook: a Cluster, Machine or MachineSet; undefined if there is none. */
export function objectOf({ about }: Pick<HookDefinition, 'about'>, request: JsonObject): RequestObject | undefined {
  const object =
    about === 'Cluster'
      ? request.cluster
      : about === 'Machine'
        ? fieldAt(request, 'desired', 'machine')
        : about === 'MachineSet'
          ? fieldAt(request, 'desired', 'machineSet')
          : undefined;
  const builtin = objectsAt(request, 'variables').find(({ name }) => name === 'builtin');
  const metadata = about === 'topology' ? fieldAt(builtin, 'value', 'cluster') : fieldAt(object, 'metadata');
  const clusterName =
    about === 'Cluster' || about === 'topology' ? fieldAt(metadata, 'name') : fieldAt(object, 'spec', 'clusterName');
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
