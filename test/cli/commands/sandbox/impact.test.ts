import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { fieldAt, isSame, type JsonObject, objectAt, textAt } from '../../../../src/kubernetes/index.ts';
import { isMade } from '../../../../src/topology/index.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually, send } from '../../../sandbox/client.ts';
import { needs } from '../../../support/needs.ts';
import { startShell } from '../../../support/shell.ts';
import type { RecordedChange } from '../../../topology/recorded.ts';
import { named } from '../planning.ts';
import { ready, start, startAlone } from './running.ts';

const file = (name: string) => new URL(`../../../../manifests/samples/plan/${name}.yaml`, import.meta.url);
const objectsIn = (name: string) =>
  parseAllDocuments(readFileSync(file(name), 'utf8')).map((document) => document.toJS() as JsonObject);
const definitions = objectsIn('crds');
const plurals = new Map(
  definitions.map(({ spec }) => [textAt(spec, 'names', 'kind'), textAt(spec, 'names', 'plural')] as const),
);

const collectionOf = (object: JsonObject) =>
  `/apis/${textAt(object, 'apiVersion')}/namespaces/${textAt(object, 'metadata', 'namespace')}/${plurals.get(textAt(object, 'kind'))}`;
const pathOf = (object: JsonObject) => `${collectionOf(object)}/${textAt(object, 'metadata', 'name')}`;

interface Answer {
  code: number;
  warnings: string[];
  body: JsonObject;
}

/** Requests to a sandbox, with the warnings of their answers. */
async function clientOf(kubeconfig: string) {
  const config = await loadKubeConfig({ kubeconfig }, {});
  const url = config.getCurrentCluster()?.server ?? '';
  const ca = Buffer.from(config.getCurrentCluster()?.caData ?? '', 'base64').toString();
  const token = config.getCurrentUser()?.token ?? '';
  return async (method: string, path: string, body?: object): Promise<Answer> => {
    const { status, headers, json } = await send({ url, ca, token }, method, path, body && { body });
    const warnings = [...String(headers.warning ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
      text.replaceAll(/\\(.)/g, '$1'),
    );
    return { code: status, warnings, body: json };
  };
}

/** An object as a user writes it, in another namespace. */
function written(object: JsonObject, namespace: string): JsonObject {
  const { status: _status, ...rest } = object;
  const { uid: _uid, resourceVersion: _version, ...metadata } = objectAt(object, 'metadata');
  return { ...rest, metadata: { ...metadata, namespace } };
}

/** What no plan of the webhook reads. */
const unread = new Set(['KubeadmConfig', 'DevMachine', 'DevCluster']);

/** Changes of a Cluster and of a class: all of them are planned in test/topology/recorded.test.ts. */
const changes = ['upgrade-1.35', 'K-etcd', 'T-rollout-after'].map(named);

/** The object with a rollout that begins in a second: Machines of a sandbox are new. */
const rolledOutSoon = (object: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(object).replace(/(?<="rollout":\{"after":")[^"]+/, new Date(Date.now() + 1_000).toISOString()),
  );

/** What a user wrote: new templates and classes, then the class, then the Cluster. */
function writesOf({ before, after }: RecordedChange, namespace: string) {
  const oldOf = (object: JsonObject) =>
    before.find(
      (old) => old.kind === object.kind && fieldAt(old, 'metadata', 'name') === fieldAt(object, 'metadata', 'name'),
    );
  const users = after.filter((object) => !isMade(object) && plurals.has(textAt(object, 'kind')));
  const added = users.filter((object) => oldOf(object) === undefined);
  const changed = users.filter((object) => {
    const old = oldOf(object);
    return old !== undefined && !isSame(objectAt(old, 'spec'), objectAt(object, 'spec'));
  });
  return {
    added: added.map((object) => written(object, namespace)),
    changed: changed.map((object) => written(object, namespace)),
  };
}

/** On a busy machine an answer may be late now and then. */
const isInTime = ({ warnings }: Answer) => !warnings.some((text) => text.includes('had no plan in time'));

describe('warnings of writes', () => {
  let sandbox: ReturnType<typeof startAlone>;
  let kubeconfig: string;
  let write: Awaited<ReturnType<typeof clientOf>>;
  beforeAll(async () => {
    sandbox = startAlone(['--impact']);
    kubeconfig = await ready(sandbox.output);
    write = await clientOf(kubeconfig);
    for (const definition of definitions) {
      const { code } = await write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
      expect(code).toBe(201);
    }
    for (const object of [...objectsIn('class'), ...objectsIn('cluster')]) {
      expect((await write('POST', collectionOf(object), object)).code).toBe(201);
    }
    // The thread that watches the cluster has read the samples.
    await eventually(
      () => labelled('gpu'),
      ({ warnings }) => warnings[0]?.startsWith('replaces') === true,
    );
  });
  afterAll(async () => {
    sandbox.stop.abort();
    await sandbox.ended;
  });

  async function demo(): Promise<JsonObject> {
    return (await write('GET', '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters/demo')).body;
  }

  /** A dry run of a new value for the variable nodeLabel of the sample. */
  async function labelled(value: string, annotations: JsonObject = {}): Promise<Answer> {
    const cluster = structuredClone(await demo());
    objectAt(cluster, 'spec', 'topology').variables = [{ name: 'nodeLabel', value }];
    cluster.metadata = { ...objectAt(cluster, 'metadata'), annotations };
    return eventually(() => write('PUT', `${pathOf(cluster)}?dryRun=All`, cluster), isInTime);
  }

  test.each(changes.map((change) => [change.name, change] as const))('recorded: %s', async (name, change) => {
    const namespace = `r-${name.toLowerCase().replaceAll('.', '-')}`;
    await write('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const { added, changed } = writesOf(change, namespace);
    const there = change.before.filter(
      ({ kind, metadata }) =>
        !unread.has(textAt({ kind: kind ?? '' }, 'kind')) && plurals.has(String(kind)) && metadata !== undefined,
    );
    for (const object of [...there.map((one) => written(one, namespace)), ...added]) {
      const { code, body } = await write('POST', collectionOf(object), object);
      expect([code, body.message]).toEqual([201, undefined]);
    }
    const expected = Object.values(change.expected).reduce((sum, { machines }) => sum + machines.replaced, 0);
    let answer: Answer | undefined;
    const replacedBy = ({ warnings }: Answer) =>
      warnings.reduce((sum, line) => sum + Number(/^replaces (\d+) Machines? in 1 Cluster: /.exec(line)?.[1] ?? 0), 0);
    for (const object of changed.filter(({ kind }) => kind === 'Cluster' || kind === 'ClusterClass')) {
      const { body: current } = await write('GET', pathOf(object));
      const next = {
        ...(name === 'T-rollout-after' ? rolledOutSoon(object) : object),
        metadata: { ...objectAt(object, 'metadata'), resourceVersion: textAt(current, 'metadata', 'resourceVersion') },
      };
      // What was created a moment ago is perhaps not yet in the thread's copy.
      answer = await eventually(
        () => write('PUT', `${pathOf(object)}?dryRun=All`, next),
        (one) => replacedBy(one) === expected,
      );
    }
    expect(answer === undefined ? 0 : replacedBy(answer)).toBe(expected);
  });

  test('names what is replaced and why', async () => {
    expect((await labelled('gpu')).warnings).toEqual([
      'replaces 2 Machines in 1 Cluster: md "md-0" of default/demo (2): spec.joinConfiguration.nodeRegistration.kubeletExtraArgs',
    ]);
  });

  test('says nothing about scaling, metadata and what Cluster API itself writes', async () => {
    const scaled = structuredClone(await demo());
    objectAt(scaled, 'spec', 'topology', 'controlPlane').replicas = 3;
    const labels = structuredClone(await demo());
    labels.metadata = { ...objectAt(labels, 'metadata'), labels: { team: 'a' } };
    for (const cluster of [scaled, labels]) {
      const { code, warnings } = await eventually(
        () => write('PUT', `${pathOf(cluster)}?dryRun=All`, cluster),
        isInTime,
      );
      expect([code, warnings]).toEqual([200, []]);
    }
  });

  test('a namespace denies replacements that nobody permitted, and nothing else', async () => {
    const allow = 'impact.extensionconfig-webhook/allow-replacement';
    const { body: namespace } = await write('GET', '/api/v1/namespaces/default');
    const labels = { 'impact.extensionconfig-webhook/replacement': 'deny' };
    await write('PUT', '/api/v1/namespaces/default', {
      ...namespace,
      metadata: { ...objectAt(namespace, 'metadata'), labels },
    });
    const { body } = await eventually(
      () => labelled('gpu'),
      ({ code }) => code !== 200,
    );
    const [, hash = ''] =
      /allow-replacement to "([0-9a-f]{12})" \(this plan\) or "true"; to see the plan: kubectl/.exec(
        String(body.message),
      ) ?? [];
    expect(body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: expect.stringContaining('replaces 2 Machines'),
    });
    expect((await labelled('gpu', { [allow]: '28151be27300' })).code).toBe(403);
    for (const permission of [hash, 'true']) {
      const { code, warnings } = await labelled('gpu', { [allow]: permission });
      expect([code, warnings]).toEqual([200, [expect.stringContaining('replaces 2 Machines')]]);
    }
    const scaled = structuredClone(await demo());
    objectAt(scaled, 'spec', 'topology', 'controlPlane').replicas = 3;
    expect((await write('PUT', `${pathOf(scaled)}?dryRun=All`, scaled)).code).toBe(200);
    const { body: denying } = await write('GET', '/api/v1/namespaces/default');
    const { labels: _labels, ...metadata } = objectAt(denying, 'metadata');
    expect((await write('PUT', '/api/v1/namespaces/default', { ...denying, metadata })).code).toBe(200);
    await eventually(
      () => labelled('gpu'),
      ({ code }) => code === 200,
    );
  });

  test('with kubectl, in dry runs too', needs('kubectl'), async () => {
    const shell = startShell({ ...process.env, KUBECONFIG: kubeconfig });
    const patch = '[{"op":"replace","path":"/spec/topology/version","value":"v1.35.0"}]';
    const args = ['patch', 'cluster', 'demo', '--type=json', '-p', patch, '--dry-run=server'];
    const { stderr } = await eventually(
      () => shell.run('kubectl', args),
      (ended) => !ended.stderr.includes('had no plan in time'),
    );
    await shell.stop();
    expect(stderr).toMatch(
      /replaces 2 Machines in 1 Cluster: md "md-0" of default\/demo \(2\): spec\.template\.spec\.version$/m,
    );
    expect(stderr).toMatch(
      /^Warning: replaces 1 Machine in 1 Cluster: control plane of default\/demo \(1\): spec\.version$/m,
    );
  });
});

test('what the sandbox itself writes at its start is judged: its log stays empty', async () => {
  const { stop, output, ended } = start(['--impact']);
  try {
    const config = await loadKubeConfig({ kubeconfig: await ready(output) }, {});
    await eventually(
      async () => output.out,
      (text) => text.includes('The sample extension is listening'),
    );
    const send = apiClient(config);
    await eventually(
      () => send<JsonObject>('GET', '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/sample-extension'),
      (extensionConfig) => textAt(extensionConfig, 'spec', 'clientConfig', 'caBundle') !== '',
    );
    expect(output.err).toBe('');
  } finally {
    stop.abort();
    await ended;
  }
});
