import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import type { Plugin } from '../../../../src/kubernetes/client/authentication/credential-plugin.ts';
import type { Credential } from '../../../../src/kubernetes/client/authentication/plugin-run.ts';
import { PluginSession } from '../../../../src/kubernetes/client/authentication/plugin-session.ts';

function sessionOf(exec: Plugin): PluginSession {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: false },
    { name: 'u', exec },
  );
  return PluginSession.of(config)!;
}

test.each<[string, string | undefined, runs: number]>([
  ['without a time', undefined, 1],
  ['that are valid for long', '2999-01-01T00:00:00Z', 1],
  ['that have expired', '2001-01-01T00:00:00Z', 2],
])('a plugin runs again for credentials %s', async (_, expirationTimestamp, runs) => {
  const folder = mkdtempSync(join(tmpdir(), 'session-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'runs');
  const output = JSON.stringify({ status: { token: 't', expirationTimestamp } });
  const session = sessionOf({
    command: 'sh',
    args: ['-c', `echo run >>"$RUNS"; echo '${output}'`],
    env: [{ name: 'RUNS', value: file }],
    interactiveMode: 'Never',
  });
  const { signal } = new AbortController();
  const first = await session.get(signal);
  expect([first.token, (await session.get(signal)).token]).toEqual(['t', 't']);
  expect(readFileSync(file, 'utf8')).toBe('run\n'.repeat(runs));
  await session.get(signal, await session.get(signal));
  expect(readFileSync(file, 'utf8').length).toBeGreaterThan('run\n'.length * runs);
});

const files = { certFile: 'tls.crt', keyFile: 'tls.key' };
const pair = { clientCertificateData: 'certificate', clientKeyData: 'key' };
const encodedPair = { certData: btoa('certificate'), keyData: btoa('key') };

test.each<[string, Partial<User>, Credential, object]>([
  ['a token', files, { token: 't' }, { ...files, token: 't' }],
  ['a token, for a user that has one', { token: 'own' }, { token: 't' }, { token: 'own' }],
  ['a certificate', files, pair, encodedPair],
  ['both', {}, { token: 't', ...pair }, { token: 't', ...encodedPair }],
])('the user with %s of a plugin', (_, user, credential, expected) => {
  const exec: Plugin = { command: 'a', interactiveMode: 'Never' };
  expect(sessionOf(exec).userWith({ name: 'u', exec, ...user }, credential)).toStrictEqual({ name: 'u', ...expected });
});
