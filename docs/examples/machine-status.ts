// Objects in requests have no status: this reads a Machine's from the API server. It needs `npm install
// @kubernetes/client-node`, the component manifests/api-server, and `get` on `machines` of `cluster.x-k8s.io` in a ClusterRole.
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { HandlerFailure, type MachineUpdate } from 'cluster-api-extension';

const config = new KubeConfig();
config.loadFromDefault();
const objects = config.makeApiClient(CustomObjectsApi);

interface Machine {
  status?: { addresses?: { type: string; address: string }[]; nodeInfo?: { kubeletVersion: string } };
}

async function statusOf({ desired: { machine } }: MachineUpdate) {
  const { namespace = '', name = '' } = machine.metadata ?? {};
  const machines = { group: 'cluster.x-k8s.io', version: 'v1beta2', plural: 'machines' };
  const { status }: Machine = await objects.getNamespacedCustomObject({ ...machines, namespace, name });
  return status;
}

export async function addressOf(update: MachineUpdate): Promise<string> {
  const status = await statusOf(update);
  const found = status?.addresses?.find(({ type }) => type === 'InternalIP');
  if (found === undefined) {
    throw new HandlerFailure('the Machine has no InternalIP');
  }
  return found.address;
}

/** As the Node reports it. */
export const kubeletVersion = async (update: MachineUpdate) => (await statusOf(update))?.nodeInfo?.kubeletVersion;
