import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { templateTypes } from '../../src/extension/scaffold/index.ts';
import { labTemplate } from '../extension/scaffold/crds.ts';
import { compile, linkedProject } from './linked-project.ts';

/** Mistakes do not compile, and the errors of a compiler say what is wrong. */
export async function expectMistakesToBeNamed(compiler?: string): Promise<void> {
  const disks = { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } };
  const spec = {
    type: 'object',
    required: ['template'],
    properties: {
      template: {
        type: 'object',
        required: ['spec'],
        properties: {
          spec: { type: 'object', properties: { cpus: { type: 'integer' }, disk: { type: 'string' }, disks } },
        },
      },
    },
  };
  const diskOf = (field: string) => ({ type: 'object', properties: { [field]: { type: 'integer' } } });
  const crds = [
    labTemplate({ v1: spec }),
    labTemplate({ v1: diskOf('gib'), v1beta1: diskOf('size') }, 'LabDiskTemplate'),
    labTemplate({ v1: spec }, 'Record'),
  ];
  const folder = await linkedProject(['GeneratePatches', 'UpdateMachine'], await templateTypes(crds));
  const lines: readonly [code: string, error: RegExp | undefined][] = [
    ["import { handler } from 'cluster-api-extension';", undefined],
    [
      "import { defineVariables, setArguments, setField, walkTemplates } from 'cluster-api-extension/topology';",
      undefined,
    ],
    ['const done = { handle: (_: unknown, { answer }: any) => answer.done() };', undefined],
    ["handler('BeforeClusterUpgrade', { name: 'fine-1', ...done });", undefined],
    ["handler('BeforeClusterUpgarde', { name: 'a', ...done });", /"BeforeClusterUpgarde"/],
    ["handler('Discovery', { name: 'a', ...done });", /"Discovery"/],
    ["const v = defineVariables({ tier: { schema: { type: 'string', enum: ['gold', 'iron'] } } });", undefined],
    ["defineVariables({ a: { requird: true, schema: { type: 'string' } } });", /requird is not known: use /],
    ["defineVariables({ a: { schema: { type: 'strin' } } });", /"strin"/],
    ["defineVariables({ a: { schema: { type: 'string', maxLenght: 5 } } });", /maxLenght is not known: use /],
    ['export const walk = (request: any) => walkTemplates(request, [', undefined],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate({ spec }, { values: { tier } }) { spec.template.spec.disk = tier ?? ''; } },",
      undefined,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate({ spec }) { spec.template.spec.cpu = 2; } },",
      /'cpu' does not exist.*Did you mean 'cpus'/,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate({ spec }) { spec.template.spec.cpus = 'two'; } },",
      /'string' is not assignable to type 'number'/,
    ],
    ["  { match: { kind: 'LabMachineTemplat' }, mutate() {} },", /"LabMachineTemplat"/],
    ["  { mutate({ spec }, { values: { tier } }) { spec.tier = tier === 'lead' ? 1 : 2; } },", /no overlap/],
    [
      "  { match: { kind: 'LabDiskTemplate', apiVersion: 'infrastructure.example.com/v1' }, mutate({ spec }) { spec.gib = 2; } },",
      undefined,
    ],
    [
      "  { match: { kind: 'LabDiskTemplate', apiVersion: 'infrastructure.example.com/v1' }, mutate({ spec }) { spec.size = 2; } },",
      /'size' does not exist/,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate(template) { setField(template, 'spec.template.spec.disks[0].size', 2); setField(template, 'spec.template.spec[\"any\"]', 2); } },",
      undefined,
    ],
    [
      `  { match: { kind: 'LabMachineTemplate' }, mutate(template) { for (const one of ['disk', 'any']) { setField(template, \`spec.template.spec.\${one}.x\`, 2); } } },`,
      undefined,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate(template) { setField(template, 'spec.template.spec.cpu', 2); } },",
      /spec.template.spec.cpu is not a field of this object/,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate(template) { setArguments(template, 'spec.template.args', {}); } },",
      /spec.template.args is not a field of this object/,
    ],
    [
      "  { match: { holder: { kind: 'Cluster' } }, mutate(template, { item }) { setField(template, 'spec.any.field', 2); setField(item.object, 'a.b', 1); setField({} as object, 'a.b', 1); setField({} as any, 'a.b', 1); } },",
      undefined,
    ],
    [
      "  { match: { kind: 'LabMachineTemplate' }, mutate(template) { setField(template, 'spec.template.spec.disks[0].size', 'two'); } },",
      /'string' is not assignable to parameter of type 'number'/,
    ],
    [
      "  { match: { kinds: 'Other' }, mutate({ spec }) { spec.any = 1; } },",
      /kinds is not known: use .*"(kind|apiVersion|holder|matchResources)/,
    ],
    ['], { variables: v });', undefined],
  ];
  writeFileSync(join(folder, 'src/mistakes.ts'), lines.map(([code]) => `${code}\n`).join(''));
  const all = (await compile(folder, compiler)).split('\n').filter((line) => /^\S/.test(line));
  const errors = all.filter((line) => line.startsWith('src/mistakes'));
  expect(all).toEqual(errors);
  const byLine = Map.groupBy(errors, (error) => Number(/\((\d+),/.exec(error)?.[1]));
  expect([...byLine.keys()]).toEqual(lines.flatMap(([, error], index) => (error === undefined ? [] : [index + 1])));
  for (const [index, [code, error]] of lines.entries()) {
    if (error !== undefined) {
      expect(byLine.get(index + 1)?.join('\n'), code).toMatch(error);
    }
  }
}
