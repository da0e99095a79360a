import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crd } from '../../src/api/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { eventually, send, startWebhook } from './client.ts';

const folder = new URL('../fixtures/kube-apiserver/', import.meta.url);
const base = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';

interface Capture {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  status: number;
  warnings: string[];
  answer: string;
}

function read(name: string): Capture {
  const [head = '', ...rest] = readFileSync(new URL(name, folder), 'utf8').split('\n\n');
  const asked = head.split('\n').map((line) => line.slice(2));
  const [method = '', path = ''] = (asked[0] ?? '').split(' ');
  const headers: Record<string, string> = {};
  let body: string | undefined;
  for (const line of asked.slice(1)) {
    const header = /^([A-Z][A-Za-z-]+): (.*)$/.exec(line);
    if (header !== null) {
      headers[(header[1] as string).toLowerCase()] = header[2] as string;
    } else {
      body = line;
    }
  }
  const [given = '', ...answer] = rest;
  const lines = given.split('\n');
  const warnings = lines.filter((line) => line.startsWith('Warning: ')).map((line) => line.slice('Warning: '.length));
  return {
    method,
    path,
    headers,
    body,
    status: Number(lines[0]?.split(' ')[1]),
    warnings,
    answer: answer.join('\n\n'),
  };
}

/** What differs from run to run, or is not kept here (managedFields), taken out. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(comparable);
  }
  if (typeof value === 'object' && value !== null) {
    const volatile = [
      'uid',
      'resourceVersion',
      'creationTimestamp',
      'managedFields',
      'storageVersionHash',
      'serverAddress',
    ];
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !volatile.includes(key))
        .map(([key, item]) => [key, comparable(item)]),
    );
  }
  return value;
}

let sandbox: Sandbox;
let webhook: Awaited<ReturnType<typeof startWebhook>>;

beforeAll(async () => {
  webhook = await startWebhook((url, review) => {
    if (url.startsWith('/convert')) {
      const { objects, desiredAPIVersion } = review.request as { objects: JsonObject[]; desiredAPIVersion: string };
      const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
      return { result: { status: 'Success' }, convertedObjects };
    }
    return { allowed: true, warnings: [`captured ${url}`] };
  });
  sandbox = await startSandbox({ resolveService: () => undefined });
  const clientConfig = (path: string) => ({ url: `${webhook.url}${path}`, caBundle: webhook.caBundle });
  const definition = structuredClone(crd) as unknown as { spec: { conversion: object } };
  definition.spec.conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfig('/convert') },
  };
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  await eventually(
    () => send(sandbox, 'GET', base),
    ({ status }) => status === 200,
  );
  for (const [kind, path, resources] of [
    ['Mutating', '/mutate', ['extensionconfigs']],
    ['Validating', '/validate', ['extensionconfigs', 'extensionconfigs/status']],
  ] as const) {
    const { status, text } = await send(
      sandbox,
      'POST',
      `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
      {
        body: {
          metadata: { name: 'captured' },
          webhooks: [
            {
              name: 'captured.example.com',
              admissionReviewVersions: ['v1'],
              sideEffects: 'None',
              clientConfig: clientConfig(path),
              rules: [
                {
                  apiGroups: ['runtime.cluster.x-k8s.io'],
                  apiVersions: ['v1beta2'],
                  operations: ['CREATE', 'UPDATE', 'DELETE'].slice(0, kind === 'Mutating' ? 2 : 3),
                  resources,
                },
              ],
            },
          ],
        },
      },
    );
    expect(status, text).toBe(201);
  }
});

afterAll(async () => {
  await sandbox.stop();
  await webhook.stop();
});

const replayed = [
  'healthz.txt',
  'unknown-path.txt',
  'group-discovery.txt',
  'gv-discovery.txt',
  'api.txt',
  'create.txt',
  'create-again.txt',
  'create-bad-json.txt',
  'create-missing-spec.txt',
  'create-schema-invalid.txt',
  'create-unknown-field-strict.txt',
  'create-unknown-field-warn.txt',
  'create-unsupported-media.txt',
  'create-wrong-kind.txt',
  'get.txt',
  'get-missing.txt',
  'get-v1alpha1.txt',
  'list.txt',
  'update-conflict.txt',
  'update-no-rv.txt',
  'merge-patch.txt',
  'json-patch.txt',
  'strategic-patch.txt',
  'status-patch.txt',
  'watch-too-old.txt',
  'openapi-stale.txt',
  'delete.txt',
  'delete-missing.txt',
];

// In this order, because each begins with what the ones before it left.
test.each(replayed)('%s', async (name) => {
  const capture = read(name);
  const { headers: given, body } = capture;
  const answer = await send(sandbox, capture.method, capture.path, {
    headers: given,
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.status, answer.text).toBe(capture.status);
  const warnings = answer.headers.warning;
  const lines = typeof warnings === 'string' ? warnings.split(/, (?=299 - )/) : (warnings ?? []);
  expect(lines).toEqual(capture.warnings);
  if (!capture.answer.trimStart().startsWith('{')) {
    return;
  }
  const expected = JSON.parse(capture.answer) as JsonObject;
  const isWorded = [
    'create-bad-json.txt',
    'create-unsupported-media.txt',
    'strategic-patch.txt',
    'watch-too-old.txt',
  ].includes(name);
  const shape = (document: JsonObject) => {
    const found = comparable(document) as JsonObject;
    const status = (found.kind === 'Status' ? found : found.object) as JsonObject | undefined;
    if (isWorded && status !== undefined) {
      status.message = typeof status.message;
    }
    return found;
  };
  expect(shape(answer.json)).toEqual(shape(expected));
});

test('the definition has the status of the capture', async () => {
  const { json } = await send(
    sandbox,
    'GET',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/extensionconfigs.runtime.cluster.x-k8s.io',
  );
  const expected = JSON.parse(readFileSync(new URL('crd-status.json', folder), 'utf8')) as { status: JsonObject };
  const withoutTimes = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(/"lastTransitionTime":"[^"]*",?/g, ''));
  expect(withoutTimes(json.status)).toEqual(withoutTimes(expected.status));
});
