import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { plain } from '../../../src/base/index.ts';
import {
  createHiding,
  type Hiding,
  planMarkdown,
  planPage,
  planText,
  recordedObjects,
} from '../../../src/checks/plan/index.ts';
import { type Json, type JsonObject, nameOf, objectAt } from '../../../src/kubernetes/index.ts';
import { isMade, layered, type Plan, plan, prepared, World } from '../../../src/topology/index.ts';

const marker = 'MaRkEr7h1s1sS3cr3t';

const sample = (file: string): JsonObject[] =>
  parseAllDocuments(readFileSync(`manifests/samples/plan/${file}.yaml`, 'utf8')).map((one) => one.toJS() as JsonObject);
const definitions = sample('crds');

/** What runs on a worker, with a secret of each kind. */
const machineSpec = (password: string): JsonObject => ({
  files: [
    { path: '/etc/app.conf', owner: 'root:root', content: `user=a\nmode=${password}\n` },
    { path: '/etc/ca.key', contentFrom: { secret: { name: 'ca', key: 'tls.key' } } },
  ],
  preKubeadmCommands: ['systemctl start a', `mysql -p${password}`],
  users: [{ name: 'admin', passwd: password, shell: '/bin/bash', sshAuthorizedKeys: ['ssh-ed25519 AAAA'] }],
  joinConfiguration: {
    discovery: { bootstrapToken: { token: password, apiServerEndpoint: 'a:6443', unsafeSkipCAVerification: true } },
    nodeRegistration: {
      name: '{{ ds.meta_data.hostname }}',
      kubeletExtraArgs: [{ name: 'eviction-hard', value: 'nodefs.available<0%' }],
    },
  },
});

/** The sample, with a variable of each kind that reaches a machine, and a Secret. */
function objectsWith(value: string): JsonObject[] {
  const objects = structuredClone([...sample('class'), ...sample('cluster')]);
  const find = (kind: string, name: string) =>
    objects.find((one) => one.kind === kind && nameOf(one) === name) as JsonObject;
  const clusterClass = find('ClusterClass', 'small').spec as { variables: Json[]; patches: Json[] };
  const variables = ['dbPassword', 'appMode', 'pin'];
  clusterClass.variables.push(
    {
      name: 'dbPassword',
      required: false,
      schema: { openAPIV3Schema: { type: 'string', default: 'hunter22hunter22' } },
    },
    { name: 'appMode', required: false, schema: { openAPIV3Schema: { type: 'string', pattern: '^[A-Za-z0-9]*$' } } },
    { name: 'pin', required: false, schema: { openAPIV3Schema: { type: 'string', format: 'password' } } },
  );
  clusterClass.patches.push({
    name: 'app',
    definitions: [
      {
        selector: {
          apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
          kind: 'KubeadmConfigTemplate',
          matchResources: { machineDeploymentClass: { names: ['default-worker'] } },
        },
        jsonPatches: variables.map((name) => ({
          op: 'add',
          path: '/spec/template/spec/users/-',
          valueFrom: { template: `{"name":"u-{{ .${name} | b64enc | lower }}","gecos":"{{ .${name} }}"}` },
        })),
      },
    ],
  });
  objectAt(find('KubeadmConfigTemplate', 'small-worker'), 'spec', 'template').spec = machineSpec('none');
  const topology = objectAt(find('Cluster', 'demo'), 'spec', 'topology') as unknown as { variables: Json[] };
  topology.variables.push(...variables.map((name) => ({ name, value })));
  return [
    ...objects,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'ca', namespace: 'default' },
      stringData: { 'tls.key': value },
    },
  ].map((one) => prepared(one as JsonObject));
}

type Path = readonly (string | number)[];

/** The places of all texts. */
const textsIn = (value: unknown, path: Path = []): Path[] =>
  typeof value === 'string'
    ? [path]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, one]) => textsIn(one, [...path, Array.isArray(value) ? Number(key) : key]))
      : [];

function planted(object: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(object);
  let inner = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    inner = inner[step] as Record<string | number, unknown>;
  }
  inner[path.at(-1) ?? ''] = marker;
  return copy;
}

/** Everything that is written about a change, by what it is written as. */
async function outputsOf(before: JsonObject[], after: JsonObject[]): Promise<Record<string, string>> {
  const hiding = createHiding([...before, ...after]);
  const written: JsonObject[] = [];
  const made: Plan = await plan(new World([...definitions, ...before]), new World([...definitions, ...after]), {
    now: new Date(0),
    signal: AbortSignal.timeout(60_000),
    onObjects: (_, pairs) => written.push(...pairs.map((pair) => hiding.objects(pair) as unknown as JsonObject)),
  });
  const shown = hiding.plan(made);
  return {
    text: planText(shown, new Map(), { paint: plain, width: 1_000 }),
    markdown: planMarkdown(shown, new Map()),
    json: JSON.stringify(shown),
    page: planPage(shown, new Map(), { inputs: '', release: '', madeAt: new Date(0) }),
    write: JSON.stringify(written),
    record: JSON.stringify(recordedObjects(after, hiding)),
  };
}

const isIn = (outputs: Record<string, string>, text: string): string[] =>
  Object.keys(outputs).filter((name) => outputs[name]?.toLowerCase().includes(text.toLowerCase()));

/** Texts that may come out, and why that is right. */
const comesOut: readonly [why: string, places: RegExp][] = [
  [
    'names, kinds, versions and references say what is meant',
    /[ .](?:apiVersion|apiGroup|kind|name|namespace|version|class|clusterName)$/i,
  ],
  ['so do labels and annotations', /metadata\.(?:labels|annotations)\.|matchLabels/],
  [
    'a class is read by all who have Clusters of it: its schemas and patches, but for defaults of secrets',
    /^ClusterClass spec\.(?:variables\.\d\.schema\.openAPIV3Schema\.(?:type|pattern|format)|variables\.0\.schema\.openAPIV3Schema\.default|patches\.)/,
  ],
  [
    'which file, whose, which user, with which shell, and public keys, are no content',
    /spec\.template\.spec\.(?:files\.\d\.(?:path|owner|contentFrom\.secret\.(?:name|key))|users\.0\.(?:shell|sshAuthorizedKeys\.0))$/,
  ],
  ['addresses and strategies', /(?:Endpoint|host|serviceDomain|cidrBlocks\.0|certSANs\.0|strategy\.type)$/],
  [
    'neither its name nor its schema says that the variable is secret',
    /^Cluster spec\.topology\.variables\.[02]\.value$/,
  ],
];

/** Texts that must not. */
const secretPlaces = [
  'ClusterClass spec.variables.1.schema.openAPIV3Schema.default',
  'KubeadmConfigTemplate spec.template.spec.files.0.content',
  'KubeadmConfigTemplate spec.template.spec.preKubeadmCommands.0',
  'KubeadmConfigTemplate spec.template.spec.preKubeadmCommands.1',
  'KubeadmConfigTemplate spec.template.spec.users.0.passwd',
  'KubeadmConfigTemplate spec.template.spec.joinConfiguration.discovery.bootstrapToken.token',
  'KubeadmConfigTemplate spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.0.value',
  'KubeadmControlPlane spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration.kubeletExtraArgs.0.value',
  'KubeadmConfig spec.initConfiguration.nodeRegistration.kubeletExtraArgs.0.value',
  'Cluster spec.topology.variables.1.value',
  'Cluster spec.topology.variables.3.value',
  'Secret stringData.tls.key',
];

test('a marker at each text of each object comes out only where that is right', async () => {
  const objects = objectsWith('none');
  const found = new Set<string>();
  const all = new Set<string>();
  // Of what Cluster API makes, one of each kind.
  const isFirst = (object: JsonObject) => objects.find(({ kind }) => kind === object.kind) === object;
  for (const object of objects.filter((one) => !isMade(one) || isFirst(one))) {
    for (const path of textsIn(object)) {
      const place = `${object.kind} ${path.join('.')}`;
      all.add(place);
      const other = planted(object, path);
      const others = objects.filter((one) => one !== object);
      const before = isMade(object) ? [...others, other] : objects;
      const after = isMade(object) ? before : layered(objects, [...others.filter((one) => !isMade(one)), other]);
      if (isIn(await outputsOf(before, [...after]), marker).length > 0) {
        found.add(place);
      }
    }
  }
  expect(secretPlaces.filter((place) => !all.has(place))).toEqual([]);
  expect(secretPlaces.filter((place) => found.has(place))).toEqual([]);
  expect([...found].filter((place) => !comesOut.some(([, places]) => places.test(place)))).toEqual([]);
  expect(comesOut.filter(([, places]) => ![...found].some((place) => places.test(place)))).toEqual([]);
});

/** The sample, where a variable has a value and a patch of workers makes something of it. */
function withVariable(name: string, value: Json, schema: JsonObject, template: string, path: string): JsonObject[] {
  const objects = structuredClone([...sample('class'), ...sample('cluster')]);
  for (const { kind, spec } of objects as unknown as { kind: string; spec: Record<string, never> }[]) {
    const { variables, patches, topology } = spec as unknown as Record<string, Json[]> & {
      topology: Record<string, Json[]>;
    };
    if (kind === 'ClusterClass') {
      variables?.push({ name, required: false, schema: { openAPIV3Schema: schema } });
      patches?.push({
        name: 'app',
        enabledIf: `{{ if .${name} }}true{{ end }}`,
        definitions: [
          {
            selector: {
              apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
              kind: 'KubeadmConfigTemplate',
              matchResources: { machineDeploymentClass: { names: ['default-worker'] } },
            },
            jsonPatches: [{ op: 'add', path: `/spec/template/spec/${path}`, valueFrom: { template } }],
          },
        ],
      });
    } else if (kind === 'Cluster') {
      topology.variables?.push({ name, value });
    }
  }
  return objects.map((one) => prepared(one));
}

const text = { type: 'string' };
const commands = 'preKubeadmCommands';

test.each<[what: string, schema: JsonObject, template: string, path?: string, value?: Json, shown?: string]>([
  ['a command', text, '["echo {{ .dbPassword }}"]'],
  ['a field', text, '{"servers":["{{ .dbPassword }}"]}', 'ntp'],
  ['a file', text, '[{"path":"/x","content":"{{ .dbPassword }}"}]', 'files'],
  ['a file in base64', text, '[{"path":"/x","content":"{{ .dbPassword | b64enc }}"}]', 'files', marker, 'TWFSa0Vy'],
  ['a message about its length', { ...text, maxLength: 3 }, '[]'],
  ['a message about its pattern', { ...text, pattern: '^[0-9]+$' }, '[]'],
  ['a message about its enum', { ...text, enum: ['a'] }, '[]'],
  [
    'a rule',
    { ...text, 'x-kubernetes-validations': [{ rule: "self == ''", messageExpression: "'got ' + self" }] },
    '[]',
  ],
  ['a message about its type', { type: 'integer' }, '[]'],
  ['what a template fails with', text, '{{ .dbPassword | fail }}'],
  ['what a template fails with in base64', text, '{{ .dbPassword | b64enc | fail }}', commands, marker, 'TWFSa0Vy'],
  ['YAML that cannot be read', text, 'a: {{ .dbPassword }}: b: {{ .dbPassword }}'],
  ['a value of another type', text, '{{ .dbPassword }}', 'ntp'],
  [
    'a field of it',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    '{"servers":["{{ .dbPassword.a }}"]}',
    'ntp',
    { a: marker },
  ],
  ['a key', text, '{"{{ .dbPassword }}":[]}', 'ntp'],
  ['a number', { type: 'integer' }, '{"servers":["{{ .dbPassword }}"]}', 'ntp', 12345678901, '12345678901'],
])('a secret variable in %s does not come out', async (_, schema, template, path = commands, value = marker, shown = marker) => {
  const objects = (one: Json) => withVariable('dbPassword', one, schema, template, path);
  const before = objects('');
  const after = objects(value);
  expect(isIn(await outputsOf(before, [...layered(before, after)]), shown)).toEqual([]);
});

test.each([
  ['sha256sum', 'cf3cec5ef08d'],
  ['trunc 6', marker.slice(0, 6)],
])('what %s makes of a secret variable comes out only where it is written to a folder', async (call, shown) => {
  const objects = (one: Json) =>
    withVariable('dbPassword', one, text, `{"servers":["{{ .dbPassword | ${call} }}"]}`, 'ntp');
  const before = objects('');
  const outputs = await outputsOf(before, [...layered(before, objects(marker))]);
  expect(isIn(outputs, shown)).toEqual(['write']);
  expect(outputs.text).toContain('(patch app, variable dbPassword)');
});

test('content of machines: how long it is, and which lines differ', async () => {
  const old = objectAt(machineSpec('another1'));
  const files = [{ path: '/etc/app.conf', content: 'user=a\nmode=b\nc=d\n' }];
  const cause = { object: 'A a', field: 'spec.files', before: old.files as Json, after: files };
  const plans = (hiding: Hiding) =>
    hiding.plan({
      clusters: [{ cluster: 'a/b', problems: [], groups: [{ causes: [cause] } as never] }],
      sum: {} as never,
    }).clusters[0]?.groups[0]?.causes[0];
  expect(plans(createHiding([]))).toMatchObject({
    before: [{ path: '/etc/app.conf', content: '(2 lines, 21 characters; line 2 removed)' }, {}],
    after: [{ path: '/etc/app.conf', content: '(3 lines, 18 characters; lines 2-3 new)' }],
  });
  expect(plans(createHiding([], { showsContent: true }))).toMatchObject({ after: files });
});
