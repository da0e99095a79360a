import { afterEach, expect, test, vi } from 'vitest';
import { injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Watching, type WatchingPace, watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import type { FactKind } from '../../../src/policy/index.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from '../../../src/policy/rules/examples/examples.ts';
import { admission, requestFor } from '../admission/policy.ts';
import { type Cluster, clusterApiDefinitions, startCluster } from './cluster.ts';

const within = { timeout: 20_000, interval: 10 };
const pace: Partial<WatchingPace> = {
  informers: { watchMs: 1000, graceMs: 300, minRetryMs: 20, maxRetryMs: 100 },
  versionsMs: 30,
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function cluster(): Promise<Cluster> {
  const made = await startCluster();
  cleanups.push(() => made.sandbox.stop());
  return made;
}

function follow({ config }: Pick<Cluster, 'config'>, more: Partial<WatchingPace> = {}) {
  const problems: [FactKind, string | undefined][] = [];
  const watching: Watching = watchCluster({
    config,
    onProblem: (kind, problem) => problems.push([kind, problem]),
    pace: { ...pace, ...more },
  });
  cleanups.push(() => watching.stop());
  return { watching, problems, facts: () => watching.read().facts };
}

const namespaceOf = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test('nothing is known before anything has been read', async () => {
  const { watching } = follow(await cluster());
  expect(watching.read()).toMatchObject({
    ageMs: undefined,
    unknown: ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'],
  });
  expect(watching.read().facts.clusterClasses).toBeUndefined();
});

test('facts follow the cluster, and an API that is added later', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleNamespace, exampleServiceObject, exampleSecret(), example());
  const { watching, facts } = follow(at);
  await watching.synced;
  // ClusterClasses are not served, so it is known that there are none.
  expect(watching.read().unknown).toEqual([]);
  expect(facts().clusterClasses?.namingExtension('my-extension').size).toBe(0);
  expect(facts().services?.find('capi-extensions', 'my-extension')).toEqual({ ports: [443] });
  expect(facts().services?.find('capi-extensions', 'other')).toBe('absent');
  expect(facts().namespaces?.labelsOf('clusters')).toMatchObject({
    team: 'a',
    'kubernetes.io/metadata.name': 'clusters',
  });
  expect(facts().extensionConfigs?.find('my-extension')).toMatchObject({
    address: 'my-extension.capi-extensions.svc:443',
    secret: 'capi-extensions/my-extension-cert',
  });

  await at.define(...clusterApiDefinitions);
  await at.put(exampleClass(), exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' }));
  await vi.waitFor(() => {
    expect(facts().clusterClasses?.namingExtension('my-extension').size).toBe(1);
    expect([...(facts().clusters?.waitingFor('AfterClusterUpgrade') ?? [])]).toMatchObject([
      { key: 'clusters/prod-1' },
    ]);
    expect([...(facts().clusters?.namespacesOfClass('clusters/quick-start') ?? [])]).toEqual(['clusters']);
  }, within);

  await at.put(exampleClass('x.other'));
  await vi.waitFor(() => expect(facts().clusterClasses?.namingExtension('my-extension').size).toBe(0), within);
  await at.delete(exampleServiceObject);
  await vi.waitFor(() => expect(facts().services?.find('capi-extensions', 'my-extension')).toBe('absent'), within);
});

test('Secrets that annotations name are read in advance, others on request', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleSecret(), exampleSecret({}, 'empty'), example());
  const { watching, facts } = follow(at);
  await watching.synced;
  await watching.secretsRead();
  expect(watching.status('Secret')).toMatchObject({ objects: 1, isKnown: true });
  expect(facts().secrets?.find('capi-extensions', 'my-extension-cert')).toMatchObject({ problem: undefined });
  expect(facts().secrets?.find('capi-extensions', 'empty')).toBeUndefined();
  expect(facts().secrets?.find('capi-extensions', 'missing')).toBeUndefined();
  await watching.secretsRead();
  expect(facts().secrets?.find('capi-extensions', 'empty')).toMatchObject({ problem: 'has no ca.crt' });
  expect(facts().secrets?.find('capi-extensions', 'missing')).toBe('absent');
});

test('a changed Secret is read again once the result is too old', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleSecret({}));
  const { watching, facts } = follow(at, { secrets: { freshMs: 0, freshBadMs: 0, maxAgeMs: 600_000 } });
  const find = () => facts().secrets?.find('capi-extensions', 'my-extension-cert');
  find();
  await watching.secretsRead();
  expect(find()).toMatchObject({ problem: 'has no ca.crt' });
  await watching.secretsRead();
  await at.put(exampleSecret());
  find();
  await watching.secretsRead();
  expect(find()).toMatchObject({ problem: undefined });
});

test('a Secret that was absent, or without a CA, is read again soon; a usable one later', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleSecret({}), exampleSecret(undefined, 'fine'));
  let later = 0;
  const watching = watchCluster({ config: at.config, now: () => performance.now() + later });
  cleanups.push(() => watching.stop());
  const names = ['my-extension-cert', 'fine', 'missing'];
  const find = (name: string) => watching.read().facts.secrets?.find('capi-extensions', name);
  names.map(find);
  await watching.secretsRead();
  await at.put(exampleSecret(), exampleSecret({}, 'fine'), exampleSecret(undefined, 'missing'));
  // The object that the warning reported missing has been created by now.
  later = 3_000;
  expect(names.map(find)).toEqual([
    expect.objectContaining({ problem: 'has no ca.crt' }),
    expect.objectContaining({ problem: undefined }),
    'absent',
  ]);
  await watching.secretsRead();
  expect(names.map(find)).toEqual(names.map(() => expect.objectContaining({ problem: undefined })));
});

test('when the API server is unreachable, decisions continue with aging facts, which finally become unknown', async () => {
  const at = await cluster();
  await at.define(...clusterApiDefinitions);
  await at.put(exampleNamespace, exampleClass());
  let skippedMs = 0;
  const problems: FactKind[] = [];
  const watching = watchCluster({
    config: at.config,
    now: () => performance.now() + skippedMs,
    onProblem: (kind) => problems.push(kind),
    pace,
  });
  cleanups.push(() => watching.stop());
  await watching.synced;
  const { ageMs = Number.NaN } = watching.read();
  expect(ageMs).toBeLessThan(20_000);
  await at.sandbox.stop();
  cleanups.shift();
  await vi.waitFor(() => expect(problems).toContain('ClusterClass'), within);

  skippedMs = 60_000;
  const minute = watching.read();
  expect(minute.ageMs).toBeGreaterThanOrEqual(60_000);
  expect(minute.unknown).toEqual([]);
  const judge = () => {
    const request = requestFor(example(), { operation: 'DELETE', object: undefined, oldObject: example() });
    return admission({ facts: watching.read }).validate(request).response;
  };
  expect(judge()).toMatchObject({
    allowed: false,
    auditAnnotations: { 'facts-age-seconds': expect.stringMatching(/^[6-9]\d$/) },
  });
  expect(watching.status('ClusterClass')).toMatchObject({ isKnown: true, problem: expect.stringMatching(/no answer/) });

  skippedMs = 700_000;
  const late = watching.read();
  expect(late).toMatchObject({
    ageMs: undefined,
    unknown: ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'],
  });
  expect(late.facts.clusterClasses).toBeUndefined();
  expect(judge()).toMatchObject({
    allowed: true,
    auditAnnotations: { 'facts-unknown': expect.stringContaining('ClusterClass') },
  });
});

test('a changed annotation causes its Secret to be read', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleSecret({}, 'second'), example());
  const { watching } = follow(at);
  await watching.synced;
  await at.put(example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/second' } }));
  await vi.waitFor(() => expect(watching.status('Secret').objects).toBe(2), within);
});

test('a cluster that serves only v1beta1, and later no version of the kind', async () => {
  const at = await cluster();
  const older = clusterApiDefinitions.map((definition) => {
    const copy = structuredClone(definition) as { spec: { versions: { name: string }[] } } & JsonObject;
    for (const version of copy.spec.versions) {
      version.name = 'v1beta1';
    }
    return copy;
  });
  await at.define(...older);
  await at.put(exampleNamespace, {
    ...exampleClass(),
    apiVersion: 'cluster.x-k8s.io/v1beta1',
    spec: { patches: [{ name: 'p', external: { generateExtension: 'generate.my-extension' } }] },
  });
  const { watching, facts } = follow(at);
  await watching.synced;
  expect(facts().clusterClasses?.namingHandler('generate.my-extension').size).toBe(1);
  await at.delete(older[0]!);
  await vi.waitFor(() => {
    expect(facts().clusterClasses?.namingHandler('generate.my-extension').size).toBe(0);
    expect(watching.status('ClusterClass')).toMatchObject({ isKnown: true, objects: 0, problem: undefined });
  }, within);
});
