import { expect, test } from 'vitest';
import { brokenOff, isCancelled, unanswered } from '../../../../src/runtimehooks/client/exchange/connection-errors.ts';
import { type Target, targetOf } from '../../../../src/runtimehooks/client/index.ts';

const target = targetOf(
  { url: 'https://one.example' },
  { hook: { group: 'g', version: 'v1', name: 'H' }, name: undefined, timeoutSeconds: 10 },
) as Target;
const open = new AbortController().signal;
const error = (message: string, more: object = {}) => Object.assign(new Error(message), more);

test.each<[string, unknown, step: string, problem: string]>([
  ['a system error', error('m', { code: 'EPIPE' }), 'connect', 'broken pipe'],
  [
    'one with an address',
    error('m', { code: 'ECONNREFUSED', address: '10.0.0.1', port: 443 }),
    'connect',
    'dial tcp 10.0.0.1:443: connect: connection refused',
  ],
  [
    'the first of several addresses',
    error('all failed', { errors: [error('m', { code: 'EHOSTUNREACH' }), error('n', { code: 'EPIPE' })] }),
    'connect',
    'connect: no route to host',
  ],
  [
    'a status code of 099',
    error('The expression evaluated to a falsy value', { code: 'ERR_ASSERTION' }),
    'connect',
    'malformed HTTP response: its status code is below 100',
  ],
  ['an unknown code', error('m', { code: 'EOTHER' }), 'connect', 'EOTHER: m'],
  ['a code that only begins like one of TLS', error('m', { code: 'EPROTONOSUPPORT' }), 'connect', 'EPROTONOSUPPORT: m'],
  ['a code that only ends like one of TLS', error('m', { code: 'X_CERT_X' }), 'connect', 'X_CERT_X: m'],
  ['no code', error('m\u001b'), 'connect', 'm\ufffd'],
  [
    'a certificate',
    error('is  not\nvalid', { code: 'CERT_HAS_EXPIRED' }),
    'tls',
    'tls: failed to verify certificate or handshake failed: CERT_HAS_EXPIRED: is not valid',
  ],
])('a call without a response, because of %s', (_, thrown, step, problem) => {
  expect(unanswered(thrown, target, open)).toEqual({
    step,
    message: `http call failed: Post "https://one.example/g/v1/h?timeout=10s": ${problem}`,
  });
});

test.each<[string, unknown, string]>([
  ['an error of gzip', error('incorrect data check', { code: 'Z_DATA_ERROR' }), 'gzip: incorrect data check'],
  ['a socket', error('m', { code: 'UND_ERR_SOCKET' }), 'unexpected EOF: the server closed the connection'],
  ['a reset', error('m', { code: 'ECONNRESET' }), 'unexpected EOF: the server closed the connection'],
  ['an unknown code', error('m', { code: 'EOTHER' }), 'EOTHER: m'],
  ['no code', error('m\u001b'), 'm\ufffd'],
])('a response that breaks off, because of %s', (_, thrown, problem) => {
  expect(brokenOff(thrown, open)).toEqual({
    step: 'decode',
    message: `http call failed: failed to decode response: ${problem}`,
    code: 200,
  });
});

test.each<[string, unknown, isCancelled: boolean]>([
  ['gave no reason', undefined, true],
  ['gave null as the reason', null, true],
  ['ran out of time', new DOMException('too late', 'TimeoutError'), false],
])('a call whose signal %s', (_, reason, isCancelledThen) => {
  const signal = AbortSignal.abort(reason);
  expect(isCancelled(signal)).toBe(isCancelledThen);
  const { step, message } = unanswered(error('m'), target, signal);
  expect(step).toBe(isCancelledThen ? 'cancelled' : 'timeout');
  expect(message).toMatch(isCancelledThen ? /: context canceled$/ : /: http request timeout expired$/);
  expect(brokenOff(error('m'), signal)).toEqual({
    step: 'timeout',
    message: 'http call failed: failed to decode response: http request timeout expired',
    code: 200,
  });
  expect(isCancelled(open)).toBe(false);
});
