import { isStatus } from '../../kubernetes/client/index.ts';
import { type JsonObject, namespacedName, textAt } from '../../kubernetes/index.ts';
import { conditionOf } from '../../topology/index.ts';
import { audit, auditOne } from './audit.ts';
import { certificates, registered, rotation } from './certificates.ts';
import { failed, type Installation, looking, ok, skipped, type Tick } from './tick.ts';
import { featureGate, reachable, replicas } from './webhooks.ts';

const installationLooks = {
  webhooks: registered,
  reachable,
  certificate: certificates,
  rotation,
  replicas,
  'feature gate': featureGate,
  audit,
};

/** Only reads, but for one dry run. */
export async function* examineInstallation(installation: Installation): AsyncGenerator<Tick> {
  if (installation.isSandbox) {
    yield skipped('sandbox', 'this is the embedded API server: admission works as in a cluster, and nothing else runs');
  }
  for (const [check, look] of Object.entries(installationLooks)) {
    yield* await looking(check, () => look(installation));
  }
}

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
  const name = namespacedName(cluster);
  const told = [...wellWhenTrue, ...busyWhenTrue].flatMap((check): Tick[] => {
    const condition = conditionOf(cluster, check);
    const text = [textAt(condition, 'reason'), textAt(condition, 'message')].filter((part) => part !== '').join(': ');
    const isTrue = condition?.status === 'True';
    if (busyWhenTrue.includes(check)) {
      return isTrue ? [{ check, result: 'note', message: text }] : [];
    }
    const remedy = `extensionconfig-webhook plan --cluster ${name} says what is under way`;
    return condition === undefined ? [] : [isTrue ? ok(check, text) : failed(check, text, remedy)];
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
