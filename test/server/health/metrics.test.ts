import { describe, expect, test } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/server/health/metrics.ts';
import { localhost, makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { pairOf } from '../running.ts';

const live = { inFlight: 3, bytesHeld: 5, open: new Set([{}, {}]) as never };
const newMetrics = (processMetrics = false) =>
  createMetrics({ version: '1.2.3', prefix: 'x_', port: 'main', processMetrics }, () => live);

/** The samples of metrics whose names begin with `name`. */
async function samples(metrics: Metrics, name: string): Promise<string[]> {
  return (await metrics.render()).split('\n').filter((line) => line.startsWith(`x_${name}`));
}

test('each metric exists from the start, with its description', async () => {
  const metrics = newMetrics();
  expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect((await metrics.render()).split('\n').filter((line) => line !== '')).toEqual([
    '# HELP x_http_refusals_total Requests refused before a decision, by HTTP status code.',
    '# TYPE x_http_refusals_total counter',
    ...[400, 403, 404, 405, 408, 413, 415, 431, 500, 501, 503].map((code) => `x_http_refusals_total{code="${code}"} 0`),
    '# HELP x_certificate_not_after_timestamp_seconds When the serving certificate expires, in seconds since 1970.',
    '# TYPE x_certificate_not_after_timestamp_seconds gauge',
    '# HELP x_authority_not_after_timestamp_seconds When the first CA in the trust bundle expires, in seconds since 1970. Absent without a bundle.',
    '# TYPE x_authority_not_after_timestamp_seconds gauge',
    '# HELP x_certificate_stage Stage of the CA rotation as the trust bundle shows it: 1 for the current stage. Absent without a bundle.',
    '# TYPE x_certificate_stage gauge',
    '# HELP x_certificate_reloads_total New certificates, by result: success, or failure (the previous one stays in use).',
    '# TYPE x_certificate_reloads_total counter',
    'x_certificate_reloads_total{result="success"} 0',
    'x_certificate_reloads_total{result="failure"} 0',
    '# HELP x_certificate_source_failures_total Times the source of certificates started to fail (a forbidden watch, an unreachable API server).',
    '# TYPE x_certificate_source_failures_total counter',
    'x_certificate_source_failures_total 0',
    '# HELP x_connections_evicted_total Connections closed to make room for others: the longest idle ones, and slow ones. By port.',
    '# TYPE x_connections_evicted_total counter',
    'x_connections_evicted_total{port="main"} 0',
    'x_connections_evicted_total{port="health"} 0',
    '# HELP x_certificate_source_up Whether the source of certificates works (1) or fails (0).',
    '# TYPE x_certificate_source_up gauge',
    'x_certificate_source_up 1',
    '# HELP x_connections_dropped_total Connections closed on arrival because there were too many and none was idle or slow. By port.',
    '# TYPE x_connections_dropped_total counter',
    'x_connections_dropped_total{port="main"} 0',
    'x_connections_dropped_total{port="health"} 0',
    '# HELP x_answers_dropped_total Connections closed because the client did not read a response in time. By port.',
    '# TYPE x_answers_dropped_total counter',
    'x_answers_dropped_total{port="main"} 0',
    'x_answers_dropped_total{port="health"} 0',
    '# HELP x_tls_handshake_failures_total TLS handshakes that failed; a wrong caBundle shows up here.',
    '# TYPE x_tls_handshake_failures_total counter',
    'x_tls_handshake_failures_total 0',
    '# HELP x_certificate_rejections_total TLS handshakes that a client ended because it does not trust the serving certificate: its caBundle is empty, or of another CA.',
    '# TYPE x_certificate_rejections_total counter',
    'x_certificate_rejections_total 0',
    '# HELP x_requests_in_flight Requests being read or answered.',
    '# TYPE x_requests_in_flight gauge',
    'x_requests_in_flight 3',
    '# HELP x_in_flight_bytes Bytes of bodies and responses of these requests; more than 256 MiB are refused.',
    '# TYPE x_in_flight_bytes gauge',
    'x_in_flight_bytes 5',
    '# HELP x_connections Open connections on the main port.',
    '# TYPE x_connections gauge',
    'x_connections 2',
    '# HELP x_build_info Always 1; the labels describe the build.',
    '# TYPE x_build_info gauge',
    `x_build_info{version="1.2.3",node_version="${process.version}"} 1`,
  ]);
});

test('metrics of the process are optional', async () => {
  expect(await newMetrics(true).render()).toContain('process_cpu_user_seconds_total');
  expect(await newMetrics().render()).not.toContain('process_');
});

test('lines that a log has lost are counted, if the log counts them', async () => {
  const options = { version: '1', prefix: 'x_', port: 'main', processMetrics: false, lostLogLines: () => 3 };
  expect(
    await samples(
      createMetrics(options, () => live),
      'log_lines_lost',
    ),
  ).toEqual(['x_log_lines_lost_total 3']);
});

test('events are counted by port and code', async () => {
  const metrics = newMetrics();
  const [main, health] = [metrics.eventsOf('main'), metrics.eventsOf('health')];
  main.refused({ code: 404, message: 'no' }, undefined);
  health.refused({ code: 404, message: 'no' }, undefined);
  main.refused({ code: 413, message: 'no' }, undefined);
  main.evicted();
  health.dropped();
  health.dropped();
  main.responseDropped();
  metrics.handshakeFailed(false);
  metrics.handshakeFailed(true);
  expect((await samples(metrics, 'http_refusals_total')).filter((line) => !line.endsWith(' 0'))).toEqual([
    'x_http_refusals_total{code="404"} 2',
    'x_http_refusals_total{code="413"} 1',
  ]);
  expect(await samples(metrics, 'connections_')).toEqual([
    'x_connections_evicted_total{port="main"} 1',
    'x_connections_evicted_total{port="health"} 0',
    'x_connections_dropped_total{port="main"} 0',
    'x_connections_dropped_total{port="health"} 2',
  ]);
  expect(await samples(metrics, 'answers_dropped_total')).toEqual([
    'x_answers_dropped_total{port="main"} 1',
    'x_answers_dropped_total{port="health"} 0',
  ]);
  expect(await samples(metrics, 'tls_handshake')).toEqual(['x_tls_handshake_failures_total 2']);
  expect(await samples(metrics, 'certificate_rejections')).toEqual(['x_certificate_rejections_total 1']);
});

test('reports a source that fails and recovers', async () => {
  const metrics = newMetrics();
  metrics.certificateSource(false);
  expect(await samples(metrics, 'certificate_source')).toEqual([
    'x_certificate_source_failures_total 1',
    'x_certificate_source_up 0',
  ]);
  metrics.certificateSource(true);
  expect(await samples(metrics, 'certificate_source')).toEqual([
    'x_certificate_source_failures_total 1',
    'x_certificate_source_up 1',
  ]);
});

describe('a certificate', () => {
  const pair = pairOf(localhost);
  const ends = Date.parse('2049-01-01T00:00:00Z') / 1000;
  const earlier = new Date('2035-01-01T00:00:00Z');
  const nextCa = makeCertificate({ commonName: 'next CA', isCa: true, notAfter: earlier });
  const stages = (stage: string) =>
    ['missing', 'steady', 'staged', 'promoted'].map(
      (name) => `x_certificate_stage{stage="${name}"} ${name === stage ? 1 : 0}`,
    );

  test('without a trust bundle has its expiry', async () => {
    const metrics = newMetrics();
    metrics.certificateLoaded(pair, undefined);
    metrics.certificateFailed();
    expect(await samples(metrics, 'certificate_reloads')).toEqual([
      'x_certificate_reloads_total{result="success"} 1',
      'x_certificate_reloads_total{result="failure"} 1',
    ]);
    expect(await samples(metrics, 'certificate_not_after')).toEqual([
      `x_certificate_not_after_timestamp_seconds ${ends}`,
    ]);
    expect(await samples(metrics, 'authority')).toEqual([]);
    expect(await samples(metrics, 'certificate_stage')).toEqual([]);
  });

  test.each<[string, string, string, number | undefined]>([
    ['one CA', testCa.cert, 'steady', ends],
    ['two CAs', testCa.cert + nextCa.cert, 'promoted', earlier.getTime() / 1000],
    ['none', 'garbage', 'missing', undefined],
  ])('with a trust bundle of %s has the stage, and the expiry of the first CA', async (_, bundle, stage, caEnds) => {
    const metrics = newMetrics();
    metrics.certificateLoaded(pair, bundle);
    expect(await samples(metrics, 'certificate_stage')).toEqual(stages(stage));
    expect(await samples(metrics, 'authority')).toEqual(
      caEnds === undefined ? [] : [`x_authority_not_after_timestamp_seconds ${caEnds}`],
    );
    // The next one may come without a bundle.
    metrics.certificateLoaded(pair, undefined);
    expect(await samples(metrics, 'certificate_stage')).toEqual([]);
    expect(await samples(metrics, 'authority')).toEqual([]);
  });
});
