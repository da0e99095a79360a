import { expect, test } from 'vitest';
import { decodingProblem, type GoType } from '../../../src/kubernetes/custom-resources/index.ts';
import type { Json } from '../../../src/kubernetes/index.ts';

const fields: Record<string, GoType> = {
  name: { type: 'string' },
  count: { type: 'integer' },
  size: { type: 'integer', format: 'int64' },
  share: { type: 'number' },
  on: { type: 'boolean' },
  any: {},
  names: { type: 'array', items: { type: 'string' } },
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  part: { type: 'object', struct: 'v1.Part', properties: { count: { type: 'integer' } } },
};
fields.unnamed = { type: 'object', properties: { count: { type: 'integer' } } };
fields.parts = { type: 'array', items: fields.part as GoType };
const whole: GoType = { type: 'object', struct: 'v1.Spec', properties: fields };

test.each<[Json, string | undefined]>([
  [
    { name: 'x', count: 1, size: 2 ** 40, share: 0.5, on: true, any: [], names: ['x'], labels: {}, other: 1 },
    undefined,
  ],
  [{ name: null, names: null, parts: [null] }, undefined],
  [{ name: 5 }, 'number into Go struct field Spec.spec.name of type string'],
  [{ count: '5' }, 'string into Go struct field Spec.spec.count of type int32'],
  [{ count: 1.5 }, 'number 1.5 into Go struct field Spec.spec.count of type int32'],
  [{ count: 2 ** 31 }, 'number 2147483648 into Go struct field Spec.spec.count of type int32'],
  [{ share: 'x' }, 'string into Go struct field Spec.spec.share of type float64'],
  [{ on: 'true' }, 'string into Go struct field Spec.spec.on of type bool'],
  [{ names: { a: 1 } }, 'object into Go struct field Spec.spec.names of type []string'],
  [{ names: ['x', true] }, 'bool into Go struct field Spec.spec.names of type string'],
  [{ labels: { a: 1 } }, 'number into Go struct field Spec.spec.labels of type string'],
  [{ labels: [] }, 'array into Go struct field Spec.spec.labels of type map[string]string'],
  [{ parts: {} }, 'object into Go struct field Spec.spec.parts of type []v1.Part'],
  [{ parts: [{ count: 'x' }] }, 'string into Go struct field Part.spec.parts.count of type int32'],
  [{ unnamed: 'x' }, 'string into Go struct field Spec.spec.unnamed of type …'],
  // Fields are read in the order of their names.
  [{ part: [], count: 'x' }, 'string into Go struct field Spec.spec.count of type int32'],
  [[], 'array into Go struct field Cluster.spec of type v1.Spec'],
])('%j', (value, problem) => {
  const expected = problem === undefined ? undefined : `json: cannot unmarshal ${problem}`;
  expect(decodingProblem(value, whole, 'v1.Cluster', 'spec')).toBe(expected);
});
