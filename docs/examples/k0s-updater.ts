// Updates k0s in place by a plan of its Autopilot in the workload cluster, one Machine at a time, as k0smotron's extension does
// (in Go: extensions/inplaceversionupdate and internal/autopilot, 614 lines in August 2026; here 83).
import {
  type ApiClient,
  createClusters,
  type InPlaceUpdater,
  type MachineUpdate,
  machines,
} from 'cluster-api-extension';

const clusters = createClusters();
const plans = '/apis/autopilot.k0sproject.io/v1beta2/plans';
/** The states of a plan in which the work goes on; a new one has none. */
const running = ['', 'NewPlan', 'Schedulable', 'SchedulableWait'];

interface Plan {
  metadata: { name: string };
  spec: { id: string };
  status?: { state?: string };
}

/** The workload cluster of a Machine, and the plan there: k0s has one at a time. */
async function planFor({
  desired: { machine },
}: MachineUpdate): Promise<{ client: ApiClient; plan: Plan | undefined }> {
  const { namespace = '' } = machine.metadata ?? {};
  const client = await clusters.workloadCluster({ metadata: { namespace, name: machine.spec.clusterName } });
  const { items } = (await client.request('GET', plans)) as unknown as { items: Plan[] };
  return { client, plan: items.find(({ metadata }) => metadata.name === 'autopilot') };
}

function planOf({ key, desired: { machine, bootstrapConfig } }: MachineUpdate): object {
  const { version = '' } = machine.spec;
  const { spec } = (bootstrapConfig ?? {}) as {
    spec?: { downloadURL?: string; k0sConfigSpec?: { downloadURL?: string } };
  };
  const own = spec?.k0sConfigSpec?.downloadURL ?? spec?.downloadURL;
  const platforms = ['amd64', 'arm64', 'arm'].map((platform) => {
    const url = own || `https://get.k0sproject.io/${version}/k0s-${version}-${platform}`;
    return [`linux-${platform}`, { url }] as const;
  });
  const isControlPlane = 'cluster.x-k8s.io/control-plane' in (machine.metadata?.labels ?? {});
  const nodes = { discovery: { static: { nodes: [machine.metadata?.name] } } };
  const targets = isControlPlane ? { controllers: nodes } : { workers: nodes };
  return {
    apiVersion: 'autopilot.k0sproject.io/v1beta2',
    kind: 'Plan',
    metadata: { name: 'autopilot' },
    spec: {
      id: key,
      timestamp: String(Math.floor(Date.now() / 1000)),
      commands: [{ k0supdate: { version, platforms: Object.fromEntries(platforms), targets } }],
    },
  };
}

export const k0sUpdater: InPlaceUpdater = {
  name: 'k0s',
  covers: { machine: ['spec.version'] },
  async look(update) {
    const { plan } = await planFor(update);
    const state = plan?.status?.state ?? '';
    if (plan !== undefined && running.includes(state)) {
      // Perhaps of another Machine, which comes first.
      return { state: 'running' };
    }
    if (plan?.spec.id !== update.key) {
      return { state: 'none' };
    }
    return state === 'Completed'
      ? { state: 'done' }
      : { state: 'failed', message: `the Autopilot plan ended as ${state}: see the Plan in the workload cluster` };
  },
  async begin(update) {
    const { client, plan } = await planFor(update);
    if (plan !== undefined) {
      await client.request('DELETE', `${plans}/autopilot`);
    }
    await client.request('POST', plans, planOf(update));
  },
};

export const handlers = machines.inPlace([k0sUpdater], { retryAfterSeconds: 15 });
