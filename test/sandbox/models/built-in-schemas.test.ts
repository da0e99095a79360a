import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { schemaOfModel } from '../../../src/sandbox/models/built-in-schemas.ts';
import { typeTablesFile, typeTablesText } from '../../../tools/generate/type-tables.ts';

test('the type tables are those of the Kubernetes client that is installed (npm run generate)', () => {
  expect(readFileSync(typeTablesFile, 'utf8')).toBe(typeTablesText());
});

test('a schema has the fields of its model, and there is none without a model', () => {
  expect(Object.keys(schemaOfModel('V1Secret')?.properties ?? {})).toEqual([
    'apiVersion',
    'data',
    'immutable',
    'kind',
    'metadata',
    'stringData',
    'type',
  ]);
  expect(schemaOfModel('V1Nothing')).toBeUndefined();
});
