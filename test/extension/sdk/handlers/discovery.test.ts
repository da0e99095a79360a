import { expect, test } from 'vitest';
import { createExtensionServer, handler } from '../../../../src/extension/index.ts';
import { goDurationMs } from '../../../../src/extension/sdk/calls/call-timeout.ts';
import { hooksGroup } from '../../../../src/runtimehooks/index.ts';

test('Discovery lists each handler with its properties, and nothing else', () => {
  const handlers = [
    handler('BeforeClusterCreate', { name: 'b', timeoutSeconds: 5, handle: (_, { answer }) => answer.done() }),
    handler('AfterControlPlaneInitialized', {
      name: 'a',
      failurePolicy: 'Fail',
      handle: (_, { answer }) => answer.done(),
    }),
  ];
  const server = createExtensionServer({ handlers });
  const apiVersion = `${hooksGroup}/v1alpha1`;
  expect(server.discovery()).toEqual({
    apiVersion,
    kind: 'DiscoveryResponse',
    status: 'Success',
    handlers: [
      { name: 'b', requestHook: { apiVersion, hook: 'BeforeClusterCreate' }, timeoutSeconds: 5 },
      { name: 'a', requestHook: { apiVersion, hook: 'AfterControlPlaneInitialized' }, failurePolicy: 'Fail' },
    ],
  });
  expect(Object.keys(server.discovery().handlers?.[0] ?? {})).toEqual(['name', 'requestHook', 'timeoutSeconds']);
});

test.each([
  ['1ns', 1e-6],
  ['1us', 1e-3],
  ['2µs', 2e-3],
  ['3ms', 3],
  ['1h', 3_600_000],
  ['1m1ms', 60_001],
  ['0s', 0],
  ['1s1', undefined],
  ['1s 1s', undefined],
  ['s', undefined],
  ['1.s', undefined],
  ['1234567890123s', undefined],
  [`${'1s'.repeat(20)}`, 20_000],
  [`${'1s'.repeat(20)}1`, undefined],
  [`${'1s'.repeat(21)}`, undefined],
])('duration %j', (text, ms) => {
  const read = goDurationMs(text);
  expect(read).toEqual(ms === undefined ? undefined : expect.closeTo(ms, 9));
});
