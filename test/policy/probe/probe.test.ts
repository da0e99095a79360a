import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { createManifestFacts, type Facts } from '../../../src/policy/index.ts';
import { createProber, type ProbeResult, type ProberOptions, parseAllowList } from '../../../src/policy/probe/index.ts';
import { createHookCatalog, hooksGroup, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { makeCertificate } from '../../base/x509/certificates.ts';
import {
  type Answering,
  caBundle,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

const offered = (hook = 'GeneratePatches'): JsonObject => ({
  status: 'Success',
  handlers: [{ name: 'generate', requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook } }],
});

async function serve(answer: Answering, certificate?: Parameters<typeof startExtension>[1]) {
  const server = await startExtension(answer, certificate);
  cleanups.push(() => server.close());
  return server;
}

/** A prober that may reach loopback, and its counters. */
function prober({ facts, ...options }: Partial<ProberOptions> & { entries?: string[]; facts?: Facts } = {}) {
  const results: ProbeResult[] = [];
  const made = createProber({
    allow: parseAllowList(options.entries ?? ['127.0.0.0/8', '::1']),
    known: { catalog: createHookCatalog(), release: newestKnownRelease },
    onResult: (result) => results.push(result),
    timeoutMs: 20_000,
    ...options,
  });
  const messages = async (config: ExtensionConfig) =>
    (await made.probe({ config, facts })).map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { results, messages };
}

test('a server that Cluster API would discover has no problems', async () => {
  const { url, received } = await serve(() => offered());
  const { results, messages } = prober();
  expect(await messages(extensionConfig('e', { url: `${url}/prefix`, caBundle }))).toEqual([]);
  expect(received).toMatchObject([
    { method: 'POST', url: expect.stringMatching(/^\/prefix\/.*\/discovery\?timeout=/) },
  ]);
  expect(results).toEqual(['discovered']);
});

const other = makeCertificate({ commonName: 'other', dnsNames: ['other.example.com'] });

test.each<[string, Answering, RegExp]>([
  ['a hook that does not exist', () => offered('Nope'), /would refuse its answer: .*is not in the Runtime SDK catalog/],
  ['a Failure', () => ({ status: 'Failure', message: 'no database' }), /failure response with message: no database/],
  ['a response that is not JSON', (_, response) => void response.end('<html>'), /failed to decode response/],
  [
    'a redirect',
    (_, response) => void response.writeHead(307, { location: 'https://169.254.169.254/' }).end('secret body'),
    /it answered 307; answer 200 at this path/,
  ],
  ['an error with a body', (_, response) => void response.writeHead(500).end('secret body'), /it answered 500; /],
  [
    'more than a discovery may have',
    (_, response) => void response.end(' '.repeat(2 * 1024 * 1024 + 1)),
    /the answer is larger than 2 MiB; send a smaller answer: 512 handlers take 128 KiB$/,
  ],
  ['no response', (_, response) => void response.destroy(), /EOF: the server closed the connection/],
])('reports a server that responds with %s', async (_name, answer, message) => {
  const { url, received } = await serve(answer);
  const { results, messages } = prober();
  const found = await messages(extensionConfig('e', { url, caBundle }));
  expect(found).toEqual([expect.stringMatching(message)]);
  expect(found[0]).toMatch(/^spec\.clientConfig: the server was probed, and Cluster API /);
  expect(found[0]).not.toContain('secret body');
  expect(received).toHaveLength(1);
  expect(results).toEqual(['failed']);
});

test('reports an invalid certificate, and an unreachable server', async () => {
  const { url } = await serve(() => offered());
  const wrong = Buffer.from(other.cert).toString('base64');
  const { messages } = prober();
  expect(await messages(extensionConfig('e', { url, caBundle: wrong }))).toEqual([
    expect.stringMatching(/^spec\.clientConfig\.caBundle: .*tls: failed to verify certificate/),
  ]);
  expect(await messages(extensionConfig('e', { url: 'https://127.0.0.1:1', caBundle }))).toEqual([
    expect.stringMatching(/connection refused; check that the server is running/),
  ]);
});

test('reports a certificate for other names, without revealing them', async () => {
  const { url } = await serve(() => offered(), { certificate: other });
  const { messages } = prober();
  const config = extensionConfig('e', { url, caBundle: Buffer.from(other.cert).toString('base64') });
  expect(await messages(config)).toEqual([
    'spec.clientConfig.caBundle: the server was probed, and Cluster API could not discover it: its certificate is for other names; serve a certificate for the name in the address, signed by the CA in spec.clientConfig.caBundle',
  ]);
});

test('a server that hangs takes its timeout and no more', async () => {
  const { url } = await serve(() => undefined);
  const { messages } = prober({ timeoutMs: 300 });
  const began = performance.now();
  expect(await messages(extensionConfig('e', { url, caBundle }))).toEqual([
    expect.stringMatching(/http request timeout expired; answer discovery at once/),
  ]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('a resolver that hangs takes its timeout and no more, and few probes wait for it', async () => {
  const { results, messages } = prober({
    entries: ['svc', '127.0.0.0/8'],
    timeoutMs: 200,
    resolve: () => new Promise(() => {}),
  });
  const configs = Array.from({ length: 5 }, (_, index) =>
    extensionConfig(`e${index}`, { url: `https://${index}.svc`, caBundle }),
  );
  const found = await Promise.all(configs.map(messages));
  expect(found.flat()).toEqual(
    [0, 1, 2].map((index) => expect.stringContaining(`the host ${index}.svc could not be resolved`)),
  );
  expect(results.toSorted()).toEqual(['busy', 'busy', 'failed', 'failed', 'failed']);
});

test('a server that was not called because of the limit is called the next time', async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const { results, messages } = prober({ entries: ['svc', '192.0.2.0/24'], timeoutMs: 200, resolve: () => promise });
  const configs = [0, 1, 2, 3].map((index) => extensionConfig(`e${index}`, { url: `https://${index}.svc`, caBundle }));
  await Promise.all(configs.map(messages));
  expect(results.toSorted()).toEqual(['busy', 'failed', 'failed', 'failed']);
  resolve([]);
  await promise;
  await messages(configs[3]!);
  expect(results.at(-1)).toBe('refused');
});

test('does not call what resolves to loopback, or to the metadata of a cloud', async () => {
  const { url, received, port } = await serve(() => offered());
  const asked = async (addresses: string[], host = 'a.svc') => {
    const { results, messages } = prober({ entries: ['svc', '10.0.0.0/8'], resolve: async () => addresses });
    expect(await messages(extensionConfig('e', { url: `https://${host}:${port}`, caBundle }))).toEqual([]);
    return results;
  };
  expect(await asked(['127.0.0.1'])).toEqual(['refused']);
  expect(await asked(['169.254.169.254'])).toEqual(['refused']);
  // One forbidden address disqualifies the name: which one is used must not depend on chance.
  expect(await asked(['10.1.2.3', '127.0.0.1'])).toEqual(['refused']);
  expect(await asked([])).toEqual(['refused']);
  expect(await asked(['10.0.0.1'], '127.0.0.1')).toEqual(['refused']);
  const { results, messages } = prober({ entries: ['svc'] });
  expect(await messages(extensionConfig('e', { url, caBundle }))).toEqual([]);
  expect([results, received]).toEqual([['refused'], []]);
});

test('calls the address that was checked', async () => {
  const { port, received } = await serve(() => offered(), {
    certificate: makeCertificate({ commonName: 'a', dnsNames: ['a.b.svc'] }),
  });
  let resolved = 0;
  const { messages } = prober({
    entries: ['svc', '127.0.0.0/8', '::1'],
    resolve: async () => (resolved++ === 0 ? ['127.0.0.1', '::1'] : ['192.0.2.1']),
  });
  // The test server listens on one of the two.
  const found = await messages(extensionConfig('e', { service: { name: 'a', namespace: 'b', port }, caBundle }));
  expect(resolved).toBe(1);
  expect(found.join()).not.toContain('192.0.2.1');
  expect(received.length + found.length).toBe(1);
});

test('a result is cached for a short while, and only for the same server', async () => {
  let now = 0;
  const { url, received } = await serve(() => offered());
  const { results, messages } = prober({ now: () => now });
  const config = extensionConfig('e', { url, caBundle });
  await Promise.all([messages(config), messages(config)]);
  await messages(config);
  expect(received).toHaveLength(1);
  await messages(extensionConfig('e', { url: `${url}/other`, caBundle }));
  expect(received).toHaveLength(2);
  now = 15_001;
  await messages(config);
  expect(received).toHaveLength(3);
  expect(results.filter((result) => result === 'cached')).toHaveLength(2);
});

test('limits concurrent probes: further ones are not made, and do not wait', async () => {
  const answers: (() => void)[] = [];
  const { url } = await serve((_, response) => void answers.push(() => response.writeHead(500).end()));
  const { results, messages } = prober();
  const slow = Array.from({ length: 10 }, (_, index) => messages(extensionConfig(`e${index}`, { url, caBundle })));
  await sleep(0);
  expect(await messages(extensionConfig('late', { url, caBundle }))).toEqual([]);
  expect(results).toEqual(['busy']);
  await vi.waitUntil(() => answers.length === 10, 20_000);
  for (const answer of answers) {
    answer();
  }
  await Promise.all(slow);
  expect(results).toEqual(['busy', ...slow.map(() => 'failed')]);
});

test('uses the CA in an annotated Secret, and does not call if that is unknown', async () => {
  const { url, received } = await serve(() => offered());
  const config = extensionConfig('e', { url });
  config.metadata.annotations = { [injectCaFromSecretAnnotation]: 'a/b' };
  const unknown = prober();
  expect(await unknown.messages(config)).toEqual([]);
  expect([unknown.results, received]).toEqual([['unknown'], []]);
  const { facts, add } = createManifestFacts();
  add({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'b' }, data: { 'ca.crt': caBundle } });
  const known = prober({ facts });
  expect(await known.messages(config)).toEqual([]);
  expect([known.results, received.length]).toEqual([['discovered'], 1]);
});
