import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Watching, type WatchingOptions, watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import { type FactKind, referencesTo } from '../../../src/policy/index.ts';
import { admission, requestFor } from '../admission/policy.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from '../rules/examples.ts';
import { type Cluster, clusterApiDefinitions, startCluster } from './cluster.ts';

const within = { timeout: 20_000, interval: 10 };
const pace: NonNullable<WatchingOptions['pace']> = { watchMs: 1000, graceMs: 300, minRetryMs: 20, maxRetryMs: 100 };

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

function follow({ config }: Pick<Cluster, 'config'>) {
  const problems: [FactKind, string | undefined][] = [];
  const watching: Watching = watchCluster({
    config,
    onProblem: (kind, problem) => problems.push([kind, problem]),
    pace,
  });
  cleanups.push(() => watching.stop());
  return { watching, problems, facts: () => watching.read().facts };
}

const namespaceOf = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test('nothing is known before anything has been read', () => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'a', server: 'https://127.0.0.1:1', skipTLSVerify: true }, { name: 'a' });
  const { watching } = follow({ config });
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
  expect(referencesTo('my-extension', facts())).toHaveLength(0);
  expect(facts().services?.find('capi-extensions', 'my-extension')).toEqual({ ports: [443] });
  expect(facts().services?.find('capi-extensions', 'other')).toBe('absent');
  expect(facts().namespaces?.get('clusters')).toMatchObject({
    team: 'a',
    'kubernetes.io/metadata.name': 'clusters',
  });
  expect(facts().extensionConfigs?.get('my-extension')).toMatchObject({
    address: 'my-extension.capi-extensions.svc:443',
    secret: 'capi-extensions/my-extension-cert',
  });

  await at.define(...clusterApiDefinitions);
  await at.put(exampleClass(), exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' }));
  await vi.waitFor(() => {
    expect(referencesTo('my-extension', facts())).toHaveLength(1);
    expect(facts().clusters?.get('clusters/prod-1')).toMatchObject({
      clusterClass: 'clusters/quick-start',
      pending: ['AfterClusterUpgrade'],
    });
  }, within);

  await at.put(exampleClass('x.other'));
  await vi.waitFor(() => expect(referencesTo('my-extension', facts())).toHaveLength(0), within);
  await at.delete(exampleServiceObject);
  await vi.waitFor(() => expect(facts().services?.find('capi-extensions', 'my-extension')).toBe('absent'), within);
});

/** The warnings of the webhook about a write of an object, as kubectl prints them. */
async function warningsAbout(watching: Watching, object: JsonObject, dryRun = false): Promise<readonly string[]> {
  const request = requestFor(object, { dryRun });
  const known = (await watching.refresh(request)) ?? watching.read();
  return admission().validate(request, known).response.warnings ?? [];
}

test('a Secret is what it is at each write, also of a dry run: missing, without a CA, usable, missing', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'), exampleServiceObject);
  const { watching } = follow(at);
  await watching.synced;
  const expectWarnings = async (...warnings: string[]) => {
    const expected = warnings.map((text) => expect.stringContaining(text));
    expect(await warningsAbout(watching, example())).toEqual(expected);
    expect(await warningsAbout(watching, example(), true)).toEqual(expected);
  };
  await expectWarnings('this Secret does not exist');
  await at.put(exampleSecret({}));
  await expectWarnings('this Secret has no ca.crt');
  await at.put(exampleSecret());
  await expectWarnings();
  await at.delete(exampleSecret());
  await expectWarnings('this Secret does not exist');
});

test('a Service is not called missing because its copy is older than the Service', async () => {
  const at = await cluster();
  await at.put(namespaceOf('capi-extensions'));
  const { watching } = follow(at);
  await watching.synced;
  const object = example({ annotations: {} });
  const warnings = async () => (await warningsAbout(watching, object)).filter((text) => text.includes('service'));
  expect(await warnings()).toEqual([expect.stringContaining('there is no such Service')]);
  // Without a turn of the event loop between the write and the review, the copy cannot have followed.
  for (const port of [9443, 443]) {
    const service = { ...exampleServiceObject, spec: { ports: [{ port }] } };
    await at.put(service);
    expect(await warnings()).toEqual(port === 443 ? [] : [expect.stringContaining('only 9443')]);
  }
});

test('when the API server is unreachable, decisions continue with aging facts, which finally become unknown', async () => {
  const at = await cluster();
  await at.define(...clusterApiDefinitions);
  await at.put(exampleNamespace, exampleClass());
  let skippedMs = 0;
  const clock = performance.now.bind(performance);
  const skipping = vi.spyOn(performance, 'now').mockImplementation(() => clock() + skippedMs);
  cleanups.push(() => skipping.mockRestore());
  const problems: FactKind[] = [];
  const watching = watchCluster({
    config: at.config,
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

test('when an API is no longer served, it is known that there are no objects of it', async () => {
  const at = await cluster();
  await at.define(...clusterApiDefinitions);
  await at.put(exampleNamespace, exampleClass());
  const { watching, facts } = follow(at);
  await watching.synced;
  expect(referencesTo('my-extension', facts())).toHaveLength(1);
  await at.delete(clusterApiDefinitions[0]!);
  await vi.waitFor(() => {
    expect(referencesTo('my-extension', facts())).toEqual([]);
    expect(watching.status('ClusterClass')).toMatchObject({ isKnown: true, objects: 0, problem: undefined });
  }, within);
});
