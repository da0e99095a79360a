import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crd } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, type SandboxEvent, startSandbox } from '../../../src/sandbox/index.ts';
import { runs } from '../../support/runs.ts';
import { registerAsCaptured, send, startAgreeingWebhook } from '../client.ts';

const events: SandboxEvent[] = [];
let sandbox: Sandbox;
let webhook: Awaited<ReturnType<typeof startAgreeingWebhook>>;
beforeAll(async () => {
  webhook = await startAgreeingWebhook(() => undefined);
  sandbox = await startSandbox({ log: (event) => events.push(event) });
  await registerAsCaptured(sandbox, webhook);
});
afterAll(async () => {
  await sandbox.stop();
  await webhook.stop();
});

/** Valid objects, before something in them is replaced. */
const seeds: [string, JsonObject][] = [
  [
    '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs',
    {
      metadata: { name: 'a', labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: ['a.example.com/b'] },
      spec: { clientConfig: { service: { namespace: 'a', name: 'b', port: 1 } }, namespaceSelector: {}, settings: {} },
      status: { conditions: [], handlers: [] },
    },
  ],
  ['/api/v1/namespaces/default/secrets', { metadata: { name: 'a' }, stringData: { a: 'b' }, type: 'Opaque' }],
  ['/api/v1/namespaces', { metadata: { name: 'b' }, spec: { finalizers: ['x'] }, status: { phase: 'x' } }],
  ['/api/v1/namespaces/default/services', { metadata: { name: 'a' }, spec: { ports: [{ port: 1, protocol: 'TCP' }] } }],
  ['/api/v1/namespaces/default/events', { metadata: { name: 'a' }, involvedObject: { kind: 'A', name: 'b' } }],
  [
    '/apis/apps/v1/namespaces/default/deployments',
    {
      metadata: { name: 'a' },
      spec: { replicas: 1, template: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 1 }] }] } } },
      status: { readyReplicas: 1 },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      metadata: { name: 'a' },
      webhooks: [
        {
          name: 'a.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
          timeoutSeconds: 1,
          clientConfig: { service: { namespace: 'a', name: 'b' }, caBundle: 'AA==' },
          namespaceSelector: { matchLabels: { a: 'b' } },
          objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
          matchConditions: [{ name: 'a', expression: 'true' }],
          rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: '*' }],
        },
      ],
    },
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing', shortNames: ['t'], categories: ['all'] },
        conversion: { strategy: 'None' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { a: { type: 'string', pattern: 'a', enum: ['a'] } } },
                },
                anyOf: [{ required: ['spec'] }],
                'x-kubernetes-validations': [{ rule: 'has(self.spec)', message: 'x', messageExpression: "'x'" }],
              },
            },
          },
        ],
      },
    },
  ],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', structuredClone(crd) as unknown as JsonObject],
];

/** The paths of all values within a value. */
function placesIn(value: Json, path: (string | number)[] = []): (string | number)[][] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => placesIn(item, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key]))
      : [];
  return path.length === 0 ? inner : [path, ...inner];
}

function replaced(value: Json, path: readonly (string | number)[], next: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) {
    return next;
  }
  const copy = structuredClone(value) as Record<string | number, Json>;
  copy[key] = replaced(copy[key] as Json, rest, next);
  return copy as Json;
}

const anything = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e300, '', 'x', [], {}, [null], [[]], { a: null }, { constructor: 1 }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
);

const wrongObject = fc.oneof(
  ...seeds.map(([path, object]) =>
    fc
      .array(fc.tuple(fc.constantFrom(...placesIn(object)), anything), { minLength: 1, maxLength: 3 })
      .map((changes): [string, Json] => [
        path,
        changes.reduce<Json>((changed, [place, value]) => {
          try {
            return replaced(changed, place, value);
          } catch {
            // An earlier change removed this path.
            return changed;
          }
        }, object),
      ]),
  ),
);

const queries = fc.constantFrom(
  '',
  '?dryRun=All',
  '?fieldValidation=Strict',
  '?fieldValidation=Ignore',
  '?dryRun=x',
  '?fieldManager=a',
);

function checked(answer: Awaited<ReturnType<typeof send>>): void {
  const bugs = events.splice(0).filter(({ event }) => event === 'bug');
  expect(bugs).toEqual([]);
  expect(answer.status, answer.text).toBeLessThan(500);
}

test('an object with arbitrary values is accepted or rejected, and can be read, shown and deleted', async () => {
  await fc.assert(
    fc.asyncProperty(wrongObject, queries, async ([path, object], query) => {
      const made = await send(sandbox, 'POST', `${path}${query}`, { body: object as object });
      checked(made);
      if (made.status === 201) {
        const { name } = made.json.metadata as { name: string };
        const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
        checked(await send(sandbox, 'GET', path, { headers: table }));
        checked(await send(sandbox, 'PUT', `${path}/${name}`, { body: object as object }));
        checked(await send(sandbox, 'GET', '/openapi/v3'));
        const free = {
          body: { metadata: { finalizers: null } },
          headers: { 'content-type': 'application/merge-patch+json' },
        };
        checked(await send(sandbox, 'PATCH', `${path}/${name}`, free));
        checked(await send(sandbox, 'DELETE', `${path}/${name}`));
      }
    }),
    { numRuns: runs(50) },
  );
}, 120_000);

test('an arbitrary patch of any kind is applied or rejected', async () => {
  const path = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  await send(sandbox, 'POST', path, {
    body: { metadata: { name: 'patched' }, spec: { clientConfig: { url: 'https://a.example.com' } } },
  });
  await send(sandbox, 'POST', '/apis/apps/v1/namespaces/default/deployments', {
    body: { metadata: { name: 'patched' }, spec: { template: { spec: { containers: [{ name: 'a' }] } } } },
  });
  const operation = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
    path: fc.constantFrom('', '/', '/spec', '/spec/x/y', '/metadata/name', '/metadata', '/__proto__/x', 'x', '/spec/-'),
    from: fc.constantFrom('', '/spec', '/nothing', '/metadata'),
    value: anything,
  });
  const places = placesIn({
    metadata: { labels: { a: 'b' }, resourceVersion: '1', uid: 'x', ownerReferences: [{}], deletionTimestamp: 'x' },
    spec: { clientConfig: { url: 'x' }, template: { spec: { containers: [{ name: 'a', $patch: 'delete' }] } } },
    status: { conditions: [{}] },
  });
  const merge = fc
    .tuple(fc.constantFrom(...places), anything)
    .map(([place, value]) =>
      place.reduceRight<Json>((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value),
    );
  const patch = fc.oneof(
    fc.tuple(fc.constant('application/json-patch+json'), fc.array(operation, { maxLength: 3 }) as fc.Arbitrary<Json>),
    fc.tuple(fc.constantFrom('application/merge-patch+json', 'application/strategic-merge-patch+json'), merge),
    fc.tuple(fc.constantFrom('application/json-patch+json', 'application/merge-patch+json'), anything),
  );
  const target = fc.constantFrom(
    `${path}/patched`,
    `${path}/patched/status`,
    '/apis/apps/v1/namespaces/default/deployments/patched',
    '/apis/apps/v1/namespaces/default/deployments/patched/status',
  );
  await fc.assert(
    fc.asyncProperty(target, patch, queries, async (url, [type, body], query) => {
      const headers = { 'content-type': type };
      checked(await send(sandbox, 'PATCH', `${url}${query}`, { headers, body: JSON.stringify(body) }));
    }),
    { numRuns: runs(50) },
  );
}, 120_000);

test('an arbitrary path and query gets a response', async () => {
  const part = fc.constantFrom(
    'api',
    'apis',
    'v1',
    'openapi',
    'v3',
    'apps',
    'namespaces',
    'default',
    'pods',
    'status',
    'x',
    '%2F',
    '..',
    '',
  );
  const parameter = fc.tuple(
    fc.constantFrom(
      'labelSelector',
      'fieldSelector',
      'limit',
      'continue',
      'resourceVersion',
      'hash',
      'resourceVersionMatch',
    ),
    fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom('a=b', '!a', 'a in (b)', '0', '99999999999', 'bm90aGluZw')),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      fc.array(part, { maxLength: 8 }),
      fc.array(parameter, { maxLength: 3 }),
      fc.oneof(fc.constant(''), fc.constantFrom('application/json;as=Table', '*/*', 'x', ';;,', 'application/yaml')),
      async (method, parts, parameters, accept) => {
        const query = new URLSearchParams(parameters);
        checked(
          await send(sandbox, method, `${`/${parts.join('/')}`.replace(/^\/+/, '/')}?${query}`, {
            headers: accept === '' ? {} : { accept },
          }),
        );
      },
    ),
    { numRuns: runs(50) },
  );
}, 120_000);
