import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { copyOf, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import {
  applyDefaults,
  dropNulls,
  prune,
  type Schema,
  validateListTypes,
  validateSchema,
} from '../../../src/kubernetes/schema/index.ts';
import { testRows } from '../../support/rows.ts';

interface Recorded {
  spec: Json;
  /** What is stored; absent if the object was refused. */
  stored?: Json;
  causes?: string[];
}

/** What apiextensions-apiserver 0.36.4 did with objects of one schema. */
const { schema, objects } = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kube-apiserver/objects.json', import.meta.url), 'utf8'),
) as { schema: Schema; objects: Recorded[] };
const whole: Schema = { type: 'object', properties: { spec: schema } };

/** Objects with a problem that is not found here. */
const known = new Set(
  [
    { byte: 'Zm9v\n' },
    { byte: '' },
    // Of alternatives that all fail, the server lists why the closest one does.
    { any1: 5 },
    { comb: {} },
    { mul: 1e300 },
  ].map((spec) => JSON.stringify(spec)),
);

const rows = objects.map((object) => [JSON.stringify(object.spec), object] as const);

testRows('objects are stored or refused as by an API server', rows, (recorded) => {
  const object: JsonObject = copyOf({ spec: recorded.spec });
  prune(object, whole);
  applyDefaults(object, whole);
  dropNulls(object, whole, true);
  const causes = [...validateSchema(object, whole), ...validateListTypes(object, whole)].map(
    ({ field, message }) => `${field}: ${message}`,
  );
  if (known.has(JSON.stringify(recorded.spec))) {
    expect(causes.toSorted()).not.toEqual(recorded.causes);
    return;
  }
  expect(causes.toSorted()).toEqual(recorded.causes ?? []);
  if (recorded.causes === undefined) {
    expect(object.spec ?? null).toEqual(recorded.stored);
  }
});
