import { expect, test } from 'vitest';
import { validService } from '../../../../src/policy/rules/fields/service.ts';

test.each<[string, object | undefined]>([
  ['nothing', undefined],
  ['no names', {}],
  ['no name', { namespace: 'a' }],
  ['no namespace', { name: 'a' }],
  ['a namespace of another type', { namespace: 1, name: 'a' }],
  ['a name of another type', { namespace: 'a', name: ['a'] }],
  ['an invalid namespace', { namespace: 'a.b', name: 'a' }],
  ['an invalid name', { namespace: 'a', name: '1a' }],
])('a Service with %s is not looked up', (_, service) => {
  expect(validService(service)).toBeUndefined();
});

test('the names of a Service, without the rest', () => {
  expect(validService({ namespace: '1a', name: 'a', ...{ port: 443 } })).toEqual({ namespace: '1a', name: 'a' });
});
