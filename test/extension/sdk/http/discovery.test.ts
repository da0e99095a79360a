import { expect, test } from 'vitest';
import { handler } from '../../../../src/extension/index.ts';
import { discoveryOf } from '../../../../src/extension/sdk/http/handler.ts';
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
  const apiVersion = `${hooksGroup}/v1alpha1`;
  expect(discoveryOf(handlers)).toEqual({
    apiVersion,
    kind: 'DiscoveryResponse',
    status: 'Success',
    handlers: [
      { name: 'b', requestHook: { apiVersion, hook: 'BeforeClusterCreate' }, timeoutSeconds: 5 },
      { name: 'a', requestHook: { apiVersion, hook: 'AfterControlPlaneInitialized' }, failurePolicy: 'Fail' },
    ],
  });
  expect(Object.keys(discoveryOf(handlers).handlers?.[0] ?? {})).toEqual(['name', 'requestHook', 'timeoutSeconds']);
});
