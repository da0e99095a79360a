import { afterEach, expect, test } from 'vitest';
import { apiVersionOf } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { createProber, parseAllowList } from '../../../src/policy/probe/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { webhookPaths } from '../../../src/webhook/index.ts';
import { admission } from '../../policy/admission/policy.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { send, start, stopAll, until } from '../../server/running.ts';

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  await stopAll();
  await Promise.all(closes.splice(0).map((close) => close()));
});

/** A webhook that probes loopback. */
async function probing(probes: 'warn' | 'deny', timeoutMs = 20_000) {
  const { probe } = createProber({
    allow: parseAllowList(['127.0.0.0/8', '::1']),
    known: { catalog: createHookCatalog(), release: newestKnownRelease },
    timeoutMs,
  });
  return start({ admission: admission({ probes }), probe });
}

function review(config: object, more: JsonObject = {}): string {
  const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };
  const object = { ...config, apiVersion: apiVersionOf('v1beta2') };
  const request = { uid: 'u', kind, requestKind: kind, name: 'e', operation: 'CREATE', object, userInfo: {}, ...more };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
}

const configOf = (url: string) => extensionConfig('e', { url, caBundle });

async function validate(port: number, body: string) {
  const { json } = await send(port, webhookPaths.validate, body);
  return json().response as {
    allowed: boolean;
    warnings?: string[];
    status?: { message: string };
    auditAnnotations?: Record<string, string>;
  };
}

async function serve(answer: Parameters<typeof startExtension>[0]) {
  const server = await startExtension(answer);
  closes.push(server.close);
  return server;
}

const local = (response: { warnings?: string[] }) =>
  response.warnings?.filter((warning) => warning.includes('the server was probed'));

test('problems with the server are a warning, or a denial', async () => {
  const { url, received } = await serve((_, response) => void response.writeHead(500).end());
  const warning = await probing('warn');
  const warned = await validate(warning.webhookPort, review(configOf(url)));
  expect(warned).toMatchObject({ allowed: true, auditAnnotations: { 'warned-by': expect.stringContaining('probe') } });
  expect(local(warned)).toEqual([expect.stringContaining('could not discover it: it answered 500')]);
  const denying = await probing('deny');
  const denied = await validate(denying.webhookPort, review(configOf(url)));
  expect(denied).toMatchObject({ allowed: false, auditAnnotations: { 'denied-by': 'probe' } });
  expect(denied.status?.message).toContain('it answered 500');
  expect(received).toHaveLength(2);
  expect(denying.lines).toContainEqual(expect.objectContaining({ msg: 'denied', deniedBy: ['probe'] }));
});

test('a server is not called for dry runs, for updates of other fields, or if the request is denied anyway', async () => {
  const { url, received } = await serve(() => ({ status: 'Success', handlers: [] }));
  const { webhookPort } = await probing('deny');
  const config = configOf(url);
  const labelled = { ...config, metadata: { ...config.metadata, labels: { a: 'b' } } };
  await validate(webhookPort, review(config, { dryRun: true }));
  await validate(webhookPort, review(labelled, { operation: 'UPDATE', oldObject: config as unknown as JsonObject }));
  await validate(webhookPort, review(config, { operation: 'UPDATE', subResource: 'status', oldObject: {} }));
  await validate(webhookPort, review(configOf(`${url}?query`)));
  await send(webhookPort, webhookPaths.mutate, review(config));
  expect(received).toHaveLength(0);
  const moved = { ...config, spec: { clientConfig: { url: `${url}/new`, caBundle }, namespaceSelector: {} } };
  const old = config as unknown as JsonObject;
  expect(await validate(webhookPort, review(moved, { operation: 'UPDATE', oldObject: old }))).toMatchObject({
    allowed: true,
  });
  expect(received).toHaveLength(1);
});

test('a slow server does not delay other requests', async () => {
  let release: (() => void) | undefined;
  const { url } = await serve((_, response) => {
    release = () => response.writeHead(500).end();
  });
  const { webhookPort } = await probing('warn');
  let isSlowDone = false;
  const slow = validate(webhookPort, review(configOf(url))).then((response) => {
    isSlowDone = true;
    return response;
  });
  const other = review(configOf('https://192.0.2.1'));
  const answers = await Promise.all(Array.from({ length: 20 }, () => validate(webhookPort, other)));
  expect(answers.map(({ allowed }) => allowed)).toEqual(answers.map(() => true));
  expect(isSlowDone).toBe(false);
  await until(() => release !== undefined, 'the server is asked');
  release?.();
  expect(local(await slow)).toEqual([expect.stringContaining('it answered 500')]);
});

test('a server that does not respond in time cannot be discovered', async () => {
  const { url } = await serve(() => undefined);
  const { webhookPort } = await probing('warn', 100);
  expect(local(await validate(webhookPort, review(configOf(url))))).toEqual([
    expect.stringContaining('http request timeout expired'),
  ]);
});
