import { describe, expect, test } from 'vitest';
import {
  customResourceCauses,
  readCustomResource,
  unknownFieldTexts,
} from '../../../src/kubernetes/custom-resources/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [{ rule: 'self.size < 5', message: 'size is less than 5' }],
      properties: {
        size: { type: 'integer', default: 3 },
        color: { type: 'string', minLength: 1 },
        names: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      },
    },
  },
};
const objectWith = (fields: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one' },
  ...fields,
});

describe('reading', () => {
  test('defaults are set and null fields removed, in a copy', () => {
    const given = objectWith({ spec: { size: null, color: null } });
    expect(readCustomResource(given, schema)).toEqual({
      object: objectWith({ spec: { size: 3 } }),
      malformed: undefined,
      unknown: [],
    });
    expect(given.spec).toEqual({ size: null, color: null });
  });

  test('unknown fields are problems, those of the metadata first', () => {
    const { unknown } = readCustomResource(
      { ...objectWith({ spec: { zise: 1, colour: 'x' } }), metadata: { name: 'one', lables: {} } },
      schema,
    );
    expect(unknownFieldTexts(unknown)).toEqual([
      'unknown field "metadata.lables"',
      'unknown field "spec.colour"',
      'unknown field "spec.zise"',
    ]);
    expect(unknown.map(({ known }) => known).slice(1)).toEqual(Array(2).fill(['size', 'color', 'names']));
  });

  test('no more than a hundred unknown fields are told', () => {
    const spec = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, 1]));
    expect(unknownFieldTexts(readCustomResource(objectWith({ spec }), schema).unknown)).toHaveLength(100);
  });

  test.each<[JsonObject, string]>([
    [{ labels: { a: 1 } }, 'number into Go struct field ObjectMeta.labels of type string'],
    [{ annotations: { a: true } }, 'bool into Go struct field ObjectMeta.annotations of type string'],
    [{ finalizers: 'x' }, 'string into Go struct field ObjectMeta.finalizers of type []string'],
  ])('metadata %j', (metadata, problem) => {
    const read = readCustomResource({ ...objectWith({}), metadata }, schema);
    expect(read.malformed).toBe(`json: cannot unmarshal ${problem}`);
  });
});

describe('causes', () => {
  const causesOf = (spec: JsonObject, metadata: JsonObject = { name: 'one' }, old?: JsonObject) =>
    customResourceCauses({ ...objectWith({ spec }), metadata }, old && objectWith({ spec: old }), schema).map(
      ({ field, message }) => `${field}: ${message}`,
    );

  test('metadata, schema, lists, rules', () => {
    expect(causesOf({ size: 7, color: '', names: ['x', 'x'] }, { name: 'one', labels: { a: '?' } })).toEqual([
      expect.stringMatching(/^metadata\.labels: Invalid value: "\?"/),
      'spec.color: Invalid value: "": spec.color in body should be at least 1 chars long',
      'spec.names[1]: Duplicate value: "x"',
      'spec: Invalid value: size is less than 5',
    ]);
  });

  test('rules of an object with values of the wrong type are not evaluated', () => {
    expect(causesOf({ size: 'x' })).toEqual([
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ]);
  });

  test('what an update leaves as it was is not judged', () => {
    const old = { size: 7, color: '', names: ['x', 'x'] };
    expect(causesOf(old, { name: 'one' }, old)).toEqual([]);
    expect(causesOf({ ...old, names: ['y', 'y'] }, { name: 'one' }, old)).toEqual([
      'spec: Invalid value: size is less than 5',
    ]);
  });
});
