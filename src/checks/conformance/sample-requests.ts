import { parseAllDocuments } from 'yaml';
import { itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../../runtimehooks/index.ts';
import { sampleRequest } from '../../runtimehooks/messages/index.ts';
import { handlerCall, playLife, readInput, State } from '../rehearsal/index.ts';

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
    - { name: sample, external: { generatePatchesExtension: g.sample, validateTopologyExtension: v.sample } }
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

/** The requests that Cluster API sends in the life of the sample Cluster, by hook: the last of each. */
async function requestsOfLife(): Promise<ReadonlyMap<string, JsonObject>> {
  const objects = parseAllDocuments(sampleYaml).map((document) => document.toJS() as JsonObject);
  const { subjects } = readInput(
    objects.map((object) => ({ object, where: () => 'sample' })),
    undefined,
  );
  const requests = new Map<string, JsonObject>();
  const answer: ConstructorParameters<typeof State>[1] = async ({ hook, request }) => {
    requests.set(hook, request);
    const response = hook.startsWith('CanUpdate') ? covering(request) : {};
    return { ok: true, response, calls: [handlerCall('', {})] };
  };
  let uids = 0;
  const state = new State(subjects[0] as (typeof subjects)[number], answer, {
    newUid: () => `00000000-0000-4000-8000-${String(uids++).padStart(12, '0')}`,
    start: new Date('2026-01-01T00:00:00Z'),
    limits: { maxCalls: 100, maxFailures: 1 },
    signal: new AbortController().signal,
    sleep: async () => {},
    onEntry: () => {},
  });
  await playLife(state, { upgrades: ['v1.33.0'], isDeleted: true, updatesInPlace: true });
  return requests;
}

/** Made once, and only if a handler is called: playing a life takes a tenth of a second. */
let samples: ReturnType<typeof requestsOfLife> | undefined;

/** The request of a hook for the sample Cluster, without settings; with values for the variables that the extension defines. */
export async function requestFor(hook: HookDefinition, variables: readonly Json[]): Promise<JsonObject> {
  samples ??= requestsOfLife();
  const requests = await samples;
  const { cluster = {} } = requests.get('BeforeClusterUpgrade') ?? {};
  const { settings: _, ...sample } = sampleRequest(hook);
  const request = requests.get(hook.name) ?? { ...sample, ...(hook.about === 'Cluster' && { cluster }) };
  const known = itemsAt(request, 'variables');
  return known.length === 0 ? request : { ...request, variables: [...variables, ...known] };
}
