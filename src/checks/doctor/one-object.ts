import { isStatus } from '../../kubernetes/client/index.ts';
import { type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import { auditOne } from './audit.ts';
import { certificates, rotation } from './certificates.ts';
import { failed, type Installation, looking, ok, skipped, type Tick } from './tick.ts';

/** Conditions of a Cluster that are True while all is well, and those that are True while something happens. */
const wellWhenTrue = [
  'TopologyReconciled',
  'InfrastructureReady',
  'ControlPlaneInitialized',
  'ControlPlaneAvailable',
  'WorkersAvailable',
  'Available',
];
const busyWhenTrue = ['Paused', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Remediating', 'Deleting'];

function clusterTicks(cluster: JsonObject): Tick[] {
  const name = `${textAt(cluster, 'metadata', 'namespace')}/${textAt(cluster, 'metadata', 'name')}`;
  // In v1beta1, the newer conditions are under `v1beta2`.
  const newer = objectsAt(cluster, 'status', 'v1beta2', 'conditions');
  const conditions = newer.length > 0 ? newer : objectsAt(cluster, 'status', 'conditions');
  const told = conditions.flatMap((condition): Tick[] => {
    const [check, status, message] = [
      textAt(condition, 'type'),
      textAt(condition, 'status'),
      textAt(condition, 'message'),
    ];
    const text = [textAt(condition, 'reason'), message].filter((part) => part !== '').join(': ');
    if (wellWhenTrue.includes(check)) {
      return status === 'True'
        ? [ok(check, text)]
        : [failed(check, text, `extensionconfig-webhook plan --cluster ${name} says what is under way`)];
    }
    return busyWhenTrue.includes(check) && status === 'True' ? [{ check, result: 'note', message: text }] : [];
  });
  return told.length > 0 ? told : [skipped('conditions', `no controller has written conditions of ${name}`)];
}

/** An object to explain: of a Secret, one of the installation. */
export interface NamedObject {
  kind: 'extensionconfig' | 'cluster' | 'secret';
  namespace: string;
  name: string;
}

export async function examineObject(
  installation: Installation,
  { kind, namespace, name }: NamedObject,
): Promise<Tick[]> {
  const { cluster } = installation;
  const path = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${namespace}/clusters/${name}`;
  const looks = {
    extensionconfig: () => auditOne(installation, name),
    cluster: async () => clusterTicks(await cluster.request('GET', path)),
    secret: async () => [...(await certificates(installation)), ...(await rotation(installation))],
  };
  return await looking(kind, async () => {
    try {
      return await looks[kind]();
    } catch (error) {
      if (isStatus(error, 404)) {
        const others = kind === 'extensionconfig' ? '; of a Cluster, write cluster/NAMESPACE/NAME' : '';
        const remedy = `check the name, the namespace and the context${others}`;
        return [failed(kind, `there is no ${kind} ${name} in the cluster`, remedy)];
      }
      throw error;
    }
  });
}
