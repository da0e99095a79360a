import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, loadKubeConfig, shortRetries } from '../../../../src/kubernetes/client/index.ts';
import { isSame, type JsonObject } from '../../../../src/kubernetes/index.ts';
import {
  buildOverlay,
  idOf,
  type Manifest,
  manifestsFolder,
  overlays,
  readManifests,
} from '../../../kubernetes/manifests/kustomization.ts';
import { needs } from '../../../support/needs.ts';
import { type Shell, startShell } from '../../../support/shell.ts';
import { runProgram } from '../io.ts';
import { applyGoodAndBad, kubectlOf, ready, startAlone, withoutDocuments } from './running.ts';

/** Definitions of the kinds of others in our manifests, open to any fields. */
const foreignDefinitions = (
  [
    ['cert-manager.io', 'Certificate'],
    ['cert-manager.io', 'Issuer'],
    ['monitoring.coreos.com', 'PrometheusRule'],
    ['monitoring.coreos.com', 'ServiceMonitor'],
  ] as const
).map(([group, kind]) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
});

/** The different contents of each object in the overlays. */
function variantsOf(objects: readonly Manifest[]): Manifest[][] {
  return [...Map.groupBy(objects, idOf).values()].map((all) =>
    all.filter((object, index) => all.findIndex((other) => isSame(other, object)) === index),
  );
}

/** A way from the first item back to it that takes each step from one item to another once. */
function tourOf<T>(items: readonly T[]): T[] {
  return [...items.flatMap((item, index) => items.slice(index + 1).flatMap((other) => [item, other])), items[0]!];
}

/** What an object is, without what every write of its spec changes. */
function contentOf(object: JsonObject): JsonObject {
  const { metadata, status: _, ...content } = object;
  const { labels = {}, uid = '' } = metadata as JsonObject;
  return { ...content, metadata: { labels, uid } };
}

/** What kubectl notes on an object that it applies. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

let shell: Shell;
beforeAll(() => {
  shell = startShell(process.env);
});
afterAll(() => shell.stop());

/** The targets of release 0.1.0's Jobs, whose own image knows these flags, as today's. */
const renamed = {
  '--mutating-webhook=': '--target=MutatingWebhookConfiguration/',
  '--validating-webhook=': '--target=ValidatingWebhookConfiguration/',
  '--crd=': '--target=CustomResourceDefinition/',
};
const asToday = (arg: string): string =>
  Object.entries(renamed).reduce((text, [before, after]) => text.replace(before, after), arg);

describe('overlays', { ...needs('kubectl'), timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'overlays-'));
  const fileOf = (name: string, items: readonly object[]) => {
    writeFileSync(join(folder, name), items.map((item) => JSON.stringify(item)).join('\n'));
    return join(folder, name);
  };

  test('each changes into each other one, as on a cluster, and back; another template of a Job needs --force', async () => {
    const { stop, output, ended } = startAlone([]);
    try {
      const kubeconfig = await ready(output);
      const kubectl = kubectlOf(shell, kubeconfig);
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const ending = new AbortController();
      const cluster = connect(await loadKubeConfig({ kubeconfig }, {}), ending.signal);
      await Promise.all(foreignDefinitions.map((definition) => cluster.request('POST', definitions, definition)));
      ending.abort();

      // What one overlay has and another one lacks stays. So the changes from overlay to overlay are those of their objects.
      const variants = variantsOf(overlays.flatMap(buildOverlay));
      const first = fileOf(
        'first',
        variants.map(([object]) => object!),
      );
      await kubectl('apply', '-f', first);
      const stored = async () => {
        const { items } = JSON.parse(await kubectl('get', '-f', first, '-o', 'json')) as { items: JsonObject[] };
        return items.map(contentOf);
      };
      const before = await stored();
      const steps = variants.filter(({ length }) => length > 1).flatMap((all) => tourOf(all).slice(1));
      expect(steps.length).toBeGreaterThan(20);
      const lines = (await kubectl('apply', ...withoutDocuments, '-f', fileOf('steps', steps))).trim().split('\n');
      expect(lines.map((line) => line.split(' ').at(-1))).toEqual(steps.map(() => 'configured'));
      expect(await stored()).toEqual(before);

      // Of the same release with another template of the Job: --force replaces only the Job.
      const objects = buildOverlay('default');
      const cpu = (text: string) => JSON.parse(JSON.stringify(objects).replaceAll('"50m"', text)) as object[];
      const [one, other] = [fileOf('one-template', cpu('"50m"')), fileOf('other-template', cpu('"60m"'))];
      const apply = (...args: string[]) => kubectl('apply', ...withoutDocuments, '-f', ...args);
      await apply(one);
      const storedById = async () => {
        const { items } = JSON.parse(await kubectl('get', '-f', other, '-o', 'json')) as { items: Manifest[] };
        return new Map(items.map((item) => [idOf(item), item]));
      };
      const old = await storedById();
      await expect(apply(other)).rejects.toThrow(/^The Job "\S+" is invalid: .*field is immutable$/m);
      const jobs = [...(await storedById()).values()].filter(({ kind }) => kind.endsWith('Job'));
      const cpus = jobs.map(({ kind, spec }) => [kind, /"cpu":"(\d+m)"/.exec(JSON.stringify(spec))?.[1]]);
      expect(new Map(cpus as [string, string][])).toEqual(
        new Map([
          ['CronJob', '60m'],
          ['Job', '50m'],
        ]),
      );

      await apply(other, '--force');
      const uidOf = (item: Manifest | undefined) => (item?.metadata as JsonObject | undefined)?.uid;
      const replaced = [...(await storedById())].filter(([id, item]) => uidOf(item) !== uidOf(old.get(id)));
      expect(replaced.map(([, { kind }]) => kind)).toEqual(['Job']);
      expect(JSON.stringify(replaced)).toContain('"cpu":"60m"');

      expect(await kubectl('apply', '-n', 'default', '-k', 'manifests/controller-secrets')).toMatch(/rolebinding/);
      // The webhooks still have their certificates, and now match conditions.
      await applyGoodAndBad(shell, kubeconfig);
      const rotate = ['create', 'job', 'rotate-now', '--from=cronjob/extensionconfig-webhook-rotate'];
      expect(await kubectl('-n', 'extensionconfig-webhook-system', ...rotate)).toMatch(/rotate-now created/);
      expect(await kubectl('delete', '--ignore-not-found', '--wait=false', '-k', 'manifests/overlays/default')).toMatch(
        /webhookconfiguration.* deleted/,
      );
    } finally {
      stop.abort();
      await ended;
    }
  });

  test('of 0.1.0 are upgraded under writes, and downgraded, without a failed one', async () => {
    const { stop, output, ended } = startAlone([]);
    const writing = new AbortController();
    try {
      const kubeconfig = await ready(output);
      const kubectl = kubectlOf(shell, kubeconfig);
      const cluster = connect(await loadKubeConfig({ kubeconfig }, {}), writing.signal, {
        ...shortRetries,
        retries: 0,
      });
      const older = 'test/support/fixtures/manifests-of-0.1.0.yaml';
      // As a release writes its version.
      const newer = fileOf(
        'newer',
        JSON.parse(
          JSON.stringify(buildOverlay('with-crd')).replaceAll('0-1-0', '0-2-0').replaceAll(':0.1.0', ':0.2.0'),
        ) as object[],
      );
      const apply = (file: string) => kubectl('apply', ...withoutDocuments, '-f', file);
      await apply(older);
      const samples = ['good-selector', 'good-v1alpha1'].flatMap((name) =>
        readManifests(join(manifestsFolder, `samples/${name}.yaml`)).map((sample) => ({
          ...sample,
          metadata: { name },
        })),
      );
      await apply(fileOf('samples', samples));

      const configs = (version: string) => `/apis/runtime.cluster.x-k8s.io/${version}/extensionconfigs`;
      const configurations = '/apis/admissionregistration.k8s.io/v1';
      const kept = [
        configs('v1beta2'),
        configs('v1alpha1'),
        '/api/v1/namespaces/extensionconfig-webhook-system/secrets',
        `${configurations}/mutatingwebhookconfigurations`,
        `${configurations}/validatingwebhookconfigurations`,
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      ];
      const stored = async () => {
        const lists = await Promise.all(kept.map((path) => cluster.request('GET', path)));
        return lists.flatMap(({ items }) =>
          (items as Manifest[]).map(({ metadata, ...content }) => {
            const { annotations: { writes: _, [lastApplied]: __, ...annotations } = {}, ...rest } = metadata;
            const { resourceVersion: ___, generation: ____, ...identity } = rest as JsonObject;
            return { ...content, metadata: { ...identity, annotations } };
          }),
        );
      };
      const before = await stored();
      expect(JSON.stringify(before).match(/"caBundle":"LS0t/g)).toHaveLength(3);

      let writes = 0;
      const writers = samples.map(async ({ metadata: { name } }) => {
        while (!writing.signal.aborted) {
          for (const version of ['v1beta2', 'v1alpha1']) {
            writes++;
            const annotations = { writes: String(writes) };
            await cluster.request('PATCH', `${configs(version)}/${name}`, { metadata: { annotations } });
          }
          // Without an end, but not as fast as possible: other tests run on the machine.
          await sleep(25);
        }
      });
      const failed = Promise.all(writers);
      /** Applies a version's manifests and does what its Job does. */
      async function install(file: string): Promise<void> {
        const first = writes;
        await Promise.race([apply(file), failed]);
        const jobs = JSON.parse(await kubectl('get', '-f', file, '-o', 'json')) as { items: Manifest[] };
        const { args } = jobs.items.find(({ kind }) => kind === 'Job')!.spec.template.spec.containers[0];
        const { code, stdout, stderr } = await runProgram([...args.map(asToday), '--kubeconfig', kubeconfig], writing);
        expect([code, stdout + stderr]).toEqual([0, expect.not.stringMatching(/: (injected|created|updated)/)]);
        expect(writes - first).toBeGreaterThan(0);
        expect(await stored()).toEqual(before);
      }
      await install(newer);
      await install(older);
      writing.abort();
      await failed.catch((error: unknown) => expect(writing.signal.reason).toBe(error));
    } finally {
      writing.abort();
      stop.abort();
      await ended;
    }
  });
});
