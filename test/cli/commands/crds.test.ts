import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aroundEach, expect, test } from 'vitest';
import { type JsonObject, objectAt, textAt } from '../../../src/kubernetes/index.ts';
import { offered } from '../../checks/conformance/trying.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../../support/ends.ts';
import { runProgram } from './io.ts';
import { labMachines, labObjects } from './lab-class.ts';
import { list } from './planning.ts';

aroundEach(ending);

const infrastructure = 'infrastructure.cluster.x-k8s.io';
const schemaOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const metadata = schemaOf({ labels: { type: 'object', additionalProperties: { type: 'string' } } });

/** Objects have a metadata of their own only where the definition says so. */
const crd = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${infrastructure}` },
  spec: {
    group: infrastructure,
    names: { kind },
    versions: [{ name: 'v1beta2', schema: { openAPIV3Schema: schemaOf({ spec: schemaOf({ template: spec }) }) } }],
  },
});
const crds = [
  crd('LabMachineTemplate', schemaOf({ spec: schemaOf({ size: { type: 'integer' }, zone: { type: 'string' } }) })),
  crd('LabClusterTemplate', schemaOf({ metadata, spec: schemaOf({ region: { type: 'string' } }) })),
];

/** An extension that sets a field of machine templates to a value. */
async function prepare(field: string, value: unknown) {
  const folder = mkdtempSync(join(tmpdir(), 'crds-'));
  endWith(() => rmSync(folder, { recursive: true }));
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path: `/spec/template/spec/${field}`, value }]));
  const server = await startExtension(({ url, body }) => {
    if (url.includes('/discovery')) {
      return { status: 'Success', handlers: [offered('GeneratePatches')] };
    }
    const request = JSON.parse(body) as { items: JsonObject[] };
    return {
      status: 'Success',
      items: request.items
        .filter((item) => textAt(objectAt(item, 'object'), 'kind') === 'LabMachineTemplate')
        .map(({ uid }) => ({ uid: uid!, patchType: 'JSONPatch', patch: patch.toString('base64') })),
    };
  });
  endWith(() => server.close());
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const config = extensionConfig('one', { url: server.url, caBundle }) as unknown as JsonObject;
  const request = {
    apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
    kind: 'GeneratePatchesRequest',
    variables: [],
    items: [
      {
        uid: '1',
        holderReference: {
          apiVersion: 'cluster.x-k8s.io/v1beta2',
          kind: 'MachineDeployment',
          namespace: 'default',
          name: 'a',
          fieldPath: 'spec.template.spec.infrastructureRef',
        },
        object: labMachines,
        variables: [],
      },
    ],
  };
  return {
    config: file('config.yaml', JSON.stringify(config)),
    all: file('all.yaml', list([...labObjects('generatepatches.one'), config])),
    written: file('written.yaml', list(labObjects('generatepatches.one'))),
    request: file('request.yaml', JSON.stringify(request)),
    crds: file('crds.yaml', list(crds)),
  };
}

const cases: [string, unknown, string][] = [
  [
    'size',
    '7',
    'spec.template.spec.size: Invalid value: "string": spec.template.spec.size in body must be of type integer: "string"',
  ],
  ['size', null, 'spec.template.spec.size: Invalid value: "null"'],
  ['count', 7, 'spec.template.spec.count: is not a field of a LabMachineTemplate'],
];

test.each(cases)('conformance refuses a patch of %s to %j', async (field, value, problem) => {
  const files = await prepare(field, value);
  const conformance = ['conformance', '-f', files.config, '--request', files.request, '--check', 'patches-valid'];
  const checked = await runProgram([...conformance, '--crds', files.crds]);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain(`items[0]: LabMachineTemplate lab: ${problem.slice(0, problem.indexOf(':'))}`);
});

test('plan and rehearse refuse one', async () => {
  const files = await prepare('size', '7');
  const planned = await runProgram(['plan', '--from', files.crds, '-f', files.all, '--crds', files.crds]);
  expect(planned.code, planned.stdout).toBe(1);
  const text = planned.stdout.replaceAll(/\s+/g, ' ');
  expect(text).toContain('.spec.template.spec.size: expected numeric (int or float), got string');
  expect(text).toContain('the value comes from patch sizes, extension generatepatches.one');
  expect(text).toContain("1 of 1 Cluster can't be applied");

  const classes = ['--cluster-files', files.written, '--cluster-files', files.written];
  const rehearsed = await runProgram(['rehearse', '-f', files.config, ...classes, '--crds', files.crds]);
  expect(rehearsed.code).toBe(1);
  expect(rehearsed.stdout).toContain('is not valid as patched: spec.template.spec.size');
});

test('a patch to a value of the type is taken by all, also where the definition has no metadata', async () => {
  const files = await prepare('size', 7);
  const planned = await runProgram(['plan', '--from', files.all, '--crds', files.crds]);
  expect([planned.code, planned.stderr]).toEqual([0, '']);
  const classes = ['--cluster-files', files.written, '--cluster-files', files.written];
  const rehearsed = await runProgram(['rehearse', '-f', files.config, ...classes, '--crds', files.crds]);
  expect(rehearsed.code, rehearsed.stdout).toBe(0);
  const conformance = ['conformance', '-f', files.config, '--request', files.request, '--check', 'patches-valid'];
  const checked = await runProgram([...conformance, '--crds', files.crds]);
  expect(checked.code, checked.stdout).toBe(0);
  expect(checked.stdout).toMatch(/^ {2}ok +patches-valid/m);
  const without = await runProgram(conformance);
  expect(without.stdout).toContain('pass those of the providers with --crds FILE');
});

test('files without a CustomResourceDefinition are a usage error', async () => {
  const { code, stderr } = await runProgram(['plan', '--from', 'package.json', '--crds', 'package.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('--crds: there is no CustomResourceDefinition in package.json');
});
