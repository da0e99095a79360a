import { describe, expect, test } from 'vitest';
import { applyMergePatch, fieldAt, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { revertIgnored, type TemplatePlace } from '../../../src/runtimehooks/index.ts';
import { testRows } from '../../support/rows.ts';

const own = {
  labels: { 'cluster.x-k8s.io/cluster-name': 'c', 'topology.cluster.x-k8s.io/owned': '', class: 'a' },
  annotations: { 'cluster.x-k8s.io/cloned-from-name': 't' },
};

/** A template as in requests since Cluster API 1.14. */
const template = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'KTemplate',
  metadata: { name: 't', ...own },
  spec: { template: { metadata: { ...own }, spec } },
});

const places = {
  'infrastructure cluster': { kind: 'Cluster', fieldPath: 'spec.infrastructureRef' },
  'control plane': { kind: 'Cluster', fieldPath: 'spec.controlPlaneRef' },
  'machines of the control plane': { kind: 'KControlPlane', fieldPath: 'spec.machineTemplate.spec.infrastructureRef' },
  'machine deployment': { kind: 'MachineDeployment', fieldPath: 'spec.template.spec.infrastructureRef' },
  'machine pool': { kind: 'MachinePool', fieldPath: 'spec.template.spec.infrastructureRef' },
};

/** Applies a merge patch, reverts what is ignored, and returns the names of these fields. */
function patched(before: JsonObject, patch: Json, place: TemplatePlace) {
  const after = applyMergePatch(structuredClone(before), patch) as JsonObject;
  const ignored = revertIgnored(before, after, place).map((path) => path.join('.'));
  return { after, ignored };
}

describe.each(Object.entries(places))('a template of the %s', (name, holder) => {
  const isTemplate = name.startsWith('machine') && name !== 'machine pool';

  test.each<[string, Json, string[]]>([
    ['the spec', { spec: { template: { spec: { a: 1 } } } }, []],
    ['a label of what is made of it', { spec: { template: { metadata: { labels: { a: '1' } } } } }, []],
    ['an annotation of what is made of it', { spec: { template: { metadata: { annotations: { a: '1' } } } } }, []],
    ['an own label', { metadata: { labels: { a: '1' } } }, isTemplate ? [] : ['metadata.labels']],
    ['another field of its metadata', { metadata: { name: 'x' } }, ['metadata.name']],
    [
      'a finalizer of what is made of it',
      { spec: { template: { metadata: { finalizers: ['a'] } } } },
      ['spec.template.metadata.finalizers'],
    ],
    ['a field beside spec.template', { spec: { a: 1 } }, ['spec.a']],
    ['status', { status: { a: 1 } }, ['status']],
    ['a removed spec', { spec: null }, ['spec']],
    ['a removed spec.template.spec', { spec: { template: { spec: null } } }, ['spec.template.spec']],
    [
      'labels of Cluster API',
      isTemplate
        ? { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'other' } } }
        : { spec: { template: { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': null } } } } },
      [`${isTemplate ? '' : 'spec.template.'}metadata.labels.cluster.x-k8s.io/cluster-name`],
    ],
    [
      'an annotation of Cluster API',
      isTemplate
        ? { metadata: { annotations: { 'cluster.x-k8s.io/cloned-from-name': null } } }
        : { spec: { template: { metadata: { annotations: { 'cluster.x-k8s.io/cloned-from-name': 'x' } } } } },
      [`${isTemplate ? '' : 'spec.template.'}metadata.annotations.cluster.x-k8s.io/cloned-from-name`],
    ],
    ['all of that back as it was', {}, []],
  ])('a patch of %s', (_, patch, expected) => {
    const before = template({ b: 2 });
    const { after, ignored } = patched(before, patch, { holder });
    expect(ignored).toEqual(expected);
    if (expected.length > 0) {
      expect(after).toEqual(before);
    }
  });

  test('metadata that are not an object, where the template has none', () => {
    const before: JsonObject = { kind: 'KTemplate', spec: { template: { spec: {} } } };
    const patch = { metadata: ['x'], spec: { template: { metadata: 'x' } } };
    const { after, ignored } = patched(before, patch, { holder });
    expect(ignored.sort()).toEqual(['metadata', 'spec.template.metadata']);
    expect(after).toEqual(before);
  });

  test('labels set to null: those of Cluster API remain', () => {
    const at = isTemplate ? ['metadata'] : ['spec', 'template', 'metadata'];
    const before = template();
    const after = structuredClone(before);
    (fieldAt(after, ...at) as JsonObject).labels = null;
    revertIgnored(before, after, { holder });
    expect(fieldAt(after, ...at, 'labels')).toEqual({
      'cluster.x-k8s.io/cluster-name': 'c',
      'topology.cluster.x-k8s.io/owned': '',
    });
  });

  test('a field named * is one as any other', () => {
    const patch = { spec: { template: { spec: { '*': 'b' }, metadata: { labels: { '*': 'b' } } } } };
    const before = applyMergePatch(template({ '*': 'a' }), {
      spec: { template: { metadata: { labels: { '*': 'a' } } } },
    });
    expect(patched(before as JsonObject, patch, { holder }).ignored).toEqual([]);
  });

  test('before Cluster API 1.14, only the spec of what is made of it', () => {
    const patch = {
      metadata: { labels: { a: '1' } },
      spec: { template: { metadata: { labels: { a: '1' } }, spec: { a: 1 } } },
    };
    const { after, ignored } = patched(template(), patch, { holder, dropsMetadata: true });
    expect(ignored).toEqual(['metadata.labels', 'spec.template.metadata.labels']);
    expect(after).toEqual(template({ a: 1 }));
  });
});

describe('fields that Cluster API sets for a control plane', () => {
  const holder = places['control plane'];
  const spec = (...path: string[]) => ['spec', 'template', 'spec', ...path];
  const fields: [path: string[], set?: TemplatePlace['sets']][] = [
    [spec('version')],
    [spec('replicas'), ['replicas']],
    [spec('rollout', 'after'), ['rollout.after']],
    [spec('machineTemplate', 'metadata'), ['machines']],
    [spec('machineTemplate', 'infrastructureRef'), ['machines']],
    [spec('machineTemplate', 'spec', 'infrastructureRef'), ['machines']],
    [spec('machineTemplate', 'readinessGates'), ['readinessGates']],
    [spec('machineTemplate', 'spec', 'readinessGates'), ['readinessGates']],
    [spec('machineTemplate', 'taints'), ['taints']],
    [spec('machineTemplate', 'spec', 'taints'), ['taints']],
    [spec('machineTemplate', 'nodeDrainTimeout'), ['deletion.nodeDrainTimeoutSeconds']],
    [spec('machineTemplate', 'nodeVolumeDetachTimeout'), ['deletion.nodeVolumeDetachTimeoutSeconds']],
    [spec('machineTemplate', 'nodeDeletionTimeout'), ['deletion.nodeDeletionTimeoutSeconds']],
    [spec('machineTemplate', 'spec', 'deletion', 'nodeDrainTimeoutSeconds'), ['deletion.nodeDrainTimeoutSeconds']],
    [
      spec('machineTemplate', 'spec', 'deletion', 'nodeVolumeDetachTimeoutSeconds'),
      ['deletion.nodeVolumeDetachTimeoutSeconds'],
    ],
    [
      spec('machineTemplate', 'spec', 'deletion', 'nodeDeletionTimeoutSeconds'),
      ['deletion.nodeDeletionTimeoutSeconds'],
    ],
  ];
  const nested = (path: readonly string[], value: Json): Json =>
    path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);

  const rows = fields.map((row) => [row[0].join('.'), row] as const);

  testRows('as they are in the template', rows, ([path]) => {
    const before = applyMergePatch(template({ other: 1 }), nested(path, { a: 1 })) as JsonObject;
    const { after, ignored } = patched(before, nested(path, { a: 2 }), { holder });
    expect(ignored).toEqual([path.join('.')]);
    expect(after).toEqual(before);
  });

  testRows('not in the template, but in the class or the Cluster', rows, ([path, sets = ['version']]) => {
    const { after, ignored } = patched(template({ other: 1 }), nested(path, 'x'), { holder, sets });
    expect(ignored).toEqual([path.join('.')]);
    expect(fieldAt(after, ...path)).toBeUndefined();
  });

  testRows('set by neither, so that a patch has an effect', rows.slice(1), ([path]) => {
    const { after, ignored } = patched(template({ other: 1 }), nested(path, 'x'), { holder });
    expect(ignored).toEqual([]);
    expect(fieldAt(after, ...path)).toBe('x');
  });

  test('but not of other templates', () => {
    const patch = nested(spec('version'), 'v9');
    expect(patched(template(), patch, { holder: places['machine pool'] }).ignored).toEqual([]);
  });

  test.each<[Json | undefined, string[]]>([
    [undefined, ['version']],
    [{ controlPlane: { version: 'v1.30.0' } }, ['version']],
    [{ controlPlane: { replicas: 0, machineTemplate: {} } }, ['version', 'replicas', 'machines']],
  ])('as far as the variable builtin %j says so', (builtin, expected) => {
    const ignored = fields.filter(
      ([path]) => patched(template({ other: 1 }), nested(path, 'x'), { holder, builtin }).ignored.length > 0,
    );
    expect(new Set(ignored.flatMap(([, sets = ['version']]) => sets))).toEqual(new Set(expected));
  });
});

test('names of the prototype are ordinary fields', () => {
  const before = template();
  const after = structuredClone(before);
  Object.defineProperty(after, '__proto__', { value: { a: 1 }, enumerable: true, writable: true, configurable: true });
  expect(revertIgnored(before, after, { holder: places['control plane'] })).toEqual([['__proto__']]);
  expect(Object.keys(after)).toEqual(Object.keys(before));
});
