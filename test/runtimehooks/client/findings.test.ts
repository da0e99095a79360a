import { expect, test } from 'vitest';
import {
  type CallError,
  certificateFindings,
  type DiscoveredHandler,
  type DiscoverResult,
  discoveryFindings,
  handlerFindings,
  type TlsFacts,
} from '../../../src/runtimehooks/client/index.ts';
import { createHookCatalog, hooksGroup, parseRelease } from '../../../src/runtimehooks/index.ts';

const handler = (name: string, more: Partial<DiscoveredHandler> = {}): DiscoveredHandler => ({
  name: `${name}.one`,
  requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' },
  failurePolicy: 'Fail',
  ...more,
});

test.each<[CallError['step'], RegExp]>([
  ['url', /^set spec\.clientConfig to a service, or to an https URL$/],
  ['tls-config', /^set spec\.clientConfig\.caBundle to PEM certificates, as base64$/],
  ['connect', /^check that the server is running and listens on this port/],
  ['http', /^answer 200 at this path/],
  ['status', /^answer discovery with status Success$/],
  // No remedy is known.
  ['cancelled', /^see the message$/],
])('a discovery that fails at the step %s has a remedy', (step, remedy) => {
  const result: DiscoverResult = { ok: false, error: { step, message: 'it failed' }, problems: [], handlers: [] };
  expect(discoveryFindings(result)).toEqual([
    { severity: 'error', message: 'it failed', remedy: expect.stringMatching(remedy) },
  ]);
});

test('a discovery is refused for each of its problems, which may be about one handler', () => {
  const problems = [
    { handler: 'a', message: 'm', remedy: 'r' },
    { handler: '', message: 'n', remedy: 's' },
  ];
  const error: CallError = { step: 'validation', message: 'm, n' };
  expect(discoveryFindings({ ok: false, error, problems, handlers: [] })).toEqual([
    { severity: 'error', handler: 'a', message: 'm', remedy: 'r' },
    { severity: 'error', message: 'n', remedy: 's' },
  ]);
  expect(discoveryFindings({ ok: true, handlers: [] })).toEqual([]);
});

const facts: TlsFacts = {
  ...{ protocol: 'TLSv1.3', serverName: 'svc', names: [], isForName: true },
  ...{ notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2026-03-01T00:00:00Z') },
};
const valid = new Date('2026-02-01T00:00:00Z');

test.each<[string, string[], string]>([
  ['no name', [], 'it is for no name'],
  ['two names', ['a', 'b'], 'it is for a, b'],
  ['more than ten', [...'abcdefghijkl'], 'it is for a, b, c, d, e, f, g, h, i, j'],
])('a certificate for %s is not for the server', (_, names, message) => {
  expect(certificateFindings({ ...facts, names, isForName: false }, valid)).toEqual([
    {
      severity: 'error',
      message: `the certificate is not for svc; ${message}`,
      remedy: 'serve one with svc among its subject alternative names',
    },
  ]);
  expect(certificateFindings({ ...facts, names }, valid)).toEqual([]);
});

const renew = { severity: 'error', remedy: 'renew it, and have the server reload it' };
const soon = { severity: 'warning', remedy: 'renew it, and check that renewal is automatic' };

test.each<[string, object[]]>([
  [
    '2025-12-31T23:59:59.999Z',
    [{ ...renew, message: 'the certificate is valid from 2026-01-01 to 2026-03-01, not now' }],
  ],
  ['2026-01-01T00:00:00Z', []],
  ['2026-02-15T00:00:00Z', []],
  ['2026-02-15T00:00:00.001Z', [{ ...soon, message: 'the certificate expires on 2026-03-01' }]],
  ['2026-03-01T00:00:00Z', [{ ...soon, message: 'the certificate expires on 2026-03-01' }]],
  [
    '2026-03-01T00:00:00.001Z',
    [{ ...renew, message: 'the certificate is valid from 2026-01-01 to 2026-03-01, not now' }],
  ],
])('a certificate of January and February at %s', (now, findings) => {
  expect(certificateFindings(facts, new Date(now))).toEqual(findings);
});

test('a certificate without readable dates has to be issued again', () => {
  expect(certificateFindings({ ...facts, notAfter: new Date('') }, new Date())).toEqual([
    {
      severity: 'error',
      message: 'the dates of the certificate cannot be read',
      remedy: 'issue it again, with dates that are UTCTime or GeneralizedTime (RFC 5280, 4.1.2.5)',
    },
  ]);
});

const ignores =
  'a: ignores failures of a hook that can block: while the server is down, nothing is blocked; use Fail unless this is intended';
const of = (apiVersion: string, hook: string) => ({ requestHook: { apiVersion, hook } });

const lateAnswer = 'ask for less, and do long work in the background with retryAfterSeconds';

test.each<[string, Partial<DiscoveredHandler>, string[]]>([
  ['the longest timeout', { timeoutSeconds: 10 }, []],
  ['a longer timeout', { timeoutSeconds: 11 }, [`a: may take 11s, more than 10s; ${lateAnswer}`]],
  ['the default timeout', {}, []],
  ['Ignore for a hook that can block', { failurePolicy: 'Ignore' }, [ignores]],
  [
    'Ignore for one that cannot',
    { failurePolicy: 'Ignore', ...of(`${hooksGroup}/v1alpha1`, 'AfterControlPlaneInitialized') },
    [],
  ],
  ['Ignore for an unknown hook', { failurePolicy: 'Ignore', ...of(`${hooksGroup}/v1alpha1`, 'Unknown') }, []],
  ['a path as version', { failurePolicy: 'Ignore', ...of('a/b/c', 'BeforeClusterUpgrade') }, []],
  [
    'a deprecated version',
    of(`${hooksGroup}/v1alpha0`, 'BeforeClusterUpgrade'),
    [
      `a: serves BeforeClusterUpgrade of ${hooksGroup}/v1alpha0, which is deprecated; serve the version that replaces it`,
    ],
  ],
])('a handler with %s', (_, more, lines) => {
  const release = (text: string) => parseRelease(text)!;
  const deprecated = {
    ...{ group: hooksGroup, version: 'v1alpha0', name: 'BeforeClusterUpgrade' },
    introduced: release('1.0'),
    deprecated: { release: release('1.2'), date: '2022-07' },
  };
  const known = { catalog: createHookCatalog([deprecated]), release: release('1.14') };
  const findings = handlerFindings([handler('a', more)], known);
  expect(findings.map((one) => `${one.handler}: ${one.message}; ${one.remedy}`)).toEqual(lines);
  expect(findings.every(({ severity }) => severity === 'warning')).toBe(true);
});
