import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { checkDefinitions } from '../../../src/runtimehooks/variables/index.ts';
import { limitWork, sized } from '../../support/work.ts';

const definitionCauses = (variables: Json | undefined, path: string) => checkDefinitions(variables, path).causes;

const defined = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'a',
  schema: { openAPIV3Schema: schema },
  ...more,
});

/** Problems as Cluster API prints them, without the path of the list. */
const problems = (...variables: Json[]) =>
  definitionCauses(variables, 'lab.variables').map(({ field = '', message }) => `${field}: ${message}`);

const root = 'lab.variables[a].schema.openAPIV3Schema';

test.each<[string, JsonObject]>([
  ['an integer', { type: 'integer', minimum: 1, default: 3, example: 2 }],
  ['a string with an empty example', { type: 'string', maxLength: 3, example: '' }],
  ['a map', { type: 'object', additionalProperties: { type: 'string', default: 'x' } }],
  ['an object', { type: 'object', properties: { b: { type: 'boolean', default: false } }, required: ['c'] }],
  ['a default of null, which does not count as one', { type: 'string', default: null }],
  [
    'false, which Go does not distinguish from absent',
    { type: 'array', uniqueItems: false, items: { type: 'string' } },
  ],
  [
    'uniqueItems, which a CustomResourceDefinition may not have',
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
  ],
  ['an integer or a string', { 'x-kubernetes-int-or-string': true, default: '10%' }],
  ['alternatives', { type: 'object', properties: { b: { type: 'string' } }, anyOf: [{ required: ['b'] }] }],
  ['a keyword that Cluster API does not know', { type: 'string', nullable: true, multipleOf: 'x' }],
  ['a rule', { type: 'integer', default: 2, 'x-kubernetes-validations': [{ rule: 'self > 1' }] }],
  [
    'a rule with all fields',
    {
      type: 'object',
      properties: { b: { type: 'integer' } },
      'x-kubernetes-validations': [
        {
          rule: 'self.b > 1\n&& self.b < 9',
          message: 'm',
          messageExpression: "'b is ' + string(self.b)",
          reason: 'FieldValueForbidden',
          fieldPath: '.b',
        },
      ],
    },
  ],
  [
    'a function that this engine does not have',
    { type: 'string', 'x-kubernetes-validations': [{ rule: 'isIP(self)' }, { rule: "sets.contains(['a'], [self])" }] },
  ],
  ['a rule about the old value', { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] }],
])('accepted: %s', (_, schema) => {
  expect(problems(defined(schema))).toEqual([]);
});

test.each<[string, JsonObject, string]>([
  ['no type', {}, `${root}.type: Required value: must not be empty for specified object fields`],
  [
    'no type of a field',
    { type: 'object', properties: { b: {} } },
    `${root}.properties[b].type: Required value: must not be empty for specified object fields`,
  ],
  [
    'an invalid type',
    { type: 'strange' },
    `${root}.type: Unsupported value: "strange": supported values: "array", "boolean", "integer", "number", "object", "string"`,
  ],
  ['a list without items', { type: 'array' }, `${root}.items: Required value: must be specified`],
  [
    'properties and additionalProperties',
    { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
    `${root}: Forbidden: additionalProperties and properties are mutually exclusive`,
  ],
  [
    'a pattern of JavaScript',
    { type: 'string', pattern: '(?=a)' },
    `${root}.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  ],
  [
    'a default of another type',
    { type: 'integer', default: 'x' },
    `${root}.default: Invalid value: "string":  in body must be of type integer: "string"`,
  ],
  [
    'a default with a field that is not specified',
    { type: 'object', properties: { b: { type: 'string' } }, default: { c: 1 } },
    `${root}.default: Invalid value: {"c":1}: must not have unknown fields`,
  ],
  [
    'an example that is too long',
    { type: 'string', maxLength: 2, example: 'abc' },
    `${root}.example: Too long: may not be more than 2 bytes`,
  ],
  [
    'an example in an array',
    { type: 'array', items: { type: 'integer', minimum: 2, example: 1 } },
    `${root}.items.example: Invalid value: 1:  in body should be greater than or equal to 2`,
  ],
  [
    'a value of an enum',
    { type: 'string', maxLength: 2, enum: ['ab', 'abc'] },
    `${root}.enum[1]: Too long: may not be more than 2 bytes`,
  ],
  [
    'an alternative with a type',
    { type: 'string', anyOf: [{ type: 'string' }] },
    `${root}.anyOf[0].type: Forbidden: must be empty to be structural`,
  ],
  [
    'x-metadata',
    { type: 'string', 'x-metadata': { labels: { '.b': 'ok', c: 'not ok' } } },
    `${root}.x-metadata.labels: Invalid value: ".b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
  ],
  [
    'a default that a rule forbids',
    { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'too small' }] },
    `${root}.default: Invalid value: 1: too small`,
  ],
  [
    'an example that a rule within forbids',
    {
      type: 'object',
      properties: { b: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] } },
      example: { b: 1 },
      'x-kubernetes-validations': [{ rule: 'true' }],
    },
    `${root}.example.b: Invalid value: 1: failed rule: self > 1`,
  ],
])('refused: %s', (_, schema, problem) => {
  expect(problems(defined(schema))[0]).toBe(problem);
});

test.each<[string, JsonObject, string]>([
  ['none', { rule: ' ' }, '.rule: Required value: rule is not specified'],
  ['a rule that is not CEL', { rule: 'self >' }, '"OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:7: '],
  ['no decision', { rule: 'self.b' }, '"OptionalOldSelf":null}: must evaluate to bool, not int'],
  ['a missing field', { rule: 'self.nope > 1' }, ":1:5: undefined field 'nope'\n | self.nope > 1\n | ....^"],
  ['a number compared with a string', { rule: "self.b > '1'" }, ':1:1: no such overload: int > string'],
  ['a message of spaces', { rule: 'true', message: '  ' }, '.message: Invalid value: "  ": message must be non-empty'],
  ['a message of two lines', { rule: 'true', message: 'a\nb' }, 'message must not contain line breaks'],
  ['two lines and no message', { rule: 'true\n&& true' }, '.message: Required value: message must be specified if'],
  ['a message that is too long', { rule: 'true', message: 'x'.repeat(2049) }, 'a maximum length of 2048 characters'],
  [
    'a message that is not a string',
    { rule: 'true', messageExpression: '1' },
    'messageExpression must evaluate to a string',
  ],
  ['a message that is not CEL', { rule: 'true', messageExpression: '(' }, 'messageExpression compilation failed: '],
  [
    'an unknown reason',
    { rule: 'true', reason: 'No' },
    '.reason: Unsupported value: "No": supported values: "FieldValue',
  ],
  [
    'the path of a missing field',
    { rule: 'true', fieldPath: '.nope' },
    'must be a valid path: does not refer to a valid field',
  ],
  ['an invalid path', { rule: 'true', fieldPath: 'b' }, 'fieldPath must be a valid path: expects'],
])('refused: a rule with %s', (_, rule, problem) => {
  const schema = { type: 'object', properties: { b: { type: 'integer' } }, 'x-kubernetes-validations': [rule] };
  const [found, ...others] = problems(defined(schema));
  expect(found?.startsWith(`${root}.x-kubernetes-validations[0].`)).toBe(true);
  expect(found).toContain(problem);
  expect(others).toEqual([]);
});

test('oldSelf cannot be used in the items of a list', () => {
  const items = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] };
  expect(problems(defined({ type: 'array', items }))).toEqual([
    `${root}.items.x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${root}.items`,
  ]);
  const text = { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'oldSelf'" }] };
  expect(problems(defined({ type: 'array', items: text }))).toEqual([]);
});

test.each<[string, JsonObject[], string]>([
  ['none', [{ schema: { openAPIV3Schema: { type: 'string' } } }], 'variables[].name: Required value: variable name'],
  ['builtin', [defined({ type: 'string' }, { name: 'builtin' })], '"builtin" is a reserved variable name'],
  ['a dot', [defined({ type: 'string' }, { name: 'a.b' })], 'Invalid value: "a.b": variable name cannot contain "."'],
  ['too long', [defined({ type: 'string' }, { name: 'x'.repeat(257) })], 'Too long: may not be more than 256 bytes'],
  ['twice', [defined({ type: 'string' }), defined({ type: 'string' })], '"a" is defined more than once'],
  ['a label', [defined({ type: 'string' }, { metadata: { labels: { 'b/': 'c' } } })], 'variables[a].metadata.labels: '],
])('names: %s', (_, variables, problem) => {
  const [found, ...others] = problems(...variables);
  expect(found).toContain(problem);
  expect(others).toEqual([]);
});

test('no schema, and no list', () => {
  expect(problems({ name: 'a' })[0]).toContain('type: Required value');
  expect(definitionCauses('x', 'v')).toEqual([]);
  expect(definitionCauses(undefined, 'v')).toEqual([]);
});

test('definitions that do not fit into a ClusterClass are one problem', () => {
  const long = defined({ type: 'string', description: 'x'.repeat(1.5 * 1024 * 1024) });
  const [cause, ...others] = definitionCauses([long, {}], 'v');
  expect(cause?.message).toMatch(/^Forbidden: the definitions have 15\d+ bytes; more than 1572864 do not fit/);
  expect(others).toEqual([]);
});

test.each<[string, () => JsonObject[]]>([
  [
    'large patterns and long defaults',
    () =>
      Array.from({ length: sized(300) }, (_, index) =>
        defined({ type: 'string', pattern: '^[xy]*x[xy]{900}$', default: 'xyxx'.repeat(1000) }, { name: `v${index}` }),
      ),
  ],
  [
    'rules that cost much',
    () =>
      Array.from({ length: sized(300) }, (_, index) =>
        defined(
          {
            type: 'array',
            items: { type: 'integer' },
            default: Array.from({ length: sized(1000) }, (_item, n) => n),
            'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x + y >= 0))' }],
          },
          { name: `v${index}` },
        ),
      ),
  ],
  [
    'many parts with long paths',
    () => {
      let schema: JsonObject = {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: sized(5_000) }, (_, index) => [`p${index}`, {}])),
      };
      for (let depth = 0; depth < 100; depth++) {
        schema = { type: 'object', properties: { ['k'.repeat(500)]: schema } };
      }
      return [defined(schema)];
    },
  ],
])('%s take bounded time', (_, variables) => {
  const given = variables();
  using _work = limitWork(5_000);
  const causes = definitionCauses(given, 'v');
  expect(causes.length).toBeLessThanOrEqual(500);
});
