import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import { aroundEach, describe, expect, test } from 'vitest';
import { run } from '../../../src/cli/index.ts';
import { clusterApiLease, findRival } from '../../../src/controller/index.ts';
import { testCa } from '../../base/x509/certificates.ts';
import { control, handlerOf, type Lab, startLab } from '../../controller/lab.ts';
import { startExtension } from '../../extension/sdk/running.ts';
import { eventually } from '../../sandbox/client.ts';
import { ending, endWith } from '../../support/ends.ts';
import { buildKustomization, buildOverlay, find, type Manifest, manifestsFolder } from './kustomization.ts';
import { type Grant, permissionsOf, startRbacProxy } from './rbac-proxy.ts';
import type { PolicyRule } from './rbac-server.ts';

const account = 'extensionconfig-webhook-controller';

aroundEach(ending);

/** What the controller's account may do, according to the bindings of an overlay. */
function grantsOf(objects: readonly Manifest[]): Grant[] {
  return objects
    .filter(({ kind, subjects }) => /^(Cluster)?RoleBinding$/.test(kind) && subjects[0].name === account)
    .map(({ metadata, roleRef }) => ({
      namespace: metadata.namespace,
      rules: find(objects, roleRef.kind, roleRef.name).rules as PolicyRule[],
    }));
}

function argumentsOf(objects: readonly Manifest[]): string[] {
  return find(objects, 'Deployment', account).spec.template.spec.containers[0].args as string[];
}

/** A controller that is authorized by its overlay, and what the tests inspect. */
async function start(objects = buildOverlay('controller-discover')) {
  const grants = grantsOf(objects);
  const lab = await startLab();
  const proxy = await startRbacProxy(lab.sandbox, grants);
  endWith(() => proxy.close());
  const namespace = 'extensionconfig-webhook-system';
  await lab.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'test', server: proxy.url, skipTLSVerify: true }, { name: 'test' });
  const begin = async () => {
    // As the command does at its start.
    expect(await findRival(kubeConfig, clusterApiLease, new AbortController().signal)).toBeUndefined();
    return control(
      { kubeConfig },
      {
        leaderElection: {
          ...{ namespace, name: 'extensionconfig-webhook-controller' },
          ...{ leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 50 },
        },
      },
      { resyncMs: 300 },
    );
  };
  return { lab, proxy, grants, begin };
}

type Started = Awaited<ReturnType<typeof start>>;

async function expectAllUsed({ proxy, grants }: Started): Promise<void> {
  const given = permissionsOf(grants).sort();
  expect(given).toEqual([...new Set(given)]);
  await eventually(
    async () => [...proxy.used].sort(),
    (used) => used.join() === given.join(),
  );
  expect(proxy.refused).toEqual([]);
}

/** Waits until an event was written, after the status that it reports. */
function written({ events }: Lab, name: string, reason: string) {
  return eventually(
    () => events(name),
    (all) => all.some((one) => one.reason === reason),
  );
}

async function extension() {
  return startExtension([handlerOf('BeforeClusterCreate', 'before')]);
}

describe("the controller's permissions are sufficient for everything that it does, and each of them is used", () => {
  test('with any Secret', async () => {
    const started = await start();
    const { lab, begin } = started;
    const { port } = await extension();
    await lab.putSecret('ca', { 'ca.crt': testCa.cert });
    const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'default/ca' };
    await lab.create('one', { clientConfig: { url: `https://localhost:${port}` } }, annotations);
    await begin();
    await lab.condition('one', 'Discovered', 'True');
    await lab.request('DELETE', '/api/v1/namespaces/default/secrets/ca');
    await lab.condition('one', 'Discovered', 'False');
    await written(lab, 'one', 'NotDiscovered');
    await expectAllUsed(started);
  });

  test('with the Secrets of one namespace only; the condition names a permission that is missing', async () => {
    const ofSecrets = buildKustomization(join(manifestsFolder, 'controller-secrets'));
    const inDefault = ofSecrets.map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, namespace: 'default' },
    }));
    const narrow = buildOverlay('controller-discover-narrow');
    expect(permissionsOf(grantsOf(narrow)).filter((one) => one.includes('secrets'))).toEqual([]);
    const { lab, proxy, begin } = await start([...narrow, ...inDefault] as Manifest[]);
    const { port } = await extension();
    await lab.putSecret('ca', { 'ca.crt': testCa.cert });
    const spec = { clientConfig: { url: `https://localhost:${port}` } };
    const annotation = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';
    await lab.create('here', spec, { [annotation]: 'default/ca' });
    await lab.create('elsewhere', spec, { [annotation]: 'kube-system/ca' });
    await begin();
    await lab.condition('here', 'Discovered', 'True');
    const { status } = await lab.condition('elsewhere', 'Discovered', 'False');
    expect(status?.conditions?.find(({ type }) => type === 'Discovered')?.message).toContain(
      'the permission to get secrets kube-system/ca is missing',
    );
    expect(new Set(proxy.refused)).toEqual(new Set(['GET /api/v1/namespaces/kube-system/secrets/ca']));
  });
});

test('the program accepts the arguments of the Deployment', async () => {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk) => {
    text += chunk;
  });
  const args = [...argumentsOf(buildOverlay('controller-discover')), '--kubeconfig=/nowhere'];
  const io = {
    stdin: new PassThrough(),
    stdout: output,
    stderr: output,
    env: {},
    signal: new AbortController().signal,
  };
  // The only errors are those that the test caused.
  expect(await run(args, io)).toBe(2);
  expect(text).toMatch(/no cluster: .*\/nowhere/);
});
