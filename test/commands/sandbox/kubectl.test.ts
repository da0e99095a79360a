import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createCertificateFolder, startServeProcess } from '../../e2e/serve-process.ts';
import { needs } from '../../tools/needs.ts';
import { ready, startAlone } from './running.ts';

test('takes the manifests of an installation with kubectl', { ...needs('kubectl'), timeout: 60_000 }, async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    for (const overlay of ['default', 'with-crd', 'controller-discover']) {
      expect(await kubectl('apply', '-k', `manifests/overlays/${overlay}`)).toMatch(/mutatingwebhookconfiguration/);
    }
    // The webhooks still have their certificates, and now match conditions.
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    const rotate = ['create', 'job', 'rotate-now', '--from=cronjob/extensionconfig-webhook-rotate'];
    expect(await kubectl('-n', 'extensionconfig-webhook-system', ...rotate)).toMatch(/rotate-now created/);
    expect(await kubectl('delete', '-k', 'manifests/overlays/default')).toMatch(/webhookconfiguration.* deleted/);
  } finally {
    stop.abort();
    await ended;
  }
});

test('takes them with a webhook server that runs by itself, too', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const folder = createCertificateFolder();
  const server = await startServeProcess(folder);
  const url = `https://127.0.0.1:${server.webhookPort}`;
  const { stop, output, ended } = startAlone(['--webhook-url', url, '--webhook-ca-file', `${folder.path}/tls.crt`]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    expect(await kubectl('apply', '-k', 'manifests/overlays/with-crd')).toMatch(/mutatingwebhookconfiguration/);
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    expect(await kubectl('get', 'extensionconfigs.v1alpha1.runtime.cluster.x-k8s.io', '-o', 'name')).toMatch(/^\S+\n$/);
  } finally {
    stop.abort();
    await ended;
    await server.stop();
    folder.remove();
  }
});

test('kubectl asks what it may do, acts for others, and does not wait for what never runs', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], { timeout: 20_000 }).then(
        ({ stdout }) => stdout,
        ({ stderr }: { stderr: string }) => stderr,
      );
    expect(await kubectl('auth', 'can-i', '--list')).toMatch(/\*\.\* +\[\] +\[\] +\[\*\]/);
    expect(await kubectl('auth', 'can-i', 'delete', 'nodes', '--as', 'somebody')).toBe('yes\n');
    const as = ['--as', 'system:serviceaccount:a:b', '--as-uid', '7'];
    expect(JSON.parse(await kubectl('auth', 'whoami', '-o', 'json', ...as))).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:a:b',
          uid: '7',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
        },
      },
    });
    expect(await kubectl('create', 'deployment', 'web', '--image=web')).toMatch(/created/);
    const started = performance.now();
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('exceeded its progress deadline');
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await kubectl('describe', 'deployment/web')).toMatch(/ProgressDeadlineExceeded/);
    expect(await kubectl('get', 'deployment/web', '-o', 'yaml')).toContain('nothing runs in the sandbox');
  } finally {
    stop.abort();
    await ended;
  }
});
