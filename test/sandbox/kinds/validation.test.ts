import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fieldAt, type JsonObject, type StatusCause } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { scheduleProblem } from '../../../src/sandbox/kinds/cron-schedule.ts';
import { send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const inDefault = (groupVersion: string, plural: string) => `/${groupVersion}/namespaces/default/${plural}`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const labels = { app: 'a' };
const container = { name: 'a', image: 'a:1' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const job = { spec: { containers: [container], restartPolicy: 'Never' } };

/** A valid object of each kind: its path and its fields. */
const kinds = {
  Deployment: [inDefault('apis/apps/v1', 'deployments'), { spec: { selector: { matchLabels: labels }, template } }],
  Job: [inDefault('apis/batch/v1', 'jobs'), { spec: { template: job } }],
  CronJob: [
    inDefault('apis/batch/v1', 'cronjobs'),
    { spec: { schedule: '17 * * * *', jobTemplate: { spec: { template: job } } } },
  ],
  Service: [inDefault('api/v1', 'services'), { spec: { ports: [{ port: 443, targetPort: 'https' }] } }],
  Secret: [inDefault('api/v1', 'secrets'), { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }],
  ConfigMap: [inDefault('api/v1', 'configmaps'), { data: { a: 'b' } }],
  NetworkPolicy: [
    inDefault('apis/networking.k8s.io/v1', 'networkpolicies'),
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 443 }], from: [{ podSelector: {} }] }] } },
  ],
  PodDisruptionBudget: [inDefault('apis/policy/v1', 'poddisruptionbudgets'), { spec: { minAvailable: 1 } }],
  PriorityClass: ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 1 }],
  Role: [
    inDefault('apis/rbac.authorization.k8s.io/v1', 'roles'),
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  ],
  ClusterRoleBinding: [
    `${rbac}/clusterrolebindings`,
    { roleRef: { kind: 'ClusterRole', name: 'a' }, subjects: [{ kind: 'ServiceAccount', name: 'a', namespace: 'b' }] },
  ],
  MutatingWebhookConfiguration: [
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    {
      webhooks: [
        {
          name: 'a.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service: { namespace: 'a', name: 'b' } },
          rules: [
            { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] },
          ],
        },
      ],
    },
  ],
} as const satisfies Record<string, readonly [string, object]>;

type Kind = keyof typeof kinds;

function set(object: JsonObject, path: string, value: unknown): JsonObject {
  const keys = path.split('.');
  const last = keys.pop() as string;
  const holder = keys.reduce((at, key) => at[key] as JsonObject, object);
  if (value === undefined) {
    delete holder[last];
  } else {
    holder[last] = value as never;
  }
  return object;
}

const bodyOf = (kind: Kind, name: string) =>
  structuredClone({ metadata: { name }, ...kinds[kind][1] }) as unknown as JsonObject;

/** What an API server refuses: where, with which reason. */
const causesOf = ({ json }: { json: JsonObject }) =>
  ((json.details as { causes?: StatusCause[] } | undefined)?.causes ?? []).map(({ field, reason }) => [
    field,
    reason.replace('FieldValue', ''),
  ]);

test.each(Object.keys(kinds) as Kind[])('a valid %s is stored', async (kind) => {
  const { status, text } = await send(sandbox, 'POST', kinds[kind][0], { body: bodyOf(kind, 'valid') });
  expect(status, text).toBe(201);
});

describe('an invalid field', () => {
  test.each<[kind: Kind, field: string, value: unknown, causedAt: string, reason: string]>([
    ['Deployment', 'spec.selector', undefined, 'spec.selector', 'Required'],
    ['Deployment', 'spec.selector', {}, 'spec.selector', 'Invalid'],
    ['Deployment', 'spec.selector.matchLabels', { app: 'b' }, 'spec.template.metadata.labels', 'Invalid'],
    ['Deployment', 'spec.selector.matchLabels', { app: 'not a value' }, 'spec.selector.matchLabels.app', 'Invalid'],
    ['Deployment', 'spec.replicas', -1, 'spec.replicas', 'Invalid'],
    ['Deployment', 'spec.strategy', { type: 'Sudden' }, 'spec.strategy.type', 'NotSupported'],
    [
      'Deployment',
      'spec.strategy',
      { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
      'spec.strategy.rollingUpdate.maxUnavailable',
      'Invalid',
    ],
    [
      'Deployment',
      'spec.strategy',
      { type: 'Recreate', rollingUpdate: {} },
      'spec.strategy.rollingUpdate',
      'Forbidden',
    ],
    ['Deployment', 'spec.progressDeadlineSeconds', 0, 'spec.progressDeadlineSeconds', 'Invalid'],
    ['Deployment', 'spec.template.spec.restartPolicy', 'Never', 'spec.template.spec.restartPolicy', 'NotSupported'],
    ['Deployment', 'spec.template.spec.containers', undefined, 'spec.template.spec.containers', 'Required'],
    [
      'Deployment',
      'spec.template.spec.containers',
      [{ name: 'a' }],
      'spec.template.spec.containers[0].image',
      'Required',
    ],
    [
      'Deployment',
      'spec.template.spec.containers',
      [container, container],
      'spec.template.spec.containers[1].name',
      'Duplicate',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.ports',
      [{ containerPort: 0 }],
      'spec.template.spec.containers[0].ports[0].containerPort',
      'Invalid',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.volumeMounts',
      [{ name: 'v', mountPath: '/v' }],
      'spec.template.spec.containers[0].volumeMounts[0].name',
      'NotFound',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.livenessProbe',
      {},
      'spec.template.spec.containers[0].livenessProbe',
      'Required',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.imagePullPolicy',
      'Sometimes',
      'spec.template.spec.containers[0].imagePullPolicy',
      'NotSupported',
    ],
    [
      'Deployment',
      'spec.template.spec.volumes',
      [{ name: 'v', emptyDir: {}, secret: {} }],
      'spec.template.spec.volumes[0]',
      'Forbidden',
    ],
    ['Deployment', 'spec.template.spec.containers.0.image', '', 'spec.template.spec.containers[0].image', 'Required'],
    ['Deployment', 'spec.template.spec.containers.0.name', '', 'spec.template.spec.containers[0].name', 'Required'],
    [
      'Deployment',
      'spec.template.metadata',
      { labels: { ...labels, b: 'not a value' } },
      'spec.template.metadata.labels',
      'Invalid',
    ],
    [
      'Deployment',
      'spec.template.metadata',
      { labels, annotations: { '-': '' } },
      'spec.template.metadata.annotations',
      'Invalid',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.resources',
      { requests: { cpu: '-1' } },
      'spec.template.spec.containers[0].resources.requests[cpu]',
      'Invalid',
    ],
    [
      'Deployment',
      'spec.template.spec.containers.0.resources',
      { requests: { memory: '1Gi' }, limits: { memory: '1G' } },
      'spec.template.spec.containers[0].resources.requests',
      'Invalid',
    ],
    ['MutatingWebhookConfiguration', 'webhooks.0.name', '', 'webhooks[0].name', 'Required'],
    ['Role', 'rules.0.verbs', undefined, 'rules[0].verbs', 'Required'],
    ['Job', 'spec.template.spec.restartPolicy', undefined, 'spec.template.spec.restartPolicy', 'NotSupported'],
    ['Job', 'spec.backoffLimit', -1, 'spec.backoffLimit', 'Invalid'],
    ['CronJob', 'spec.schedule', '99 * * * *', 'spec.schedule', 'Invalid'],
    ['CronJob', 'spec.concurrencyPolicy', 'Maybe', 'spec.concurrencyPolicy', 'NotSupported'],
    [
      'CronJob',
      'spec.jobTemplate.spec.template.spec.restartPolicy',
      'Always',
      'spec.jobTemplate.spec.template.spec.restartPolicy',
      'NotSupported',
    ],
    ['CronJob', 'metadata.name', 'n'.repeat(53), 'metadata.name', 'Invalid'],
    ['Service', 'spec.ports.0.port', 99_999_999, 'spec.ports[0].port', 'Invalid'],
    ['Service', 'spec.ports.0.targetPort', 'not_a_name', 'spec.ports[0].targetPort', 'Invalid'],
    ['Service', 'spec.ports.0.protocol', 'ICMP', 'spec.ports[0].protocol', 'NotSupported'],
    ['Service', 'spec.ports', [{ port: 1 }, { port: 2, name: 'b' }], 'spec.ports[0].name', 'Required'],
    [
      'Service',
      'spec.ports',
      [
        { port: 1, name: 'b' },
        { port: 2, name: 'b' },
      ],
      'spec.ports[1].name',
      'Duplicate',
    ],
    [
      'Service',
      'spec.ports',
      [
        { port: 1, name: 'a' },
        { port: 1, name: 'b' },
      ],
      'spec.ports[1].port',
      'Duplicate',
    ],
    ['Service', 'spec.ports', undefined, 'spec.ports', 'Required'],
    ['Service', 'spec.type', 'ExternalName', 'spec.externalName', 'Invalid'],
    ['Service', 'spec.type', 'Local', 'spec.type', 'NotSupported'],
    ['Secret', 'data', { 'tls.crt': '' }, 'data[tls.key]', 'Required'],
    ['Secret', 'data', { 'tls.crt': '', 'tls.key': '', 'a/b': '' }, 'data[a/b]', 'Invalid'],
    ['ConfigMap', 'binaryData', { a: 'YQ==' }, 'data[a]', 'Invalid'],
    [
      'ConfigMap',
      'metadata.ownerReferences',
      [{ apiVersion: 'v1', kind: 'Pod', name: 'a' }],
      'metadata.ownerReferences[0].uid',
      'Required',
    ],
    ['NetworkPolicy', 'spec.policyTypes', ['Outgress'], 'spec.policyTypes[0]', 'NotSupported'],
    ['NetworkPolicy', 'spec.ingress.0.ports', [{ port: 70_000 }], 'spec.ingress[0].ports[0].port', 'Invalid'],
    [
      'NetworkPolicy',
      'spec.ingress.0.ports',
      [{ port: 10, endPort: 9 }],
      'spec.ingress[0].ports[0].endPort',
      'Invalid',
    ],
    ['NetworkPolicy', 'spec.ingress.0.from', [{}], 'spec.ingress[0].from[0]', 'Required'],
    [
      'NetworkPolicy',
      'spec.ingress.0.from',
      [{ ipBlock: { cidr: '10.0.0.0/99' } }],
      'spec.ingress[0].from[0].ipBlock.cidr',
      'Invalid',
    ],
    ['PodDisruptionBudget', 'spec.maxUnavailable', 1, 'spec', 'Invalid'],
    ['PodDisruptionBudget', 'spec.minAvailable', '200%', 'spec.minAvailable', 'Invalid'],
    [
      'PodDisruptionBudget',
      'spec.unhealthyPodEvictionPolicy',
      'Never',
      'spec.unhealthyPodEvictionPolicy',
      'NotSupported',
    ],
    ['PriorityClass', 'value', 2_000_000_000, 'value', 'Forbidden'],
    ['PriorityClass', 'metadata.name', 'system-x', 'metadata.name', 'Forbidden'],
    ['Role', 'rules.0.verbs', undefined, 'rules[0].verbs', 'Required'],
    ['Role', 'rules.0.apiGroups', [], 'rules[0].apiGroups', 'Required'],
    ['Role', 'rules.0', { verbs: ['get'], nonResourceURLs: ['/a'] }, 'rules[0].nonResourceURLs', 'Invalid'],
    ['ClusterRoleBinding', 'roleRef.kind', 'Role', 'roleRef.kind', 'NotSupported'],
    ['ClusterRoleBinding', 'subjects.0.namespace', undefined, 'subjects[0].namespace', 'Required'],
    ['MutatingWebhookConfiguration', 'webhooks.0.sideEffects', undefined, 'webhooks[0].sideEffects', 'Required'],
    [
      'MutatingWebhookConfiguration',
      'webhooks.0.reinvocationPolicy',
      'Twice',
      'webhooks[0].reinvocationPolicy',
      'NotSupported',
    ],
    [
      'MutatingWebhookConfiguration',
      'webhooks.0.rules.0.operations',
      ['PATCH'],
      'webhooks[0].rules[0].operations[0]',
      'NotSupported',
    ],
    [
      'MutatingWebhookConfiguration',
      'webhooks.0.rules.0.apiGroups',
      ['*', 'apps'],
      'webhooks[0].rules[0].apiGroups',
      'Invalid',
    ],
    [
      'MutatingWebhookConfiguration',
      'webhooks.0.clientConfig.service.port',
      0,
      'webhooks[0].clientConfig.service.port',
      'Invalid',
    ],
    [
      'MutatingWebhookConfiguration',
      'webhooks.0.objectSelector',
      { matchExpressions: [{ key: 'a', operator: 'Is' }] },
      'webhooks[0].objectSelector.matchExpressions[0].operator',
      'NotSupported',
    ],
  ])('of a %s: %s = %j', async (kind, field, value, causedAt, reason) => {
    const body = set(bodyOf(kind, 'invalid'), field, value);
    const answer = await send(sandbox, 'POST', kinds[kind][0], { body });
    expect(answer.json, answer.text).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(causesOf(answer)).toContainEqual([causedAt, reason]);
  });
});

describe('an update cannot change', () => {
  test.each<[kind: Kind, field: string, value: unknown, causedAt: string, reason: string]>([
    ['Deployment', 'spec.selector.matchLabels', { app: 'a', more: 'b' }, 'spec.selector', 'Invalid'],
    ['Job', 'spec.template.spec.containers.0.args', ['--other'], 'spec.template', 'Invalid'],
    ['Job', 'spec.completions', 2, 'spec.completions', 'Invalid'],
    ['Job', 'spec.selector', { matchLabels: labels }, 'spec.selector', 'Invalid'],
    ['Secret', 'type', 'Opaque', 'type', 'Invalid'],
    ['PriorityClass', 'value', 2, 'value', 'Forbidden'],
    ['ClusterRoleBinding', 'roleRef.name', 'b', 'roleRef', 'Invalid'],
  ])('of a %s: %s', async (kind, field, value, causedAt, reason) => {
    const path = kinds[kind][0];
    const name = `fixed-${field.toLowerCase()}`;
    const created = await send(sandbox, 'POST', path, { body: bodyOf(kind, name) });
    expect(created.status, created.text).toBe(201);
    const refused = await send(sandbox, 'PUT', `${path}/${name}`, { body: set(created.json, field, value) });
    expect(refused.json).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(causesOf(refused)).toContainEqual([causedAt, reason]);
  });
});

test('a Job gets the selector of its pods, and everything that the API server completes', async () => {
  const { json } = await send(sandbox, 'POST', kinds.Job[0], { body: bodyOf('Job', 'completed') });
  const { uid } = json.metadata as { uid: string };
  expect(json.spec).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: {
      metadata: {
        labels: { 'batch.kubernetes.io/job-name': 'completed', 'job-name': 'completed', 'controller-uid': uid },
      },
      spec: {
        dnsPolicy: 'ClusterFirst',
        terminationGracePeriodSeconds: 30,
        containers: [{ imagePullPolicy: 'IfNotPresent' }],
      },
    },
  });
});

test.each([
  ['a', 'Always'],
  ['example.com:5000/a', 'Always'],
  ['example.com:5000/a:latest', 'Always'],
  ['a:1', 'IfNotPresent'],
  ['a@sha256:0', 'IfNotPresent'],
])('the image %s is pulled: %s', async (image, imagePullPolicy) => {
  const body = bodyOf('Deployment', 'pulled');
  set(body, 'spec.template.spec.containers.0.image', image);
  const { json } = await send(sandbox, 'POST', `${kinds.Deployment[0]}?dryRun=All`, { body });
  expect(json.spec).toMatchObject({ template: { spec: { containers: [{ imagePullPolicy }] } } });
});

test.each<[string, string | undefined]>([
  ['17 * * * *', undefined],
  ['*/5 0-23/2 1,15 jan-MAR mon', undefined],
  ['@daily', undefined],
  ['@every 1h30m', undefined],
  ['@every day', 'unrecognized descriptor: @every day'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['* * * *', 'expected exactly 5 fields, found 4'],
  ['60 * * * *', 'the minute must be within 0 and 59'],
  ['* * 0 * *', 'the day of month must be within 1 and 31'],
  ['* * * 5-2 *', 'the month must be within 1 and 12'],
  ['* * * * 7', 'the day of week must be within 0 and 6'],
  ['*/0 * * * *', 'the minute must be within 0 and 59'],
  ['1-2-3 * * * *', 'the minute must be within 0 and 59'],
  ['TZ=UTC * * * * *', 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
])('the schedule %j', (schedule, problem) => {
  expect(scheduleProblem(schedule)).toBe(problem);
});

test.each([
  ['12 apples', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ['1.5ki', "unable to parse quantity's suffix"],
  [true, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
])('the quantity %j cannot be decoded', async (cpu, why) => {
  const body = set(bodyOf('Deployment', 'a'), 'spec.template.spec.containers.0.resources', { limits: { cpu } });
  expect((await send(sandbox, 'POST', kinds.Deployment[0], { body })).json).toMatchObject({
    code: 400,
    message: `Deployment in version "v1" cannot be handled as a Deployment: ${why}`,
  });
});

test('quantities may be numbers, and are stored as texts', async () => {
  const limits = { cpu: 0.5, memory: '128Mi', 'example.com/x': 1e3, 'ephemeral-storage': '1e6' };
  const requests = { cpu: '500m', memory: '1e8' };
  const resources = { limits, requests };
  const body = set(bodyOf('Deployment', 'quantities'), 'spec.template.spec.containers.0.resources', resources);
  const { status, json } = await send(sandbox, 'POST', kinds.Deployment[0], { body });
  expect([status, fieldAt(json, 'spec', 'template', 'spec', 'containers', 0, 'resources')]).toEqual([
    201,
    { limits: { ...limits, cpu: '0.5', 'example.com/x': '1000' }, requests },
  ]);
});

test('the empty API group of a ServiceAccount is not stored', async () => {
  const subject = { kind: 'ServiceAccount', name: 'sample', namespace: 'default' };
  for (const [name, written] of [
    ['with-group', { ...subject, apiGroup: '' }],
    ['without-group', subject],
  ] as const) {
    const body = set(bodyOf('ClusterRoleBinding', name), 'subjects', [written]);
    const { status, json } = await send(sandbox, 'POST', kinds.ClusterRoleBinding[0], { body });
    expect([status, fieldAt(json, 'subjects', 0)]).toEqual([201, subject]);
  }
});

test("problems of the schema of Kubernetes' own kinds are reported together with those of several fields", async () => {
  const body = set(bodyOf('Deployment', 'a'), 'spec.replicas', -1);
  set(body, 'spec.selector.matchLabels', { app: 'b' });
  expect(causesOf(await send(sandbox, 'POST', kinds.Deployment[0], { body }))).toEqual([
    ['spec.replicas', 'Invalid'],
    ['spec.template.metadata.labels', 'Invalid'],
  ]);
});

test('rules of a definition are evaluated unless the object lacks their shape, which the response says', async () => {
  const spec = {
    type: 'object',
    required: ['size'],
    properties: { size: { type: 'integer', maximum: 5 }, name: { type: 'string', minLength: 3 } },
    'x-kubernetes-validations': [{ rule: 'self.size != 4', message: 'not four' }],
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const definition = {
    metadata: { name: 'ruled.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'ruled', kind: 'Ruled' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  const path = '/apis/example.com/v1/ruled';
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  await vi.waitFor(async () => expect((await send(sandbox, 'GET', path)).status).toBe(200));
  const create = async (fields: object) =>
    causesOf(await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, spec: fields } }));
  expect(await create({ size: 4, name: 'a' })).toEqual([
    ['spec.name', 'Invalid'],
    ['spec', 'Invalid'],
  ]);
  expect(await create({ name: 'a' })).toEqual([
    ['spec.name', 'Invalid'],
    ['spec.size', 'Required'],
    ['<nil>', 'Invalid'],
  ]);
});
