import { describe, expect, test } from 'vitest';
import { HandlerFailure } from '../../../../src/extension/index.ts';
import {
  defineVariables,
  matches,
  setField,
  type TemplateMatch,
  type TemplatePatcher,
  type Variables,
  variablesOf,
  type WalkOptions,
  walkTemplates,
} from '../../../../src/extension/sdk/topology/index.ts';
import type { Json, JsonObject } from '../../../../src/kubernetes/index.ts';
import type { GeneratePatchesRequest } from '../../../../src/runtimehooks/index.ts';
import { collectingLog } from '../../../server/running.ts';
import { limitWork, sized } from '../../../support/work.ts';

const template = (more: JsonObject = {}): JsonObject => ({
  apiVersion: 'infra.example.com/v1',
  kind: 'MachineTemplate',
  metadata: { name: 'm', labels: { a: '1' } },
  spec: { template: { spec: { size: 1 } } },
  ...more,
});
const holder = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  namespace: 'ns',
  name: 'md',
  fieldPath: 'spec.x',
};

function requestOf(...items: { object?: JsonObject; holderReference?: object; variables?: object[] }[]) {
  return {
    variables: [{ name: 'flavor', value: 'small' }],
    items: items.map(({ object = template(), holderReference = holder, variables }, index) => ({
      uid: `u${index}`,
      object,
      holderReference,
      ...(variables !== undefined && { variables }),
    })),
  } as unknown as GeneratePatchesRequest;
}
const decoded = (patches: readonly { uid: string; patchType: string; patch: string }[]) =>
  patches.map(({ uid, patchType, patch }) => [uid, patchType, JSON.parse(Buffer.from(patch, 'base64').toString())]);
const grow: TemplatePatcher['mutate'] = (one) => {
  setField(one, 'spec.template.spec.size', 2);
};

const selfish: JsonObject = {};
selfish.own = selfish;

test('a template that mutate returns is refused, since it would change nothing', () => {
  const walk = (mutate: (one: JsonObject) => unknown) => () =>
    walkTemplates(requestOf({}), [{ mutate: mutate as never }]);
  expect(walk((one) => ({ ...one, spec: {} }))).toThrow(
    new TypeError('mutate returned MachineTemplate: change the template that it receives instead'),
  );
  expect(walk((one) => one)).not.toThrow();
  expect(walk((one) => Object.assign(one.spec as JsonObject, { a: 1 }))).not.toThrow();
});

describe('the selector of an inline patch', () => {
  const builtin = (part: string, name: string) => [{ name: 'builtin', value: { [part]: { class: name } } }];
  const item = (variables: object[], kind = 'MachineDeployment', fieldPath = 'spec.x') =>
    requestOf({ variables, holderReference: { ...holder, kind, fieldPath } }).items[0] as never;
  test.each<[TemplateMatch, never, boolean]>([
    [
      { matchResources: { machineDeploymentClass: { names: ['gpu-*'] } } },
      item(builtin('machineDeployment', 'gpu-a')),
      true,
    ],
    [
      { matchResources: { machineDeploymentClass: { names: ['*-a'] } } },
      item(builtin('machineDeployment', 'gpu-a')),
      true,
    ],
    [
      { matchResources: { machineDeploymentClass: { names: ['*'] } } },
      item(builtin('machineDeployment', 'gpu-a')),
      true,
    ],
    [
      { matchResources: { machineDeploymentClass: { names: ['gpu', 'cpu-*'] } } },
      item(builtin('machineDeployment', 'gpu-a')),
      false,
    ],
    [{ matchResources: { machinePoolClass: { names: ['*'] } } }, item(builtin('machineDeployment', 'gpu-a')), false],
    [
      { matchResources: { machinePoolClass: { names: ['p'] } } },
      item(builtin('machinePool', 'p'), 'MachinePool'),
      true,
    ],
    [{ matchResources: { controlPlane: true } }, item([], 'Cluster', 'spec.controlPlaneRef'), true],
    [{ matchResources: { controlPlane: true } }, item([], 'Cluster', 'spec.infrastructureRef'), false],
    [{ matchResources: { infrastructureCluster: true } }, item([], 'Cluster', 'spec.infrastructureRef'), true],
    [{ matchResources: {} }, item([], 'Cluster', 'spec.infrastructureRef'), false],
    [{ kind: 'Other', matchResources: { controlPlane: true } }, item([], 'Cluster', 'spec.controlPlaneRef'), false],
    [{ kind: 'MachineTemplate' }, item([]), true],
  ])('%j', (match, one, expected) => {
    expect(matches(match, one)).toBe(expected);
    const patches = walkTemplates({ ...requestOf(), items: [one] }, [{ match, mutate: grow }]);
    expect(patches).toHaveLength(expected ? 1 : 0);
  });
});

describe('templates that a patcher is for', () => {
  test.each<[TemplateMatch, boolean]>([
    [{}, true],
    [{ kind: 'MachineTemplate' }, true],
    [{ kind: ['Other', 'MachineTemplate'] }, true],
    [{ kind: ['Other'] }, false],
    [{ kind: [] }, false],
    [{ kind: 'Machine' }, false],
    [{ apiVersion: 'infra.example.com/v1' }, true],
    [{ apiVersion: ['x/v1', 'infra.example.com/*'] }, true],
    [{ apiVersion: 'infra.example.com/*' }, true],
    [{ apiVersion: 'infra.example/*' }, false],
    [{ apiVersion: 'infra.example.com/v' }, false],
    [{ apiVersion: 'infra.example.com/v1beta1' }, false],
    [{ holder: {} }, true],
    [{ holder: { kind: 'MachineDeployment', name: 'md' } }, true],
    [{ holder: { kind: 'MachineDeployment', name: undefined } as never }, true],
    [{ holder: { kind: 'MachineDeployment', name: 'other' } }, false],
    [{ holder: { fieldPath: 'spec' } }, false],
    [{ kind: 'MachineTemplate', holder: { kind: 'Cluster' } }, false],
    [{ kind: 'Machine', apiVersion: 'infra.example.com/v1' }, false],
  ])('%j: %s', (match, isFor) => {
    expect(walkTemplates(requestOf({}), [{ match, mutate: grow }])).toHaveLength(isFor ? 1 : 0);
  });

  test('a template that matches no patcher is skipped, or is a failure', () => {
    const nothing = [{ match: { kind: 'Other' }, mutate: grow }];
    expect(walkTemplates(requestOf({}), nothing)).toEqual([]);
    expect(walkTemplates(requestOf({}), nothing, { unmatched: 'skip' })).toEqual([]);
    expect(() => walkTemplates(requestOf({}), nothing, { unmatched: 'fail' })).toThrow(
      new HandlerFailure(
        'no patch is known for MachineTemplate of infra.example.com/v1, which MachineDeployment ns/md has in spec.x',
      ),
    );
    expect(() => walkTemplates(requestOf({}), [{ mutate: grow }], { unmatched: 'fail' })).not.toThrow();
  });
});

test('a patcher that waits is an error: what it does later would be missing, and what it throws would end the process', () => {
  const waiting = async () => {
    await Promise.resolve();
    throw new Error('nobody hears this');
  };
  expect(() => walkTemplates(requestOf({}), [{ mutate: waiting }])).toThrow(
    new TypeError('mutate returned a promise: a patcher cannot wait; read what it needs before walkTemplates'),
  );
});

test('patchers change the same copy, in order, and each item has its own patch', () => {
  const first: TemplatePatcher = {
    mutate: (one) => {
      setField(one, 'spec.template.spec.steps', ['a']);
    },
  };
  const second: TemplatePatcher = {
    match: { holder: { name: 'md' } },
    mutate: (one) => setField(one, 'spec.template.spec.steps[1]', 'b'),
  };
  const request = requestOf({}, { holderReference: { ...holder, name: 'other' } });
  expect(decoded(walkTemplates(request, [first, second]))).toEqual([
    ['u0', 'JSONPatch', [{ op: 'add', path: '/spec/template/spec/steps', value: ['a', 'b'] }]],
    ['u1', 'JSONPatch', [{ op: 'add', path: '/spec/template/spec/steps', value: ['a'] }]],
  ]);
  expect(walkTemplates(request, [{ mutate: () => {} }])).toEqual([]);
});

test("a patcher receives the variables of the template's place, and the holder", () => {
  const seen: unknown[] = [];
  const request = requestOf({}, { variables: [{ name: 'flavor', value: 'large' }] }, { variables: [] });
  walkTemplates(request, [
    { mutate: (_, { variables, holder: of }) => void seen.push([variables.string('flavor'), of.name]) },
  ]);
  expect(seen).toEqual([
    ['small', 'md'],
    ['large', 'md'],
    ['small', 'md'],
  ]);
});

test('a patcher receives the values of the defined variables, builtin, the item, and a log that names both', () => {
  const defined = defineVariables({ flavor: { schema: { type: 'string' } }, size: { schema: { type: 'integer' } } });
  const { log, lines } = collectingLog();
  const variables = [
    { name: 'flavor', value: 'large' },
    { name: 'builtin', value: { machineDeployment: { topologyName: 'md-0', version: 'v1.33.0' } } },
  ];
  const request = requestOf({}, { variables });
  const seen: unknown[] = [];
  walkTemplates(
    request,
    [
      {
        mutate(_, context) {
          const { values, builtin, item, log: own } = { ...context };
          seen.push([values, builtin.machineDeployment?.topologyName, item]);
          own.info('patched');
        },
      },
    ],
    { variables: defined, log },
  );
  // Each place has its own values: those of the request are only what it does not override.
  expect(seen).toEqual([
    [{ flavor: 'small', size: undefined }, undefined, request.items[0]],
    [{ flavor: 'large', size: undefined }, 'md-0', request.items[1]],
  ]);
  const line = { level: 30, template: 'MachineTemplate', holder: 'MachineDeployment ns/md', msg: 'patched' };
  expect(lines).toEqual([line, line]);
});

test('without a log, what patchers log is dropped', () => {
  expect(walkTemplates(requestOf({}), [{ mutate: (_, { log }) => log.info('dropped') }])).toEqual([]);
});

test('templates of a kind that no patcher is for fail, wherever they are used; others may match no patcher', () => {
  const patcher = { match: { kind: 'MachineTemplate', holder: { kind: 'Cluster' } }, mutate: grow };
  expect(walkTemplates(requestOf({}), [patcher], { unmatched: 'fail' })).toEqual([]);
});

describe('what Cluster API ignores or overwrites', () => {
  /** The patch, and the fields that were left out of it. */
  function walked(
    change: (one: JsonObject) => void,
    item: Parameters<typeof requestOf>[0] = {},
    options: WalkOptions = {},
  ) {
    const { log, lines } = collectingLog();
    const patches = walkTemplates(requestOf(item), [{ mutate: (one) => change(one as JsonObject) }], {
      log,
      ...options,
    });
    return { operations: decoded(patches).flatMap(([, , operations]) => operations), lines };
  }
  const left = (fields: string[]) => [
    {
      level: 40,
      kind: 'MachineTemplate',
      fields,
      msg: 'changes that Cluster API ignores or overrides are left out of the patches',
    },
  ];

  test.each<[string, (one: JsonObject) => void, string[]]>([
    ['a new field', (one) => Object.assign(one, { status: { a: 1 } }), ['status']],
    ['a changed field', (one) => Object.assign(one, { kind: 'Other', apiVersion: 'x/v1' }), ['apiVersion', 'kind']],
    ['a removed field', (one) => void delete one.kind, ['kind']],
    [
      'other metadata',
      (one) => Object.assign(one.metadata as object, { name: 'x', finalizers: [] }),
      ['metadata.name', 'metadata.finalizers'],
    ],
    ['removed metadata', (one) => void delete (one.metadata as JsonObject).name, ['metadata.name']],
    ['no metadata', (one) => void delete one.metadata, ['metadata']],
    ['metadata that is not an object', (one) => Object.assign(one, { metadata: 'x' }), ['metadata']],
  ])('%s', (_, change, fields) => {
    expect(walked(change)).toEqual({ operations: [], lines: left(fields) });
  });

  test('but not labels, annotations and the spec of what is made of the template', () => {
    const { operations, lines } = walked((one) => {
      Object.assign(one.metadata as object, { labels: { a: '2' }, annotations: { b: '1' } });
      one.spec = { size: 3, template: { metadata: { labels: { c: '1' } }, spec: { size: 3 } } };
    });
    expect(operations).toEqual([
      { op: 'add', path: '/metadata/annotations', value: { b: '1' } },
      { op: 'replace', path: '/metadata/labels/a', value: '2' },
      { op: 'add', path: '/spec/template/metadata', value: { labels: { c: '1' } } },
      { op: 'replace', path: '/spec/template/spec/size', value: 3 },
    ]);
    expect(lines).toEqual(left(['spec.size']));
  });

  const owned = {
    'spec.template.spec.version': 'v9',
    'spec.template.spec.replicas': 9,
    'spec.template.spec.machineTemplate.infrastructureRef': { name: 'x' },
    'spec.template.spec.machineTemplate.spec.infrastructureRef': { name: 'y' },
  };
  const controlPlane = (): JsonObject =>
    template({
      spec: {
        template: {
          spec: { version: 'v1', machineTemplate: { infrastructureRef: { name: 'a' }, spec: {} }, other: 1 },
        },
      },
    });
  function own(one: JsonObject): void {
    const { spec } = (one.spec as { template: { spec: Record<string, JsonObject> } }).template;
    Object.assign(spec, { version: 'v9', replicas: 9, other: 2 });
    Object.assign(spec.machineTemplate as object, {
      infrastructureRef: { name: 'x' },
      spec: { infrastructureRef: { name: 'y' } },
    });
  }

  test('fields of a control plane that Cluster API sets itself', () => {
    const { operations, lines } = walked(own, {
      object: controlPlane(),
      holderReference: { ...holder, kind: 'Cluster', fieldPath: 'spec.controlPlaneRef' },
      variables: [{ name: 'builtin', value: { controlPlane: { replicas: 3, machineTemplate: {} } } }],
    });
    expect(operations).toEqual([{ op: 'replace', path: '/spec/template/spec/other', value: 2 }]);
    // In the order of Cluster API's table of fields.
    const sorted = (fields: unknown) => (fields as string[]).toSorted();
    expect(lines.map((line) => ({ ...line, fields: sorted(line.fields) }))).toEqual(left(sorted(Object.keys(owned))));
  });

  test.each([
    { ...holder, kind: 'Cluster', fieldPath: 'spec.infrastructureRef' },
    { ...holder, kind: 'MachineDeployment', fieldPath: 'spec.controlPlaneRef' },
  ])('but not those of other templates: $kind $fieldPath', (holderReference) => {
    const { operations, lines } = walked(own, { object: controlPlane(), holderReference });
    expect(operations).toHaveLength(5);
    expect(lines).toEqual([]);
  });

  test('at most twenty fields are named', () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${index}`, index]));
    expect(walked((one) => Object.assign(one, many)).lines[0]?.fields).toEqual(Object.keys(many).slice(0, 20));
  });

  test('a warning names the fields of all templates of its kind, each once', () => {
    const { log, lines } = collectingLog();
    const common = Array.from({ length: 15 }, (_, at) => `common${at}`);
    const added = [common, [...common, 'a', 'b']];
    const mutate = (one: JsonObject) =>
      Object.assign(one, Object.fromEntries(added.shift()?.map((name) => [name, 1]) ?? []));
    walkTemplates(requestOf({}, {}), [{ mutate: (one) => void mutate(one as JsonObject) }], { log });
    expect(lines).toMatchObject([{ fields: [...common, 'a', 'b'] }]);
  });

  test('each kind is warned about once, and at most twenty', () => {
    const { log, lines } = collectingLog();
    const kinds = ['A', 'B', 'A', 'A', ...Array.from({ length: 30 }, (_, index) => `Kind${index}`)];
    let calls = 0;
    const patch: TemplatePatcher = {
      mutate(one) {
        one[one.kind === 'A' ? `field${calls++ % 2}` : 'other'] = 1;
      },
    };
    walkTemplates(requestOf(...kinds.map((kind) => ({ object: template({ kind }) }))), [patch], { log });
    const told = lines.map(({ kind, fields }) => [kind, fields]);
    expect(told.slice(0, 2)).toEqual([
      ['A', ['field0', 'field1']],
      ['B', ['other']],
    ]);
    expect(told).toHaveLength(20);
  });

  test.each<[string, Parameters<typeof walkTemplates>[1]]>([
    [
      'a later patcher throws',
      [
        {
          match: { kind: 'B' },
          mutate: () => {
            throw new Error('later');
          },
        },
      ],
    ],
    ['no patcher is for a later template', []],
  ])('are warned about even if %s', (_, later) => {
    const { log, lines } = collectingLog();
    const renames = {
      match: { kind: 'A' },
      mutate: (one: object) => void Object.assign(one, { apiVersion: 'b/v1' }),
    };
    const request = requestOf({ object: template({ kind: 'A' }) }, { object: template({ kind: 'B' }) });
    expect(() => walkTemplates(request, [renames, ...(later as never[])], { log, unmatched: 'fail' })).toThrow();
    expect(lines).toEqual([expect.objectContaining({ level: 40, kind: 'A', fields: ['apiVersion'] })]);
  });

  test('the log is optional', () => {
    const rename: TemplatePatcher['mutate'] = (one) => {
      one.kind = 'x';
    };
    expect(walkTemplates(requestOf({}), [{ mutate: rename }])).toEqual([]);
  });
});

describe('variables', () => {
  const listOf = (values: JsonObject) => Object.entries(values).map(([name, value]) => ({ name, value }));
  const values: JsonObject = { text: 'x', number: 0, no: false, object: {}, list: [1], nothing: null };

  test.each<[keyof Variables & ('string' | 'number' | 'boolean' | 'object' | 'list'), string, string, Json]>([
    ['string', 'text', 'a string', 'y'],
    ['number', 'number', 'a number', 7],
    ['boolean', 'no', 'true or false', true],
    ['object', 'object', 'an object', { a: 1 }],
    ['list', 'list', 'a list', []],
  ])('as a %s', (method, name, kind, fallback) => {
    const read = variablesOf(listOf(values))[method] as (path: string, fallback?: Json) => Json;
    expect(read(name)).toEqual(values[name]);
    expect(read(name, fallback)).toEqual(values[name]);
    expect(read('none', fallback)).toBe(fallback);
    expect(() => read('none')).toThrow(new HandlerFailure('variable none is not set'));
    for (const other of Object.keys(values).filter((one) => one !== name)) {
      expect(() => read(other, fallback)).toThrow(new HandlerFailure(`variable ${other} is not ${kind}`));
    }
  });

  test('of any type', () => {
    const variables = variablesOf(listOf(values));
    expect([variables.get('list[0]'), variables.get('none'), variables.has('nothing'), variables.has('none')]).toEqual([
      1,
      undefined,
      true,
      false,
    ]);
  });

  test.each<[string, Json, Json, Json]>([
    ['fields of builtin', { a: { b: 1 } }, { a: { c: 2 }, d: 3 }, { a: { b: 1, c: 2 }, d: 3 }],
    ['a value over an object', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ['an object over a value', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a list over a list', { a: [1] }, { a: [2] }, { a: [2] }],
    ['a name that every object inherits', {}, { constructor: { a: 1 } }, { constructor: { a: 1 } }],
  ])('%s', (_, below, above, expected) => {
    const merged = variablesOf([{ name: 'builtin', value: below }], [{ name: 'builtin', value: above }]);
    expect(merged.get('builtin')).toEqual(expected);
    const others = variablesOf([{ name: 'x', value: below }], [{ name: 'x', value: above }]);
    expect(others.get('x')).toEqual(above);
  });

  test('of several with one name in a list the last one counts', () => {
    const list = [
      { name: 'builtin', value: { a: 1 } },
      { name: 'builtin', value: { b: 2 } },
    ];
    expect(variablesOf(list).get('builtin')).toEqual({ b: 2 });
    expect(variablesOf([{ name: 'builtin', value: { c: 3 } }], list).get('builtin')).toEqual({ b: 2, c: 3 });
  });

  test('builtin is merged for each item up to a maximum of fields', () => {
    const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, 1]));
    const read = (count: number) =>
      variablesOf([{ name: 'builtin', value: wide(count) }], [{ name: 'builtin', value: { a: 1 } }]);
    expect(Object.keys(read(1000).object('builtin'))).toHaveLength(1001);
    expect(() => read(1001).get('builtin.v0')).toThrow(
      new HandlerFailure('variable builtin has more than 1000 fields, and is merged for each template'),
    );
  });

  test('many of a request are read for many items in linear time', () => {
    const count = sized(3_000);
    const numbers = Array.from({ length: count }, (_, index) => index);
    const wide = Object.fromEntries(numbers.map((index) => [`k${index}`, index]));
    const request = {
      variables: [
        { name: 'builtin', value: { ...wide, cluster: { name: 'lab' } } },
        ...numbers.map((index) => ({ name: `v${index}`, value: index })),
        ...numbers.map((index) => ({ name: 'many', value: { [`k${index}`]: 1 } })),
        ...numbers.map((index) => ({ name: 'builtin', value: { [`k${index}`]: 1, cluster: { name: 'lab' } } })),
      ],
      items: numbers.map((index) => ({
        uid: `${index}`,
        holderReference: holder,
        object: template(),
        variables: [{ name: 'builtin', value: { machine: `m${index}` } }],
      })),
    } as unknown as GeneratePatchesRequest;
    const defined = defineVariables({ v7: { schema: { type: 'integer' } } });
    // Merged for each item, they took minutes.
    using _work = limitWork(5_000);
    const seen = new Set<string>();
    walkTemplates(request, [
      {
        mutate(_, { variables }) {
          seen.add(`${variables.string('builtin.cluster.name')} ${variables.string('builtin.machine')}`);
        },
      },
    ]);
    expect(seen.size).toBe(count);
    expect(request.items.every((item) => defined.read(request, item).v7 === 7)).toBe(true);
  });
});

describe('defining variables', () => {
  test.each(['', 'a.b', 'builtin', 'x'.repeat(257)])('%j is not a valid name', (name) => {
    expect(() => defineVariables({ [name]: { schema: { type: 'string' } } })).toThrow(
      /^the variables cannot be served:\n- variables\[.*\]\.name: /,
    );
  });

  test('returns their definitions, and reads no others', () => {
    const long = 'x'.repeat(256);
    const defined = defineVariables({
      [long]: { schema: { type: 'string' } },
      b: { schema: { type: 'integer' } },
    });
    expect(defined.definitions).toEqual([
      { name: long, required: false, schema: { openAPIV3Schema: { type: 'string' } } },
      { name: 'b', required: false, schema: { openAPIV3Schema: { type: 'integer' } } },
    ]);
    const request = {
      variables: [
        { name: 'b', value: 1 },
        { name: 'c', value: 2 },
      ],
    };
    expect(defined.read(request, {})).toEqual({ [long]: undefined, b: 1 });
    expect(defined.read(request, { variables: [{ name: 'b', value: 3 }] })).toEqual({ [long]: undefined, b: 3 });
    expect(Object.keys(defined.read(request, {}))).toEqual([long, 'b']);
    expect(defineVariables({ toString: { schema: { type: 'string' } } }).read({ variables: [] }, {})).toEqual({
      toString: undefined,
    });
  });
});
