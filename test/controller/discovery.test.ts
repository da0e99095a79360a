import { aroundEach, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { makeCertificate, testCa } from '../base/x509/certificates.ts';
import { startExtension as startRawServer } from '../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../support/ends.ts';
import { type Config, caBundle, control, startCalled, startLab, until } from './lab.ts';
import { startProxy, takenIn } from './proxy.ts';
import { comparable, recordedDiscovered, recordedFailed } from './recorded-status.ts';

aroundEach(ending);

test.concurrent('writes a status as Cluster API does, both for a discovered extension and for a failure', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec, stop } = await startCalled();
  await lab.create('lab', spec);
  await control(lab, {}, { resyncMs: 100 });
  const discovered = await lab.condition('lab', 'Discovered', 'True');
  expect(comparable(discovered.status)).toEqual(comparable(recordedDiscovered));
  await stop({ graceMs: 0, timeoutMs: 100 });
  // A discovery in progress when the server stopped has failed in another way.
  const failed = await lab.condition('lab', 'Discovered', 'False', /refused/);
  expect(comparable(failed.status)).toEqual(comparable(recordedFailed.status));
});

const discoveryAnswer = (handlers: object[] | undefined) => ({
  apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
  kind: 'DiscoveryResponse',
  status: 'Success',
  ...(handlers && { handlers }),
});
const offered = (name: string, hook = 'BeforeClusterCreate') => ({
  name,
  requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook },
  timeoutSeconds: 5,
  failurePolicy: 'Fail',
});

/** A server that answers discovery as told, and counts the calls. */
async function answering(answer: (count: number) => object | undefined) {
  const server = await startRawServer(() => answer(server.received.length) as JsonObject | undefined);
  endWith(() => server.close());
  return { received: server.received, spec: { clientConfig: { url: server.url, caBundle } } };
}

const names = (config: Config) => config.status?.handlers?.map(({ name }) => name);
const conditionIn = (config: Config, type: string) => config.status?.conditions?.find((one) => one.type === type);

test.concurrent('writes only changes, and does not discover again after its own write', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  // In another order each time, as a server of Cluster API's own SDK does after each start.
  const { received, spec } = await answering((count) =>
    discoveryAnswer(count % 2 === 0 ? [offered('a'), offered('b')] : [offered('b'), offered('a')]),
  );
  await lab.create('lab', spec);
  await control(proxy, {}, { resyncMs: 100 });
  const first = await lab.condition('lab', 'Discovered', 'True');
  await until(() => expect(received.length).toBeGreaterThanOrEqual(5));
  const later = await lab.get('lab');
  expect(later.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  expect(takenIn(proxy.passed)).toHaveLength(1);
  expect(names(later)).toEqual(names(first));
});

test.concurrent('neither its own write, which the watch may report before the response, nor a change of labels or of the status causes a discovery', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  proxy.holdAnswer = ({ method }) =>
    method === 'PATCH' ? new Promise((resolve) => setTimeout(resolve, 150)) : undefined;
  const { received, spec } = await answering(() => discoveryAnswer([offered('a')]));
  await lab.create('lab', spec);
  await control(proxy);
  await lab.condition('lab', 'Discovered', 'True');
  await lab.patch('lab', { metadata: { labels: { team: 'a' }, annotations: { x: 'y' } } });
  await lab.patchStatus('lab', { handlers: [] });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(received).toHaveLength(1);
});

test.concurrent('keeps the order of handlers when some are added and removed, and an event reports the changes', async ({
  expect,
}) => {
  const lab = await startLab();
  let answer: object[] = [offered('a'), offered('b'), offered('c')];
  const { spec } = await answering(() => discoveryAnswer(answer));
  await lab.create('lab', spec);
  await control(lab, {}, { resyncMs: 100 });
  await lab.condition('lab', 'Discovered', 'True');
  answer = [offered('d'), offered('c'), offered('a')];
  await until(async () => expect(names(await lab.get('lab'))).toEqual(['a.lab', 'c.lab', 'd.lab']));
  await until(async () =>
    expect(await lab.events('lab')).toEqual([
      { type: 'Normal', reason: 'Discovered', message: 'discovered 3 handlers', count: 1 },
      {
        type: 'Normal',
        reason: 'HandlersChanged',
        message: 'the extension server changed: added d.lab; removed b.lab',
        count: 1,
      },
    ]),
  );
  answer = [];
  await until(async () => expect((await lab.get('lab')).status).not.toHaveProperty('handlers'));
});

test.concurrent('changes the transition time only with the status, observedGeneration only with the spec', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  let now = new Date('2026-01-01T10:00:00.900Z');
  await lab.create('lab', { ...spec, settings: { a: '1' } });
  await control(lab, { now: () => now });
  const first = await lab.condition('lab', 'Discovered', 'True');
  expect(conditionIn(first, 'Discovered')).toMatchObject({
    lastTransitionTime: '2026-01-01T10:00:00Z',
    observedGeneration: 1,
  });
  now = new Date('2026-01-01T11:00:00Z');
  await lab.patch('lab', { spec: { settings: { a: '2' } } });
  await until(async () =>
    expect(conditionIn(await lab.get('lab'), 'Discovered')).toMatchObject({
      lastTransitionTime: '2026-01-01T10:00:00Z',
      observedGeneration: 2,
    }),
  );
  await lab.patch('lab', { spec: { clientConfig: { url: 'https://localhost:1' } } });
  const failed = await lab.condition('lab', 'Discovered', 'False');
  expect(conditionIn(failed, 'Discovered')).toMatchObject({
    lastTransitionTime: '2026-01-01T11:00:00Z',
    observedGeneration: 3,
  });
  expect(conditionIn(failed, 'Paused')).toMatchObject({ lastTransitionTime: '2026-01-01T10:00:00Z' });
});

test.concurrent('leaves a paused extension alone, continues afterwards, and discovers one that is created again', async ({
  expect,
}) => {
  const lab = await startLab();
  const { received, spec } = await answering(() => discoveryAnswer([offered('a')]));
  await lab.create('lab', spec);
  await control(lab, {}, { resyncMs: 100 });
  await lab.condition('lab', 'Discovered', 'True');
  await lab.patch('lab', { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
  const paused = await lab.condition('lab', 'Paused', 'True');
  expect(conditionIn(paused, 'Paused')).toMatchObject({
    reason: 'Paused',
    message: 'ExtensionConfig has the cluster.x-k8s.io/paused annotation',
  });
  const count = received.length;
  await lab.patch('lab', { spec: { settings: { a: '1' } } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(received).toHaveLength(count);
  await lab.patch('lab', { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
  await until(async () => {
    const config = await lab.get('lab');
    expect(conditionIn(config, 'Paused')?.status).toBe('False');
    expect(conditionIn(config, 'Discovered')?.observedGeneration).toBe(2);
  });
  await lab.remove('lab');
  await lab.create('lab', spec);
  await lab.condition('lab', 'Discovered', 'True');
});

test.concurrent('injects caBundle from the annotated Secret, and follows the Secret', async ({ expect }) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  const { url } = spec.clientConfig;
  await lab.create(
    'lab',
    { clientConfig: { url } },
    { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'default/ca' },
  );
  await control(lab);
  const message = async () => conditionIn(await lab.get('lab'), 'Discovered')?.message;
  const problem = 'Error in discovery: failed to reconcile caBundle: ';
  await until(async () => expect(await message()).toBe(`${problem}Secret default/ca does not exist`));
  await lab.putSecret('ca', { 'tls.crt': 'x' });
  await until(async () => expect(await message()).toBe(`${problem}Secret default/ca has no ca.crt`));
  await lab.putSecret('ca', { 'ca.crt': 'x' });
  await until(async () => expect(await message()).toBe(`${problem}ca.crt of Secret default/ca is not PEM`));
  expect((await lab.get('lab')).spec.clientConfig.caBundle).toBeUndefined();
  // A key in it is not published.
  await lab.putSecret('ca', { 'ca.crt': `${testCa.cert}${testCa.key}` });
  const discovered = await lab.condition('lab', 'Discovered', 'True');
  expect(discovered.spec.clientConfig.caBundle).toBe(caBundle);
  expect(conditionIn(discovered, 'Discovered')?.observedGeneration).toBe(2);
  // Rotated while it works.
  await lab.putSecret('ca', { 'ca.crt': `${testCa.cert}${makeCertificate({ commonName: 'next', isCa: true }).cert}` });
  await until(async () => {
    const config = await lab.get('lab');
    expect(config.spec.clientConfig.caBundle).not.toBe(caBundle);
    expect(conditionIn(config, 'Discovered')).toMatchObject({ status: 'True', observedGeneration: 3 });
  });
  const reasons = (await lab.events('lab')).map(({ reason }) => reason);
  expect(reasons.filter((reason) => reason === 'CABundleInjected')).toHaveLength(2);
});

test.concurrent('an extension with its CA from a Secret is called again only when the CA changes, or as late as others', async ({
  expect,
}) => {
  const lab = await startLab();
  const { received, spec } = await answering(() => discoveryAnswer([offered('a')]));
  await lab.putSecret('ca', { 'ca.crt': testCa.cert });
  const proxy = await startProxy(lab);
  const secretReads = () => proxy.passed.filter(({ path }) => path.endsWith('/secrets/ca')).length;
  const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'default/ca' };
  await lab.create('lab', { clientConfig: { url: spec.clientConfig.url } }, annotations);
  await control(proxy);
  await lab.condition('lab', 'Discovered', 'True');
  await until(() => expect(secretReads()).toBeGreaterThan(5));
  expect(received).toHaveLength(1);
  await lab.putSecret('ca', { 'ca.crt': `${testCa.cert}${makeCertificate({ commonName: 'next', isCa: true }).cert}` });
  await until(() => expect(received).toHaveLength(2));
});

const hostile: [string, unknown, RegExp][] = [
  [
    'a handler for a hook that nobody knows',
    [offered('a', 'Nothing')],
    /requestHook .*Nothing is not in the Runtime SDK catalog/,
  ],
  ['a name with markup and a line break', [offered('a\n<script>')], /handler name a\ufffd<script> is not valid/],
  ['too many handlers', Array.from({ length: 2_000 }, (_, n) => offered(`h${n}`)), /2000 handlers do not fit/],
  ['half a character at the end of a long message', [offered(`a${'\u{1F600}'.repeat(300)}`)], /is not valid/],
  [
    '512 names that are all wrong',
    Array.from({ length: 512 }, (_, n) => offered(`${'X'.repeat(400)}${n}`)),
    /is not valid/,
  ],
];

test.concurrent('a hostile answer causes one write and one event, and nothing of it gets into the status', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const servers = await Promise.all(
    hostile.map(([, handlers]) => answering(() => discoveryAnswer(handlers as object[]))),
  );
  await Promise.all(servers.map(({ spec }, index) => lab.create(`h${index}`, spec)));
  // Two at a time: on a busy machine, each would take its ten seconds if all ran at once.
  const { lines } = await control(proxy, {}, { concurrency: 2 });
  for (const [index, [what, , message]] of hostile.entries()) {
    const failed = await lab.condition(`h${index}`, 'Discovered', 'False');
    expect(conditionIn(failed, 'Discovered')?.message, what).toMatch(message);
    expect(failed.status).not.toHaveProperty('handlers');
    await until(() => expect(servers[index]?.received.length).toBeGreaterThanOrEqual(2));
    const events = await lab.events(`h${index}`);
    expect(events).toHaveLength(1);
    expect(String(events[0]?.message).length).toBeLessThanOrEqual(1024);
  }
  expect(takenIn(proxy.passed)).toHaveLength(hostile.length);
  // Reported once, however often it is retried.
  expect(lines.filter(({ reason }) => reason === 'NotDiscovered')).toHaveLength(hostile.length);
});

test.concurrent('reports an unusable selector, and an annotation that names no Secret, without calling the extension', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec, received } = await answering(() => discoveryAnswer([offered('a')]));
  const namespaceSelector = { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] };
  await lab.create('selector', { ...spec, namespaceSelector });
  await lab.create('secret', spec, { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'default/a/b' });
  await control(lab);
  const problem = async (name: string) =>
    conditionIn(await lab.condition(name, 'Discovered', 'False'), 'Discovered')?.message;
  expect(await problem('selector')).toMatch(
    /^Error in discovery: failed to create namespaceSelector: matchExpressions\.0\.operator: /,
  );
  expect(await problem('secret')).toBe(
    'Error in discovery: failed to reconcile caBundle: secret name "default/a/b" must be in the form <namespace>/<name>',
  );
  expect(received).toEqual([]);
});

test.concurrent('reports in a condition what the API server rejects, and keeps the handlers in the status', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  let answer = [offered('a')];
  const { spec } = await answering(() => discoveryAnswer(answer));
  await lab.create('lab', spec);
  await control(proxy, {}, { resyncMs: 100 });
  await lab.condition('lab', 'Discovered', 'True');
  proxy.refuse = ({ path }, body) =>
    path.endsWith('/status') && body.includes('"b.lab"')
      ? { message: 'admission webhook "x" denied the request: no b' }
      : undefined;
  answer = [offered('b')];
  const failed = await lab.condition('lab', 'Discovered', 'False');
  expect(conditionIn(failed, 'Discovered')?.message).toBe(
    'Error in discovery: the API server rejects the discovered handlers: admission webhook "x" denied the request: no b',
  );
  expect(names(failed)).toEqual(['a.lab']);
  proxy.refuse = () => undefined;
  await until(async () => expect(names(await lab.get('lab'))).toEqual(['b.lab']));
});

test.concurrent('preserves conditions of other controllers, and gets past conflicts with a client that keeps writing', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  const foreign = {
    type: 'BackupReady',
    status: 'True',
    reason: 'Ready',
    message: 'theirs',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await lab.patchStatus('lab', { conditions: [foreign] });
  const proxy = await startProxy(lab);
  let conflicts = 0;
  proxy.hold = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/status') && conflicts++ < 3
      ? lab.patch('lab', { metadata: { labels: { count: String(conflicts) } } })
      : undefined;
  await control(proxy);
  const discovered = await lab.condition('lab', 'Discovered', 'True');
  expect(conflicts).toBe(4);
  expect(discovered.status?.conditions?.map(({ type }) => type)).toEqual(['BackupReady', 'Discovered', 'Paused']);
  expect(conditionIn(discovered, 'BackupReady')).toMatchObject(foreign);
});

test.concurrent('a spec that changes during discovery is discovered again', async ({ expect }) => {
  const lab = await startLab();
  const old = await answering(() => discoveryAnswer([offered('old')]));
  const fresh = await answering(() => discoveryAnswer([offered('new')]));
  await lab.create('lab', old.spec);
  const proxy = await startProxy(lab);
  let isChanged = false;
  proxy.hold = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/status') && !isChanged) {
      isChanged = true;
      return lab.patch('lab', { spec: fresh.spec });
    }
    return undefined;
  };
  await control(proxy);
  const discovered = await lab.condition('lab', 'Discovered', 'True');
  expect(names(discovered)).toEqual(['new.lab']);
  expect(conditionIn(discovered, 'Discovered')?.observedGeneration).toBe(2);
});

test.concurrent('retries failing writes and missing permissions, and reports them', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  let message = 'etcdserver: leader changed';
  let code = 500;
  proxy.refuse = ({ method }) => (method === 'PATCH' ? { message, code } : undefined);
  const { lines } = await control(proxy);
  const errors = () => lines.filter(({ msg }) => msg === 'ExtensionConfig will be retried').map(({ error }) => error);
  await until(() => expect(errors()).toContain(message));
  message = 'extensionconfigs.runtime.cluster.x-k8s.io "lab" is forbidden: User "x" cannot patch resource';
  code = 403;
  await until(() => expect(errors()).toContain(message));
  expect((await lab.get('lab')).status).toBeUndefined();
  proxy.refuse = () => undefined;
  await lab.condition('lab', 'Discovered', 'True');
});

test.concurrent('catches up after an outage of the API server', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const { spec } = await startCalled();
  await lab.create('first', spec);
  const { controller } = await control(proxy);
  await lab.condition('first', 'Discovered', 'True');
  await proxy.cut();
  await until(() => expect(controller.problem).toMatch(/no answer from the API server/));
  await lab.create('second', spec);
  await lab.remove('first');
  await proxy.restore();
  await lab.condition('second', 'Discovered', 'True');
  await until(() => expect(controller.problem).toBeUndefined());
});
