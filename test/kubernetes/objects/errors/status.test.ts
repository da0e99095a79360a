import { expect, test } from 'vitest';
import { causeMessage, formatFieldPath, invalid, refusal, showValue } from '../../../../src/kubernetes/index.ts';

test.each([
  ['x'.repeat(120), `"${'x'.repeat(120)}"`],
  ['x'.repeat(121), `"${'x'.repeat(120)}…"`],
  ['x'.repeat(1_000_000), `"${'x'.repeat(120)}…"`],
  [['x'], 'an array'],
  [{ a: 1 }, 'an object'],
  [null, 'null'],
  [true, 'true'],
])('a message shows at most 120 characters of a value (%#)', (value, shown) => {
  expect(showValue(value)).toBe(shown);
  expect(causeMessage('FieldValueInvalid', value, 'must be y')).toBe(`Invalid value: ${shown}: must be y`);
});

test('a cause without a value or without details still has a message', () => {
  expect(causeMessage('FieldValueRequired', undefined, 'must be set')).toBe('Required value: must be set');
  expect(causeMessage('FieldValueDuplicate', 'a', '')).toBe('Duplicate value: "a"');
});

test('a path shows at most 320 characters of a key, in one line', () => {
  expect(formatFieldPath(['metadata', 'labels', `a/${'x'.repeat(318)}`])).toBe(`metadata.labels[a/${'x'.repeat(318)}]`);
  expect(formatFieldPath(['metadata', 'labels', 'x'.repeat(321)])).toBe(`metadata.labels[${'x'.repeat(320)}…]`);
  expect(formatFieldPath(['data', 'a\nb', 0])).toBe('data[a\ufffdb][0]');
});

test('an invalid object is reported as apierrors.NewInvalid does', () => {
  const cause = { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'spec.a' };
  const one = invalid('example.com', 'Thing', 'x', [cause]);
  expect(one).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [cause] } });
  expect(one.message).toBe('Thing.example.com "x" is invalid: spec.a: Invalid value: 1: no');
  expect(invalid('', 'Pod', 'x', [cause, { reason: 'InternalError', message: 'oops' }]).message).toBe(
    'Pod "x" is invalid: [spec.a: Invalid value: 1: no, oops]',
  );
});

test.each([
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [408, 'Timeout'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [431, 'RequestHeaderFieldsTooLarge'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [418, 'Unknown'],
])('a refusal with %i is a Status with the reason %s', (code, reason) => {
  expect(refusal(code, 'why')).toEqual({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    message: 'why',
  });
});
