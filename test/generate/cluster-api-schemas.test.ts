import { expect, test } from 'vitest';
import { type Definition, type Described, schemaTableText } from '../../tools/generate/cluster-api-schemas.ts';

const definition = (spec: Described, kind = 'Cluster'): Definition => ({
  spec: {
    group: 'cluster.x-k8s.io',
    names: { kind },
    versions: [
      { name: 'v1beta2', served: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
      { name: 'v1alpha4', served: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
});

const text: Described = { type: 'string', description: 'a text', minLength: 1, maxLength: 63 };
const first: Described = {
  type: 'object',
  required: ['name'],
  minProperties: 1,
  properties: { name: text, other: { ...text, description: 'another one' } },
};
const second: Described = {
  ...first,
  properties: {
    ...first.properties,
    count: { type: 'integer', minimum: 0, default: 1 },
    list: {
      type: 'array',
      items: text,
      maxItems: 3,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-validations': [{ message: 'is nice', rule: 'self.isNice()' }],
    },
  },
};

test('types are told once, releases that change nothing are left out, and so are descriptions and expressions', () => {
  const releases = new Map([
    ['v1.1', [definition(first), definition(first, 'Machine')]],
    ['v1.2', [definition(first)]],
    ['v1.3', [definition(second)]],
  ]);
  expect(schemaTableText(releases)).toBe(`{"kinds":{
"cluster.x-k8s.io/v1beta2 Cluster":{"v1.1":2,"v1.3":6}
},"types":[
{"type":"string","minLength":1,"maxLength":63},
{"type":"object","required":["name"],"minProperties":1,"properties":{"name":0,"other":0}},
{"type":"object","properties":{"spec":1}},
{"type":"integer","minimum":0,"default":1},
{"type":"array","maxItems":3,"x-kubernetes-list-type":"set","items":0,"rules":["is nice"]},
{"type":"object","required":["name"],"minProperties":1,"properties":{"name":0,"other":0,"count":3,"list":4}},
{"type":"object","properties":{"spec":5}}
]}
`);
});
