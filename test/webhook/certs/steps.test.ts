// Each step of a run: what it writes, in which order, what it reports, and how long it waits.
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import {
  Conflict,
  injectedAtAnnotation,
  type Run,
  runCertificates,
  stagedSinceAnnotation,
  unread,
} from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';
import {
  type ApiServer,
  caPath,
  crdPath,
  mutatingPath,
  namespace,
  putTargets,
  servingPath,
  validatingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';
import { type FakeClock, runFor, serverWithTargets } from './machine.ts';

let server: ApiServer;
let clock: FakeClock;
const start = Date.parse('2026-06-01T00:00:00Z');

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
});
afterEach(() => server.stop());

const targets = [
  'MutatingWebhookConfiguration/ours',
  'ValidatingWebhookConfiguration/ours',
  'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io',
  'ExtensionConfig/ours',
];
const injected = (stage: string, ids = targets) =>
  ids.map((id) => `inject: ${id} does not have the trust bundle of stage ${stage}`);

/** Runs and returns the outcome with the reports, one line per step. */
async function walk(settings: Partial<Run['settings']> = {}, changes: Partial<Run> = {}) {
  const run = runFor(server, clock, settings, changes);
  const outcome = await runCertificates(run);
  return { ...outcome, steps: run.progress.map(({ action, reason }) => `${action}: ${reason}`) };
}
const repair = (changes: Partial<Run> = {}) => walk({ mode: 'repair' }, changes);
const kinds = (steps: readonly string[]) => steps.map((step) => step.slice(0, step.indexOf(':')));

const ca = () => server.objects.get(caPath)!;
const serving = () => server.objects.get(servingPath)!;
const caKeys = () => Object.keys(ca().data).sort();
const fingerprint = (path: string, key: string) =>
  new X509Certificate(valueIn(server.objects.get(path), key)).fingerprint256;
const iso = (ms: number) => new Date(ms).toISOString();

/** Changes an object on the server as another client would. */
function edit(path: string, change: (object: ReturnType<typeof ca>) => void): void {
  const object = structuredClone(server.objects.get(path)!);
  change(object);
  server.put(path, object);
}
const set = (path: string, key: string, text: string) =>
  edit(path, (object) => {
    object.data[key] = Buffer.from(text).toString('base64');
  });

test('bootstrap creates the CA and the serving certificate, and injects the bundle', async () => {
  const { steps, action } = await repair();
  expect(steps).toEqual([
    "create-ca: the CA's certificate is missing",
    'issue-serving-certificate: the serving certificate is missing',
    ...injected('steady'),
  ]);
  expect(action).toEqual({
    kind: 'done',
    reason: 'the CA, the serving certificate and all targets are in order',
  });
  expect(clock.time).toBe(start);
  const made = new X509Certificate(valueIn(ca(), 'ca.crt'));
  expect(made.validToDate.getTime()).toBe(start + 1825 * day);
  const served = new X509Certificate(valueIn(serving(), 'tls.crt'));
  expect(served.validToDate.getTime()).toBe(start + 90 * day);
  expect(served.subjectAltName).toBe(`DNS:extensionconfig-webhook, DNS:extensionconfig-webhook.${namespace}.svc`);
});

test('a CA rotation takes these steps, and waits for both delays, half a minute at a time', async () => {
  await repair();
  clock.time += day;
  const from = clock.time;
  const old = fingerprint(caPath, 'ca.crt');
  const { steps, action } = await walk({ forceCa: true, propagationDelayMs: 45_000, overlapMs: 60_000 });
  const waits = (since: number) =>
    Array<string>(2).fill(
      `wait: until ${iso(since + 45_000)}: every target has the trust bundle; API servers need the propagation delay to notice`,
    );
  const promoted = from + 45_000;
  expect(steps).toEqual([
    'stage-ca: requested with --force ca',
    'write-bundle: the trust bundle in the serving Secret does not match stage staged',
    ...injected('staged'),
    ...waits(from),
    'promote: every target trusts the next CA',
    // The active CA comes first in the bundle; targets trust both already, in either order.
    'write-bundle: the trust bundle in the serving Secret does not match stage promoted',
    'issue-serving-certificate: the serving certificate is not signed by the active CA',
    ...Array<string>(2).fill(
      `wait: until ${iso(promoted + 60_000)}: pods may still serve certificates of the previous CA until the overlap is over`,
    ),
    'retire: the overlap is over',
    'write-bundle: the trust bundle in the serving Secret does not match stage steady',
    ...injected('steady'),
  ]);
  expect(action.kind).toBe('done');
  expect(clock.slept).toEqual([30_000, 15_000, 30_000, 30_000]);
  expect(fingerprint(caPath, 'ca.crt')).not.toBe(old);
});

test.each([1, 999])('the overlap is never shorter than asked for: %i ms into a second', async (ms) => {
  await repair();
  clock.time += day + ms;
  const writtenAt: number[] = [];
  let served = valueIn(serving(), 'tls.crt');
  server.after = ({ path }) => {
    const isNew = path === servingPath && valueIn(serving(), 'tls.crt') !== served;
    if (isNew || (path === caPath && caKeys().length === 2)) {
      served = valueIn(serving(), 'tls.crt');
      writtenAt.push(clock.time);
    }
    return 'answer';
  };
  const { steps } = await walk({ forceCa: true, propagationDelayMs: 0, overlapMs: 1_000 });
  const [issued = Number.NaN, retired = Number.NaN] = writtenAt;
  expect(retired - issued).toBeGreaterThanOrEqual(1_000);
  expect(retired - issued).toBeLessThan(2_000);
  expect(kinds(steps).filter((kind) => kind === 'wait')).toHaveLength(1);
});

test("the contents of the CA's Secret in each stage", async () => {
  await repair();
  const states: object[] = [];
  const old = fingerprint(caPath, 'ca.crt');
  server.after = ({ path }) => {
    if (path === caPath) {
      const { annotations = {} } = ca().metadata;
      states.push({
        keys: caKeys(),
        isOld: fingerprint(caPath, 'ca.crt') === old,
        annotations: Object.keys(annotations).sort(),
      });
    }
    return 'answer';
  };
  await walk({ forceCa: true });
  const staged = ['ca.crt', 'ca.key', 'next.crt', 'next.key'];
  const promoted = ['ca.crt', 'ca.key', 'previous.crt'];
  expect(states).toEqual([
    { keys: staged, isOld: true, annotations: [stagedSinceAnnotation] },
    { keys: staged, isOld: true, annotations: [injectedAtAnnotation, stagedSinceAnnotation] },
    { keys: promoted, isOld: false, annotations: [injectedAtAnnotation, stagedSinceAnnotation] },
    { keys: ['ca.crt', 'ca.key'], isOld: false, annotations: [] },
  ]);
});

test('what other clients keep in the Secrets is preserved', async () => {
  await repair();
  const add = (path: string) => {
    set(path, 'theirs', 'data');
    edit(path, (object) => {
      object.metadata.annotations = { ...object.metadata.annotations, theirs: 'annotation' };
    });
  };
  add(caPath);
  add(servingPath);
  await walk({ forceCa: true, force: true });
  for (const object of [ca(), serving()]) {
    expect(valueIn(object, 'theirs')).toBe('data');
    expect(object.metadata.annotations).toMatchObject({ theirs: 'annotation' });
  }
  expect(Object.keys(serving().metadata.annotations ?? {})).toEqual(['theirs']);
});

test('a wait that is not to be blocked on ends the run, with the decision', async () => {
  await repair();
  const first = await walk({ forceCa: true }, { blockOn: new Set() });
  expect(first.action).toMatchObject({ kind: 'wait', for: 'propagation' });
  expect(first.facts.stage).toBe('staged');
  expect(clock.slept).toEqual([]);
  const second = await walk({}, { blockOn: new Set(['propagation']) });
  expect(second.action).toMatchObject({ kind: 'wait', for: 'overlap' });
  expect(second.facts.stage).toBe('promoted');
  expect(clock.slept).toEqual([30_000]);
});

test('--force ca finishes an interrupted rotation instead of starting another', async () => {
  await repair();
  await walk({ forceCa: true }, { blockOn: new Set() });
  const next = fingerprint(caPath, 'next.crt');
  const { steps } = await walk({ forceCa: true });
  expect(steps[0]).toBe('continue: a rotation is under way (stage staged), so --force ca starts no other one');
  expect(kinds(steps).filter((kind) => kind === 'continue')).toHaveLength(1);
  expect(kinds(steps)).not.toContain('stage-ca');
  expect(fingerprint(caPath, 'ca.crt')).toBe(next);
});

test('--force serving renews the serving certificate once, --force ca the CA once, and both together each once', async () => {
  await repair();
  const forced = await walk({ force: true });
  expect(forced.steps).toEqual(['issue-serving-certificate: requested with --force serving']);
  const both = kinds((await walk({ force: true, forceCa: true })).steps);
  expect(both.filter((kind) => kind === 'stage-ca')).toHaveLength(1);
  expect(both.filter((kind) => kind === 'issue-serving-certificate')).toHaveLength(1);
});

test('without a CA, --force serving and --force ca add nothing', async () => {
  const { steps } = await walk({ force: true, forceCa: true });
  expect(kinds(steps)).toEqual(['create-ca', 'issue-serving-certificate', 'inject', 'inject', 'inject', 'inject']);
});

test('--force serving during an earlier rotation renews once, after the promotion', async () => {
  await repair();
  await walk({ forceCa: true }, { blockOn: new Set() });
  const { steps } = await walk({ force: true });
  expect(kinds(steps).filter((kind) => kind === 'issue-serving-certificate')).toHaveLength(1);
});

test('a new CA leaves nothing of an old one behind', async () => {
  await repair();
  // No certificate is trusted anywhere, so there is no rotation to continue.
  server.delete(servingPath);
  putTargets(server);
  const { certificate } = issueCa(new Date(clock.time), day);
  for (const key of ['next.crt', 'previous.crt']) {
    set(caPath, key, `${certificate.pem.slice(0, 100)}`);
  }
  set(caPath, 'next.key', 'x');
  set(caPath, 'ca.crt', 'garbage');
  set(caPath, 'ca.key', '');
  set(caPath, 'theirs', 'data');
  const { steps } = await repair();
  expect(steps[0]).toBe("create-ca: the CA's certificate is not PEM");
  expect(caKeys()).toEqual(['ca.crt', 'ca.key', 'theirs']);
});

test('a CA whose key is lost during a rotation is replaced, and the CA that it replaced stays trusted', async () => {
  await repair();
  const first = fingerprint(caPath, 'ca.crt');
  await walk({ forceCa: true }, { blockOn: new Set(['propagation']) });
  const second = fingerprint(caPath, 'ca.crt');
  set(caPath, 'ca.key', 'garbage');
  const { steps } = await repair({ blockOn: new Set() });
  expect(steps[0]).toBe('stage-ca: the key of the CA is not an unencrypted private key in PEM');
  expect(caKeys()).toEqual(['ca.crt', 'ca.key', 'next.crt', 'next.key', 'previous.crt']);
  expect([fingerprint(caPath, 'ca.crt'), fingerprint(caPath, 'previous.crt')]).toEqual([second, first]);
});

test('a next CA whose key is lost is replaced, and nothing trusts it any longer', async () => {
  await repair();
  await walk({ forceCa: true }, { blockOn: new Set() });
  set(caPath, 'next.key', 'garbage');
  const { steps } = await repair({ blockOn: new Set() });
  expect(kinds(steps)).toEqual(['stage-ca', 'write-bundle', 'inject', 'inject', 'inject', 'inject']);
});

test('a CA that is stored while pods use another takes over from it, as if it had been promoted', async () => {
  await repair();
  const before = fingerprint(caPath, 'ca.crt');
  const other = issueCa(new Date(clock.time), 1825 * day);
  set(caPath, 'ca.crt', other.certificate.pem);
  set(caPath, 'ca.key', other.key);
  const { steps } = await repair({ blockOn: new Set() });
  expect(kinds(steps)).toEqual(['trust-ca', 'write-bundle', ...injected('').map(() => 'inject')]);
  expect([caKeys(), fingerprint(caPath, 'previous.crt')]).toEqual([['ca.crt', 'ca.key', 'previous.crt'], before]);
  expect(valueIn(serving(), 'ca.crt')).toBe(other.certificate.pem + valueIn(ca(), 'previous.crt'));
  await walk();
  expect(valueIn(ca(), 'ca.crt')).toBe(other.certificate.pem);
});

test('a CA that is only in the serving Secret is trusted by nobody', async () => {
  await repair();
  const theirs = issueCa(new Date(clock.time), 1825 * day);
  const { certificate, key } = issueServingCertificate(theirs, ['x'], new Date(clock.time), day);
  set(servingPath, 'tls.crt', certificate.pem);
  set(servingPath, 'tls.key', key);
  set(servingPath, 'ca.crt', theirs.certificate.pem);
  const { steps } = await repair();
  expect(kinds(steps)).toEqual(['issue-serving-certificate']);
  expect(valueIn(serving(), 'ca.crt')).toBe(valueIn(ca(), 'ca.crt'));
});

test('a bundle that is overwritten restarts the wait', async () => {
  await repair();
  await walk({ forceCa: true }, { blockOn: new Set() });
  putTargets(server);
  clock.time += 10_000;
  const { steps, action } = await walk({}, { blockOn: new Set() });
  expect(steps).toEqual(injected('staged'));
  expect(action).toMatchObject({ kind: 'wait', until: new Date(clock.time + 30_000) });
});

test('a target that cannot be listed stops a rotation', async () => {
  await repair();
  const { targets: known } = runFor(server, clock);
  const read = async () => [...(await known.read()), unread('ExtensionConfig/*', 'failed', 'the conversion failed')];
  const { steps, action } = await walk({ forceCa: true }, { targets: { ...known, read } });
  expect(kinds(steps)).toEqual(['stage-ca', 'write-bundle', ...Array(targets.length).fill('inject')]);
  expect(action.reason).toBe('the rotation stops in stage staged: ExtensionConfig/*: the conversion failed');
});

test('a run that is stopped before a step does not make it', async () => {
  const stopped = await repair({ signal: AbortSignal.abort() });
  expect(stopped.action).toEqual({ kind: 'blocked', reason: 'stopped; the next run continues from here' });
  expect([stopped.steps, server.writes]).toEqual([[], 0]);
});

test('a run that is stopped between two targets does not write the second', async () => {
  const stop = new AbortController();
  server.after = ({ path }) => {
    if (path === mutatingPath) {
      stop.abort();
    }
    return 'answer';
  };
  const { steps, action } = await repair({ signal: stop.signal });
  expect(kinds(steps)).toEqual(['create-ca', 'issue-serving-certificate', 'inject']);
  expect(action).toEqual({ kind: 'blocked', reason: 'stopped; the next run continues from here' });
});

test('a run that is stopped before or during a wait ends with the wait', async () => {
  await repair();
  const stop = new AbortController();
  const sleeping = { now: () => clock.now(), sleep: async () => stop.abort() };
  const { targets: access } = runFor(server, clock);
  const read = () => {
    // As an interrupted client does.
    stop.signal.throwIfAborted();
    return access.read();
  };
  const changes = { clock: sleeping, signal: stop.signal, targets: { ...access, read } };
  const { action, steps } = await walk({ forceCa: true }, changes);
  expect(action).toMatchObject({ kind: 'wait', for: 'propagation' });
  expect(kinds(steps).at(-1)).toBe('wait');
  const before = await walk({}, { signal: stop.signal });
  expect(before).toMatchObject({ action: { kind: 'wait', for: 'propagation' }, steps: [] });
});

test('a conflicting step is reported and repeated, with growing waits, up to 19 times for each step', async () => {
  await repair();
  set(servingPath, 'tls.key', 'garbage');
  putTargets(server);
  const left = new Map([servingPath, mutatingPath].map((path) => [path, 19]));
  server.before = ({ path }) => {
    const conflicts = left.get(path) ?? 0;
    if (conflicts > 0) {
      left.set(path, conflicts - 1);
      server.put(path, server.objects.get(path)!);
    }
    return 'apply';
  };
  const { steps, action } = await repair();
  expect(action.kind).toBe('done');
  const waits = [100, 200, 400, 800, 1600, ...Array<number>(14).fill(2000)];
  expect(clock.slept).toEqual([...waits, ...waits]);
  const told = (step: string, what: string) =>
    `conflict: ${step}: ${what} was changed by another client; reading again`;
  expect(steps.filter((step) => step.startsWith('conflict'))).toEqual([
    ...Array(19).fill(told('issue-serving-certificate', `Secret ${namespace}/extensionconfig-webhook-tls`)),
    ...Array(19).fill(told('inject', String(targets[0]))),
  ]);
});

test.each([
  ['the Secret', [servingPath], `Secret ${namespace}/extensionconfig-webhook-tls was changed by another client`],
  [
    'two targets',
    [mutatingPath, validatingPath],
    'MutatingWebhookConfiguration/ours was changed by another client; ValidatingWebhookConfiguration/ours was changed by another client',
  ],
])('the 20th conflict over %s in a row ends the run', async (_what, contested, message) => {
  await repair();
  set(servingPath, 'tls.key', 'garbage');
  putTargets(server);
  server.before = ({ path }) => {
    if (contested.includes(path)) {
      server.put(path, server.objects.get(path)!);
    }
    return 'apply';
  };
  clock.slept.length = 0;
  await expect(repair()).rejects.toThrow(new Conflict(message));
  expect(clock.slept).toHaveLength(19);
});

test('a target that cannot be written is reported once and skipped, and the others are written', async () => {
  let patches = 0;
  server.forbidden.add(`PATCH ${crdPath}`);
  server.before = ({ path }) => {
    patches += path === crdPath ? 1 : 0;
    return 'apply';
  };
  const { steps, action } = await repair();
  const forbidden =
    'forbidden: the permission to patch customresourcedefinitions.apiextensions.k8s.io' +
    ` extensionconfigs.runtime.cluster.x-k8s.io is missing (User "test" cannot PATCH ${crdPath})`;
  expect(steps.slice(2)).toEqual([
    ...injected('steady', targets.slice(0, 2)),
    `refused: ${targets[2]}: ${forbidden}`,
    ...injected('steady', targets.slice(3)),
  ]);
  expect(action).toEqual({ kind: 'blocked', reason: `${targets[2]}: ${forbidden}` });
  expect(patches).toBe(0);
});

test('if something undoes every write, the run ends and says which', async () => {
  let writes = 0;
  server.after = ({ path }) => {
    if (path === mutatingPath && ++writes < 1000) {
      edit(mutatingPath, (object) => {
        object.webhooks[1].clientConfig.caBundle = '';
      });
    }
    return 'answer';
  };
  const { action } = await repair();
  expect(action).toEqual({
    kind: 'blocked',
    reason:
      `another client keeps undoing the changes: after 100 steps, ${targets[0]} does not have the trust bundle of stage steady;` +
      ' stop that client and run again',
  });
  // The first two steps created the certificates.
  expect(writes).toBe(98);
});

test('steps between waits do not add up', async () => {
  await repair();
  // Overwritten during each wait: two steps to restore it, then half a minute.
  let times = 0;
  const sleep = async (ms: number) => {
    clock.time += ms;
    if (++times < 55) {
      set(servingPath, 'ca.crt', 'garbage');
      edit(mutatingPath, (object) => {
        object.webhooks[1].clientConfig.caBundle = '';
      });
    }
  };
  const { action, steps } = await walk({ forceCa: true }, { clock: { now: () => clock.now(), sleep } });
  expect(action.kind).toBe('done');
  expect(kinds(steps).filter((kind) => kind !== 'wait').length).toBeGreaterThan(100);
});

test('targets that already have the bundle are not written', async () => {
  await repair();
  const before = server.objects.get(validatingPath)!.metadata.resourceVersion;
  edit(mutatingPath, (object) => {
    object.webhooks[1].clientConfig.caBundle = '';
  });
  const { steps } = await repair();
  expect(steps).toEqual(injected('steady', targets.slice(0, 1)));
  expect(server.objects.get(validatingPath)!.metadata.resourceVersion).toBe(before);
});

test('targets are read before the Secrets that decide what they should contain', async () => {
  const reads: string[] = [];
  const run = runFor(server, clock, { mode: 'repair' });
  const { store, targets: access } = run;
  await runCertificates({
    ...run,
    signal: AbortSignal.abort(),
    store: {
      ...store,
      read: (role) => {
        reads.push(role);
        return store.read(role);
      },
    },
    targets: {
      ...access,
      read: () => {
        reads.push('targets');
        return access.read();
      },
    },
  });
  expect(reads).toEqual(['targets', 'serving', 'ca']);
});

test('an error other than a conflict or a refusal ends the run', async () => {
  server.before = ({ path }) => {
    if (path === mutatingPath) {
      throw new TypeError('a bug');
    }
    return 'apply';
  };
  await expect(repair()).rejects.toThrow(TypeError);
  server.before = () => 'refuse';
  server.delete(servingPath);
  await expect(repair()).rejects.toThrow('no answer from the API server');
});
