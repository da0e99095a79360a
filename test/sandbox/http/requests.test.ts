import { expect, test } from 'vitest';
import { parseApiPath } from '../../../src/sandbox/http/requests.ts';

test.each([
  ['/api/v1/namespaces', { plural: 'namespaces', namespace: '', name: '' }],
  ['/api/v1/namespaces/a', { plural: 'namespaces', namespace: '', name: 'a' }],
  ['/api/v1/namespaces/a/status', { plural: 'namespaces', name: 'a', subresource: 'status' }],
  ['/api/v1/namespaces/a/secrets/b', { plural: 'secrets', namespace: 'a', name: 'b' }],
  ['/apis/apps/v1/namespaces/a/deployments/b/status', { group: 'apps', plural: 'deployments', subresource: 'status' }],
  ['/apis/rbac/v1/clusterroles/system%3Ax', { name: 'system:x' }],
])('path %s', (path, expected) => {
  expect(parseApiPath(path)).toMatchObject(expected);
});

test.each(['/api/v1', '/metrics', '/apis/a/v1/b/c/d/e', '/api/v1/%zz'])('path %s names no resource', (path) => {
  expect(parseApiPath(path)).toBeUndefined();
});
