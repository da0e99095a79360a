import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InputObject } from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { limitWork } from '../../support/work.ts';
import { fixture, objectsOf, played } from './rehearsing.ts';

let server: ExtensionServer;
let variables: JsonObject[] = [];

const hooks = ['DiscoverVariables', 'GeneratePatches', 'ValidateTopology', 'GenerateUpgradePlan'];
const handlerOf = (hook: string) => hook.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

beforeAll(async () => {
  server = await startExtension(({ url }) => {
    if (url.includes('/discovery')) {
      const handlers = hooks.map((hook) => ({
        name: handlerOf(hook),
        requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
      }));
      return { status: 'Success', handlers };
    }
    return {
      status: 'Success',
      ...(url.includes('/discovervariables') && { variables: variables.map((one) => ({ ...one })) }),
    };
  });
});
afterAll(() => server.close());

const defined = (name: string, schema: JsonObject, required = false) => ({
  name,
  required,
  schema: { openAPIV3Schema: schema },
});

const play = () => played([extensionConfig('lab', { url: server.url, caBundle })], fixture('lab.yaml'));

test.each<[string, JsonObject[], RegExp]>([
  [
    'a variable without a definition',
    [],
    /^Cluster API refuses the Cluster: spec\.topology\.variables\[flavor\]: Invalid value: "\\"large\\"": variable is not defined/,
  ],
  [
    'one that is required and missing',
    [defined('flavor', { type: 'string' }), defined('size', { type: 'integer' }, true)],
    /spec\.topology\.variables: Required value: required variable "size" must be set/,
  ],
  [
    'a value of another type',
    [defined('flavor', { type: 'integer' })],
    /^Cluster API refuses the Cluster: spec\.topology\.variables\[flavor]\.value: Invalid value: "\\"large\\"": must be of type integer: "string"$/,
  ],
  [
    'a value that is not allowed',
    [defined('flavor', { type: 'string', enum: ['small'] })],
    /variables\[flavor]\.value: Unsupported value: "\\"large\\"": supported values: "small"/,
  ],
  [
    'a value without the pattern',
    [defined('flavor', { type: 'string', pattern: '^x' })],
    /variables\[flavor]\.value: Invalid value: "\\"large\\"": should match '\^x'/,
  ],
  [
    'a value that a rule forbids',
    [
      defined('flavor', {
        type: 'string',
        'x-kubernetes-validations': [{ rule: "self != 'large'", message: 'smaller' }],
      }),
    ],
    /variables\[flavor]\.value: Invalid value: "\\"large\\"": smaller/,
  ],
  [
    'an invalid schema',
    [defined('flavor', { type: 'strange' })],
    /^VariablesReady of ClusterClass default\/lab is False, and no Cluster of it reconciles: VariableDiscovery failed: lab\.variables\[flavor]\.schema\.openAPIV3Schema\.type: Unsupported value: "strange"/,
  ],
  [
    'a rule that cannot be compiled',
    [defined('flavor', { type: 'string', 'x-kubernetes-validations': [{ rule: 'self > 1' }] })],
    /x-kubernetes-validations\[0]\.rule: Invalid value: \{"Rule":"self \\u003e 1",.*}: compilation failed: ERROR: <input>:1:1: no such overload: string > int/,
  ],
  [
    'a default that its schema does not allow',
    [defined('flavor', { type: 'string', maxLength: 2, default: 'large' })],
    /openAPIV3Schema\.default: Too long: may not be more than 2 bytes/,
  ],
  [
    'a pattern that backtracks',
    [defined('flavor', { type: 'string', pattern: '(a+)+$', maxLength: 2 })],
    /variables\[flavor]\.value: Too long/,
  ],
  ['a name with a dot', [defined('a.b', { type: 'string' })], /: lab\.variables\[a\.b]\.name: Invalid value: "a\.b"/],
  [
    'patterns that are too expensive, and an invalid one after them',
    [
      ...Array.from({ length: 200 }, (_, index) => defined(`v${index}`, { type: 'string', pattern: 'a{999}b{999}' })),
      defined('flavor', { type: 'string', pattern: '(' }),
    ],
    /the schemas take too much work to check; make them smaller$/,
  ],
  [
    'many problems',
    Array.from({ length: 8 }, (_, index) => defined(`v${index}`, {})),
    /: VariableDiscovery failed: \[lab\.variables\[v0].*, lab\.variables\[v4]\.schema\.openAPIV3Schema\.type: [^;]*] and 3 more$/,
  ],
])('variables: %s', async (_, given, reason) => {
  variables = given;
  const { end } = await play();
  expect(end?.isComplete).toBe(false);
  expect(end?.reason).toMatch(reason);
});

test('uniqueItems takes linear time', async () => {
  const items = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  variables = [defined('flavor', { type: 'array', items, uniqueItems: true })];
  const values = Array.from({ length: 15_000 }, (_, index) => ({ n: index % 14_999 }));
  const given: InputObject[] = JSON.parse(JSON.stringify(objectsOf(fixture('lab.yaml'))), (_, value) =>
    value?.value === 'large' ? { ...value, value: values } : value,
  );
  expect(JSON.stringify(given).length).toBeGreaterThan(150_000);
  // 110 million comparisons took eight seconds.
  using _work = limitWork(4_000);
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], given);
  expect(end?.reason).toMatch(/variables\[flavor]\.value: Invalid value: .*shouldn't contain duplicates/);
});

test('rules of variables in the class itself that are not evaluated are named, too', async () => {
  variables = [defined('flavor', { type: 'string' })];
  const rules = [{ rule: 'self == oldSelf' }];
  const inline = [defined('own', { type: 'string', default: 'x', 'x-kubernetes-validations': rules })];
  const manifests = fixture('lab.yaml').replace(
    '\n  patches:\n',
    `\n  variables: ${JSON.stringify(inline)}\n  patches:\n`,
  );
  const { events } = await played([extensionConfig('lab', { url: server.url, caBundle })], manifests);
  expect(events.flatMap((event) => (event.kind === 'finding' ? [event.text] : []))).toEqual([
    'a rehearsal does not evaluate all rules of own: spec.variables[own].schema.openAPIV3Schema.x-kubernetes-validations[0].rule',
  ]);
});

test('rules that a rehearsal does not evaluate are named once, by their variables', async () => {
  const rule = (text: string) => ({ type: 'string', 'x-kubernetes-validations': [{ rule: text }] });
  variables = [
    defined('flavor', rule('self == oldSelf')),
    defined('address', {
      type: 'object',
      properties: { ip: rule('isIP(self)'), cpu: rule("quantity(self).isGreaterThan(quantity('1'))") },
    }),
    // These are evaluated, and so is one without an old value if it is optional.
    defined('size', rule("self != ''")),
    // Only its message is not, which nobody reads here.
    defined('kind', {
      type: 'string',
      'x-kubernetes-validations': [{ rule: "self != 'x'", messageExpression: "'%s'.format([self])" }],
    }),
    defined('nothing', { ...rule('self != null'), type: 'object', properties: {} }),
    defined('later', {
      type: 'string',
      'x-kubernetes-validations': [{ rule: "oldSelf.hasValue() || self != 'x'", optionalOldSelf: true }],
    }),
    ...Array.from({ length: 20 }, (_, index) => defined(`v${index}`, rule('isURL(self)'))),
  ];
  const { end, events } = await play();
  expect(end?.reason).toBe('');
  const warnings = events.flatMap((event) => (event.kind === 'finding' ? [event] : []));
  expect(warnings).toMatchObject([
    {
      severity: 'warning',
      text: 'a rehearsal does not evaluate all rules of flavor, address, later, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16 and 3 more: lab.variables[flavor].schema.openAPIV3Schema.x-kubernetes-validations[0].rule',
      remedy: 'try values that they forbid with kubectl apply --dry-run=server',
    },
  ]);
});

test('a default is applied, as at admission', async () => {
  variables = [defined('flavor', { type: 'string' }), defined('size', { type: 'integer', default: 3 })];
  server.received.length = 0;
  const { end } = await play();
  expect(end?.reason).toBe('');
  const request = server.received
    .map(({ body }) => JSON.parse(body))
    .find(({ kind }) => kind === 'GeneratePatchesRequest');
  expect(request.variables.slice(0, 2)).toEqual([
    { name: 'flavor', value: 'large' },
    { name: 'size', value: 3 },
  ]);
});

test('a patch gets only the variables that it defines, with defaults in the order of the names', async () => {
  variables = [
    defined('flavor', { type: 'string' }),
    defined('zone', { type: 'string', default: 'a' }),
    defined('disk', { type: 'integer', default: 3 }),
  ];
  const inline = [defined('forInlinePatches', { type: 'string', default: 'x' })];
  const manifests = fixture('lab.yaml').replace(
    '\n  patches:\n',
    `\n  variables: ${JSON.stringify(inline)}\n  patches:\n`,
  );
  server.received.length = 0;
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], manifests);
  expect(end?.reason).toBe('');
  for (const kind of ['GeneratePatchesRequest', 'ValidateTopologyRequest']) {
    const request = server.received.map(({ body }) => JSON.parse(body)).find((body) => body.kind === kind);
    expect(request.variables.map(({ name }: { name: string }) => name)).toEqual(['flavor', 'disk', 'zone', 'builtin']);
  }
});

test('defaults within a value are filled in, too', async () => {
  variables = [defined('flavor', { type: 'object', properties: { size: { type: 'integer', default: 3 } } })];
  const given: InputObject[] = JSON.parse(JSON.stringify(objectsOf(fixture('lab.yaml'))), (_, value) =>
    value?.value === 'large' ? { ...value, value: {} } : value,
  );
  server.received.length = 0;
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], given);
  expect(end?.reason).toBe('');
  const bodies = server.received.map(({ body }) => JSON.parse(body));
  const request = bodies.find(({ kind }) => kind === 'GeneratePatchesRequest');
  expect(request.variables[0]).toEqual({ name: 'flavor', value: { size: 3 } });
});

test('overrides of control plane and workers are checked, and get defaults, too', async () => {
  variables = [
    defined('flavor', { type: 'string' }),
    defined('disk', { type: 'object', properties: { size: { type: 'integer', default: 3, minimum: 2 } } }),
  ];
  const withOverrides = (controlPlane: JsonObject, workers: JsonObject): InputObject[] => {
    const given = objectsOf(fixture('lab.yaml'));
    const { topology } = given[0]?.object.spec as { topology: Record<string, JsonObject> };
    Object.assign(topology.controlPlane!, { variables: { overrides: [controlPlane] } });
    Object.assign((topology.workers!.machineDeployments as JsonObject[])[0]!, { variables: { overrides: [workers] } });
    return given;
  };
  const configs = [extensionConfig('lab', { url: server.url, caBundle })];
  server.received.length = 0;
  const fine = await played(configs, withOverrides({ name: 'flavor', value: 'b' }, { name: 'disk', value: {} }));
  expect(fine.end?.reason).toBe('');
  const bodies = server.received.map(({ body }) => JSON.parse(body));
  const { items } = bodies.find(({ kind }) => kind === 'GeneratePatchesRequest');
  const overridesOf = items.map((item: { variables?: { name: string }[] }) =>
    (item.variables ?? []).filter(({ name }) => name !== 'builtin'),
  );
  expect(overridesOf).toContainEqual([{ name: 'flavor', value: 'b' }]);
  expect(overridesOf).toContainEqual([{ name: 'disk', value: { size: 3 } }]);

  const wrong = await played(configs, withOverrides({ name: 'nope', value: 1 }, { name: 'disk', value: { size: 1 } }));
  expect(wrong.end?.reason).toBe(
    'Cluster API refuses the Cluster: spec.topology.controlPlane.variables.overrides[nope]: Invalid value: "1": variable is not defined; spec.topology.workers.machineDeployments[md-0].variables.overrides[disk].value.size: Invalid value: "{\\"size\\":1}": size in body should be greater than or equal to 2',
  );
});

test.each<[string, string, string, string]>([
  [
    'a class of workers that the ClusterClass does not have',
    'class: default-worker\n          name',
    'class: other\n          name',
    'spec.topology.workers.machineDeployments[0].class: Invalid value: "other": MachineDeploymentClass with name "other" does not exist in ClusterClass "lab"',
  ],
  [
    'a version that the ClusterClass does not have',
    '  upgrade:\n',
    '  kubernetesVersions: [v1.31.0]\n  upgrade:\n',
    'spec.topology.version: Invalid value: "v1.30.0": version must match one of the versions defined in the ClusterClass',
  ],
  [
    'a concurrency of zero',
    'metadata:\n  name: lab',
    'metadata:\n  annotations: { topology.cluster.x-k8s.io/upgrade-concurrency: "0" }\n  name: lab',
    'metadata.annotations.topology.cluster.x-k8s.io/upgrade-concurrency: Invalid value: "0": value cannot be less than 1',
  ],
  [
    'a concurrency that is not a number',
    'metadata:\n  name: lab',
    'metadata:\n  annotations: { topology.cluster.x-k8s.io/upgrade-concurrency: all }\n  name: lab',
    'metadata.annotations.topology.cluster.x-k8s.io/upgrade-concurrency: Invalid value: "all": could not parse the value of the annotation: strconv.Atoi: parsing "all": invalid syntax',
  ],
])('%s is refused, as by the webhook', async (_, before, after, refusal) => {
  variables = [defined('flavor', { type: 'string' })];
  const manifests = fixture('lab.yaml').replace(before, after);
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], manifests);
  expect(end?.reason).toBe(`Cluster API refuses the Cluster: ${refusal}`);
});

test('definitions of the class itself are checked, too', async () => {
  variables = [];
  const given = objectsOf(fixture('lab.yaml'));
  for (const { object } of given) {
    if (object.kind === 'ClusterClass') {
      (object.spec as JsonObject).variables = [defined('flavor', { type: 'array' })];
    }
  }
  const { end } = await played([extensionConfig('lab', { url: server.url, caBundle })], given);
  expect(end?.reason).toBe(
    'Cluster API refuses ClusterClass default/lab: spec.variables[flavor].schema.openAPIV3Schema.items: Required value: must be specified',
  );
});

test('a duplicate name in DiscoverVariables stops the class, as upstream', async () => {
  variables = [defined('flavor', { type: 'string' }), defined('flavor', { type: 'string' })];
  const { end } = await play();
  expect(end?.reason).toBe(
    'VariablesReady of ClusterClass default/lab is False, and no Cluster of it reconciles: VariableDiscovery failed: lab.variables[flavor].name: Invalid value: "flavor": variable name must be unique. Variable with name "flavor" is defined more than once',
  );
});

test('handlers that fail, and definitions that differ, are named as by Cluster API', async () => {
  const two = await startExtension(({ url, body }) => {
    if (url.includes('/discovery')) {
      const handlers = hooks.map((hook) => ({
        name: handlerOf(hook),
        requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
      }));
      return { status: 'Success', handlers };
    }
    const { settings } = JSON.parse(body);
    return url.includes('/discovervariables')
      ? settings?.tier === 'fails'
        ? { status: 'Failure', message: 'no variables' }
        : { status: 'Success', variables: ['b', 'a'].map((name) => defined(name, { type: settings.type })) }
      : { status: 'Success' };
  });
  const patch = (name: string, settings: JsonObject) =>
    `    - { name: ${name}, external: { generatePatchesExtension: generate-patches.lab, discoverVariablesExtension: discover-variables.lab, settings: ${JSON.stringify(settings)} } }\n`;
  const reasonFor = async (...patches: string[]) => {
    const manifests = fixture('lab.yaml').replace(
      / {4}- name: lab\n {6}external:[\s\S]*? {2}upgrade:/,
      () => `${patches.join('')}  upgrade:`,
    );
    return (await played([extensionConfig('lab', { url: two.url, caBundle })], manifests)).end?.reason;
  };
  const because =
    'VariablesReady of ClusterClass default/lab is False, and no Cluster of it reconciles: VariableDiscovery failed: ';
  const failed = (name: string) =>
    `failed to call DiscoverVariables for patch ${name}: failed to call extension handler "discover-variables.lab": got failure response with message: no variables`;
  try {
    expect(await reasonFor(patch('p', { tier: 'fails' }), patch('q', { tier: 'fails' }))).toBe(
      `${because}[${failed('p')}, ${failed('q')}]`,
    );
    expect(await reasonFor(patch('p', { type: 'string' }), patch('q', { type: 'integer' }))).toBe(
      `${because}the following variables have conflicting schemas: a,b (a differs in p and q)`,
    );
  } finally {
    await two.close();
  }
});

test('a class has a record of its own, although its Cluster has the same name', async () => {
  variables = [defined('flavor', { type: 'string' }), defined('own', { type: 'string' })];
  const { entries, end } = await play();
  const clusters = entries.flatMap((entry) =>
    entry.type === 'call' ? [`${entry.hook} ${entry.number} ${entry.cluster}`] : [],
  );
  expect(clusters.slice(2, 5)).toEqual([
    'DiscoverVariables 1 ClusterClass default/lab',
    'DiscoverVariables 2 ClusterClass default/lab',
    'GeneratePatches 1 default/lab',
  ]);
  expect(end).toMatchObject({ cluster: 'default/lab', isComplete: true });
});
