import { expect, test } from 'vitest';
import { parseAllowList } from '../../../src/policy/probe/index.ts';
import { createReach } from '../../../src/policy/probe/reach.ts';

test.each([
  ['svc', 'a.svc', 'unresolved'],
  ['svc', 'a.example', 'refused'],
  ['svc', '127.0.0.1', 'refused'],
  ['127.0.0.0/8', 'a.example', 'refused'],
])('with %s allowed, %s, which has no address, is %s', async (entry, hostname, reached) => {
  const reach = createReach(parseAllowList([entry]), () => Promise.reject(new Error('ENOTFOUND')));
  expect(await reach(hostname, AbortSignal.timeout(5_000))).toBe(reached);
});

test('does not even resolve a name that is not allowed', async () => {
  const resolved: string[] = [];
  const reach = createReach(parseAllowList(['svc', '127.0.0.1']), async (hostname) => {
    resolved.push(hostname);
    return ['127.0.0.1'];
  });
  const onlyNames = createReach(parseAllowList(['svc']), async (hostname) => {
    resolved.push(hostname);
    return ['127.0.0.1'];
  });
  const { signal } = new AbortController();
  expect(await reach('a.example', signal)).toEqual({ address: '127.0.0.1' });
  expect(await onlyNames('a.example', signal)).toBe('refused');
  expect(resolved).toEqual(['a.example']);
});
