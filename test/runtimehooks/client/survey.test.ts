import { expect, test, vi } from 'vitest';
import { injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import {
  type Client,
  type DiscoveredHandler,
  type DiscoverResult,
  surveyExtension,
} from '../../../src/runtimehooks/client/index.ts';
import { createHookCatalog, hooksGroup, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { extensionConfig } from './extension-server.ts';

const handler = (name: string): DiscoveredHandler => ({
  name: `${name}.one`,
  requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'AfterClusterUpgrade' },
  failurePolicy: 'Fail',
});
const discovered = (...names: string[]): DiscoverResult => ({ ok: true, handlers: names.map(handler) });

/** A url that cannot be called, so that no certificate is read. */
const nowhere = { url: 'http://one.example', caBundle: 'Y2E=' };

/** Surveys an extension that answers discovery with one result after the other, each after so many milliseconds. */
async function surveyOf(results: DiscoverResult[], { config = extensionConfig('one', nowhere), ms = [1, 1, 1] } = {}) {
  let time = 0;
  let calls = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  const client = {
    async discover() {
      time += ms[calls] as number;
      return results[calls++] as DiscoverResult;
    },
  } as Partial<Client> as Client;
  try {
    return await surveyExtension(config, {
      client,
      signal: new AbortController().signal,
      known: { catalog: createHookCatalog(), release: newestKnownRelease },
    });
  } finally {
    clock.mockRestore();
  }
}

const warning = (message: string, remedy: string) => ({ severity: 'warning', message, remedy });
const good = discovered('a');

test('an extension that is discovered three times has no findings', async () => {
  expect(await surveyOf([good, good, good], { ms: [1.4, 2, 3] })).toEqual({
    extensionConfig: 'one',
    status: 'Discovered',
    message: '',
    handlers: [handler('a')],
    findings: [],
    latenciesMs: [1, 2, 3],
  });
});

test('an extension that fails is not asked again', async () => {
  const error = { step: 'connect', message: 'it is down' } as const;
  const failed: DiscoverResult = { ok: false, error, problems: [], handlers: [handler('b')] };
  expect(await surveyOf([good, failed])).toEqual({
    extensionConfig: 'one',
    status: 'NotDiscovered',
    message: 'Error in discovery: it is down',
    handlers: [],
    findings: [{ severity: 'error', message: 'it is down', remedy: expect.stringMatching(/^check that the server/) }],
    latenciesMs: [1, 1],
  });
});

const different = warning(
  'does not give the same answer each time',
  'offer the same handlers in all replicas and at all times',
);

test.each<[string, DiscoverResult[], number[], object[]]>([
  ['other handlers at first', [discovered('b'), good, good], [1, 1, 1], [different]],
  ['a handler more', [discovered('a', 'b'), good, good], [1, 1, 1], [different]],
  [
    'another failurePolicy',
    [{ ok: true, handlers: [{ ...handler('a'), failurePolicy: 'Ignore' }] }, good, good],
    [1, 1, 1],
    [different],
  ],
  ['another order', [discovered('a', 'b'), discovered('b', 'a'), discovered('b', 'a')], [1, 1, 1], []],
  ['other handlers at last', [good, good, discovered('b')], [1, 1, 1], [different]],
  [
    'no handlers',
    [discovered(), discovered(), discovered()],
    [1, 1, 1],
    [warning('offers no handlers', 'register handlers in the server')],
  ],
  ['one slow answer', [good, good, good], [5000, 1000, 5000], []],
  [
    'slow answers',
    [good, good, good],
    [5000, 1001, 1002],
    [
      warning(
        'takes 1001 ms to answer discovery',
        'answer within milliseconds: the patches of every Cluster wait for it',
      ),
    ],
  ],
])('a server with %s', async (_, results, ms, findings) => {
  expect((await surveyOf(results, { ms })).findings).toEqual(findings);
});

test.each([
  [{}, "the certificate is verified with the system's root CAs"],
  [{ annotations: {} }, "the certificate is verified with the system's root CAs"],
  [
    { annotations: { [injectCaFromSecretAnnotation]: 'a/b' } },
    "it is injected in the cluster, and this system's root CAs were used here",
  ],
])('an extension without a caBundle whose metadata has %j', async (metadata, message) => {
  const { caBundle: _, ...url } = nowhere;
  const config = extensionConfig('one', url);
  const { findings } = await surveyOf([good, good, good], {
    config: { ...config, metadata: { ...config.metadata, ...metadata } },
  });
  expect(findings).toEqual([
    warning(
      `has no caBundle: ${message}`,
      'set spec.clientConfig.caBundle: without it, the controller of kubeadm control planes never calls the extension',
    ),
  ]);
});
