import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CertificateEvent } from '../../../src/server/index.ts';
import { secretCertificates } from '../../../src/webhook/certs/index.ts';
import { makeCertificate } from '../../base/x509/certificates.ts';
import { ApiServer, namespace, servingPath } from '../../kubernetes/client/api-server.ts';
import { pairOf } from '../../server/running.ts';

const within = { timeout: 20_000, interval: 5 };
const name = 'extensionconfig-webhook-tls';
const collection = servingPath.slice(0, servingPath.lastIndexOf('/'));
const pace = { minRetryMs: 10, maxRetryMs: 40 };

let server: ApiServer;
let events: CertificateEvent[];
let stop: Promise<() => void>;

beforeEach(async () => {
  server = await new ApiServer().start();
  events = [];
});
afterEach(async () => {
  (await stop)();
  await server.stop();
});

function watch(): void {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig());
  stop = secretCertificates(config, namespace, name, { pace, waitMs: 0 })((event) => events.push(event));
}

const certificates = new Map(['1', '2', '3', '4'].map((text) => [text, makeCertificate({ commonName: text })]));
const put = (text: string) => {
  const { cert, key } = certificates.get(text)!;
  const data = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': cert };
  server.put(servingPath, {
    metadata: { name },
    data: Object.fromEntries(Object.entries(data).map(([one, value]) => [one, Buffer.from(value).toString('base64')])),
  });
};
const states = () => events.filter(({ kind }) => kind !== 'source');
const last = () => states().at(-1);
const problems = () => events.flatMap((event) => (event.kind === 'source' ? [event.problem] : []));
const is = (text: string) => {
  const certificate = certificates.get(text)!;
  return { kind: 'pair', pair: pairOf(certificate), bundle: certificate.cert };
};

const sees = (text: string) => vi.waitFor(() => expect(last()).toEqual(is(text)), within);
const seesNone = () => vi.waitFor(() => expect(last()?.kind).toBe('absent'), within);

test('sees a Secret appear, change, disappear, come back, and change while the connection is lost', async () => {
  watch();
  await seesNone();
  expect(last()).toEqual({ kind: 'absent', reason: `Secret ${namespace}/${name} does not exist` });
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
  put('1');
  await sees('1');
  put('2');
  await sees('2');
  server.dropWatches();
  put('3');
  await sees('3');
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
  server.delete(servingPath);
  await seesNone();
  expect(last()).toEqual({ kind: 'absent', reason: `Secret ${namespace}/${name} was deleted` });
  put('4');
  await sees('4');
  expect(states()).toHaveLength(6);
  expect(problems()).toEqual([]);
});

test('ignores other Secrets of the namespace, and reports nothing after the end', async () => {
  put('1');
  watch();
  await sees('1');
  server.put(`${collection}/other`, { metadata: { name: 'other' } });
  put('2');
  await sees('2');
  (await stop)();
  put('3');
  await vi.waitFor(() => expect(server.watching).toBe(0), within);
  expect(events).toEqual([is('1'), is('2')]);
});

test('a Secret without data is broken', async () => {
  server.put(servingPath, { metadata: { name } });
  watch();
  await vi.waitFor(
    () => expect(events).toMatchObject([{ kind: 'broken', reason: expect.stringContaining('is missing') }]),
    within,
  );
});

test('reports a forbidden watch with the permission and the remedy, and lists the Secret instead', async () => {
  server.forbidden.add(`WATCH ${collection}`);
  put('1');
  watch();
  await sees('1');
  await vi.waitFor(
    () =>
      expect(problems()).toEqual([
        `secrets ${namespace}/${name}: forbidden: the permission to watch secrets ${namespace}/${name} is missing` +
          ` (User "test" cannot watch ${collection}); allow list and watch on it, in a Role of namespace ${namespace}` +
          ' for the account of this server',
      ]),
    within,
  );
  put('2');
  await sees('2');
  server.delete(servingPath);
  await seesNone();
  put('3');
  await sees('3');
  server.forbidden.clear();
  await vi.waitFor(() => expect(problems()).toHaveLength(2), within);
  expect(problems().at(-1)).toBeUndefined();
});

test('reports a forbidden list as well', async () => {
  server.forbidden.add(`GET ${collection}`);
  watch();
  await vi.waitFor(
    () =>
      expect(problems()).toEqual([
        `secrets ${namespace}/${name}: forbidden: the permission to list secrets ${namespace}/${name} is missing` +
          ` (User "test" cannot GET ${collection}); allow list and watch on it, in a Role of namespace ${namespace}` +
          ' for the account of this server',
      ]),
    within,
  );
  expect(states()).toEqual([]);
});

test.each([
  ['data that is not an object', { data: 'x' }],
  ['a value that is not text', { data: { 'tls.crt': 1 } }],
])('a malformed Secret (%s) is a problem, not an empty Secret', async (_what, changes) => {
  server.put(servingPath, { metadata: { name }, ...changes } as Parameters<ApiServer['put']>[1]);
  watch();
  await vi.waitFor(() => expect(problems().join()).toContain('is not the Secret'), within);
  expect(states()).toEqual([]);
  put('1');
  await sees('1');
});
