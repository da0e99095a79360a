import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../src/kubernetes/index.ts';
import { ready, startAlone, withoutDocuments } from '../../cli/commands/sandbox/running.ts';
import { eventually, send } from '../../sandbox/client.ts';
import { needs } from '../../support/needs.ts';
import { startShell } from '../../support/shell.ts';

const objectsIn = (name: string) =>
  parseAllDocuments(readFileSync(`manifests/samples/plan/${name}.yaml`, 'utf8')).map(
    (document) => document.toJS() as JsonObject,
  );
const definitions = objectsIn('crds');
const samples = [...objectsIn('class'), ...objectsIn('cluster')];
const plurals = new Map(
  definitions.map(({ spec }) => [textAt(spec, 'names', 'kind'), textAt(spec, 'names', 'plural')] as const),
);
const replacement = 'impact.extensionconfig-webhook/replacement';
const allow = 'impact.extensionconfig-webhook/allow-replacement';
const paused = 'cluster.x-k8s.io/paused';

/** What comes of a write: its code, and its warnings or why it is denied. */
interface Came {
  code: number;
  text: string;
}

/** A copy of the samples in a namespace of its own. */
interface Copy {
  namespace: string;
  /** Writes a changed copy of an object; by default the Cluster. */
  write(change: (object: JsonObject) => void, kind?: string, name?: string, query?: string): Promise<Came>;
  request(method: string, path: string, body?: object): Promise<Came>;
  pathOf(kind: string, name: string): string;
}

let kubeconfig: string;
let sandbox: ReturnType<typeof startAlone>;
let raw: (method: string, path: string, body?: object) => ReturnType<typeof send>;
let patch: (path: string, type: string, body: object) => ReturnType<typeof send>;
let count = 0;
let untouched: Copy;

const isInTime = ({ text }: Came) => !/had no plan in time|still being read/.test(text);

beforeAll(async () => {
  sandbox = startAlone(['--impact', '--cluster-facts']);
  kubeconfig = await ready(sandbox.output);
  const config = await loadKubeConfig({ kubeconfig }, {});
  const url = config.getCurrentCluster()?.server ?? '';
  const ca = Buffer.from(config.getCurrentCluster()?.caData ?? '', 'base64').toString();
  const token = config.getCurrentUser()?.token ?? '';
  raw = (method, path, body) => send({ url, ca, token }, method, path, body && { body });
  patch = (path, type, body) => send({ url, ca, token }, 'PATCH', path, { body, headers: { 'content-type': type } });
  for (const definition of definitions) {
    await raw('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  untouched = await copied();
});
afterAll(async () => {
  sandbox?.stop.abort();
  await sandbox?.ended;
});

async function came(answer: ReturnType<typeof send>): Promise<Came> {
  const { status: code, headers, json } = await answer;
  const warnings = [...String(headers.warning ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1'),
  );
  return { code, text: code < 300 ? warnings.join('\n') : String(json.message) };
}

async function copied({
  labels = { [replacement]: 'deny' },
  classNamespace = '',
}: {
  labels?: Record<string, string>;
  classNamespace?: string;
} = {}): Promise<Copy> {
  const namespace = `attack-${++count}`;
  const pathOf = (kind: string, name: string) => {
    const sample = samples.find((object) => object.kind === kind);
    const at = kind === 'ClusterClass' && classNamespace !== '' ? classNamespace : namespace;
    return `/apis/${textAt(sample, 'apiVersion')}/namespaces/${at}/${plurals.get(kind)}/${name}`.replace(/\/$/, '');
  };
  await raw('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  for (const sample of [...(classNamespace === '' ? objectsIn('class') : []), ...objectsIn('cluster')]) {
    const body = structuredClone(sample);
    objectAt(body, 'metadata').namespace = namespace;
    if (body.kind === 'Cluster' && classNamespace !== '') {
      objectAt(body, 'spec', 'topology', 'classRef').namespace = classNamespace;
    }
    const path = `/apis/${textAt(body, 'apiVersion')}/namespaces/${namespace}/${plurals.get(textAt(body, 'kind'))}`;
    expect(await eventually(() => came(raw('POST', path, body)), isInTime)).toEqual({ code: 201, text: '' });
  }
  const copy: Copy = {
    namespace,
    pathOf,
    request: (method, path, body) => came(raw(method, path, body)),
    async write(change, kind = 'Cluster', name = 'demo', query = '') {
      return eventually(async () => {
        const { json } = await raw('GET', pathOf(kind, name));
        const object = structuredClone(json);
        change(object);
        return came(raw('PUT', `${pathOf(kind, name)}${query}`, object));
      }, isInTime);
    },
  };
  // The thread that watches the cluster has read the copy.
  if (labels[replacement] !== 'ignore') {
    await eventually(
      () => copy.write(setVariable('ready'), 'Cluster', 'demo', '?dryRun=All'),
      ({ text }) => text.includes('replaces 2 Machines'),
    );
  }
  return copy;
}

const topology = (cluster: JsonObject) => objectAt(cluster, 'spec', 'topology');
const deployments = (cluster: JsonObject) => objectsAt(cluster, 'spec', 'topology', 'workers', 'machineDeployments');
const setVariable = (value: string) => (cluster: JsonObject) => {
  topology(cluster).variables = [{ name: 'nodeLabel', value }];
};
const annotate = (name: string, value: string | null) => (object: JsonObject) => {
  const { [name]: _old, ...annotations } = objectAt(object, 'metadata', 'annotations');
  objectAt(object, 'metadata').annotations = value === null ? annotations : { ...annotations, [name]: value };
};
const pause = (value: boolean) => (cluster: JsonObject) => {
  objectAt(cluster, 'spec').paused = value;
};
const all =
  (...changes: ((object: JsonObject) => void)[]) =>
  (object: JsonObject) => {
    for (const change of changes) {
      change(object);
    }
  };
const otherArguments = [{ name: 'eviction-hard', value: 'nodefs.available<1%' }];
const enableIf = (clusterClass: JsonObject, enabledIf: string) =>
  void Object.assign(objectsAt(clusterClass, 'spec', 'patches')[0] ?? {}, { enabledIf });
const ofDeployment = (fields: JsonObject) => (cluster: JsonObject) =>
  void Object.assign(deployments(cluster)[0] ?? {}, fields);
const checks = (...conditions: JsonObject[]) =>
  ofDeployment({ healthCheck: { enabled: true, checks: { unhealthyNodeConditions: conditions } } });

type Step = [change: (object: JsonObject) => void, came: 'denied' | '' | RegExp, kind?: string, name?: string];

const later = /^when the pause ends, replaces 2 Machines/;
const cases: [string, ...Step[]][] = [
  ['a change', [setVariable('gpu'), 'denied']],
  [
    'paused by the annotation, changed, resumed',
    [annotate(paused, 'true'), ''],
    [setVariable('gpu'), later],
    [annotate(paused, null), 'denied'],
  ],
  ['paused by spec, changed, resumed', [pause(true), ''], [setVariable('gpu'), later], [pause(false), 'denied']],
  [
    'paused twice, changed, resumed in two writes',
    [all(pause(true), annotate(paused, '')), ''],
    [setVariable('gpu'), later],
    [pause(false), ''],
    [annotate(paused, null), 'denied'],
  ],
  ['paused in the same write', [all(pause(true), setVariable('gpu')), later], [pause(false), 'denied']],
  ['resumed in the same write', [pause(true), ''], [all(pause(false), setVariable('gpu')), 'denied']],
  [
    'paused, and its class changes',
    [pause(true), ''],
    [
      (object) => {
        enableIf(object, '{{ true }}');
      },
      later,
      'ClusterClass',
      'small',
    ],
    [pause(false), 'denied'],
  ],
  [
    'paused and resumed without a change',
    [pause(true), ''],
    [pause(false), ''],
    [annotate(paused, 'x'), ''],
    [annotate(paused, null), ''],
  ],
  [
    'resumed with a permission',
    [pause(true), ''],
    [setVariable('gpu'), later],
    [all(pause(false), annotate(allow, 'true')), /^replaces 2/],
  ],
  ['a group renamed', [ofDeployment({ name: 'md-1' }), 'denied']],
  [
    'no group',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'topology', 'workers').machineDeployments = [];
      },
      'denied',
    ],
  ],
  [
    'no workers',
    [
      (cluster) => {
        delete topology(cluster).workers;
      },
      'denied',
    ],
  ],
  [
    'no topology',
    [
      (cluster) => {
        delete objectAt(cluster, 'spec').topology;
      },
      'denied',
    ],
  ],
  [
    'scaled to 0',
    [
      ofDeployment({ replicas: 0 }),
      /^deletes 2 Machines in 1 Cluster: md "md-0" of attack-\d+\/demo \(2\): scaled to 0$/,
    ],
  ],
  ['scaled down', [ofDeployment({ replicas: 1 }), '']],
  ['scaled up', [ofDeployment({ replicas: 5 }), ''], [ofDeployment({ replicas: 3 }), '']],
  [
    'scaled down, with a change that replaces none',
    [
      all(ofDeployment({ replicas: 1 }), (cluster) => {
        topology(cluster).rollout = {};
        ofDeployment({ metadata: { labels: { a: 'b' } } })(cluster);
      }),
      /^deletes 1 Machine .*scaled to 1$/,
    ],
  ],
  ['scaled down, with one that replaces', [all(ofDeployment({ replicas: 1 }), setVariable('gpu')), 'denied']],
  [
    'scaled to 0, with one that replaces',
    [all(ofDeployment({ replicas: 0 }), setVariable('gpu')), /deletes 2 Machines/],
  ],
  [
    'the control plane is scaled',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'topology', 'controlPlane').replicas = 3;
      },
      '',
    ],
  ],
  [
    'Ready nodes are unhealthy',
    [checks({ type: 'Ready', status: 'True', timeoutSeconds: 0 }), /^remediates 2 Machines .*Ready=True unhealthy$/],
  ],
  [
    'nodes without pressure are unhealthy',
    [checks({ type: 'MemoryPressure', status: 'False', timeoutSeconds: 1 }), /^remediates 2 Machines/],
  ],
  [
    'nodes that are not Ready are unhealthy',
    [
      checks(
        { type: 'Ready', status: 'False', timeoutSeconds: 300 },
        { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 },
      ),
      '',
    ],
  ],
  [
    'another version',
    [
      (cluster) => {
        topology(cluster).version = 'v1.35.0';
      },
      'denied',
    ],
  ],
  [
    'another version, deferred, then not',
    [
      all(
        (cluster) => {
          topology(cluster).version = 'v1.35.0';
        },
        ofDeployment({ metadata: { annotations: { 'topology.cluster.x-k8s.io/defer-upgrade': '' } } }),
      ),
      'denied',
    ],
  ],
  [
    'a permission that is not one',
    [all(setVariable('gpu'), annotate(allow, 'True')), 'denied'],
    [all(setVariable('gpu'), annotate(allow, 'yes')), 'denied'],
    [all(setVariable('gpu'), annotate(allow, '0123456789ab')), 'denied'],
  ],
  ['a permission from before', [annotate(allow, 'true'), ''], [setVariable('gpu'), 'denied']],
  [
    'a permission in the topology',
    [all(setVariable('gpu'), ofDeployment({ metadata: { annotations: { [allow]: 'true' } } })), 'denied'],
  ],
  [
    'a permission as a label',
    [
      all(setVariable('gpu'), (cluster) => {
        objectAt(cluster, 'metadata', 'labels')[allow] = 'true';
      }),
      'denied',
    ],
  ],
  [
    'OnDelete, then a change, then RollingUpdate',
    [ofDeployment({ rollout: { strategy: { type: 'OnDelete' } } }), ''],
    [setVariable('gpu'), ''],
    [ofDeployment({ rollout: { strategy: { type: 'RollingUpdate' } } }), 'denied'],
  ],
  [
    'a patch of the class',
    [
      (object) => {
        enableIf(object, '{{ true }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a default of the class',
    [
      (object) => {
        objectAt(objectsAt(object, 'spec', 'variables')[0], 'schema', 'openAPIV3Schema').default = 'gpu';
      },
      '',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a template that is missing',
    [
      (object) => {
        objectAt(objectsAt(object, 'spec', 'workers', 'machineDeployments')[0], 'bootstrap', 'templateRef').name =
          'later';
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a template of another kind',
    [
      (object) => {
        Object.assign(
          objectAt(objectsAt(object, 'spec', 'workers', 'machineDeployments')[0], 'bootstrap', 'templateRef'),
          { kind: 'RKE2ConfigTemplate' },
        );
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a function that is not computed',
    [
      (object) => {
        enableIf(object, '{{ ne (genCA "a" 1).Cert "" }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a pattern that RE2 refuses',
    [
      (object) => {
        objectAt(objectsAt(object, 'spec', 'variables')[0], 'schema', 'openAPIV3Schema').pattern = '(?=a)';
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'an extension that is not called',
    [
      (object) => {
        objectAt(object, 'spec').patches = [{ name: 'e', external: { generatePatchesExtension: 'a.b' } }];
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a template that changes under its name',
    [
      (object) => {
        objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
          otherArguments;
      },
      'denied',
      'KubeadmConfigTemplate',
      'small-worker',
    ],
  ],
  [
    'metadata of a template, of a class, of a Cluster',
    [
      (object) => {
        objectAt(object, 'metadata').labels = { a: 'b' };
      },
      '',
      'KubeadmConfigTemplate',
      'small-worker',
    ],
    [annotate('a', 'b'), '', 'ClusterClass', 'small'],
    [annotate('a', 'b'), ''],
  ],
  [
    'a label of the Cluster that a patch reads',
    [
      all((object) => {
        enableIf(
          object,
          '{{ if .builtin.cluster.metadata.labels }}{{ eq (index .builtin.cluster.metadata.labels "tier") "gpu" }}{{ end }}',
        );
      }),
      '',
      'ClusterClass',
      'small',
    ],
    [
      (cluster) => {
        objectAt(cluster, 'metadata', 'labels').tier = 'gpu';
      },
      'denied',
    ],
  ],
  ['a rollout that is asked for', [ofDeployment({ rollout: { after: '2020-01-01T00:00:00Z' } }), /.*/]],
  ['a failure domain', [ofDeployment({ failureDomain: 'b' }), 'denied']],
  ['how nodes are drained', [ofDeployment({ deletion: { nodeDrainTimeoutSeconds: 5 } }), '']],
  ['a rollout that is asked for later', [ofDeployment({ rollout: { after: '2099-01-01T00:00:00Z' } }), 'denied']],
  [
    'a class that was changed with a permission, then the Cluster',
    [
      all((object) => enableIf(object, '{{ true }}'), annotate(allow, 'true')),
      /^replaces 2 .*Machines/,
      'ClusterClass',
      'small',
    ],
    [ofDeployment({ metadata: { labels: { a: 'b' } } }), ''],
    [setVariable('gpu'), 'denied'],
  ],
  [
    'a default of a variable that the Cluster does not set',
    [
      (cluster) => {
        topology(cluster).variables = [];
      },
      '',
    ],
    [
      (object) => {
        objectAt(objectsAt(object, 'spec', 'variables')[0], 'schema', 'openAPIV3Schema').default = 'gpu';
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'deferred with a permission, then not',
    [
      all(
        (cluster) => {
          topology(cluster).version = 'v1.35.0';
        },
        ofDeployment({ metadata: { annotations: { 'topology.cluster.x-k8s.io/defer-upgrade': '' } } }),
        annotate(allow, 'true'),
      ),
      /^replaces 1 Machine/,
    ],
    [ofDeployment({ metadata: {} }), 'denied'],
  ],
  [
    'held, then not',
    [
      all(
        (cluster) => {
          topology(cluster).version = 'v1.35.0';
        },
        ofDeployment({ metadata: { annotations: { 'topology.cluster.x-k8s.io/hold-upgrade-sequence': '' } } }),
      ),
      'denied',
    ],
  ],
  [
    'a group that is paused by the annotation',
    [annotate(paused, ''), '', 'MachineDeployment', 'demo-md-0'],
    [setVariable('gpu'), 'denied'],
  ],
  [
    'a group that is paused by its spec',
    [pause(true), '', 'MachineDeployment', 'demo-md-0'],
    [setVariable('gpu'), 'denied'],
  ],
  [
    'no control plane',
    [
      (cluster) => {
        delete objectAt(cluster, 'spec').controlPlaneRef;
      },
      'denied',
    ],
  ],
  [
    'a class that does not exist',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'topology', 'classRef').name = 'none';
      },
      'denied',
    ],
  ],
  [
    'the health check of the control plane',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'topology', 'controlPlane').healthCheck = {
          enabled: true,
          checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'True', timeoutSeconds: 0 }] },
        };
      },
      /^remediates 1 Machine .*control plane/,
    ],
  ],
  [
    'the health check of the class',
    [
      (object) => {
        objectsAt(object, 'spec', 'workers', 'machineDeployments')[0]!.healthCheck = {
          checks: { unhealthyMachineConditions: [{ type: 'NodeHealthy', status: 'True', timeoutSeconds: 0 }] },
        };
      },
      /^remediates 2 Machines/,
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a worker class that is renamed',
    [
      (object) => {
        objectsAt(object, 'spec', 'workers', 'machineDeployments')[0]!.class = 'other';
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'no patches',
    [
      (object) => {
        delete objectAt(object, 'spec').patches;
      },
      '',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a hundred patches that do nothing',
    [
      (object) => {
        const [patch = {}] = objectsAt(object, 'spec', 'patches');
        objectAt(object, 'spec').patches = Array.from({ length: 100 }, (_, index) => ({
          ...patch,
          name: `p-${index}`,
        }));
      },
      '',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a patch that takes too long',
    [
      (object) => {
        enableIf(object, '{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a patch that cannot be read',
    [
      (object) => {
        enableIf(object, '{{ if }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a patch whose field does not exist',
    [
      (object) => {
        const [patch] = objectsAt(object, 'spec', 'patches');
        objectsAt(patch, 'definitions')[0]!.jsonPatches = [
          { op: 'replace', path: '/spec/template/spec/none/0', value: 1 },
        ];
        enableIf(object, '{{ true }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a patch of the infrastructure of workers',
    [
      (object) => {
        const spec = objectAt(object, 'spec');
        spec.patches = [
          ...objectsAt(object, 'spec', 'patches'),
          {
            name: 'i',
            definitions: [
              {
                selector: {
                  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
                  kind: 'DevMachineTemplate',
                  matchResources: { machineDeploymentClass: { names: ['*'] } },
                },
                jsonPatches: [
                  {
                    op: 'add',
                    path: '/spec/template/spec/backend/inMemory/vm',
                    value: { provisioning: { startupDuration: '5s' } },
                  },
                ],
              },
            ],
          },
        ];
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'the infrastructure of the Cluster',
    [
      (object) => {
        const spec = objectAt(object, 'spec');
        spec.patches = [
          ...objectsAt(object, 'spec', 'patches'),
          {
            name: 'i',
            definitions: [
              {
                selector: {
                  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
                  kind: 'DevClusterTemplate',
                  matchResources: { infrastructureCluster: true },
                },
                jsonPatches: [
                  { op: 'add', path: '/spec/template/spec/controlPlaneEndpoint', value: { host: 'a', port: 1 } },
                ],
              },
            ],
          },
        ];
      },
      '',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'the files of the control plane',
    [
      (object) => {
        const spec = objectAt(object, 'spec');
        spec.patches = [
          ...objectsAt(object, 'spec', 'patches'),
          {
            name: 'c',
            definitions: [
              {
                selector: {
                  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
                  kind: 'KubeadmControlPlaneTemplate',
                  matchResources: { controlPlane: true },
                },
                jsonPatches: [
                  {
                    op: 'add',
                    path: '/spec/template/spec/kubeadmConfigSpec/files',
                    value: [{ path: '/a', content: 'b' }],
                  },
                ],
              },
            ],
          },
        ];
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'an override of a variable',
    [ofDeployment({ variables: { overrides: [{ name: 'nodeLabel', value: 'gpu' }] } }), 'denied'],
  ],
  [
    'a variable that the class does not define',
    [
      (cluster) => {
        topology(cluster).variables = [
          { name: 'nodeLabel', value: '' },
          { name: 'x', value: 1 },
        ];
      },
      'denied',
    ],
  ],
  [
    'one more group',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'topology', 'workers').machineDeployments = [
          ...deployments(cluster),
          { class: 'default-worker', name: 'md-1', replicas: 1 },
        ];
      },
      '',
    ],
  ],
  [
    'one more group, and another renamed',
    [
      (cluster) => {
        const [first = {}] = deployments(cluster);
        objectAt(cluster, 'spec', 'topology', 'workers').machineDeployments = [
          { ...first, name: 'md-1' },
          { ...first, name: 'md-2' },
        ];
      },
      'denied',
    ],
  ],
  ['the class of a group', [ofDeployment({ class: 'none' }), 'denied']],
  ['labels of a group', [ofDeployment({ metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }), '']],
  [
    'the network',
    [
      (cluster) => {
        objectAt(cluster, 'spec', 'clusterNetwork').serviceDomain = 'b.local';
      },
      '',
    ],
  ],
  ['minReadySeconds', [ofDeployment({ minReadySeconds: 5 }), '']],
  [
    'Machines that are not ready for long',
    [ofDeployment({ healthCheck: { enabled: true, checks: { nodeStartupTimeoutSeconds: 60 } } }), ''],
  ],
  [
    'a template of the Cluster itself',
    [
      (object) => {
        objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
          otherArguments;
      },
      'denied',
      'KubeadmConfigTemplate',
      'demo-md-0',
    ],
  ],
  [
    'a template of the Cluster itself, without its labels',
    [
      (object) => {
        objectAt(object, 'metadata').labels = {};
      },
      '',
      'KubeadmConfigTemplate',
      'demo-md-0',
    ],
    [
      (object) => {
        objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
          otherArguments;
      },
      'denied',
      'KubeadmConfigTemplate',
      'demo-md-0',
    ],
  ],
  [
    'a template of the Cluster itself, with a permission',
    [
      all(
        (object) => {
          objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
            otherArguments;
        },
        annotate(allow, 'true'),
      ),
      /^replaces 2 Machines in 1 Cluster: md "md-0"[^\n]*$/,
      'KubeadmConfigTemplate',
      'demo-md-0',
    ],
  ],
  [
    'a template of its class, with a permission',
    [
      all(
        (object) => {
          objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
            otherArguments;
        },
        annotate(allow, 'true'),
      ),
      /^replaces 2 Machines in 1 Cluster: md "md-0"[^\n]*$/,
      'KubeadmConfigTemplate',
      'small-worker',
    ],
  ],
  [
    'a permission of another type, in other letters, with spaces',
    [all(setVariable('gpu'), annotate(allow, ' true')), 'denied'],
    [all(setVariable('gpu'), annotate(allow, 'true\n')), 'denied'],
    [all(setVariable('gpu'), annotate(allow.toUpperCase(), 'true')), 'denied'],
    [
      all(setVariable('gpu'), (cluster) => {
        objectAt(cluster, 'metadata').annotations = { [allow]: true };
      }),
      /^400 /,
    ],
  ],
  [
    'a permission of the Cluster from before, and its class changes',
    [annotate(allow, 'true'), ''],
    [(object) => enableIf(object, '{{ true }}'), 'denied', 'ClusterClass', 'small'],
  ],
  [
    'a permission of its class from before, and the Cluster changes',
    [annotate(allow, 'true'), '', 'ClusterClass', 'small'],
    [setVariable('gpu'), 'denied'],
  ],
  [
    'a class whose groups are OnDelete, then a change, then RollingUpdate',
    [
      (object) => {
        objectsAt(object, 'spec', 'workers', 'machineDeployments')[0]!.rollout = { strategy: { type: 'OnDelete' } };
      },
      '',
      'ClusterClass',
      'small',
    ],
    [setVariable('gpu'), ''],
    [
      (object) => {
        delete objectsAt(object, 'spec', 'workers', 'machineDeployments')[0]!.rollout;
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
  [
    'a template that is labelled as one of the Cluster, then changed',
    [
      (object) => {
        objectAt(object, 'metadata').labels = { 'cluster.x-k8s.io/cluster-name': 'other' };
      },
      '',
      'KubeadmConfigTemplate',
      'small-worker',
    ],
    [
      (object) => {
        objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
          otherArguments;
      },
      'denied',
      'KubeadmConfigTemplate',
      'small-worker',
    ],
  ],
  [
    'a version that is lower',
    [
      (cluster) => {
        topology(cluster).version = 'v1.33.0';
      },
      'denied',
    ],
  ],
  [
    'a build of the same version',
    [
      (cluster) => {
        topology(cluster).version = 'v1.34.0+b.1';
      },
      'denied',
    ],
  ],
  ['a group in other letters', [ofDeployment({ name: 'MD-0' }), 'denied']],
  [
    'a class that is larger than 2 MiB, with a change',
    [
      (object) => {
        objectsAt(object, 'spec', 'patches')[0]!.description = 'x'.repeat(2_200_000);
        enableIf(object, '{{ true }}');
      },
      'denied',
      'ClusterClass',
      'small',
    ],
  ],
];

test.each(cases)('%s', async (_, ...steps) => {
  // What takes one write only leaves the copy as it is.
  const isOne = steps.length === 1;
  const copy = isOne ? untouched : await copied();
  for (const [change, expected, kind, name] of steps) {
    const answer = await copy.write(change, kind, name, isOne ? '?dryRun=All' : '');
    const verdict = answer.code === 403 ? 'denied' : answer.code >= 300 ? `${answer.code} ${answer.text}` : answer.text;
    if (expected instanceof RegExp) {
      expect(verdict).toMatch(expected);
    } else {
      expect([verdict, expected === 'denied' || verdict === '' ? '' : answer.text]).toEqual([expected, '']);
    }
  }
});

test('what Cluster API refuses says why', async () => {
  const change = (cluster: JsonObject) => {
    topology(cluster).variables = [
      { name: 'nodeLabel', value: '' },
      { name: 'x', value: 1 },
    ];
  };
  const { text } = await untouched.write(change, 'Cluster', 'demo', '?dryRun=All');
  expect(text).toMatch(
    /Cluster attack-1\/demo Cluster API refuses this: .*variable.*\. What is not known is permitted in namespace attack-1 only if the same write sets the annotation \S+ to "true"; to see the plan/,
  );
});

test('scaling is free where a plan is not known', async () => {
  const copy = await copied();
  const spec = all((object: JsonObject) => enableIf(object, '{{ ne (genCA "a" 1).Cert "" }}'), annotate(allow, 'true'));
  expect(await copy.write(spec, 'ClusterClass', 'small')).toEqual({
    code: 200,
    text: expect.stringContaining('not known'),
  });
  const write = (fields: JsonObject) => copy.write(ofDeployment(fields), 'Cluster', 'demo', '?dryRun=All');
  expect((await write({ failureDomain: 'b' })).code).toBe(403);
  expect((await write({ replicas: 5 })).code).toBe(200);
  expect((await write({ replicas: 1 })).code).toBe(200);
});

test('a Cluster is deleted with the hash of its plan, and not with a "true"', async () => {
  const copy = await copied();
  const path = copy.pathOf('Cluster', 'demo');
  const { code, text } = await copy.request('DELETE', path);
  const [, hash = ''] = /is "(\w{12})" \(this plan\) before$/.exec(text) ?? [];
  expect([code, text]).toEqual([
    403,
    expect.stringMatching(
      /^.*deletes 2 Machines in 1 Cluster: md "md-0" of (attack-\d+)\/demo \(2\): removed; deletes 1 Machine in 1 Cluster: control plane of \1\/demo \(1\): removed\. Machines in namespace \1 are deleted only if the annotation \S+ is "/,
    ),
  ]);
  await copy.write(annotate(allow, 'true'));
  expect(await copy.request('DELETE', path)).toMatchObject({ code: 403 });
  await copy.write(annotate(allow, hash));
  expect(await copy.request('DELETE', path)).toMatchObject({ code: 200 });
});

test.each([
  '?propagationPolicy=Orphan',
  '?gracePeriodSeconds=0',
  '?dryRun=All',
])('a Cluster is deleted otherwise: %s', async (query) => {
  expect(await untouched.request('DELETE', `${untouched.pathOf('Cluster', 'demo')}${query}`)).toMatchObject({
    code: 403,
  });
});

test('all Clusters of a namespace are deleted', async () => {
  const collection = untouched.pathOf('Cluster', '');
  expect(await untouched.request('DELETE', collection)).toMatchObject({ code: 403 });
  expect(await untouched.request('GET', `${collection}/demo`)).toMatchObject({ code: 200 });
});

test.each<[string, JsonObject | JsonObject[]]>([
  ['application/merge-patch+json', { spec: { topology: { variables: [{ name: 'nodeLabel', value: 'gpu' }] } } }],
  ['application/json-patch+json', [{ op: 'replace', path: '/spec/topology/variables/0/value', value: 'gpu' }]],
  ['application/json-patch+json', [{ op: 'remove', path: '/spec/topology/workers/machineDeployments/0' }]],
  ['application/merge-patch+json', { spec: { topology: null } }],
  [
    'application/apply-patch+yaml',
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'demo' },
      spec: { topology: { variables: [{ name: 'nodeLabel', value: 'gpu' }] } },
    },
  ],
])('written as %s', async (type, body) => {
  const path = `${untouched.pathOf('Cluster', 'demo')}?dryRun=All${type.includes('apply') ? '&fieldManager=argo&force=true' : ''}`;
  expect(await eventually(() => came(patch(path, type, body)), isInTime)).toMatchObject({ code: 403 });
});

test.each(['deny', 'Deny'])('a namespace that asks for permissions (%s) is deleted with one', async (label) => {
  const copy = await copied({ labels: { [replacement]: label } });
  expect(await copy.write(setVariable('gpu'))).toMatchObject({ code: 403 });
  const path = `/api/v1/namespaces/${copy.namespace}`;
  const { code, text } = await copy.request('DELETE', path);
  expect([code, text]).toEqual([403, expect.stringContaining('deletes 2 Machines')]);
});

test('a label of a namespace that is neither deny nor ignore is named', async () => {
  const copy = await copied({ labels: { [replacement]: 'denny' } });
  const label = `namespace ${copy.namespace} has the label ${replacement}=denny, which does nothing: write deny or ignore`;
  const written = await copy.write(setVariable('gpu'));
  expect([written.code, written.text.split('\n')]).toEqual([200, [expect.stringMatching(/^replaces 2 /), label]]);
  expect(await copy.write(annotate('a', 'b'))).toEqual({ code: 200, text: '' });
});

test('a template that is deleted and created again', async () => {
  const copy = await copied();
  const path = copy.pathOf('KubeadmConfigTemplate', 'small-worker');
  const { json } = await raw('GET', path);
  expect(await copy.request('DELETE', path)).toMatchObject({ code: 200 });
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...metadata } = objectAt(json, 'metadata');
  const body = { ...structuredClone(json), metadata };
  objectAt(body, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs = otherArguments;
  const collection = path.replace(/\/[^/]+$/, '');
  expect(await eventually(() => copy.request('POST', `${collection}?dryRun=All`, body), isInTime)).toMatchObject({
    code: 403,
  });
  expect(await copy.request('POST', collection, { ...structuredClone(json), metadata })).toMatchObject({
    code: 201,
    text: '',
  });
});

test('a template that a finalizer holds, deleted and then changed', async () => {
  const copy = await copied();
  const write = (change: (object: JsonObject) => void) => copy.write(change, 'KubeadmConfigTemplate', 'small-worker');
  const hold = (object: JsonObject) => {
    objectAt(object, 'metadata').finalizers = ['example.com/hold'];
  };
  expect(await write(hold)).toEqual({ code: 200, text: '' });
  const { code } = await copy.request('DELETE', copy.pathOf('KubeadmConfigTemplate', 'small-worker'));
  expect(code).toBe(200);
  const change = (object: JsonObject) => {
    objectAt(object, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
      otherArguments;
  };
  expect(await write(change)).toMatchObject({ code: 403 });
});

test('a class that is deleted and created again', async () => {
  const copy = await copied();
  const path = copy.pathOf('ClusterClass', 'small');
  const { json } = await raw('GET', path);
  expect(await copy.request('DELETE', path)).toMatchObject({ code: 200 });
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...metadata } = objectAt(json, 'metadata');
  const body = { ...structuredClone(json), metadata };
  enableIf(body, '{{ true }}');
  expect(await copy.request('POST', copy.pathOf('ClusterClass', ''), body)).toMatchObject({ code: 403 });
});

test('settings of an extension that a class names', async () => {
  const copy = await copied();
  const collection = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  const config = {
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name: 'settled' },
    spec: { clientConfig: { url: 'https://settled.example.com' }, settings: { a: '1' } },
  };
  expect(await copy.request('POST', collection, config)).toMatchObject({ code: 201 });
  const name = all(
    (object: JsonObject) => {
      objectAt(object, 'spec').patches = [{ name: 'e', external: { generatePatchesExtension: 'a.settled' } }];
    },
    annotate(allow, 'true'),
  );
  expect(await copy.write(name, 'ClusterClass', 'small')).toMatchObject({ code: 200 });
  const { json } = await raw('GET', `${collection}/settled`);
  const write = (settings: JsonObject) =>
    copy.request('PUT', `${collection}/settled?dryRun=All`, {
      ...json,
      spec: { ...objectAt(json, 'spec'), settings },
    });
  expect(await write({ a: '2' })).toMatchObject({ code: 403 });
  expect(await write({ a: '1' })).toMatchObject({ code: 200 });
});

test('a namespace loses the label and gets it again', async () => {
  const copy = await copied();
  const label = (value: string | null) =>
    came(
      patch(`/api/v1/namespaces/${copy.namespace}`, 'application/merge-patch+json', {
        metadata: { labels: { [replacement]: value } },
      }),
    );
  await label(null);
  await label('deny');
  expect(
    await eventually(
      () => copy.write(setVariable('gpu'), 'Cluster', 'demo', '?dryRun=All'),
      ({ code }) => code === 403,
    ),
  ).toMatchObject({ code: 403 });
});

test.each<[string, Record<string, string>]>([
  ['labelled ignore', { [replacement]: 'ignore' }],
  ['without a label', {}],
])("the Cluster's namespace counts, not that of its class, which is %s", async (_, labels) => {
  const classes = await copied({ labels });
  const copy = await copied({ classNamespace: classes.namespace });
  const patch = (object: JsonObject) => {
    enableIf(object, '{{ true }}');
  };
  expect(await copy.write(patch, 'ClusterClass', 'small')).toMatchObject({ code: 403 });
});

test('Clusters of a namespace that is labelled ignore are not judged', async () => {
  const copy = await copied({ labels: {} });
  const { json } = await raw('GET', `/api/v1/namespaces/${copy.namespace}`);
  await raw('PUT', `/api/v1/namespaces/${copy.namespace}`, {
    ...json,
    metadata: { ...objectAt(json, 'metadata'), labels: { [replacement]: 'ignore' } },
  });
  expect(
    await eventually(
      () => copy.write(setVariable('gpu'), 'Cluster', 'demo', '?dryRun=All'),
      ({ text }) => text === '',
    ),
  ).toEqual({ code: 200, text: '' });
});

const readsTier =
  '{{ if .builtin.cluster.metadata.labels }}{{ eq (index .builtin.cluster.metadata.labels "tier") "gpu" }}{{ end }}';
const setTier = (cluster: JsonObject) => {
  objectAt(cluster, 'metadata', 'labels').tier = 'gpu';
};

test('two writes at once, of which each alone replaces nothing', async () => {
  const copy = await copied();
  const answers = await Promise.all([
    copy.write((object) => enableIf(object, readsTier), 'ClusterClass', 'small'),
    copy.write(setTier),
  ]);
  expect(answers.map(({ code }) => code).toSorted()).toEqual([200, 403]);
});

test.each([
  'ClusterClass',
  'Cluster',
])('a template, its class and its Cluster are applied at once, %s first: one warning', async (first) => {
  const copy = await copied();
  const { json } = await raw('GET', copy.pathOf('KubeadmConfigTemplate', 'small-worker'));
  const template = structuredClone(json);
  template.metadata = { name: 'small-worker-2' };
  objectAt(template, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
    otherArguments;
  const writes = {
    ClusterClass: () =>
      copy.write(
        (object) => {
          const [worker] = objectsAt(object, 'spec', 'workers', 'machineDeployments');
          objectAt(worker, 'bootstrap', 'templateRef').name = 'small-worker-2';
          annotate(allow, 'true')(object);
        },
        'ClusterClass',
        'small',
      ),
    Cluster: () => copy.write(ofDeployment({ metadata: { labels: { a: 'b' } } })),
  };
  const collection = copy.pathOf('KubeadmConfigTemplate', '');
  const created = copy.request('POST', collection, template);
  const one = first === 'Cluster' ? await writes.Cluster() : await writes.ClusterClass();
  const other = first === 'Cluster' ? await writes.ClusterClass() : await writes.Cluster();
  expect(await created).toEqual({ code: 201, text: '' });
  const texts = [one, other].map(({ text }) => text).filter((text) => text !== '');
  expect(texts).toEqual([
    expect.stringMatching(/^replaces 2 Machines in 1 Cluster: md "md-0" of attack-\d+\/demo \(2\): [^\n]*$/),
  ]);
});

test.each([
  ['templates, class, clusters', 0],
  // A class whose template is not there yet: it, and each Cluster, is not known.
  ['class, clusters, templates', 3],
])('kubectl applies a folder with %s, all changed', needs('kubectl'), async (files, notKnown) => {
  const copy = await copied({ labels: {} });
  const folder = mkdtempSync(join(tmpdir(), 'impact-'));
  const shell = startShell({ ...process.env, KUBECONFIG: kubeconfig });
  onTestFinished(async () => {
    await shell.stop();
    rmSync(folder, { recursive: true });
  });
  const named = (object: JsonObject, name: string) => {
    const renamed = JSON.parse(JSON.stringify(object).replaceAll('demo', name)) as JsonObject;
    objectAt(renamed, 'metadata').namespace = copy.namespace;
    return renamed;
  };
  for (const sample of objectsIn('cluster')) {
    const body = named(sample, 'other');
    const path = copy.pathOf(textAt(body, 'kind'), '');
    expect(await copy.request('POST', path, body)).toEqual({ code: 201, text: '' });
  }
  const write = (name: string, items: JsonObject[]) =>
    writeFileSync(
      join(folder, `${files.split(', ').indexOf(name)}-${name}.json`),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
  const [clusterClass = {}, ...templates] = objectsIn('class').map((object) => named(object, 'demo'));
  const clusters = ['demo', 'other'].map((name) => named(objectsIn('cluster')[0] ?? {}, name));
  const apply = async () => {
    write('templates', templates);
    write('class', [clusterClass]);
    write('clusters', clusters);
    const { code, stderr } = await shell.run('kubectl', ['apply', ...withoutDocuments, '-f', folder]);
    expect(code, stderr).toBe(0);
    return stderr.split('\n').filter((line) => /^Warning: .*Machine/.test(line));
  };
  expect(await apply()).toEqual([]);
  const template = templates.find(({ kind }) => kind === 'KubeadmConfigTemplate') ?? {};
  objectAt(template, 'metadata').name = 'small-worker-2';
  objectAt(template, 'spec', 'template', 'spec', 'joinConfiguration', 'nodeRegistration').kubeletExtraArgs =
    otherArguments;
  const [worker] = objectsAt(clusterClass, 'spec', 'workers', 'machineDeployments');
  objectAt(worker, 'bootstrap', 'templateRef').name = 'small-worker-2';
  enableIf(clusterClass, '{{ eq .nodeLabel "gpu" }}');
  for (const cluster of clusters) {
    ofDeployment({ metadata: { labels: { a: 'b' } } })(cluster);
  }
  const warnings = await apply();
  expect(warnings.slice(0, notKnown).filter((line) => line.includes('not known: ClusterClass'))).toHaveLength(notKnown);
  expect(warnings.slice(notKnown)).toEqual([
    expect.stringMatching(
      /^Warning: replaces 4 Machines in 2 Clusters: md "md-0" of attack-\d+\/\w+ \(2\) and attack-\d+\/\w+ \(2\): /,
    ),
  ]);
});
