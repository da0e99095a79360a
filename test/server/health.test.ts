import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { createHealthApplication } from '../../src/server/health.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import type { Readiness } from '../../src/server/readiness.ts';
import { localhost } from './certificates.ts';
import { pairOf } from './running.ts';

let state: Readiness = { ready: true };
const metrics = createMetrics(
  { version: '1.2.3', featureGates: { RuntimeSDK: true, Other: false } },
  { inFlight: () => 3, connections: () => 7 },
  false,
);
const http = supertest(createHealthApplication(() => state, metrics));

test('/readyz follows the state, /healthz does not', async () => {
  expect((await http.get('/readyz')).status).toBe(200);
  state = { ready: false, reason: 'no serving certificate' };
  const answer = await http.get('/readyz');
  expect([answer.status, answer.text]).toEqual([503, 'no serving certificate\n']);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect((await http.get('/healthz')).status).toBe(200);
});

test('/metrics is Prometheus text', async () => {
  metrics.certificateLoaded(pairOf(localhost), undefined);
  metrics.certificateFailed();
  const { status, headers, text } = await http.get('/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0.0.4/);
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'extensionconfig_webhook_requests_in_flight 3',
      'extensionconfig_webhook_connections 7',
      `extensionconfig_webhook_build_info{version="1.2.3",node_version="${process.version}"} 1`,
      'extensionconfig_webhook_feature_enabled{name="RuntimeSDK"} 1',
      'extensionconfig_webhook_feature_enabled{name="Other"} 0',
      'extensionconfig_webhook_certificate_reloads_total{result="success"} 1',
      'extensionconfig_webhook_certificate_reloads_total{result="failure"} 1',
      `extensionconfig_webhook_certificate_not_after_timestamp_seconds ${Date.parse('2049-01-01T00:00:00Z') / 1000}`,
    ]),
  );
});

describe('everything else is a 404 or 400 in JSON', () => {
  test.each([
    ['get', '/', 404],
    ['post', '/readyz', 404],
    ['get', '/debug', 404],
    ['get', '/%ff', 404],
  ] as const)('%s %s', async (method, path, code) => {
    const answer = await http[method](path);
    expect([answer.status, answer.body.kind]).toEqual([code, 'Status']);
  });
});
