import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, registerAsCaptured, send, startAgreeingWebhook } from '../client.ts';

const folder = new URL('../../support/fixtures/kube-apiserver/', import.meta.url);
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

/** Removes what differs from run to run, or is not supported here (managedFields). Ages become "some". */
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
  return typeof value === 'string' && /^\d+s$/.test(value) ? 'some seconds' : value;
}

let sandbox: Sandbox;
let webhook: Awaited<ReturnType<typeof startAgreeingWebhook>>;

beforeAll(async () => {
  webhook = await startAgreeingWebhook((url) => [`captured ${url}`]);
  sandbox = await startSandbox();
  await registerAsCaptured(sandbox, webhook);
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
  'table.txt',
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

function ask({ method, path, headers, body }: Capture) {
  return send(sandbox, method, path, { headers, ...(body === undefined ? {} : { body }) });
}

beforeEach(() => send(sandbox, 'DELETE', base));

// In the order of the captures: each starts with the result of the previous writes.
test.each(replayed)('%s', async (name) => {
  for (const earlier of replayed.slice(0, replayed.indexOf(name)).map(read)) {
    if (earlier.method !== 'GET' && earlier.status < 300) {
      await ask(earlier);
    }
  }
  const capture = read(name);
  const answer = await ask(capture);
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
    for (const column of Array.isArray(found.columnDefinitions) ? found.columnDefinitions : []) {
      // The descriptions in our definition are our own.
      (column as JsonObject).description = 'about the column';
    }
    const status = (found.kind === 'Status' ? found : found.object) as JsonObject | undefined;
    if (isWorded && status !== undefined) {
      status.message = typeof status.message;
    }
    return found;
  };
  expect(shape(answer.json)).toEqual(shape(expected));
});

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/"lastTransitionTime":"[^"]*",?/g, ''));
}

function readJson(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as JsonObject;
}

test('the definition has the captured status', async () => {
  const { json } = await send(sandbox, 'GET', `${definitions}/extensionconfigs.runtime.cluster.x-k8s.io`);
  expect(withoutTimes(json.status)).toEqual(withoutTimes(readJson('crd-status.json').status));
});

test('a definition whose kind is taken has the captured status', async () => {
  const name = 'clashes.runtime.cluster.x-k8s.io';
  const schema = { openAPIV3Schema: { type: 'object' } };
  await send(sandbox, 'POST', definitions, {
    body: {
      metadata: { name },
      spec: {
        group: 'runtime.cluster.x-k8s.io',
        scope: 'Cluster',
        names: { kind: 'ExtensionConfig', plural: 'clashes', singular: 'clash' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  });
  const { json } = await eventually(
    () => send(sandbox, 'GET', `${definitions}/${name}`),
    ({ json: { status } }) => JSON.stringify(status).includes('NotAccepted'),
  );
  expect(withoutTimes(json.status)).toEqual(withoutTimes(readJson('crd-name-conflict-status.json')));
  expect((await send(sandbox, 'GET', '/apis/runtime.cluster.x-k8s.io/v1/clashes')).status).toBe(404);
});

test('a streaming list has the captured events', async () => {
  const [added, bookmark] = readFileSync(new URL('watch.txt', folder), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: JsonObject });
  const { metadata, spec, status } = added?.object as Record<string, JsonObject>;
  const one = await send(sandbox, 'POST', base, {
    body: { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name: 'one' }, spec },
  });
  expect(one.status, one.text).toBe(201);
  await send(sandbox, 'PATCH', `${base}/one/status`, {
    body: { status },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const { text } = await send(sandbox, 'GET', `${base}?${query}&timeoutSeconds=1`);
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: JsonObject });
  const withGeneration = (event: unknown) => {
    const found = comparable(event) as { object: { metadata: JsonObject } };
    if (found.object.metadata.generation !== undefined) {
      found.object.metadata.generation = metadata?.generation ?? 0;
    }
    return found;
  };
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK', 'BOOKMARK']);
  expect(withGeneration(events[0])).toEqual(withGeneration(added));
  expect(comparable(events[1])).toEqual(comparable(bookmark));
});

test('/openapi/v3 lists what the capture lists, if it is served here', async () => {
  const { json } = await send(sandbox, 'GET', '/openapi/v3');
  // The capture is truncated: what comes later in the alphabet cannot be compared.
  const captured = [...read('openapi-root.txt').answer.matchAll(/"\/openapi\/v3\/(\S+)\?hash=[0-9A-F]{128}"/g)].map(
    ([, path = '']) => path,
  );
  const paths = Object.keys(json.paths as JsonObject);
  expect(captured.length).toBeGreaterThan(20);
  expect(captured).toEqual(expect.arrayContaining(paths.filter((path) => path <= (captured.at(-1) ?? ''))));
  expect(paths).toEqual(expect.arrayContaining(['api/v1', 'apis/runtime.cluster.x-k8s.io/v1beta2']));
  for (const [path, { serverRelativeURL }] of Object.entries(json.paths as Record<string, JsonObject>)) {
    expect(String(serverRelativeURL).replace(/[0-9A-F]{128}$/, 'HASH')).toBe(`/openapi/v3/${path}?hash=HASH`);
  }
});

test('/version has the captured fields', async () => {
  const { json } = await send(sandbox, 'GET', '/version');
  const captured = JSON.parse(read('version.txt').answer) as JsonObject;
  expect(Object.keys(json)).toEqual(Object.keys(captured));
  expect(json).toMatchObject({ major: captured.major, minor: captured.minor });
});

test('server-side apply that would be stored is rejected with an alternative', async () => {
  const { method, path, headers, body = '' } = read('apply-ssa.txt');
  const answer = await send(sandbox, method, path, { headers, body });
  expect(answer.status).toBe(415);
  expect(answer.json.message).toMatch(/use kubectl apply without --server-side/);
});
