import supertest from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertificateEvent,
  fixedCertificate,
  type HealthServer,
  startHealthServer,
} from '../../../src/server/index.ts';
import { localhost } from '../../base/x509/certificates.ts';
import { collectingLog, pairOf, start, stopAll } from '../running.ts';

afterEach(stopAll);

type Readiness = ReturnType<Parameters<typeof startHealthServer>[0]['readiness']>;
let state: Readiness = { checks: [], reason: undefined };
const { log, lines: logged } = collectingLog();
let server: HealthServer;
beforeAll(async () => {
  server = await startHealthServer({
    address: { host: '127.0.0.1', port: 0 },
    readiness: () => state,
    metrics: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      metrics: () => Promise.reject(new Error('a collector fails')),
    },
    log,
  });
});
afterAll(() => server.stop());
const http = () => supertest(`http://127.0.0.1:${server.port}`);

test('/readyz reflects the state, /healthz does not', async () => {
  state = { checks: [], reason: undefined };
  expect((await http().get('/readyz')).status).toBe(200);
  state = { reason: 'no serving certificate', checks: [] };
  const answer = await http().get('/readyz');
  expect([answer.status, answer.text]).toEqual([503, 'no serving certificate\n']);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect((await http().get('/healthz')).status).toBe(200);
  expect((await http().get('/livez')).status).toBe(200);
});

describe('a response to the kubelet', () => {
  const checks = [
    { name: 'a', problem: 'gone', essential: true },
    { name: 'b', problem: undefined, essential: true },
  ];
  const well: Readiness = { checks: [], reason: undefined };
  const unwell: Readiness = { reason: 'gone', checks };

  test.each<[string, Readiness, number, string]>([
    ['/healthz', unwell, 200, 'ok\n'],
    ['/livez', unwell, 200, 'ok\n'],
    ['/readyz', well, 200, 'ok\n'],
    ['/readyz', unwell, 503, 'gone\n'],
    ['/readyz?verbose', well, 200, 'readyz check passed\n'],
    ['/readyz?verbose', unwell, 503, '[-]a failed: gone\n[+]b ok\nreadyz check failed\n'],
  ])('%s is plain text that is not cached, and closes its connection', async (path, now, code, text) => {
    state = now;
    // Without this header Node closes the connection by itself.
    const answer = await http().get(path).set('connection', 'keep-alive');
    expect([answer.status, answer.text]).toEqual([code, text]);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
    });
  });
});

test('/readyz?verbose has a line per check; a failing certificate source leaves the pod ready', async () => {
  let tell: ((event: CertificateEvent) => void) | undefined;
  const { health, lines } = await start({
    certificates(onEvent) {
      tell = onEvent;
      return fixedCertificate(pairOf(localhost))(onEvent);
    },
  });
  const verbose = async () => {
    const answer = await fetch(`${health}/readyz?verbose`);
    return [answer.status, (await answer.text()).split('\n')];
  };
  expect(await verbose()).toEqual([
    200,
    ['[+]serving-certificate ok', '[+]certificate-source ok', '[+]trust ok', '[+]phase ok', 'readyz check passed', ''],
  ]);
  tell!({ kind: 'source', problem: 'watch is forbidden' });
  tell!({ kind: 'source', problem: 'watch is forbidden' });
  tell!({ kind: 'broken', reason: 'the new key is not of the new certificate' });
  expect(await verbose()).toEqual([
    200,
    [
      '[!]serving-certificate degraded: the previous certificate is still served: the new key is not of the new certificate',
      '[!]certificate-source degraded: watch is forbidden',
      '[+]trust ok',
      '[+]phase ok',
      'readyz check passed',
      '',
    ],
  ]);
  expect(lines.filter(({ reason }) => reason === 'watch is forbidden')).toMatchObject([{ level: 50 }]);
  expect(await (await fetch(`${health}/metrics`)).text()).toContain('certificate_source_failures_total 1\n');
  tell!({ kind: 'source', problem: undefined });
  expect((await verbose())[1]).toContain('[+]certificate-source ok');
});

test('/readyz?verbose of a server without a certificate lists what fails', async () => {
  const { health } = await start({
    async certificates(onEvent) {
      onEvent({ kind: 'absent', reason: 'not there' });
      return () => {};
    },
  });
  const answer = await fetch(`${health}/readyz?verbose`);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain(
    '[-]serving-certificate failed: no serving certificate: not there\n[+]certificate-source ok\n[+]trust ok\n[+]phase ok\nreadyz check failed\n',
  );
});

test('HEAD gets the header of the response to GET', async () => {
  state = { reason: 'gone', checks: [] };
  const answer = await http().head('/readyz');
  expect([answer.status, answer.headers['content-length'], answer.text]).toEqual([503, '5', undefined]);
});

test('metrics that cannot be rendered result in a 500 and a log line', async () => {
  const answer = await http().get('/metrics');
  expect([answer.status, answer.body.code]).toEqual([500, 500]);
  expect(answer.text).not.toContain('collector');
  expect(answer.body.message).toBe('internal error; see the log of the server');
  expect(logged.at(-1)).toMatchObject({
    level: 50,
    path: '/metrics',
    error: 'Error',
    msg: 'the handler of a request failed',
  });
});

test("/metrics serves Prometheus' text format; metrics of the process are optional", async () => {
  for (const processMetrics of [false, true]) {
    const { health } = await start({ processMetrics });
    const answer = await fetch(`${health}/metrics`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const lines = (await answer.text()).split('\n');
    expect(lines).toContain(
      `extensionconfig_webhook_build_info{version="0.0.0-test",node_version="${process.version}"} 1`,
    );
    expect(lines.some((line) => line.startsWith('process_cpu_user_seconds_total'))).toBe(processMetrics);
  }
});

test.each([
  [10_000, 200],
  [17_000, 431],
])("the size of a request's header is limited on the health port too: %i bytes", async (bytes, code) => {
  const { health } = await start();
  expect((await fetch(`${health}/healthz`, { headers: { more: 'x'.repeat(bytes) } })).status).toBe(code);
});

test('a response has no unnecessary headers', async () => {
  const { headers } = await http().get('/healthz');
  expect(Object.keys(headers).sort()).toEqual([
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
  ]);
});

describe('any other request gets a 404 in JSON', () => {
  test.each([
    ['get', '/', 404],
    ['post', '/readyz', 404],
    ['get', '/debug', 404],
    ['get', '/%ff', 404],
    ['get', '/readyz/', 404],
    ['get', '/Readyz', 404],
  ] as const)('%s %s', async (method, path, code) => {
    const answer = await http()[method](path);
    expect([answer.status, answer.body.kind, answer.body.code]).toEqual([code, 'Status', code]);
    expect(answer.body.message).toBe('no such path; the paths are /healthz, /livez, /readyz and /metrics');
  });
});
