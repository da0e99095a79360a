import { expect, test } from 'vitest';
import {
  clusterApiHooks,
  coreVersionIn,
  formatHook,
  formatRelease,
  hookIn,
  hooks,
  parseRelease,
} from '../../../src/runtimehooks/index.ts';

const release = (text: string) => parseRelease(text)!;
test('a hook has a name for people', () => {
  expect(formatHook(hooks.BeforeClusterUpgrade)).toBe(
    'hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=BeforeClusterUpgrade',
  );
});

test.each(clusterApiHooks)('the messages of $name have what every message has', ({ request, response, isBlocking }) => {
  expect(request.schema).toMatchObject({ type: 'object', properties: { apiVersion: {}, kind: {} } });
  expect(response.schema).toMatchObject({ type: 'object', required: expect.arrayContaining(['status']) });
  expect(response.schema.properties?.retryAfterSeconds !== undefined).toBe(isBlocking);
});

test('a hook in an earlier release has the fields of then', () => {
  const fieldsIn = (text: string) => {
    const { request, response } = hookIn(hooks.AfterControlPlaneUpgrade, release(text));
    return [
      Object.keys(request.schema.properties ?? {}).slice(2),
      response === hooks.AfterControlPlaneUpgrade.response,
    ];
  };
  const type0 = ['apiVersion', 'kind'];
  expect(fieldsIn('1.3')).toEqual([type0, true]);
  expect(fieldsIn('1.4')).toEqual([[...type0, 'settings'], true]);
  expect(fieldsIn('1.11')).toEqual([[...type0, 'settings'], true]);
  const all = [...type0, 'settings', 'controlPlaneUpgrades', 'workersUpgrades'];
  expect(fieldsIn('1.12')).toEqual([all, true]);
  const { response, changes } = hookIn(hooks.AfterClusterUpgrade, release('1.11'));
  expect(response.schema.required).toEqual(['status']);
  expect(changes.map((change) => formatRelease(change.release))).toEqual(['v1.11']);
});

test('what came with a hook did not come later', () => {
  for (const { introduced, request, response, changes } of clusterApiHooks) {
    const later = [...Object.values(request.fieldsSince), ...Object.values(response.fieldsSince)];
    for (const since of [...later, ...changes.map((change) => change.release)]) {
      expect(since.minor).toBeGreaterThan(introduced.minor);
    }
  }
});

test.each([
  ['BeforeClusterUpgrade', '1.10', 'v1beta1'],
  ['BeforeClusterUpgrade', '1.12', 'v1beta1'],
  ['BeforeClusterUpgrade', '1.13', 'v1beta2'],
  ['GeneratePatches', '1.10', 'v1beta1'],
  ['GeneratePatches', '1.11', 'v1beta2'],
  ['DiscoverVariables', '1.12', 'v1beta1'],
  ['DiscoverVariables', '1.13', 'v1beta2'],
  ['UpdateMachine', '1.12', 'v1beta2'],
] as const)('the objects in messages of %s are, in %s, core %s', (name, since, version) => {
  expect(coreVersionIn(hooks[name], release(since))).toBe(version);
});
