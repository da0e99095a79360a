import { parseAllDocuments } from 'yaml';
import { type JsonObject, objectAt, objectsAt } from '../../kubernetes/index.ts';
import { newestKnownRelease } from '../../runtimehooks/index.ts';
import { type HookCall, readClass, SimulatedCluster, World } from '../../topology/index.ts';

/** Name of the sample Cluster, and prefix of the names of its parts, easy to recognize in a log. */
const name = 'conformance-sample-cluster';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';

const metadata = (of: string) => `{ name: ${of}, namespace: conformance-sample }`;
const reference = (group: string, kind: string) =>
  `{ apiVersion: ${group}.cluster.x-k8s.io/v1beta2, kind: ${kind}, name: conformance-sample-template }`;
const template = (group: string, kind: string, spec: string) => `---
apiVersion: ${group}.cluster.x-k8s.io/v1beta2
kind: ${kind}
metadata: ${metadata('conformance-sample-template')}
spec: { template: { spec: ${spec} } }
`;
const imagePatch = (resources: string, group: string) => `
        - selector: { apiVersion: ${infrastructure}, kind: DockerMachineTemplate, matchResources: ${resources} }
          jsonPatches:
            - op: add
              path: /spec/template/spec/customImage
              valueFrom: { template: "kindest/node:{{ .builtin.${group}.version }}" }`;

/** A Cluster of a typical ClusterClass. */
const sampleYaml = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: ${metadata(name)}
spec:
  clusterNetwork: { pods: { cidrBlocks: [10.0.0.0/16] } }
  topology:
    classRef: { name: conformance-sample-class }
    version: v1.32.0
    controlPlane: { replicas: 3, deletion: { nodeDrainTimeoutSeconds: 10 } }
    workers: { machineDeployments: [{ class: default-worker, name: md-0, replicas: 2, failureDomain: zone-a }] }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: ${metadata('conformance-sample-class')}
spec:
  infrastructure: { templateRef: ${reference('infrastructure', 'DockerClusterTemplate')} }
  controlPlane:
    templateRef: ${reference('controlplane', 'KubeadmControlPlaneTemplate')}
    machineInfrastructure: { templateRef: ${reference('infrastructure', 'DockerMachineTemplate')} }
  workers:
    machineDeployments:
      - class: default-worker
        bootstrap: { templateRef: ${reference('bootstrap', 'KubeadmConfigTemplate')} }
        infrastructure: { templateRef: ${reference('infrastructure', 'DockerMachineTemplate')} }
  patches:
    - name: image
      definitions:${imagePatch('{ controlPlane: true }', 'controlPlane')}${imagePatch('{ machineDeploymentClass: { names: [default-worker] } }', 'machineDeployment')}
    - { name: sample, external: { generatePatchesExtension: conformance.sample } }
${template('infrastructure', 'DockerClusterTemplate', '{ loadBalancer: {} }')}
${template('controlplane', 'KubeadmControlPlaneTemplate', '{ kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: /etc/kubernetes/pki }, files: [{ path: /etc/sample, content: sample }] } }')}
${template('bootstrap', 'KubeadmConfigTemplate', '{ files: [{ path: /etc/sample, content: sample }] }')}
${template('infrastructure', 'DockerMachineTemplate', '{}')}`;

/** An answer whose patches cover all differences between the objects of a request. */
const covering = (request: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(objectAt(request, 'desired')).map(([part, object]) => {
      const patch = Buffer.from(JSON.stringify({ spec: objectAt(object, 'spec') })).toString('base64');
      return [`${part}Patch`, { patchType: 'JSONMergePatch', patch }];
    }),
  );

/** The requests for the sample Cluster when it is upgraded. */
async function sampleRequests() {
  const objects = parseAllDocuments(sampleYaml).map((document) => document.toJS() as JsonObject);
  const [cluster = {}, clusterClass = {}] = objects;
  const blueprint = readClass(new World(objects), clusterClass);
  let items = 0;
  const newUid = () => `00000000-0000-4000-8000-00000000000${items++}`;
  const made = new SimulatedCluster(blueprint, { release: newestKnownRelease, schemaOf: () => undefined, newUid });
  Object.assign(objectAt(cluster, 'metadata'), {
    uid: newUid(),
    creationTimestamp: '2026-01-01T00:00:00Z',
    resourceVersion: '2',
    generation: 2,
  });
  /** Writes the objects of the Cluster at a version; returns the request of GeneratePatches. */
  const reconcile = (version: string): JsonObject => {
    items = 1;
    objectAt(cluster, 'spec', 'topology').version = version;
    const workers = made.workers(cluster).map((worker) => ({ ...worker, version, isPending: false }));
    const computing = made.desire(cluster, { controlPlane: version, workers, upgradeStep: undefined });
    const { value } = computing.next();
    computing.next({});
    made.write(cluster);
    return 'request' in value ? value.request : {};
  };
  reconcile('v1.32.0');
  const patching = reconcile('v1.33.0');
  const asked = new Map<HookCall['hook'], JsonObject>();
  let updated: JsonObject = {};
  for (const group of made.outdated) {
    await made.rollOut(group, cluster, {
      now: new Date(),
      call: async ({ hook, request }) => {
        asked.set(hook, request);
        return { is: 'answered', response: covering(request), handler: '' };
      },
      follow: async (step) => {
        updated = step.is === 'updated' ? step.desired : updated;
      },
    });
  }
  const [builtin = {}] = objectsAt(patching, 'variables');
  return {
    /** In v1beta2 and without a status, as releases from 1.13 on send it. */
    cluster: made.inRequest(cluster, 'BeforeClusterCreate'),
    /** The items of GeneratePatches; those of ValidateTopology have no `uid`. */
    items: objectsAt(patching, 'items'),
    builtin,
    /** The fields of requests about an update in place. */
    CanUpdateMachine: asked.get('CanUpdateMachine') ?? {},
    CanUpdateMachineSet: asked.get('CanUpdateMachineSet') ?? {},
    UpdateMachine: { desired: updated },
  };
}

/** The parts of requests for a sample Cluster. */
export const samples = await sampleRequests();
