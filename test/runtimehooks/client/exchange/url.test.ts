import { expect, test } from 'vitest';
import { type ClientConfig, targetOf } from '../../../../src/runtimehooks/client/index.ts';
import { hooks } from '../../../../src/runtimehooks/index.ts';

const called = { hook: hooks.BeforeClusterCreate, name: 'Before-Create', timeoutSeconds: 10 };
const path = '/hooks.runtime.cluster.x-k8s.io/v1alpha1/beforeclustercreate/before-create';

test.each<[string, ClientConfig, string]>([
  ['a service', { service: { name: 'svc', namespace: 'ns' } }, `https://svc.ns.svc${path}?timeout=10s`],
  ['its port', { service: { name: 'svc', namespace: 'ns', port: 443 } }, `https://svc.ns.svc:443${path}?timeout=10s`],
  [
    'its path, cleaned',
    { service: { name: 'svc', namespace: 'ns', path: '/a//b/../c/' } },
    `https://svc.ns.svc/a/c${path}?timeout=10s`,
  ],
  [
    'a service before a URL',
    { service: { name: 'svc', namespace: 'ns' }, url: 'https://example.com' },
    `https://svc.ns.svc${path}?timeout=10s`,
  ],
  ['a URL', { url: 'https://example.com:9443/prefix' }, `https://example.com:9443/prefix${path}?timeout=10s`],
  ['a query of a URL', { url: 'https://example.com/?z=1&a=2' }, `https://example.com${path}?a=2&timeout=10s&z=1`],
  ['no fragment', { url: 'https://example.com/#part' }, `https://example.com${path}?timeout=10s`],
  ['no query in a fragment', { url: 'https://example.com/a#b?x=1' }, `https://example.com/a${path}?timeout=10s`],
  [
    'a timeout in the URL, in addition to its own',
    { url: 'https://example.com/?timeout=3s&x=1' },
    `https://example.com${path}?timeout=3s&timeout=10s&x=1`,
  ],
  [
    'escapes of a URL, resolved before the path is cleaned',
    { url: 'https://example.com/a%20b/%2E%2E/%61%2Fc/%e9é' },
    `https://example.com/a/c/%E9%C3%A9${path}?timeout=10s`,
  ],
  [
    'escapes of a service, which are taken literally',
    { service: { name: 'svc', namespace: 'ns', path: '/a%20b c' } },
    `https://svc.ns.svc/a%2520b%20c${path}?timeout=10s`,
  ],
  ['an upper case scheme', { url: 'HTTPS://example.com' }, `https://example.com${path}?timeout=10s`],
  ['an IPv6 address', { url: 'https://[::1]:8443' }, `https://[::1]:8443${path}?timeout=10s`],
  ['an empty service and a URL', { service: {}, url: 'https://example.com' }, `https://example.com${path}?timeout=10s`],
])('%s', (_name, clientConfig, url) => {
  expect(targetOf(clientConfig, called)).toMatchObject({ url });
});

test.each<[string, ClientConfig, string]>([
  ['neither', {}, 'failed to compute URL: at least one of service and url should be defined in config'],
  ['http', { url: 'http://example.com' }, 'failed to compute URL: expected https scheme, got http'],
  [
    'an invalid URL',
    { url: 'https://a b' },
    'failed to compute URL: failed to parse url from clientConfig: "https://a b"',
  ],
  ['a URL without a host', { url: 'https://' }, 'failed to compute URL: "https://" names no host'],
  ['a port out of range', { url: 'https://example.com:99999' }, 'names no host that can be called'],
])('%s is an error', (_name, clientConfig, message) => {
  expect(targetOf(clientConfig, called)).toMatchObject({ step: 'url', message: expect.stringContaining(message) });
});

test('formats a minute as Go does, and a singleton without a handler', () => {
  const discovery = { hook: hooks.Discovery, name: undefined, timeoutSeconds: 60 };
  expect(targetOf({ url: 'https://example.com' }, discovery)).toMatchObject({
    path: '/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery?timeout=1m0s',
    serverName: 'example.com',
  });
});

test('user info becomes Basic authentication and is not part of the address', () => {
  expect(targetOf({ url: 'https://user:pa%3Ass@example.com' }, called)).toMatchObject({
    url: `https://example.com${path}?timeout=10s`,
    authorization: `Basic ${Buffer.from('user:pa:ss').toString('base64')}`,
  });
});
