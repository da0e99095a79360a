import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createImpactReviews, type ImpactReviews } from '../../../src/checks/impact/index.ts';
import { crd } from '../../../src/extensionconfig/index.ts';
import {
  type AdmissionRequest,
  isSame,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../../src/kubernetes/index.ts';
import { type AdmissionOutcome, parseRulesConfig } from '../../../src/policy/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { isMade } from '../../../src/topology/index.ts';
import { named, startRecorded } from '../../cli/commands/planning.ts';
import { buildOverlay, find } from '../../kubernetes/manifests/kustomization.ts';
import { permissionsOf, startRbacProxy } from '../../kubernetes/manifests/rbac-proxy.ts';
import type { PolicyRule } from '../../kubernetes/manifests/rbac-server.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { eventually, send } from '../../sandbox/client.ts';
import type { RecordedChange } from '../../topology/recorded.ts';

const objectsIn = (name: string) =>
  parseAllDocuments(readFileSync(`manifests/samples/plan/${name}.yaml`, 'utf8')).map(
    (document) => document.toJS() as JsonObject,
  );
const definitions = objectsIn('crds');
const samples = [...objectsIn('class'), ...objectsIn('cluster')];
const plurals = new Map(
  definitions.map(({ spec }) => [textAt(spec, 'names', 'kind'), textAt(spec, 'names', 'plural')] as const),
);
const cluster = samples.find(({ kind }) => kind === 'Cluster') as JsonObject;
const clusterClass = samples.find(({ kind }) => kind === 'ClusterClass') as JsonObject;

/** The Cluster with another value of its variable. */
function labelled(value: string): JsonObject {
  const copy = structuredClone(cluster);
  objectAt(copy, 'spec', 'topology').variables = [{ name: 'nodeLabel', value }];
  return copy;
}

function startReviews(
  kubeconfig: string,
  settings: Partial<Parameters<typeof createImpactReviews>[0]> = {},
): ImpactReviews {
  return createImpactReviews({
    kubeconfig: { kubeconfig },
    clusterApiVersion: undefined,
    config: parseRulesConfig('').impact,
    updatesInPlace: false,
    callsExtensions: false,
    log: pino({ level: 'silent' }),
    ...settings,
  });
}

/** The first outcome of a review that is as wanted, and not late, as it may be now and then on a busy machine. */
const planned = (
  reviews: ImpactReviews,
  request: AdmissionRequest,
  isWanted: (outcome: AdmissionOutcome) => boolean = () => true,
): Promise<AdmissionOutcome> =>
  eventually(
    () => reviews.review(request),
    (outcome) =>
      outcome.response.warnings?.some((text) => text.includes('had no plan in time')) !== true && isWanted(outcome),
  );

const replacesTwo = ({ response }: AdmissionOutcome) =>
  response.warnings?.[0]?.startsWith('replaces 2 Machines') === true;

/**
 * Waits until the thread has read the cluster. Before the thread is ready, it is not asked about what is created: so however
 * long its start takes, it is not taken for one that hangs.
 */
const started = (reviews: ImpactReviews) =>
  planned(reviews, requestOf(labelled('gpu'), { operation: 'CREATE' }), replacesTwo);

function requestOf(object: JsonObject, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const apiVersion = textAt(object, 'apiVersion');
  const [group = '', version = ''] = apiVersion.split('/');
  const kind = { group, version, kind: textAt(object, 'kind') };
  return {
    uid: 'uid-1',
    kind,
    requestKind: kind,
    subResource: '',
    name: textAt(object, 'metadata', 'name'),
    namespace: textAt(object, 'metadata', 'namespace'),
    operation: 'UPDATE',
    username: 'admin',
    object,
    oldObject: object.kind === 'Cluster' ? cluster : clusterClass,
    dryRun: true,
    ...more,
  };
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  for (const body of [...definitions, crd]) {
    await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
  }
});
afterAll(() => sandbox?.stop());

/** The kinds of the samples in groups whose kinds may all be read. */
const ofSamples: Readonly<Record<string, string[]>> = {
  'controlplane.cluster.x-k8s.io': ['kubeadmcontrolplanes', 'kubeadmcontrolplanetemplates'],
};

/** The file of a kubeconfig with this text. */
function fileOf(kubeconfig: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'impact-')), 'kubeconfig');
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  return file;
}

const deny = 'impact.extensionconfig-webhook/replacement';

describe('reviews with a cluster, with the permissions of overlay impact', () => {
  let reviews: ImpactReviews;
  let proxy: Awaited<ReturnType<typeof startRbacProxy>>;
  const registry = new Registry();
  const objects = buildOverlay('impact');
  const rules = objects
    .filter(({ kind, subjects }) => kind === 'ClusterRoleBinding' && subjects[0].name === 'extensionconfig-webhook')
    .flatMap(({ roleRef }) => find(objects, 'ClusterRole', roleRef.name).rules as PolicyRule[])
    .map((rule) =>
      rule.resources.includes('*') ? { ...rule, resources: ofSamples[String(rule.apiGroups)] ?? [] } : rule,
    );
  beforeAll(async () => {
    for (const body of samples) {
      const path = `/apis/${textAt(body, 'apiVersion')}/namespaces/default/${plurals.get(textAt(body, 'kind'))}`;
      expect((await send(sandbox, 'POST', path, { body })).status).toBe(201);
    }
    proxy = await startRbacProxy(sandbox, [{ namespace: undefined, rules }]);
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'test', server: proxy.url, skipTLSVerify: true }, { name: 'test' });
    reviews = startReviews(fileOf(config.exportConfig()), { config: parseRulesConfig('impact: deny').impact });
    reviews.addMetrics(registry, 'test_');
  });
  afterAll(async () => {
    await reviews?.stop();
    await proxy?.close();
  });

  test('before the objects are read, nothing is known, and the write is allowed', async () => {
    const { response, verdict } = await reviews.review(requestOf(labelled('gpu')));
    expect([response.allowed, verdict]).toEqual([true, 'warned']);
    expect(response.warnings).toEqual([expect.stringMatching(/^(?:what happens to Machines is not known|replaces 2)/)]);
    await started(reviews);
  });

  test('an audit annotation has the sum and the hash of the plan', async () => {
    const { response } = await planned(reviews, requestOf(labelled('gpu')));
    expect(response.auditAnnotations).toEqual({
      impact: '2 Machines replaced, 1 of 1 Clusters planned',
      'impact-plan': expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  test.each<[string, Partial<AdmissionRequest>]>([
    ['of a controller of Cluster API', { username: 'system:serviceaccount:capi-system:capi-manager' }],
    ['of the status', { subResource: 'status' }],
    ['of another kind', { kind: { group: '', version: 'v1', kind: 'Pod' } }],
    [
      'that deletes what is in a namespace that is deleted',
      { operation: 'DELETE', username: 'system:serviceaccount:kube-system:namespace-controller' },
    ],
  ])('a write %s passes without a plan', async (_, more) => {
    const { response, verdict } = await reviews.review(requestOf(labelled('gpu'), more));
    expect([response, verdict]).toEqual([{ uid: 'uid-1', allowed: true }, 'allowed']);
  });

  test('a burst of writes is answered in time, also those that are too many', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => reviews.review(requestOf(labelled(`gpu-${index}`)))),
    );
    expect(outcomes.every(({ response }) => response.allowed)).toBe(true);
    // More than wait at a time are not even asked.
    expect(outcomes.at(-1)?.response.warnings).toEqual([expect.stringContaining('had no plan in time')]);
    await planned(reviews, requestOf(labelled('gpu')), replacesTwo);
  });

  test('the newest of the writes that wait is planned first', async () => {
    const isNewestFirst = (order: readonly number[]) => order.indexOf(7) < order.indexOf(1);
    const { order } = await eventually(
      async () => {
        const order: number[] = [];
        const outcomes = await Promise.all(
          Array.from({ length: 8 }, async (_, index) => {
            const outcome = await reviews.review(requestOf(labelled(`gpu-${index}`)));
            order.push(index);
            return outcome;
          }),
        );
        return { order, outcomes };
      },
      // On a busy machine some are late, or the thread takes one before the next is written.
      ({ order, outcomes }) => outcomes.every(replacesTwo) && isNewestFirst(order),
    );
    expect(isNewestFirst(order)).toBe(true);
  });

  test('a class whose patches are not lists, and other nonsense, is at worst a bug that is said', async () => {
    for (const spec of [
      { ...objectAt(clusterClass, 'spec'), patches: 'x' },
      { ...objectAt(clusterClass, 'spec'), patches: [null, 7, { definitions: [{ jsonPatches: [{}] }] }] },
      { workers: { machineDeployments: [[]] }, variables: {} },
      null,
      [],
    ]) {
      const { response } = await reviews.review(requestOf({ ...clusterClass, spec: spec as JsonObject }));
      expect(response.allowed).toBe(true);
      expect(response.warnings ?? []).not.toContainEqual(expect.stringContaining('replaces'));
    }
    const after = await planned(
      reviews,
      requestOf(labelled('gpu')),
      ({ response }) => response.warnings?.[0]?.startsWith('replaces') === true,
    );
    expect(after.verdict).toBe('warned');
  });

  test('the worst class is answered in time, and the next review has its plan', async () => {
    const patch = objectsAt(clusterClass, 'spec', 'patches')[0] ?? {};
    const template = `{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}`;
    const worst = structuredClone(clusterClass);
    objectAt(worst, 'spec').patches = Array.from({ length: 2_000 }, (_, index) => ({
      ...patch,
      name: `patch-${index}`,
      enabledIf: `{{ if ne (printf "%s" "${template.replaceAll('"', '')}") "" }}true{{ end }}`,
    }));
    const { response } = await reviews.review(requestOf(worst));
    expect(response.allowed).toBe(true);
    await planned(reviews, requestOf(labelled('gpu')), replacesTwo);
  });

  test('a namespace that denies replacements permits them by the hash of the plan, or a new "true"', async () => {
    const label = async (value: string | null) =>
      await send(sandbox, 'PATCH', '/api/v1/namespaces/default', {
        body: { metadata: { labels: { [deny]: value } } },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    expect((await label('deny')).status).toBe(200);
    onTestFinished(async () => void (await label(null)));
    const permitted = (object: JsonObject, value: string): JsonObject => ({
      ...object,
      metadata: {
        ...objectAt(object, 'metadata'),
        annotations: { 'impact.extensionconfig-webhook/allow-replacement': value },
      },
    });
    const { response } = await planned(reviews, requestOf(labelled('gpu')), (outcome) => outcome.verdict === 'denied');
    const [, hash = ''] = /"(\w{12})" \(this plan\)/.exec(response.status?.message ?? '') ?? [];
    const text = `Cluster default/demo replaces 2 Machines in 1 Cluster: md "md-0" of default/demo (2): spec.joinConfiguration.nodeRegistration.kubeletExtraArgs. Machines in namespace default are replaced only if the same write sets the annotation impact.extensionconfig-webhook/allow-replacement to "${hash}" (this plan) or "true"`;
    const remedy = '; to see the plan: kubectl extensionconfig plan -f FILE';
    expect(response).toMatchObject({ allowed: false, status: { code: 403, message: `${text}${remedy}` } });
    const verdictOf = async (object: JsonObject, oldObject?: JsonObject) =>
      (await planned(reviews, requestOf(object, oldObject === undefined ? {} : { oldObject }))).response;
    expect(await verdictOf(permitted(labelled('gpu'), hash))).toMatchObject({ allowed: true });
    expect(await verdictOf(permitted(labelled('gpu'), 'true'))).toMatchObject({ allowed: true });
    expect(await verdictOf(permitted(labelled('cpu'), hash))).toMatchObject({ allowed: false });
    const { oldObject } = requestOf(labelled('gpu'));
    const repeated = await verdictOf(permitted(labelled('gpu'), 'true'), permitted(oldObject ?? {}, 'true'));
    expect(repeated.status?.message).toBe(
      `${text} (the "true" that an earlier write set does not count: remove it first, or set the other)${remedy}`,
    );
  });

  test('a class elsewhere with a kind of template that may not be read changes nothing for others', async () => {
    const templateRef = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'DevMachinePoolTemplate',
      name: 'x',
    };
    const unused = structuredClone(clusterClass);
    unused.metadata = { name: 'unused', namespace: 'elsewhere' };
    objectAt(objectsAt(unused, 'spec', 'workers', 'machineDeployments')[0], 'infrastructure').templateRef = templateRef;
    const [definition = {}] = definitions.filter(({ metadata }) =>
      textAt(metadata, 'name').startsWith('devmachinetemplates'),
    );
    const text = JSON.stringify(definition).replaceAll('devmachinetemplate', 'devmachinepooltemplate');
    const body = JSON.parse(text.replaceAll('DevMachineTemplate', 'DevMachinePoolTemplate')) as JsonObject;
    expect(
      (await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body })).status,
    ).toBe(201);
    await send(sandbox, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'elsewhere' } } });
    const path = '/apis/cluster.x-k8s.io/v1beta2/namespaces/elsewhere/clusterclasses';
    expect((await send(sandbox, 'POST', path, { body: unused })).status).toBe(201);
    await eventually(
      async () => proxy.refused,
      (refused) => refused.some((one) => one.includes('devmachinepooltemplates')),
    );
    for (let round = 0; round < 10; round++) {
      expect(replacesTwo(await planned(reviews, requestOf(labelled('gpu'))))).toBe(true);
    }
  });

  test('another release of an extension: the Clusters of its classes are named', async () => {
    const external = structuredClone(clusterClass);
    objectAt(external, 'spec').patches = [{ name: 'e', external: { generatePatchesExtension: 'patch.patcher' } }];
    const path = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusterclasses/small';
    const { json: current } = await send(sandbox, 'GET', path);
    external.metadata = objectAt(current, 'metadata');
    expect((await send(sandbox, 'PUT', path, { body: external })).status).toBe(200);
    const config = (url: string): JsonObject => ({
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name: 'patcher' },
      spec: { clientConfig: { url } },
    });
    const request = requestOf(config('https://b.example.com'), { oldObject: config('https://a.example.com') });
    const { response } = await planned(reviews, request, (outcome) => outcome.verdict === 'warned');
    expect(response.warnings).toEqual([
      'what extension patcher does to the Machines of default/demo is not known before it is asked: kubectl extensionconfig plan -f FILE',
    ]);
    const same = requestOf(config('https://a.example.com'), { oldObject: config('https://a.example.com') });
    expect((await planned(reviews, same)).verdict).toBe('allowed');
    const unasked = await planned(
      reviews,
      requestOf(labelled('gpu')),
      (outcome) => outcome.response.warnings?.[0]?.startsWith('what happens') === true,
    );
    expect(unasked.response.warnings?.[0]).toMatch(
      /^what happens to Machines of default\/demo is not known: .*patch\.patcher is not called here/,
    );
  });

  test('the permissions of overlay impact are enough, and all are used', async () => {
    expect(proxy.refused.filter((one) => !one.includes('devmachinepooltemplates'))).toEqual([]);
    const impactRules = rules.filter(({ resources }) =>
      /machine|kubeadm|templates|customresource/.test(resources.join()),
    );
    // The samples have no MachinePools, and no configs of other providers.
    const given = permissionsOf([{ namespace: undefined, rules: impactRules }]).filter(
      (permission) => !/machinepools|(?<!kubeadm)configtemplates|infrastructure(?!.*\bdev)/.test(permission),
    );
    await eventually(
      async () => given.filter((permission) => !proxy.used.has(permission)),
      (unused) => unused.length === 0,
    );
  });

  test('a kind that may not be read is not known for the Clusters that need it, and holds up no review', async () => {
    const narrow = rules.map(({ resources, ...rule }) => ({
      ...rule,
      resources: resources.filter((resource) => resource !== 'devmachinetemplates'),
    }));
    const forbidding = await startRbacProxy(sandbox, [{ namespace: undefined, rules: narrow }]);
    onTestFinished(() => forbidding.close());
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'test', server: forbidding.url, skipTLSVerify: true }, { name: 'test' });
    const blind = startReviews(fileOf(config.exportConfig()));
    onTestFinished(() => blind.stop());
    const { response } = await planned(blind, requestOf(labelled('gpu')), ({ response: { warnings = [] } }) =>
      warnings.some((text) => text.includes('devmachinetemplates')),
    );
    expect(response.warnings).toEqual([
      expect.stringMatching(/^what happens to Machines of default\/demo is not known: .*devmachinetemplates/),
    ]);
  });

  test('results are counted', async () => {
    const text = await registry.metrics();
    for (const result of ['nothing', 'warned', 'denied', 'unknown']) {
      expect(text).toMatch(new RegExp(`^test_impact_reviews_total\\{result="${result}"\\} [1-9]`, 'm'));
    }
  });
});

describe('extensions', () => {
  let reviews: ImpactReviews;
  beforeAll(() => {
    const clusterApiVersion = { major: 1, minor: 13 };
    reviews = startReviews(fileOf(sandbox.kubeconfig), {
      clusterApiVersion,
      updatesInPlace: true,
      callsExtensions: true,
    });
  });
  afterAll(() => reviews?.stop());

  const unwatched = new Set(['KubeadmConfig', 'DevMachine', 'DevCluster', 'ExtensionConfig']);
  const keyOf = ({ kind, metadata }: JsonObject) => `${kind} ${textAt(metadata, 'name')}`;

  /** What exists before a recorded change, in a namespace of its own, and the write of a user. */
  async function stored(change: RecordedChange): Promise<{ object: JsonObject; oldObject: JsonObject }> {
    const namespace = `r-${change.name.toLowerCase()}-${Math.random().toString(36).slice(2, 8)}`;
    const written = ({ metadata, status: _status, ...object }: JsonObject): JsonObject => {
      const { resourceVersion: _version, uid: _uid, ...kept } = objectAt(metadata);
      return { ...object, metadata: { ...kept, namespace } };
    };
    const [before, after] = [change.before, change.after].map((objects) =>
      objects.filter(({ kind }) => !unwatched.has(String(kind))).map(written),
    ) as [JsonObject[], JsonObject[]];
    const old = new Map(before.map((object) => [keyOf(object), object]));
    const added = after.filter((object) => !isMade(object) && !old.has(keyOf(object)));
    await send(sandbox, 'POST', '/api/v1/namespaces', {
      body: { metadata: { name: namespace, labels: { [deny]: 'deny' } } },
    });
    for (const body of [...before, ...added]) {
      const path = `/apis/${textAt(body, 'apiVersion')}/namespaces/${namespace}/${plurals.get(textAt(body, 'kind'))}`;
      const { status, text } = await send(sandbox, 'POST', path, { body });
      expect([status, status === 201 ? '' : text]).toEqual([201, '']);
    }
    const isWritten = ({ kind }: JsonObject) => kind === 'Cluster' || kind === 'ClusterClass';
    const object = after.find((one) => isWritten(one) && !isSame(one.spec, old.get(keyOf(one))?.spec)) ?? {};
    return { object, oldObject: old.get(keyOf(object)) ?? {} };
  }

  async function register(config: JsonObject): Promise<void> {
    const path = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
    const { metadata, spec, status } = config as { metadata: JsonObject; spec: JsonObject; status: JsonObject };
    const name = textAt(metadata, 'name');
    const body = { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name }, spec };
    const { json } = await send(sandbox, 'POST', path, { body });
    const registered = await send(sandbox, 'PUT', `${path}/${name}/status`, { body: { ...json, status } });
    expect(registered.status).toBe(200);
    onTestFinished(async () => {
      await send(sandbox, 'DELETE', `${path}/${name}`);
    });
  }

  const replacedBy = ({ response }: AdmissionOutcome) =>
    (response.warnings ?? []).reduce((all, text) => all + Number(/^replaces (\d+)/.exec(text)?.[1] ?? 0), 0);

  test.each(
    ['E1-extension-joins', 'I1-bootstrap-of-cp', 'I3-cp-infrastructure-uncovered', 'I5-version-uncovered'].map(named),
  )('called, as recorded: $name', async (change) => {
    const write = await stored(change);
    for (const config of await startRecorded(change)) {
      await register(config);
    }
    const expected = Object.values(change.expected).reduce((sum, { machines }) => sum + machines.replaced, 0);
    const outcome = await planned(
      reviews,
      requestOf(write.object, { oldObject: write.oldObject }),
      (one) => replacedBy(one) === expected,
    );
    expect(outcome.response.warnings).not.toContainEqual(expect.stringContaining('not known'));
  });

  test('one that takes longer than there is time is not known, and holds up nothing that it has no part in', async () => {
    const change = named('E1-extension-joins');
    const write = await stored(change);
    const slow = await startExtension(() => undefined);
    onTestFinished(() => slow.close());
    const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'GeneratePatches' };
    const handlers = [{ name: 'generatepatches.patcher', requestHook, timeoutSeconds: 10 }];
    await register(extensionConfig('patcher', { url: slow.url, caBundle }, handlers) as unknown as JsonObject);
    const { response } = await planned(
      reviews,
      requestOf(write.object, { oldObject: write.oldObject }),
      ({ response: { warnings = [] } }) => warnings.some((line) => line.endsWith('did not answer in time')),
    );
    expect(response.warnings).toEqual([
      expect.stringMatching(/^what happens to Machines of r-\S+\/f1 is not known: patch .* handler generatepatches/),
    ]);
    const other = structuredClone(write.oldObject);
    objectAt(other, 'spec').patches = [
      ...objectsAt(other, 'spec', 'patches'),
      {
        name: 'more',
        definitions: [
          {
            selector: {
              apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
              kind: 'KubeadmControlPlaneTemplate',
              matchResources: { controlPlane: true },
            },
            jsonPatches: [
              { op: 'add', path: '/spec/template/spec/kubeadmConfigSpec/postKubeadmCommands', value: ['echo'] },
            ],
          },
        ],
      },
    ];
    const quick = await planned(reviews, requestOf(other, { oldObject: write.oldObject }));
    expect(replacedBy(quick)).toBe(3);
  });
});
