import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { startDefinitionController } from '../../../src/sandbox/kinds/definition-controller.ts';
import { acceptNames, NamesInUse } from '../../../src/sandbox/kinds/names.ts';
import { Registry } from '../../../src/sandbox/resources/registry.ts';
import { Store, storageKey } from '../../../src/sandbox/storage/store.ts';

test.each([
  ['plural', { plural: 'as' }, 'PluralConflict'],
  ['singular that is a plural', { singular: 'as' }, 'SingularConflict'],
  ['short name', { shortNames: ['as'] }, 'ShortNamesConflict'],
  ['kind that is a list kind', { kind: 'AList' }, 'KindConflict'],
  ['list kind', { listKind: 'A' }, 'ListKindConflict'],
])('names: a %s that is taken is rejected', (_name, taken, reason) => {
  const other = { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' };
  const requested = { plural: 'bs', singular: 'b', kind: 'B', listKind: 'BList', ...taken };
  const others = new NamesInUse();
  others.use('as', other);
  expect(acceptNames('bs', requested, {}, others).conflict?.reason).toBe(reason);
  // A name that it already had is kept, whatever names others have.
  expect(acceptNames('bs', requested, requested, others).conflict).toBeUndefined();
  others.use('as', {}, other);
  expect(acceptNames('bs', requested, {}, others).conflict).toBeUndefined();
});

function definition(index: number): JsonObject {
  const names = {
    plural: `p${index}`,
    singular: `s${index}`,
    kind: `K${index}`,
    listKind: `L${index}`,
    shortNames: [],
  };
  return {
    metadata: { name: `p${index}.example.com`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { group: 'example.com', scope: 'Cluster', names, versions: [], conversion: { strategy: 'None' } },
  };
}

test('the names of a huge number of definitions in one group are accepted in linear time', {
  timeout: 60_000,
}, async () => {
  const store = new Store();
  const definitions = store.collection('customresourcedefinitions.apiextensions.k8s.io');
  for (let index = 0; index < 2_000; index++) {
    definitions.create(storageKey('', `p${index}.example.com`), definition(index));
  }
  const now = () => '2026-01-01T00:00:00Z';
  const began = performance.now();
  const stop = startDefinitionController({ store, registry: new Registry(), now });
  await setImmediate();
  const took = performance.now() - began;
  stop();
  expect(definitions.get(storageKey('', 'p1999.example.com'))).toMatchObject({
    status: { conditions: [{ type: 'NamesAccepted', status: 'True' }, { type: 'Established' }] },
  });
  // Comparing each definition with all others took 6 s.
  expect(took).toBeLessThan(3_000);
});
