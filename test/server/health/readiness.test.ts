import { describe, expect, test } from 'vitest';
import { describeChecks, type ReadinessFacts, readinessOf } from '../../../src/server/health/readiness.ts';
import { localhost } from '../../base/x509/certificates.ts';
import { pairOf } from '../running.ts';

const good = pairOf(localhost);

test.each([
  ['serving', good, undefined, true, undefined],
  ['draining', good, undefined, false, /shutting down/],
  ['starting', good, undefined, false, /not open/],
  ['serving', undefined, 'tls.crt does not exist', false, /no serving certificate: tls.crt does not exist/],
  ['serving', { ...good, notAfter: new Date(0) }, undefined, false, /expired at 1970/],
  ['serving', good, 'the new one is broken', true, undefined],
] as const)('readiness: %s', (phase, pair, certificateProblem, ready, reason) => {
  const state = readinessOf({
    phase,
    port: 'webhook',
    pair,
    certificateProblem,
    sourceProblem: undefined,
    now: new Date('2030-01-01T00:00:00Z'),
  });
  expect(state.ready).toBe(ready);
  if (!state.ready) {
    expect(state.reason).toMatch(reason!);
  }
});

describe('readiness as text', () => {
  const said = (facts: Partial<ReadinessFacts>) => {
    const state = readinessOf({
      phase: 'serving',
      port: 'webhook',
      pair: good,
      certificateProblem: undefined,
      sourceProblem: undefined,
      now: new Date('2030-01-01T00:00:00Z'),
      ...facts,
    });
    return [state.ready ? 'ready' : state.reason, ...describeChecks(state, 'readyz').split('\n')];
  };
  const certificate = '[+]serving-certificate ok';
  const source = '[+]certificate-source ok';
  const trust = '[+]trust ok';
  const phase = '[+]phase ok';
  const passed = ['readyz check passed', ''];
  const failed = ['readyz check failed', ''];

  test.each<[string, Partial<ReadinessFacts>, string[]]>([
    ['all is well', {}, ['ready', certificate, source, trust, phase, ...passed]],
    [
      'client certificates are checked',
      { clientCa: { problem: undefined } },
      ['ready', certificate, source, trust, '[+]client-ca ok', phase, ...passed],
    ],
    [
      'the client CA is broken',
      { clientCa: { problem: 'no PEM' } },
      ['ready', certificate, source, trust, '[!]client-ca degraded: no PEM', phase, ...passed],
    ],
    [
      'the source fails',
      { sourceProblem: 'forbidden' },
      ['ready', certificate, '[!]certificate-source degraded: forbidden', trust, phase, ...passed],
    ],
    [
      'a client does not trust the certificate',
      { rejection: { client: '10.0.0.1', at: new Date('2029-12-31T23:55:00Z') } },
      [
        'ready',
        certificate,
        source,
        '[!]trust degraded: 10.0.0.1 did not trust the serving certificate at 2029-12-31T23:55:00.000Z: if it is an API server, a caBundle is empty or of another CA; run certs status',
        phase,
        ...passed,
      ],
    ],
    [
      'it was long ago',
      { rejection: { client: '10.0.0.1', at: new Date('2029-12-31T23:45:00Z') } },
      ['ready', certificate, source, trust, phase, ...passed],
    ],
    [
      'the new certificate is broken',
      { certificateProblem: 'no PEM' },
      [
        'ready',
        '[!]serving-certificate degraded: the previous certificate is still served: no PEM',
        source,
        trust,
        phase,
        ...passed,
      ],
    ],
    [
      'no certificate yet',
      { pair: undefined },
      [
        'no serving certificate: not read yet',
        '[-]serving-certificate failed: no serving certificate: not read yet',
        source,
        trust,
        phase,
        ...failed,
      ],
    ],
    [
      'expired just now',
      { now: good.notAfter },
      [
        'the serving certificate expired at 2049-01-01T00:00:00.000Z',
        '[-]serving-certificate failed: the serving certificate expired at 2049-01-01T00:00:00.000Z',
        source,
        trust,
        phase,
        ...failed,
      ],
    ],
    [
      'before the start, the certificate comes first',
      { phase: 'starting', pair: undefined, certificateProblem: 'gone' },
      [
        'no serving certificate: gone',
        '[-]serving-certificate failed: no serving certificate: gone',
        source,
        trust,
        '[-]phase failed: the webhook port is not open yet',
        ...failed,
      ],
    ],
    [
      'before the start',
      { phase: 'starting' },
      [
        'the webhook port is not open yet',
        certificate,
        source,
        trust,
        '[-]phase failed: the webhook port is not open yet',
        ...failed,
      ],
    ],
    [
      'at the end, the shutdown comes first',
      { phase: 'draining', pair: undefined },
      [
        'shutting down',
        '[-]serving-certificate failed: no serving certificate: not read yet',
        source,
        trust,
        '[-]phase failed: shutting down',
        ...failed,
      ],
    ],
  ])('%s', (_, facts, lines) => {
    expect(said(facts)).toEqual(lines);
  });
});
