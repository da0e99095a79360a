import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { HandlerFailure } from '../../../../src/extension/index.ts';
import {
  defineVariables,
  getField,
  schemaFrom,
  setField,
  type Template,
  type TemplateContext,
  variablesOf,
  type WalkOptions,
  walkTemplates,
} from '../../../../src/extension/sdk/topology/index.ts';
import { copyOf, type Json, type JsonObject, jsonPatchOf } from '../../../../src/kubernetes/index.ts';
import type { GeneratePatchesRequest } from '../../../../src/runtimehooks/index.ts';
import { recordedCalls } from '../../../runtimehooks/messages/recorded.ts';
import { collectingLog } from '../../../server/running.ts';
import { limitWork, sized } from '../../../support/work.ts';

// The library that applies patches here rejects fields of this name.
const json = fc
  .jsonValue({ maxDepth: 5 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('"__proto__":', '"proto":')) as Json);

describe('diff', () => {
  test('the patch turns one value into the other, and is empty if they are equal', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const document = { value: structuredClone(before) };
        const errors = applyPatch(document, jsonPatchOf({ value: before }, { value: after }) as never);
        expect(errors.filter((error) => error !== null)).toEqual([]);
        expect(document.value).toEqual(after);
        expect(jsonPatchOf(before, structuredClone(before))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('of lists: an item at the front, in the middle, at the end, and none left', () => {
    const lists: [Json[], Json[], number][] = [
      [[1, 2, 3], [0, 1, 2, 3], 1],
      [[1, 2, 3], [1, 9, 2, 3], 1],
      [[1, 2, 3], [1, 2, 3, 4], 1],
      [[1, 2, 3], [2, 3], 1],
      [[1, 2, 3], [1, 7, 3], 1],
      [[1, 2, 3], [], 3],
    ];
    for (const [before, after, operations] of lists) {
      expect(jsonPatchOf(before, after), JSON.stringify([before, after])).toHaveLength(operations);
    }
  });

  test('the order of fields does not affect the patch', () => {
    const before = { b: 1, a: { d: 1, c: 2 } };
    expect(jsonPatchOf(before, { a: { c: 3, d: 2 }, b: 2 })).toEqual(jsonPatchOf(before, { b: 2, a: { d: 2, c: 3 } }));
  });

  test('a field named __proto__ is an ordinary one', () => {
    const after = JSON.parse('{"__proto__":{"a":1}}') as JsonObject;
    expect(jsonPatchOf({}, after)).toEqual([{ op: 'add', path: '/__proto__', value: { a: 1 } }]);
    expect(JSON.stringify(copyOf(after))).toBe('{"__proto__":{"a":1}}');
    expect(jsonPatchOf(after, {})).toEqual([{ op: 'remove', path: '/__proto__' }]);
  });

  test('long lists take linear time', () => {
    const list = Array.from({ length: sized(20_000) }, (_, index) => ({ name: `n${index}`, value: index }));
    using _work = limitWork(2_000);
    expect(jsonPatchOf(list, [{ name: 'new', value: 0 }, ...list])).toHaveLength(1);
    expect(jsonPatchOf(list, list.slice(1).reverse()).length).toBeGreaterThan(0.75 * list.length);
  });
});

describe('paths', () => {
  const object: JsonObject = { a: { b: [{ c: 1 }] }, metadata: { labels: { 'example.com/tier': 'gold' } } };
  test.each([
    ['a.b[0].c', 1],
    ['a["b"][0]', { c: 1 }],
    ['metadata.labels["example.com/tier"]', 'gold'],
    ['a.b[1].c', undefined],
    ['a.x.y', undefined],
    ['constructor', undefined],
  ])('%s', (path, value) => expect(getField(object, path)).toEqual(value));

  test.each([
    '',
    '.a',
    'a.',
    'a..b',
    'a.[0]',
    'a[',
    'a[x]',
    'a]b',
    '__proto__.x',
    'a["__proto__"]',
    'x'.repeat(2000),
  ])('%s is not one', (path) => expect(() => getField(object, path)).toThrow(/is not a path such as/));

  test('setting creates missing objects, and removing leaves everything else alone', () => {
    const made: JsonObject = {};
    setField(made, 'spec.disks[0].size', 5);
    setField(made, 'spec.none.at.all', undefined);
    setField(made, 'spec.more', 1);
    setField(made, 'spec.more', undefined);
    expect(made).toEqual({ spec: { disks: [{ size: 5 }] } });
    expect(() => setField(made, 'spec.disks[2]', 1)).toThrow(/cannot be set/);
    expect(() => setField(made, 'spec.disks.size', 1)).toThrow(/cannot be set/);
    expect(({} as Record<string, unknown>).size).toBeUndefined();
  });
});

test('variables: those of an item take precedence, builtin is merged by field, and errors are understandable', () => {
  const variables = variablesOf(
    [
      { name: 'size', value: 'small' },
      { name: 'disk', value: { gb: 5, fast: true } },
      { name: 'builtin', value: { cluster: { name: 'lab', newer: { field: 1 } } } },
    ],
    [
      { name: 'disk', value: { gb: 9 } },
      { name: 'builtin', value: { cluster: { uid: 'u' }, machineDeployment: { version: 'v1.33.0' } } },
    ],
  );
  expect([variables.get('size'), variables.get('disk')]).toEqual(['small', { gb: 9 }]);
  expect(variables.get('builtin')).toEqual({
    cluster: { name: 'lab', uid: 'u', newer: { field: 1 } },
    machineDeployment: { version: 'v1.33.0' },
  });
  expect(variables.string('builtin.machineDeployment.version')).toBe('v1.33.0');
  expect(variables.number('disk.gb')).toBe(9);
  expect([variables.string('none', 'x'), variables.has('none')]).toEqual(['x', false]);
  expect(() => variables.string('none.at')).toThrow(new HandlerFailure('variable none.at is not set'));
  expect(() => variables.boolean('disk.gb')).toThrow(new HandlerFailure('variable disk.gb is not true or false'));
});

test('variables: functions can be taken out', () => {
  const [some, others] = [
    variablesOf([{ name: 'size', value: 'small' }]),
    variablesOf([{ name: 'size', value: 'large' }]),
  ];
  const { string, has } = some;
  expect([string('size'), has('size'), others.string('size')]).toEqual(['small', true, 'large']);
});

test('variables are defined once, with their types', () => {
  const defined = defineVariables({
    flavor: { required: true, schema: { type: 'string' } },
    replicas: { schema: { type: 'integer', default: 3 } },
    extra: { schema: { type: 'boolean' } },
    size: { schema: { type: 'string', enum: ['small', 'large'] } },
    zones: { required: true, schema: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } },
  });
  expect(defined.definitions.map(({ name, required }) => [name, required])).toEqual([
    ['flavor', true],
    ['replicas', false],
    ['extra', false],
    ['size', false],
    ['zones', true],
  ]);
  const request = {
    variables: [
      { name: 'flavor', value: 'large' },
      { name: 'replicas', value: 3 },
      { name: 'zones', value: ['b'] },
    ],
  };
  const { flavor, replicas, extra, size, zones } = defined.read(request, {});
  expectTypeOf(flavor).toEqualTypeOf<string>();
  expectTypeOf(replicas).toEqualTypeOf<number>();
  expectTypeOf(extra).toEqualTypeOf<boolean | undefined>();
  expectTypeOf(size).toEqualTypeOf<'small' | 'large' | undefined>();
  expectTypeOf(zones).toEqualTypeOf<('a' | 'b')[]>();
  expect([flavor, replicas, extra]).toEqual(['large', 3, undefined]);
  expect(() => defineVariables({ 'a.b': { schema: { type: 'string' } } })).toThrow(
    'variables[a.b].name: Invalid value: "a.b": variable name cannot contain "."',
  );
  expect(() => defineVariables({ builtin: { schema: {} } })).toThrow(TypeError);
});

describe('values that do not match their schema', () => {
  const defined = defineVariables({
    registry: { required: true, schema: { type: 'string', minLength: 1 } },
    replicas: { schema: { type: 'integer' } },
    node: {
      schema: {
        type: 'object',
        properties: { size: { type: 'integer' }, disks: { type: 'integer', default: 2 } },
        default: {},
      },
    },
  });
  const remedy =
    'Cluster API checks it if the ClusterClass has discoverVariablesExtension with the handler of this extension';
  const registry = { name: 'registry', value: 'r' };

  test.each<[string, { name: string; value: unknown }[], string]>([
    ['is missing', [], `variable registry is not set, but required; ${remedy}`],
    [
      'has another type',
      [registry, { name: 'replicas', value: '7' }],
      `variable replicas is "7": Invalid value: "string": must be of type integer: "string"; ${remedy}`,
    ],
    [
      'has another type inside',
      [registry, { name: 'node', value: { size: 'x' } }],
      `variable node is {"size":"x"}: Invalid value: "string": size in body must be of type integer: "string"; ${remedy}`,
    ],
  ])('one that %s is a failure that names it, before a patcher runs', (_, variables, message) => {
    const calls: unknown[] = [];
    const item = { uid: '1', object: { kind: 'A', apiVersion: 'b/v1' }, holderReference: {} };
    const walk = (own: object[]) => () =>
      walkTemplates(
        { variables, items: [{ ...item, variables: own }] } as never,
        [{ mutate: () => calls.push(1) as never }],
        {
          variables: defined,
        },
      );
    expect(walk([])).toThrow(new HandlerFailure(message));
    // The same where a MachineDeployment overrides it.
    expect(() => defined.read({ variables: [] }, { variables })).toThrow(message);
    expect(calls).toEqual([]);
  });

  test('defaults are filled in, also inside, and a default is not shared', () => {
    const first = defined.read({ variables: [registry] }, {});
    expect(first).toEqual({ registry: 'r', replicas: undefined, node: { disks: 2 } });
    first.node.disks = 3;
    expect(defined.read({ variables: [registry] }, {}).node).toEqual({ disks: 2 });
    expect(defined.read({ variables: [registry] }, { variables: [{ name: 'node', value: { size: 1 } }] }).node).toEqual(
      {
        size: 1,
        disks: 2,
      },
    );
  });
});

test("a variable's schema may be that of a CustomResourceDefinition, for definition, check and type", () => {
  const item = {
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    properties: { size: { type: 'integer', nullable: true, default: 10 }, nullable: { type: 'string' } },
  };
  const disks = { type: 'array', 'x-kubernetes-list-type': 'atomic', items: item };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { disks } } } };
  const crd = { spec: { names: { kind: 'Lab' }, versions: [{ name: 'v1', schema: { openAPIV3Schema } }] } };
  const defined = defineVariables({
    disks: { required: true, schema: schemaFrom<{ size: number; nullable?: string }[]>(crd, 'v1', 'spec.disks') },
    one: { schema: schemaFrom<{ size: number }>(crd, 'v1', 'spec.disks[0]') },
  });
  expect(defined.definitions[0]?.schema.openAPIV3Schema).toEqual({
    type: 'array',
    items: {
      type: 'object',
      properties: { size: { type: 'integer', default: 10 }, nullable: { type: 'string' } },
    },
  });
  const values = defined.read({ variables: [{ name: 'disks', value: [{}] }] }, {});
  expectTypeOf(values).toEqualTypeOf<{
    readonly disks: { size: number; nullable?: string }[];
    readonly one: { size: number } | undefined;
  }>();
  expect(values).toEqual({ disks: [{ size: 10 }], one: undefined });
  expect(() => defined.read({ variables: [{ name: 'disks', value: [{ size: 'x' }] }] }, {})).toThrow(HandlerFailure);
  expect(() => schemaFrom(crd, 'v2', 'spec.disks')).toThrow(
    new TypeError('Lab has no field spec.disks in version v2; it has v1'),
  );
});

test('a variable has labels and annotations, for older versions of Cluster API', () => {
  const deprecatedV1Beta1Metadata = { labels: { team: 'a' } };
  const { definitions } = defineVariables({ a: { schema: { type: 'string' }, deprecatedV1Beta1Metadata } });
  expect(definitions).toEqual([
    { name: 'a', required: false, schema: { openAPIV3Schema: { type: 'string' } }, deprecatedV1Beta1Metadata },
  ]);
});

test('values are read for one item: a MachineDeployment may override them', () => {
  const defined = defineVariables({ tier: { schema: { type: 'string' } } });
  const request = { variables: [{ name: 'tier', value: 'gold' }] };
  expect(defined.read(request, { variables: [{ name: 'tier', value: 'silver' }] })).toEqual({ tier: 'silver' });
});

describe('definitions of variables that Cluster API rejects', () => {
  test.each<[string, unknown, string]>([
    ['a schema without a type', { a: { schema: {} } }, '- variables[a].schema.type: Required value: '],
    ['an unknown type', { a: { schema: { type: 'text' } } }, '- variables[a].schema.type: Unsupported value: "text"'],
    [
      'a field without a type, after a good variable',
      { good: { schema: { type: 'string' } }, a: { schema: { type: 'object', properties: { b: {} } } } },
      'the variables cannot be served:\n- variables[a].schema.properties[b].type: Required value: ',
    ],
    [
      'a wrong default',
      { a: { schema: { type: 'string', default: 5 } } },
      '- variables[a].schema.default: Invalid value',
    ],
    ['a wrong pattern', { a: { schema: { type: 'string', pattern: '[' } } }, '- variables[a].schema.pattern: Invalid'],
  ])('%s', (_, definitions, message) => {
    expect(() => defineVariables(definitions as never)).toThrow(TypeError);
    expect(() => defineVariables(definitions as never)).toThrow(message);
  });
});

const recorded = recordedCalls.find(({ file }) => file === 'GeneratePatches.json')
  ?.body as unknown as GeneratePatchesRequest;
const decoded = (patch: string) => JSON.parse(Buffer.from(patch, 'base64').toString());
const walk = (mutate: (template: Template, context: TemplateContext) => void, match = {}, options: WalkOptions = {}) =>
  walkTemplates(recorded, [{ match, mutate }], options);

describe('walkTemplates with a request from Cluster API', () => {
  test('visits items of several kinds', () => {
    expect(recorded.items.length).toBeGreaterThan(2);
    expect(new Set(recorded.items.map(({ object }) => (object as JsonObject).kind)).size).toBeGreaterThan(1);
  });

  test('returns no patch if nothing changes, and does not modify the request', () => {
    const before = structuredClone(recorded);
    expect(walk(() => {})).toEqual([]);
    expect(
      walk((template) => {
        setField(template, 'spec.template.spec.changed', true);
      }),
    ).toHaveLength(recorded.items.length);
    expect(recorded).toEqual(before);
  });

  test('returns patches with the uid, matched by kind, version and holder', () => {
    const [first] = recorded.items;
    const kind = (first?.object as JsonObject).kind as string;
    const set = (template: Template, { variables }: TemplateContext) => {
      setField(template, 'spec.template.spec.flavor', variables.string('flavor'));
      setField(template, 'spec.template.spec.cluster', variables.string('builtin.cluster.name'));
    };
    const patches = walk(set, {
      kind,
      apiVersion: ['infrastructure.cluster.x-k8s.io/*'],
      holder: { fieldPath: 'spec.infrastructureRef' },
    });
    expect(patches.map(({ uid, patchType, patch }) => [uid, patchType, decoded(patch)])).toEqual([
      [
        first?.uid,
        'JSONPatch',
        [
          { op: 'add', path: '/spec/template/spec/cluster', value: 'lab' },
          { op: 'add', path: '/spec/template/spec/flavor', value: 'large' },
        ],
      ],
    ]);
    expect(walk(set, { kind: 'Other' })).toEqual([]);
    expect(walk(set, { apiVersion: 'infrastructure.cluster.x-k8s.io/v9' })).toEqual([]);
    expect(() => walk(set, { kind: 'Other' }, { unmatched: 'fail' })).toThrow(HandlerFailure);
  });

  test('leaves out what Cluster API ignores or overwrites, and logs it', () => {
    const { log, lines } = collectingLog();
    const patches = walk(
      (template) => {
        template.metadata.name = 'other';
        template.kind = 'Other';
        template.metadata.labels = { ...template.metadata.labels, own: 'x' };
        setField(template, 'spec.template.metadata.labels.tier', 'gold');
        setField(template as never, 'spec.template.spec.version', 'v9.9.9');
        // The Cluster says nothing about replicas: Cluster API takes those of the template.
        setField(template as never, 'spec.template.spec.replicas', 7);
      },
      { holder: { kind: 'Cluster', fieldPath: 'spec.controlPlaneRef' } },
      { log },
    );
    expect(patches).toHaveLength(1);
    expect(JSON.stringify(decoded(patches[0]?.patch ?? ''))).toMatch(/replicas.*tier|tier.*replicas/);
    expect(JSON.stringify(decoded(patches[0]?.patch ?? ''))).not.toMatch(/other|Other|v9\.9\.9|own/);
    expect(lines[0]?.fields).toEqual(
      expect.arrayContaining(['kind', 'metadata.name', 'metadata.labels', 'spec.template.spec.version']),
    );
  });
});
