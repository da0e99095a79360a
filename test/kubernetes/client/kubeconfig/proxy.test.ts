import { expect, test } from 'vitest';
import { proxyFor } from '../../../../src/kubernetes/client/kubeconfig/proxy.ts';

const HTTPS_PROXY = 'http://proxy.test:3128';
const server = 'https://api.example.com:6443';

test.each<[string, string, NodeJS.ProcessEnv, string | undefined]>([
  ['none without variables', server, {}, undefined],
  ['HTTPS_PROXY', server, { HTTPS_PROXY }, HTTPS_PROXY],
  ['small letters', server, { https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
  ['capitals before small letters', server, { HTTPS_PROXY, https_proxy: 'http://other.test' }, HTTPS_PROXY],
  ['an empty variable counts as unset', server, { HTTPS_PROXY: '', https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
  ['without a scheme', server, { HTTPS_PROXY: 'proxy.test:3128' }, HTTPS_PROXY],
  ['SOCKS', server, { HTTPS_PROXY: 'socks5://10.0.0.1:1080' }, 'socks5://10.0.0.1:1080'],
  ['HTTP_PROXY is not for TLS', server, { HTTP_PROXY: HTTPS_PROXY }, undefined],
  ['HTTP_PROXY', 'http://api.example.com', { HTTP_PROXY: HTTPS_PROXY }, HTTPS_PROXY],
  ['never for localhost', 'https://localhost:6443', { HTTPS_PROXY }, undefined],
  ['never for 127.0.0.0/8', 'https://127.9.9.9:6443', { HTTPS_PROXY }, undefined],
  ['never for ::1', 'https://[::1]:6443', { HTTPS_PROXY }, undefined],
  ['not for the port of HTTPS', 'https://a.test', { HTTPS_PROXY, NO_PROXY: 'a.test:443' }, undefined],
  ['not for the port of HTTP', 'http://a.test', { HTTP_PROXY: HTTPS_PROXY, NO_PROXY: 'a.test:80' }, undefined],
  ['not for a server that is not a URL', 'api.example.com', { HTTPS_PROXY }, undefined],
])('%s', (_, url, env, expected) => {
  expect(proxyFor(url, env)).toBe(expected);
});

// As golang.org/x/net/http/httpproxy decides.
test.each<[noProxy: string, host: string, isExcluded: boolean]>([
  ['*', 'api.example.com', true],
  ['api.example.com', 'api.example.com', true],
  ['example.com', 'api.example.com', true],
  ['EXAMPLE.com', 'API.example.COM', true],
  [' a.test , example.com ', 'api.example.com', true],
  ['.example.com', 'api.example.com', true],
  ['.example.com', 'example.com', false],
  ['*.example.com', 'api.example.com', true],
  ['*.example.com', 'example.com', false],
  ['ample.com', 'api.example.com', false],
  ['api.example.com:6443', 'api.example.com', true],
  ['api.example.com:443', 'api.example.com', false],
  ['', 'api.example.com', false],
  [',,', 'api.example.com', false],
  [':6443', 'api.example.com', false],
  // A name that ends with a dot ends with an empty domain, too.
  [':6443', 'api.example.com.', false],
  ['api*.example.com', 'api.example.com', false],
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.0/99', '10.1.2.3', false],
  ['10.0.0.0/x8', '10.1.2.3', false],
  ['10.0.0.0/8x', '10.1.2.3', false],
  ['example.com/8', '10.1.2.3', false],
  ['fd00::/129', '[fd00::1]', false],
  ['10.0.0.0/8', 'api.example.com', false],
  ['10.1.2.3', 'api.example.com', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3:443', '10.1.2.3', false],
  ['fd00::/8', '[fd00::1]', true],
  ['[fd00::1]:6443', '[fd00::1]', true],
  ['fd00:0::1', '[fd00::1]', true],
  ['fd00::2', '[fd00::1]', false],
  ['10.0.0.0/8', '[fd00::1]', false],
])('NO_PROXY=%j and %s', (NO_PROXY, host, isExcluded) => {
  expect(proxyFor(`https://${host}:6443`, { HTTPS_PROXY, NO_PROXY })).toBe(isExcluded ? undefined : HTTPS_PROXY);
});

test.each([
  'http://',
  'ftp://proxy.test',
  ':::',
  'http://a:100%@proxy.test',
])('%j is not a proxy; the message does not repeat it', (value) => {
  expect(() => proxyFor(server, { HTTPS_PROXY: value })).toThrow(
    new Error('HTTPS_PROXY is not the URL of a proxy, such as http://proxy.example.com:3128'),
  );
});
