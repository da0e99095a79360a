import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/index.ts';
import { defineInPlaceChanges, type KnownFields } from '../../../src/extension/index.ts';
import { templateTypes } from '../../../src/extension/scaffold/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { labTemplate } from './crds.ts';

/** The type of a field of a spec with this schema. */
async function typeOf(schema: JsonObject): Promise<string | undefined> {
  const spec = { type: 'object', required: ['field'], properties: { field: schema } };
  const text = (await templateTypes([labTemplate({ v1: spec })])).replaceAll(/\s+/g, ' ');
  return /spec: \{ (?:\/\*\* \* [^/]* \*\/ )?field: (.*) \} \} \/\*\* The fields/.exec(text)?.[1];
}

describe('types of fields', () => {
  test.each<[JsonObject, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', nullable: true }, '(string | null)'],
    [{ type: 'string', enum: ['a', 'b"c'] }, '("a" | "b\\"c")'],
    [{ type: 'integer', format: 'int32' }, 'number'],
    [{ type: 'number' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ 'x-kubernetes-int-or-string': true, anyOf: [] }, '(number | string)'],
    [{ type: 'array', minItems: 1, items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, '{ [k: string]: string }'],
    [{ type: 'object', properties: { 'a-b': { type: 'string' } } }, '{ "a-b"?: string }'],
    [{ type: 'object', required: ['a', 'b'], properties: { a: { type: 'boolean' } } }, '{ a: boolean }'],
    // What these are called must not make them mean something else.
    [
      { type: 'object', properties: { $ref: { type: 'string' }, definitions: { type: 'object' }, enum: {} } },
      '{ $ref?: string definitions?: { [k: string]: unknown } enum?: unknown }',
    ],
    [
      {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { a: { type: 'string', description: 'First line. */\nSecond line {' } },
      },
      '{ /** * First line. * / * Second line { */ a?: string [k: string]: unknown }',
    ],
    [{ type: 'object' }, '{ [k: string]: unknown }'],
    [{}, 'unknown'],
    [{ description: 'Any JSON.' }, 'unknown'],
    // For the compiler, these are files to read and code to write.
    [
      { type: 'string', $ref: 'file:///etc/passwd', tsType: 'evil()', allOf: [{ $ref: 'http://localhost:1' }] },
      'string',
    ],
  ])('%j: %s', async (schema, type) => expect(await typeOf(schema)).toBe(type));
});

test('a type is written as its author would: indented, with the name of its kind', async () => {
  const properties = {
    disks: { type: 'array', description: 'Its {', items: { type: 'object', properties: { size: {} } } },
  };
  const text = await templateTypes([labTemplate({ v1: { type: 'object', properties } }, 'K3sTemplate')]);
  expect(text.slice(text.indexOf('export interface'), text.indexOf('/** The fields'))).toBe(`\
export interface K3sTemplate {
  apiVersion: "infrastructure.example.com/v1"
  kind: "K3sTemplate"
  metadata: { name?: string; namespace?: string; labels?: { [name: string]: string }; annotations?: { [name: string]: string }; [field: string]: unknown }
  spec: {
    /**
     * Its {
     */
    disks?: {
      size?: unknown
    }[]
  }
}

`);
});

test('a description of very many lines is cut', async () => {
  const text = await templateTypes([labTemplate({ v1: { type: 'object', description: 'x\n'.repeat(500_000) } })]);
  expect(text.match(/^ {3}\* x$/gm)?.length).toBe(5000);
});

test('kinds with several served versions have one type each, and templates are declared by both', async () => {
  const text = await templateTypes([labTemplate({ v1beta1: { type: 'object' }, v1: { type: 'object' } })]);
  expect(text.match(/^export interface \w+/gm)).toEqual([
    'export interface LabMachineTemplateV1',
    'export interface LabMachineTemplateV1beta1',
  ]);
  expect(text).toContain('"infrastructure.example.com/v1": LabMachineTemplateV1;');
  expect(text).toContain('"infrastructure.example.com/v1beta1": LabMachineTemplateV1beta1;');
});

describe('with the fields of provider kinds', async () => {
  /** What a project imports. */
  const knownIn = (text: string) => JSON.parse(/knownFields: KnownFields = (.*);/.exec(text)?.[1] ?? '') as KnownFields;
  const text = { type: 'string' };
  const disk = { type: 'object', properties: { size: text, labels: { type: 'object', additionalProperties: text } } };
  const spec = (properties: JsonObject) => ({
    type: 'object',
    properties: { template: { type: 'object', properties: { spec: { type: 'object', properties } } } },
  });
  const known = knownIn(
    await templateTypes([
      labTemplate({
        v1: spec({ disks: { type: 'array', items: disk }, any: { type: 'object' } }),
        v1beta1: spec({ image: text }),
      }),
    ]),
  );

  test.each([
    'spec.disks',
    'spec.disks[*].size',
    'spec.disks[0].labels.a',
    'spec.disks[*].labels.*',
    'spec.disks[*].*',
    'spec.any.thing[0]',
    'spec.image',
  ])('%s is accepted', (path) => {
    expect(() => defineInPlaceChanges({ infrastructureMachine: { LabMachine: [path] } }, known)).not.toThrow();
  });

  test.each<[string, string]>([
    ['spec.disk', 'infrastructureMachine: "spec.disk" is not a field of a LabMachine: disk is not known'],
    ['spec.disks[*].siz', 'siz is not known'],
    ['spec.disks.size', 'size is not known'],
    ['spec.image.name', 'name is not known'],
  ])('%s is refused', (path, message) => {
    expect(() => defineInPlaceChanges({ infrastructureMachine: { LabMachine: [path] } }, known)).toThrow(message);
  });

  test('a kind that is not among them is refused', () => {
    expect(() => defineInPlaceChanges({ bootstrapConfig: { KubeadmConfg: ['spec.files'] } }, known)).toThrow(
      new TypeError(
        'bootstrapConfig: KubeadmConfg is not known; it must be one of LabMachine: template-types adds those of other CRDs',
      ),
    );
  });
});

test.each<[string, JsonObject[], string]>([
  ['nothing', [], 'there is no CustomResourceDefinition with a served version that has a schema'],
  ['something else', [{ kind: 'ClusterClass' }], 'there is no CustomResourceDefinition'],
  ['no schema', [{ kind: 'CustomResourceDefinition', spec: { versions: [{ served: true }] } }], 'there is no'],
  [
    'the same twice',
    [labTemplate({ v1: { type: 'object' } }), labTemplate({ v1: { type: 'object' } })],
    'LabMachineTemplate is defined more than once: pass each CustomResourceDefinition once',
  ],
  [
    'a kind that would be code',
    [labTemplate({ v1: { type: 'object' } }, 'A {} evil()')],
    '"A {} evil() of infrastructure.example.com/v1" is not a name for a type',
  ],
])('%s is refused', async (_, objects, message) => {
  await expect(templateTypes(objects)).rejects.toThrow(UsageError);
  await expect(templateTypes(objects)).rejects.toThrow(message);
});
