import { afterEach, beforeEach, expect, test } from 'vitest';
import { isStuck, runCertificates } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';
import {
  type ApiServer,
  caPath,
  crdPath,
  extensionPath,
  mutatingPath,
  putTargets,
  servingPath,
  validatingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';
import {
  brokenMoments,
  connections,
  expectSteady,
  type FakeClock,
  overHttp,
  runFor,
  serverWithTargets,
} from './machine.ts';

let server: ApiServer;
let clock: FakeClock;

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
});
afterEach(() => server.stop());

async function bootstrapped(): Promise<number> {
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  clock.time += day;
  return server.history.length;
}

test('bootstrap creates both Secrets and injects the bundle into every entry of ours, and only there', async () => {
  const outcome = await runCertificates(runFor(server, clock, { mode: 'repair' }, {}, overHttp(server)));
  expect(outcome.action.kind).toBe('done');
  expectSteady(server);
  expect(server.objects.get(servingPath)!.type).toBe('kubernetes.io/tls');
  expect(Object.keys(server.objects.get(servingPath)!.data).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  expect(server.objects.get(mutatingPath)!.webhooks[0].clientConfig.caBundle).toBe('Zm9yZWlnbg==');
  expect(server.objects.get(validatingPath)!.webhooks[1].clientConfig).toEqual({ url: 'https://example.com' });
});

test('two concurrent bootstraps result in one CA', async () => {
  const runs = [0, 1, 2].map(() => runFor(server, clock, { mode: 'repair' }, {}, overHttp(server)));
  const outcomes = await Promise.all(runs.map((run) => runCertificates(run)));
  expect(outcomes.map(({ action }) => action.kind)).toEqual(['done', 'done', 'done']);
  expectSteady(server);
  expect(runs.flatMap(({ progress }) => progress).filter(({ action }) => action === 'create-ca')).toHaveLength(1);
});

test('connections over TLS succeed at each moment at which serving certificate and CA are rotated', async () => {
  // TLS has no other clock than the real one.
  clock.time = Date.now() - 2 * day;
  const from = await bootstrapped();
  const served = () => valueIn(server.objects.get(servingPath), 'tls.crt');
  const first = served();
  await runCertificates(runFor(server, clock, { force: true }));
  expect(served()).not.toBe(first);
  const outcome = await runCertificates(runFor(server, clock, { forceCa: true }));
  expect(outcome.action.kind).toBe('done');
  expectSteady(server);
  const results = await connections(server, from);
  expect(new Set(results)).toEqual(new Set(['connected']));
  // The bundles of the old CA, of both, and of the new one, with two, three and one serving certificates.
  expect(results).toHaveLength(6);
});

test.each([
  ['for API servers', { propagationDelayMs: 0 }],
  ['for pods', { overlapMs: 0 }],
])("the tests' checkers detect a rotation that does not wait %s", async (_, settings) => {
  clock.time = Date.now() - 2 * day;
  const from = await bootstrapped();
  await runCertificates(runFor(server, clock, { forceCa: true, ...settings }));
  expect(brokenMoments(server, from)).not.toEqual([]);
  const results = await connections(server, from);
  expect(results).toContain('connected');
  expect(new Set(results).size).toBe(2);
});

test('two concurrent rotations result in one, which ends steady and breaks no connection', async () => {
  const from = await bootstrapped();
  // Each has its own view of the same clock: while one sleeps, the other's time advances too.
  const runs = [0, 1].map(() => runFor(server, clock, { forceCa: true, force: true }, {}, overHttp(server)));
  await Promise.all(runs.map((run) => runCertificates(run)));
  await runCertificates(runFor(server, clock));
  const staged = runs.flatMap(({ progress }) => progress).filter(({ action }) => action === 'stage-ca');
  expect(staged).toHaveLength(1);
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});

test.each([
  ['the CA is lost', true, () => server.delete(caPath)],
  ['the serving Secret is lost', true, () => server.delete(servingPath)],
  [
    'both are lost',
    true,
    () => {
      server.delete(caPath);
      server.delete(servingPath);
    },
  ],
  ['the key of the CA is damaged', true, () => damage(caPath, 'ca.key', 'garbage')],
  ['the certificate of the CA is damaged', true, () => damage(caPath, 'ca.crt', 'garbage')],
  ['the trust bundle is damaged', true, () => damage(servingPath, 'ca.crt', 'garbage')],
  // From here on the damage itself breaks connections; what matters is that it is repaired.
  ['the serving key belongs to another certificate', false, () => damage(servingPath, 'tls.key', caKey())],
  ['the serving certificate is damaged', false, () => damage(servingPath, 'tls.crt', 'garbage')],
  ['a target was applied again without its bundle', false, () => putTargets(server)],
] as const)('bootstrap repairs the state when %s', async (_name, stillWorks, harm) => {
  await bootstrapped();
  harm();
  const from = server.history.length;
  const blockOn = new Set(['propagation'] as const);
  const outcome = await runCertificates(runFor(server, clock, { mode: 'repair' }, { blockOn }));
  expect(['done', 'wait']).toContain(outcome.action.kind);
  expect(outcome.facts.serving.state).toBe('usable');
  clock.time += day;
  await runCertificates(runFor(server, clock));
  expectSteady(server);
  if (stillWorks) {
    expect(brokenMoments(server, from)).toEqual([]);
  }
});

function caKey(): string {
  return valueIn(server.objects.get(caPath), 'ca.key');
}

function damage(path: string, key: string, text: string): void {
  const object = structuredClone(server.objects.get(path)!);
  object.data[key] = Buffer.from(text).toString('base64');
  server.put(path, object);
}

test('a target that forbids the patch stops the promotion, names the permission, and loses nothing', async () => {
  const from = await bootstrapped();
  server.forbidden.add(`PATCH ${crdPath}`);
  const outcome = await runCertificates(runFor(server, clock, { forceCa: true }));
  expect(outcome.action.kind).toBe('blocked');
  expect(outcome.action.reason).toContain(
    'the permission to patch customresourcedefinitions.apiextensions.k8s.io extensionconfigs.runtime.cluster.x-k8s.io is missing',
  );
  expect(Object.keys(server.objects.get(caPath)!.data)).toContain('next.key');
  expect(brokenMoments(server, from)).toEqual([]);
  server.forbidden.clear();
  await runCertificates(runFor(server, clock));
  expectSteady(server);
});

test('a target that disappears halfway does not stop the rotation', async () => {
  await bootstrapped();
  server.after = ({ path }) => {
    if (path === mutatingPath) {
      server.delete(extensionPath);
    }
    return 'answer';
  };
  const outcome = await runCertificates(runFor(server, clock, { forceCa: true }));
  expect(outcome.action).toMatchObject({ kind: 'blocked', reason: expect.stringContaining('missing: does not exist') });
  expect(outcome.facts.targets.find(({ id }) => id === 'ExtensionConfig/ours')?.state).toBe('missing');
  expectSteady(server);
});

test("another client's change between read and patch is preserved", async () => {
  await bootstrapped();
  putTargets(server);
  let changed = false;
  server.before = ({ path }) => {
    if (path === mutatingPath && !changed) {
      changed = true;
      const object = structuredClone(server.objects.get(mutatingPath)!);
      object.webhooks.unshift({ name: 'new.example.com', clientConfig: { url: 'https://example.com' } });
      server.put(mutatingPath, object);
    }
    return 'apply';
  };
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  expect(server.objects.get(mutatingPath)!.webhooks.map((webhook: { name: string }) => webhook.name)).toEqual([
    'new.example.com',
    'foreign.example.com',
    'default.ours.example.com',
  ]);
  expect(server.objects.get(mutatingPath)!.webhooks[0].clientConfig.caBundle).toBeUndefined();
  expectSteady(server);
});

test('after the clock was fast, a wait starts over instead of ending at once', async () => {
  const from = await bootstrapped();
  // The first run records its injection an hour in the future.
  const ahead = { now: () => new Date(clock.time + 3_600_000), sleep: async () => {} };
  await runCertificates(runFor(server, ahead, { forceCa: true }, { blockOn: new Set() }));
  const outcome = await runCertificates(runFor(server, clock, {}, { blockOn: new Set() }));
  expect(outcome.action.kind).toBe('wait');
  expect(outcome.facts.stage).toBe('staged');
  clock.time += 2 * 3_600_000;
  await runCertificates(runFor(server, clock));
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});

/** The targets as a tool that keeps the caBundle of the first CA in its manifests writes them. */
async function pinned() {
  await bootstrapped();
  const manifests = [mutatingPath, validatingPath].map(
    (path) => [path, structuredClone(server.objects.get(path)!)] as const,
  );
  const apply = () => {
    for (const [path, object] of manifests) {
      server.put(path, structuredClone(object));
    }
  };
  /** A run of the CronJob, which blocks on nothing. */
  const hourly = (minutes = 60) => {
    clock.time += minutes * 60_000;
    return runCertificates(runFor(server, clock, {}, { blockOn: new Set() }));
  };
  return { apply, hourly, from: server.history.length };
}

test('a tool that overwrites targets between runs holds a rotation up, which is said after three hours', async () => {
  const { apply, hourly, from } = await pinned();
  clock.time += 1650 * day;
  const stuck = ({ action, facts }: Awaited<ReturnType<typeof hourly>>) => isStuck(action, facts, 30_000);
  const states: [string, boolean][] = [];
  for (let hour = 0; hour < 6; hour++) {
    const outcome = await hourly();
    states.push([outcome.facts.stage, stuck(outcome)]);
    apply();
  }
  expect(states).toEqual([0, 1, 2, 3, 4, 5].map((hour) => ['staged', hour > 3]));
  // The tool leaves the field alone from now on.
  await hourly();
  expect((await hourly()).facts.stage).toBe('promoted');
  expect((await hourly()).action.kind).toBe('done');
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});

test('a manifest that is applied again once costs a rotation one propagation delay', async () => {
  const { apply, hourly, from } = await pinned();
  clock.time += 1650 * day;
  await hourly();
  apply();
  expect((await hourly()).facts.stage).toBe('staged');
  expect((await hourly(1)).facts.stage).toBe('promoted');
  expect(brokenMoments(server, from)).toEqual([]);
});

test("the CA's Secret is restored after a rotation: the CA in it takes over, and no connection breaks", async () => {
  await bootstrapped();
  const restored = server.objects.get(caPath)!;
  await runCertificates(runFor(server, clock, { forceCa: true }));
  clock.time += day;
  const from = server.history.length;
  server.put(caPath, restored);
  expect((await runCertificates(runFor(server, clock))).action.kind).toBe('done');
  expect(valueIn(server.objects.get(caPath), 'ca.crt')).toBe(valueIn(restored, 'ca.crt'));
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});
