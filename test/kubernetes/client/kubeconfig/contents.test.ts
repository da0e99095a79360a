import { expect, test } from 'vitest';
import { mergeContents, readContents } from '../../../../src/kubernetes/client/kubeconfig/contents.ts';

test.each<[string, string, object]>([
  ['a file of the cluster', 'certificate-authority: ca', { 'certificate-authority': '/home/ca' }],
  ['an absolute path', 'certificate-authority: /ca', { 'certificate-authority': '/ca' }],
  [
    'a file and its contents',
    'certificate-authority: ca, certificate-authority-data: x',
    { 'certificate-authority-data': 'x' },
  ],
  ['an empty path', 'server: x, certificate-authority: ""', { server: 'x' }],
  ['an unknown field', 'server: x, color: blue', { server: 'x' }],
  ['an extension', 'extensions: [{name: e, extension: {a: 1}}]', { extensions: [{ name: 'e', extension: { a: 1 } }] }],
])('reads a cluster with %s', (_, text, cluster) => {
  expect(readContents(`clusters: [{name: a, cluster: {${text}}}]`, '/home')).toEqual({
    clusters: [{ name: 'a', cluster }],
  });
});

test.each<[string, string, object]>([
  ['files', 'client-certificate: c, client-key: k', { 'client-certificate': '/home/c', 'client-key': '/home/k' }],
  ['a token in a file', 'tokenFile: t', { tokenFile: '/home/t' }],
  ['a plugin in a folder', 'exec: {command: bin/p}', { exec: { command: '/home/bin/p' } }],
  ['a plugin in PATH', 'exec: {command: p}', { exec: { command: 'p' } }],
  ['a plugin without a command', 'exec: {args: [a]}', { exec: { args: ['a'] } }],
])('reads a user with %s', (_, text, user) => {
  expect(readContents(`users: [{name: a, user: {${text}}}]`, '/home')).toEqual({ users: [{ name: 'a', user }] });
});

test('reads a user and a cluster without fields', () => {
  const entries = { clusters: [{ name: 'a' }], users: [{ name: 'a' }] };
  expect(readContents('{apiVersion: v1, clusters: [{name: a}], users: [{name: a}]}', '/home')).toEqual(entries);
});

test('merges files without entries', () => {
  expect(mergeContents([{}])).toEqual({ 'current-context': '', contexts: [], clusters: [], users: [] });
});
