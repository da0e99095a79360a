import { describe, expect, test } from 'vitest';
import { pendingHooksAnnotation } from '../../../src/extensionconfig/index.ts';
import { fieldAt, type JsonObject, textAt } from '../../../src/kubernetes/index.ts';
import { expectLinear } from '../../support/work.ts';
import { type Answer, clusterYaml, type Simulated, simulate } from './simulating.ts';

const template = (group: string, kind: string, spec: string, name = 't') => `---
apiVersion: ${group}.cluster.x-k8s.io/v1beta2
kind: ${kind}
metadata: { name: ${name}, namespace: team, managedFields: [{ manager: kubectl }], annotations: { kubectl.kubernetes.io/last-applied-configuration: '{}', own: 'yes' } }
spec: { template: { spec: ${spec} } }
`;
const ref = (group: string, kind: string, name = 't') =>
  `{ templateRef: { apiVersion: ${group}.cluster.x-k8s.io/v1beta2, kind: ${kind}, name: ${name} } }`;

const templates = [
  template('infrastructure', 'DockerClusterTemplate', '{ region: eu }'),
  template(
    'controlplane',
    'KubeadmControlPlaneTemplate',
    '{ replicas: 3, rollout: { before: { certificatesExpiryDays: 30 } } }',
  ),
  template('infrastructure', 'DockerMachineTemplate', '{ image: a }'),
  template('bootstrap', 'KubeadmConfigTemplate', '{ verbosity: 2 }'),
].join('');

const classOf = (patches: string, more = '') => `---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: { name: k, namespace: team }
spec:
  infrastructure: ${ref('infrastructure', 'DockerClusterTemplate')}
  controlPlane:
    templateRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: t }
    machineInfrastructure: ${ref('infrastructure', 'DockerMachineTemplate')}
  workers:
    machineDeployments:
      - { class: w, bootstrap: ${ref('bootstrap', 'KubeadmConfigTemplate')}, infrastructure: ${ref('infrastructure', 'DockerMachineTemplate')} }
  patches: ${patches}
${more}`;

const one = '[{ name: p, external: { generatePatchesExtension: g.e, validateTopologyExtension: v.e } }]';
const yamlOf = (patches = one, more = '') => clusterYaml('v1.31.0') + classOf(patches, more) + templates;

const base64 = (patch: unknown) => Buffer.from(JSON.stringify(patch)).toString('base64');
/** Answers GeneratePatches with a patch of the item with this index. */
const patching =
  (index: number, patch: unknown, patchType = 'JSONPatch') =>
  ({ hook, request }: { hook: string; request: JsonObject }): Answer | undefined =>
    hook === 'GeneratePatches'
      ? {
          items: [
            {
              uid: ((request.items as JsonObject[])[index]?.uid as string) ?? '',
              patchType,
              patch: base64(patch),
            },
          ],
        }
      : undefined;

const replace = (path: string, value: unknown) => [{ op: 'replace', path, value }];

const findings = (simulated: Simulated) =>
  simulated.events.flatMap(({ event }) => (event.kind === 'finding' ? [event] : []));

describe('a round of patches', () => {
  test("contains all templates where they are used, in Cluster API's order", async () => {
    const { calls } = await simulate(() => undefined, { yaml: yamlOf() });
    const { items } = calls.find(({ hook }) => hook === 'GeneratePatches')!.request as { items: JsonObject[] };
    expect(
      items.map(({ holderReference, object }) => [
        (holderReference as JsonObject).kind,
        (holderReference as JsonObject).fieldPath,
        (object as JsonObject).kind,
      ]),
    ).toEqual([
      ['Cluster', 'spec.infrastructureRef', 'DockerClusterTemplate'],
      ['Cluster', 'spec.controlPlaneRef', 'KubeadmControlPlaneTemplate'],
      ['KubeadmControlPlane', 'spec.machineTemplate.spec.infrastructureRef', 'DockerMachineTemplate'],
      ['MachineDeployment', 'spec.template.spec.bootstrap.configRef', 'KubeadmConfigTemplate'],
      ['MachineDeployment', 'spec.template.spec.infrastructureRef', 'DockerMachineTemplate'],
      ['MachineDeployment', 'spec.template.spec.bootstrap.configRef', 'KubeadmConfigTemplate'],
      ['MachineDeployment', 'spec.template.spec.infrastructureRef', 'DockerMachineTemplate'],
    ]);
    expect((items[0]?.object as JsonObject).metadata).toEqual({
      name: 't',
      namespace: 'team',
      annotations: { own: 'yes' },
    });
    const validate = calls.find(({ hook }) => hook === 'ValidateTopology')!.request as { items: JsonObject[] };
    expect(validate.items[0]).not.toHaveProperty('uid');
  });

  test('changes templates, which the next patch and the validator receive', async () => {
    const patches =
      '[{ name: p, external: { generatePatchesExtension: g.e } }, { name: q, external: { generatePatchesExtension: h.e, validateTopologyExtension: v.e } }]';
    const simulated = await simulate(
      (effect) =>
        effect.handler === 'g.e' ? patching(4, replace('/spec/template/spec/image', 'b'))(effect) : undefined,
      { yaml: yamlOf(patches) },
    );
    const imagesOf = (handler: string) => {
      const { items } = simulated.calls.find((call) => call.handler === handler)!.request as { items: JsonObject[] };
      return ((((items[4]?.object as JsonObject).spec as JsonObject).template as JsonObject).spec as JsonObject).image;
    };
    expect(['g.e', 'h.e', 'v.e'].map(imagesOf)).toEqual(['a', 'b', 'b']);
  });

  const unknownField = patching(1, [{ op: 'add', path: '/spec/template/spec/unknown', value: 1 }]);
  const ofControlPlane =
    'failed to create typed patch object (team/c-x; controlplane.cluster.x-k8s.io/v1beta2, Kind=KubeadmControlPlane): .spec.unknown: field not declared in schema';
  const anyName = (text: string) => text.replaceAll(/c-\w{5}\b/g, 'c-x');

  test('that sets a field which a control plane does not have: it is not created, and the reason is told', async () => {
    const simulated = await simulate(unknownField, { yaml: yamlOf(), maxFailures: 1 });
    expect(simulated.end.reason).toBe(
      'a reconcile failed: error reconciling the Cluster topology: failed to create KubeadmControlPlane.controlplane.cluster.x-k8s.io',
    );
    expect(findings(simulated).map(({ text }) => anyName(text))).toEqual([
      `KubeadmControlPlane team/c-x cannot be created, and Cluster API's condition does not say why: ${ofControlPlane}`,
    ]);
    expect(simulated.log).not.toContain('control-plane');
  });

  test('that sets it later: the control plane is not written', async () => {
    const { end } = await simulate(
      (call) =>
        textAt(call.request, 'variables', 0, 'value', 'cluster', 'topology', 'version') === 'v1.32.0'
          ? unknownField(call)
          : undefined,
      { yaml: yamlOf(), maxFailures: 1, upgrades: ['v1.32.0'] },
    );
    expect(anyName(end.reason)).toBe(
      `a reconcile failed: error reconciling the Cluster topology: failed to create patch helper for KubeadmControlPlane team/c-x: server side apply dry-run failed for modified object: ${ofControlPlane}`,
    );
  });

  test('that changes the infrastructure of Machines has them updated in place, again and again', async () => {
    const infrastructurePatch = (request: JsonObject, part: string, path: string[]) => ({
      [`${part}Patch`]: {
        patchType: 'JSONMergePatch',
        patch: base64(
          path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), fieldAt(request, 'desired', part, ...path)),
        ),
      },
    });
    const images: string[] = [];
    const { calls, end } = await simulate(
      ({ hook, request }) => {
        if (hook === 'GeneratePatches') {
          // A hook is pending until the control plane is initialized.
          const pending = textAt(
            request,
            'variables',
            0,
            'value',
            'cluster',
            'metadata',
            'annotations',
            pendingHooksAnnotation,
          );
          const patch = base64(replace('/spec/template/spec/image', pending === '' ? 'idle' : 'busy'));
          const items = (request.items as JsonObject[]).filter(
            ({ object }) => textAt(object, 'kind') === 'DockerMachineTemplate',
          );
          return { items: items.map(({ uid = '' }) => ({ uid, patchType: 'JSONPatch', patch })) };
        }
        if (hook === 'UpdateMachine') {
          images.push(textAt(request, 'desired', 'infrastructureMachine', 'spec', 'image'));
        }
        return hook === 'CanUpdateMachine'
          ? infrastructurePatch(request, 'infrastructureMachine', ['spec'])
          : hook === 'CanUpdateMachineSet'
            ? infrastructurePatch(request, 'infrastructureMachineTemplate', ['spec', 'template', 'spec'])
            : undefined;
      },
      {
        yaml: yamlOf().replace('version: v1.31.0', 'version: v1.31.0\n    controlPlane: { replicas: 3 }'),
        updatesInPlace: true,
      },
    );
    expect(end).toMatchObject({ isComplete: true, reason: '' });
    const asked = calls.map(({ hook }) => hook).filter((hook) => /Machine/.test(hook));
    // One Machine of each makes way for another; the control plane begins when it is initialized.
    const workers = ['CanUpdateMachineSet', 'UpdateMachine', 'CanUpdateMachineSet'];
    const machines = ['CanUpdateMachine', 'UpdateMachine', 'CanUpdateMachine', 'UpdateMachine'];
    expect(asked).toEqual([...workers, ...machines, ...workers]);
    expect(images).toEqual(['busy', 'idle', 'idle', 'idle']);
  });

  test.each<[string, (effect: { hook: string; request: JsonObject }) => Answer | undefined, RegExp]>([
    [
      'of an unknown item',
      ({ hook }) =>
        hook === 'GeneratePatches' ? { items: [{ uid: 'x', patchType: 'JSONPatch', patch: '' }] } : undefined,
      /failed to apply patches for patch "p": unable to find corresponding request item for patch$/,
    ],
    [
      'that do not apply',
      patching(0, replace('/spec/none', 1)),
      /failed to apply patches for patch "p": failed to apply patch: error applying json patch \(RFC6902\): replace operation does not apply: doc is missing key: \/spec\/none: missing value$/,
    ],
    [
      'without the value to add',
      patching(0, [{ op: 'add', path: '/spec/x' }]),
      /error decoding json patch \(RFC6902\): invalid operation \{"op":"add","path":"\/spec\/x"}: failed to decode 'value'/,
    ],
    [
      'with a value that is too deep',
      patching(
        0,
        JSON.parse(`[{ "op": "add", "path": "/spec/x", "value": ${'['.repeat(3_000)}${']'.repeat(3_000)} }]`),
      ),
      /error decoding json patch \(RFC6902\): it nests deeper than 256 levels/,
    ],
    [
      'with more operations than a rehearsal applies',
      patching(
        0,
        Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/spec/x' })),
      ),
      /it has 10001 operations, and at most 10000 are applied here: replace whole objects/,
    ],
    [
      'with more text than a rehearsal decodes',
      patching(0, { spec: { x: 'x'.repeat(16 * 1024 * 1024) } }, 'JSONMergePatch'),
      /it has 223696\d\d characters of base64, and at most 20971520 are decoded here: send only what changes/,
    ],
    ['that are not a list', patching(0, { op: 'x' }), /error decoding json patch \(RFC6902\)/],
    ['of an unknown type', patching(0, [], 'Strategic'), /failed to apply patch to template/],
    ['that remove the kind', patching(0, replace('', {})), /Object 'Kind' is missing/],
    [
      'that a validator rejects',
      ({ hook }) => (hook === 'ValidateTopology' ? { error: 'no' } : undefined),
      /validation of patch "p" failed: .*no/,
    ],
  ])('patches %s end the simulation', async (_, answers, reason) => {
    const { end } = await simulate(answers, { yaml: yamlOf(), maxFailures: 1 });
    expect(end.isComplete).toBe(false);
    expect(end.reason).toMatch(reason);
  });

  test.each<[string, ReturnType<typeof patching>]>([
    ['the spec', patching(0, [{ op: 'remove', path: '/spec' }])],
    ['the spec of the objects', patching(4, { spec: { template: null } }, 'JSONMergePatch')],
  ])('patches that remove %s have no effect', async (_, answers) => {
    const simulated = await simulate(answers, { yaml: yamlOf() });
    expect(simulated.end).toMatchObject({ isComplete: true, reason: '' });
  });

  test('a JSON patch of null is skipped, like an empty one', async () => {
    const { end } = await simulate(patching(0, null), { yaml: yamlOf() });
    expect(end.isComplete).toBe(true);
  });

  test('a huge number of patches of a large template ends quickly, with a message', async () => {
    const large = templates.replace('{ image: a }', `{ image: ${'a'.repeat(200_000)} }`);
    const { end } = await simulate(
      ({ hook, request }) =>
        hook === 'GeneratePatches'
          ? {
              items: Array.from({ length: 500 }, (_, index) => ({
                uid: (request.items as JsonObject[])[4]?.uid ?? '',
                patchType: 'JSONPatch',
                patch: base64([{ op: 'add', path: '/spec/template/spec/n', value: index }]),
              })),
            }
          : undefined,
      { yaml: clusterYaml('v1.31.0') + classOf(one) + large, maxFailures: 1 },
    );
    expect(end.reason).toMatch(/change more than 64 MiB of templates: send one patch for each template/);
  });

  test('a patch with only a validator fails as upstream', async () => {
    const { end } = await simulate(() => undefined, {
      yaml: yamlOf('[{ name: p, external: { validateTopologyExtension: v.e } }]'),
      maxFailures: 1,
    });
    expect(end.reason).toMatch(/failed to apply patches: failed to create patch generator for patch "p"$/);
  });

  test('without patches a class needs no templates', async () => {
    const { end } = await simulate(() => undefined, { yaml: clusterYaml('v1.31.0') + classOf('[]') });
    expect(end.isComplete).toBe(true);
  });

  test('with patches it does, and the missing one is named', async () => {
    await expect(simulate(() => undefined, { yaml: clusterYaml('v1.31.0') + classOf(one) })).rejects.toThrow(
      'Template team/t is not in the files; pass it with --cluster-files, because patches need the templates',
    );
  });
});

describe('inline patches', () => {
  const selector = (kind: string, matchResources: JsonObject) => ({
    apiVersion: `${kind.startsWith('Kubeadm') ? (kind.includes('Config') ? 'bootstrap' : 'controlplane') : 'infrastructure'}.cluster.x-k8s.io/v1beta2`,
    kind,
    matchResources,
  });
  const definition = (of: JsonObject, ...jsonPatches: JsonObject[]) => ({ selector: of, jsonPatches });
  const add = (name: string, value: JsonObject) => ({ op: 'add', path: `/spec/template/spec/${name}`, ...value });
  const inline = (name: string, ...definitions: JsonObject[]) => ({ name, definitions });
  const external = (name: string, more: JsonObject = {}) => ({
    name,
    external: { generatePatchesExtension: 'g.e', ...more },
  });
  const variables = JSON.stringify([
    { name: 'disks', schema: { openAPIV3Schema: { type: 'array', items: { type: 'object' } } } },
    { name: 'absent', schema: { openAPIV3Schema: { type: 'string' } } },
  ]);
  const yamlWith = (patches: JsonObject[]) =>
    clusterYaml('v1.31.0', {
      topology: `workers: { machineDeployments: [{ class: w, name: md-0, variables: { overrides: [{ name: disks, value: [{ size: 9 }] }] } }, { class: w, name: md-1 }] }
    variables: [{ name: disks, value: [{ size: 7 }] }]`,
    }) +
    classOf(JSON.stringify(patches), `  variables: ${variables}\n`) +
    templates;
  const itemsOf = (simulated: Simulated, hook = 'GeneratePatches') =>
    simulated.calls.find((call) => call.hook === hook)!.request as { items: JsonObject[]; variables: JsonObject[] };
  const specs = (simulated: Simulated) =>
    itemsOf(simulated).items.map(({ object }) => ((object as JsonObject).spec as JsonObject).template as JsonObject);
  const play = (patches: JsonObject[]) => simulate(() => undefined, { yaml: yamlWith(patches), maxFailures: 1 });

  test('are applied in the order of the class, with values and variables of the place', async () => {
    const simulated = await play([
      inline(
        'a',
        definition(
          selector('DockerClusterTemplate', { infrastructureCluster: true }),
          add('region', { value: 'us' }),
          add('cluster', { valueFrom: { variable: 'builtin.cluster.name' } }),
        ),
        definition(
          selector('KubeadmControlPlaneTemplate', { controlPlane: true }),
          add('version', { valueFrom: { variable: 'builtin.controlPlane.version' } }),
          { op: 'remove', path: '/spec/template/spec/rollout' },
        ),
        definition(selector('DockerMachineTemplate', { controlPlane: true }), add('image', { value: 'cp' })),
        definition(
          selector('DockerMachineTemplate', { machineDeploymentClass: { names: ['x', 'w*'] } }),
          add('disk', { valueFrom: { variable: 'disks[0].size' } }),
        ),
        definition(
          selector('KubeadmConfigTemplate', { machineDeploymentClass: { names: ['other'] } }),
          add('never', { value: true }),
        ),
      ),
      external('p'),
    ]);
    expect(simulated.end).toMatchObject({ isComplete: true, reason: '' });
    expect(specs(simulated).map(({ spec }) => spec)).toEqual([
      { region: 'us', cluster: 'c' },
      { replicas: 3, version: 'v1.31.0' },
      { image: 'cp' },
      { verbosity: 2 },
      { image: 'a', disk: 9 },
      { verbosity: 2 },
      { image: 'a', disk: 7 },
    ]);
    expect(findings(simulated)).toEqual([]);
  });

  test('fail as in Cluster API when a variable has no value', async () => {
    const of = selector('DockerMachineTemplate', { machineDeploymentClass: { names: ['*'] } });
    const { end } = await play([inline('a', definition(of, add('x', { valueFrom: { variable: 'absent' } })))]);
    expect(end.reason).toBe(
      'a reconcile failed: error computing the desired state of the Cluster topology: failed to apply patches: failed to generate patches for patch "a": failed to generate JSON patches for "DockerMachineTemplate": failed to calculate value: variable "absent" does not exist',
    );
    const path = { valueFrom: { variable: 'builtin.cluster.none.x' } };
    expect((await play([inline('a', definition(of, add('x', path)))])).end.reason).toMatch(
      /variable "builtin\.cluster\.none\.x" does not exist: failed to lookup segment "none"$/,
    );
  });

  test.each<[kind: string, field: string, reason: RegExp]>([
    [
      'KubeadmControlPlaneTemplate',
      'kubeadmConfigSpec/none/deep',
      /failed to apply patches for patch "a": failed to apply patch: error applying json patch \(RFC6902\): add operation does not apply: doc is missing path/,
    ],
    [
      'DockerClusterTemplate',
      'labels/zone',
      /^whether patch "a" applies is not known, since DockerClusterTemplate .* may have defaults of its provider: .*; pass the template as an API server has it/,
    ],
  ])('that do not apply to a %s end the simulation', async (kind, field, reason) => {
    const resources = kind.startsWith('Kubeadm') ? { controlPlane: true } : { infrastructureCluster: true };
    const inner = add(field, { value: 'a' });
    expect((await play([inline('a', definition(selector(kind, resources), inner))])).end.reason).toMatch(reason);
  });

  test('whose Go templates are not computed end the simulation at once, with the remedy', async () => {
    const of = selector('DockerClusterTemplate', { infrastructureCluster: true });
    const value = { valueFrom: { template: '{{ repeat 1000000000 "a" }}' } };
    const { events, end } = await play([inline('a', definition(of, add('region', value)))]);
    expect(end.reason).toMatch(/^patches of ClusterClass team\/k are not known: patch "a": .*; split the template, /);
    expect(events.filter(({ event }) => event.kind === 'condition')).toEqual([]);
  });

  test('have Go templates', async () => {
    const of = selector('DockerClusterTemplate', { infrastructureCluster: true });
    const labels = add('labels', { valueFrom: { template: 'cluster: {{ .builtin.cluster.name | quote }}' } });
    const region = inline('b', definition(of, add('region', { value: 'us' })));
    const built = await play([
      inline('a', definition(of, labels), definition(of, add('labels/zone', { value: 'a' }))),
      { ...region, enabledIf: '{{ eq .builtin.cluster.name "c" }}' },
      { ...inline('c', definition(of, add('region', { value: 'none' }))), enabledIf: '{{ .absent }}' },
      external('p'),
    ]);
    expect(built.end).toMatchObject({ isComplete: true, reason: '' });
    expect(specs(built)[0]?.spec).toEqual({ region: 'us', labels: { cluster: 'c', zone: 'a' } });
    const wrong = await play([{ ...region, enabledIf: '{{ .builtin.cluster.name' }]);
    expect(wrong.end.reason).toMatch(
      /failed to calculate if patch is enabled for "DockerClusterTemplate": failed to calculate value for enabledIf: failed to parse template/,
    );
  });

  test('at the end of the class leave the validators only the variables of the class', async () => {
    const of = selector('DockerClusterTemplate', { infrastructureCluster: true });
    const last = inline('z', definition(of, add('region', { value: 'us' })));
    const simulated = await play([external('p', { validateTopologyExtension: 'v.e' }), last]);
    const names = (hook: string) => itemsOf(simulated, hook).variables.map(({ name }) => name);
    expect(names('GeneratePatches')).toEqual(['builtin']);
    expect(names('ValidateTopology')).toEqual(['disks', 'builtin']);
  });
});

describe('names of objects', () => {
  const named = async (template: string, cluster = 'c') => {
    const yaml = clusterYaml('v1.31.0').replace('name: c,', `name: ${cluster},`);
    const naming = `naming: { template: "${template}" }`;
    const classes = classOf('[]')
      .replace('{ class: w,', `{ class: w, ${naming},`)
      .replace(
        '  controlPlane:',
        `  controlPlane:\n    ${naming.replace('.machineDeployment.topologyName', '.cluster.name')}`,
      );
    const { state } = await simulate(() => undefined, { yaml: yaml + classes });
    return [state.controlPlane.name, ...state.workers.map(({ name }) => name)];
  };

  test('follow the naming template of the class', async () => {
    expect(await named('{{ .cluster.name }}-x-{{ .machineDeployment.topologyName }}')).toEqual([
      'c-x-c',
      'c-x-md-0',
      'c-x-md-1',
    ]);
    expect(await named('{{.random}}-{{- .cluster.name -}}')).toEqual([
      expect.stringMatching(/^[a-z0-9]{5}-c$/),
      expect.stringMatching(/^[a-z0-9]{5}-c$/),
      expect.stringMatching(/^[a-z0-9]{5}-c$/),
    ]);
  });

  test('are cut to 63 characters, with a suffix', async () => {
    const long = 'l'.repeat(62);
    const [controlPlane, first] = await named('{{ .cluster.name }}-{{ .cluster.name }}', long);
    for (const name of [controlPlane, first]) {
      expect(name).toMatch(/^l{58}[a-z0-9]{5}$/);
    }
    expect((await named('{{ .unknown }}', long))[1]).toMatch(/^l{58}[a-z0-9]{5}$/);
  });

  test.each(['{{ .unknown }}', '{{ printf }}'])('are the default ones with the template %j', async (template) => {
    expect(await named(template)).toEqual([
      expect.stringMatching(/^c-[a-z0-9]{5}$/),
      expect.stringMatching(/^c-md-0-[a-z0-9]{5}$/),
      expect.stringMatching(/^c-md-1-[a-z0-9]{5}$/),
    ]);
  });
});

describe('a patch of many fields takes time in proportion to their number', () => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index]));

  test.each<[string, number, string, (fields: JsonObject) => unknown]>([
    ['a merge patch', 64_000, 'JSONMergePatch', (spec) => ({ spec: { template: { spec } } })],
    ['one operation', 64_000, 'JSONPatch', (spec) => replace('/spec/template/spec', spec)],
    [
      'an operation for each',
      8000,
      'JSONPatch',
      (spec) =>
        Object.entries(spec).map(([name, value]) => ({ op: 'add', path: `/spec/template/spec/${name}`, value })),
    ],
  ])('%s', async (_, size, patchType, patchOf) => {
    await expectLinear(size, async (count) => {
      const { end } = await simulate(patching(2, patchOf(fields(count)), patchType), { yaml: yamlOf() });
      expect(end).toMatchObject({ isComplete: true });
    });
  });
});
