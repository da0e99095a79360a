import { expect, test } from 'vitest';
import { createExtensionServer, handler } from '../../../../src/extension/index.ts';
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
