import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definitionsOf = async () =>
  (await send(sandbox, 'GET', '/openapi/v2')).json.definitions as Record<string, JsonObject>;

test("has Kubernetes' own kinds, with references and what is required", async () => {
  const { 'apps.v1.Deployment': deployment, ...others } = await definitionsOf();
  expect(deployment).toMatchObject({
    type: 'object',
    properties: {
      metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      spec: { $ref: '#/definitions/io.k8s.api.v1.DeploymentSpec' },
    },
    'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Deployment' }],
  });
  expect(others['io.k8s.api.v1.DeploymentSpec']).toMatchObject({
    properties: { replicas: { type: 'integer', format: 'int32' } },
  });
  expect(others['io.k8s.api.v1.CustomResourceDefinitionSpec']).toMatchObject({ required: ['group', 'scope'] });
});

test('has custom kinds while they are served, without what OpenAPI v2 cannot represent', async () => {
  const properties = {
    plain: { type: 'string', maxLength: 3 },
    empty: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    either: {
      type: 'object',
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      properties: { a: { type: 'string' } },
    },
    list: { type: 'array', items: { type: 'object', additionalProperties: { type: 'integer' } } },
  };
  const spec = {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', required: ['plain'], properties } },
      },
    ],
  };
  const name = 'gadgets.example.com';
  await send(sandbox, 'POST', definitions, { body: { metadata: { name }, spec } });
  const schemas = await eventually(definitionsOf, (current) => 'com.example.v1.Gadget' in current);
  expect(schemas['com.example.v1.Gadget']).toEqual({
    type: 'object',
    required: ['plain'],
    properties: {
      apiVersion: expect.anything(),
      kind: expect.anything(),
      metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      plain: { type: 'string', maxLength: 3 },
      empty: {},
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      either: { type: 'object', properties: { a: { type: 'string' } } },
      list: { type: 'array', items: { type: 'object', additionalProperties: { type: 'integer' } } },
    },
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Gadget' }],
  });
  expect(Object.keys(schemas)).toContain('com.example.v1.GadgetList');
  await send(sandbox, 'DELETE', `${definitions}/${name}`);
  await eventually(definitionsOf, (current) => !('com.example.v1.Gadget' in current));
});

test.each([
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
])('%s has the same definitions', async (accept) => {
  const { bytes, headers } = await send(sandbox, 'GET', '/openapi/v2', { headers: { accept } });
  expect(headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  const { root } = await protobuf.load(
    new URL('../../../src/kubernetes/openapi/openapi-v2.proto', import.meta.url).pathname,
  );
  const document = root.lookupType('openapi.v2.Document').decode(bytes).toJSON() as {
    swagger: string;
    definitions: { additionalProperties: { name: string; value: JsonObject }[] };
  };
  expect(document.swagger).toBe('2.0');
  const schemas = new Map(document.definitions.additionalProperties.map(({ name, value }) => [name, value]));
  expect([...schemas.keys()]).toEqual(Object.keys(await definitionsOf()));
  expect(schemas.get('io.k8s.api.core.v1.ConfigMap')).toMatchObject({
    type: { value: ['object'] },
    vendorExtension: [
      {
        name: 'x-kubernetes-group-version-kind',
        value: { yaml: '- group: ""\n  kind: ConfigMap\n  version: v1\n' },
      },
    ],
  });
});
