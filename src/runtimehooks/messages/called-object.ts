import { fieldAt, isJsonObject, type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';

interface RequestObject {
  /** Empty if the request does not tell. */
  namespace: string;
  name: string;
  uid: string | undefined;
  cluster: string;
}

const paths = { Cluster: ['cluster'], Machine: ['desired', 'machine'], MachineSet: ['desired', 'machineSet'] } as const;

/** The object that a request is about, by the hook: a Cluster, Machine or MachineSet; undefined if there is none. */
export function objectOf({ about }: Pick<HookDefinition, 'about'>, request: JsonObject): RequestObject | undefined {
  if (about === undefined) {
    return undefined;
  }
  const builtin = objectsAt(request, 'variables').find(({ name }) => name === 'builtin');
  const object = about === 'topology' ? undefined : fieldAt(request, ...paths[about]);
  const metadata = about === 'topology' ? fieldAt(builtin, 'value', 'cluster') : fieldAt(object, 'metadata');
  const isCluster = about === 'Cluster' || about === 'topology';
  const cluster = isCluster ? fieldAt(metadata, 'name') : fieldAt(object, 'spec', 'clusterName');
  if (!isJsonObject(metadata) || typeof cluster !== 'string') {
    return undefined;
  }
  const uid = typeof metadata.uid === 'string' ? metadata.uid : undefined;
  return { namespace: textAt(metadata, 'namespace'), name: textAt(metadata, 'name'), uid, cluster };
}
