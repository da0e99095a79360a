import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { ofGroupVersion } from '../../../src/sandbox/openapi-documents/index.ts';

const kind = (group: string, version: string) => ({
  'x-kubernetes-group-version-kind': [{ group, version, kind: 'K' }],
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const operation = (parts: JsonObject) => ({
  get: { responses: { 200: { $ref: '#/components/responses/ok' } }, ...parts },
});

const document: JsonObject = {
  openapi: '3.0.0',
  info: { title: 't', version: '1' },
  paths: {
    '/apis/a.com/v1': operation({}),
    '/apis/a.com/v1/things': operation({ parameters: [{ $ref: '#/components/parameters/p' }] }),
    '/apis/a.com/v1beta1/things': operation({}),
    '/apis/a.com.other/v1/things': operation({}),
    '/api/v1/pods': operation({}),
  },
  components: {
    schemas: {
      Answer: { properties: { deep: ref('Deep') } },
      Deep: { items: { $ref: '#/definitions/Old' } },
      Old: { type: 'string' },
      Own: { ...kind('a.com', 'v1'), properties: { self: ref('Own'), not: { default: ref('Unused') } } },
      Other: kind('a.com', 'v1beta1'),
      Unused: {},
    },
    responses: { ok: { description: '', content: { j: { schema: ref('Answer') } } }, bad: { description: '' } },
    parameters: { p: { name: 'p', in: 'query', schema: {} }, q: { name: 'q', in: 'query', schema: {} } },
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
};

const names = (value: unknown) => Object.keys(value as object);

test('returns the paths of a group and version, and everything they refer to', () => {
  const { paths, components, info } = ofGroupVersion(document, 'a.com', 'v1');
  expect(info).toEqual(document.info);
  expect(names(paths)).toEqual(['/apis/a.com/v1', '/apis/a.com/v1/things']);
  const { schemas, responses, parameters, securitySchemes } = components as JsonObject;
  expect(names(schemas)).toEqual(['Answer', 'Deep', 'Old', 'Own']);
  expect([names(responses), names(parameters), names(securitySchemes)]).toEqual([['ok'], ['p'], ['token']]);
});

test('also for the core group, and for one that is not in the document', () => {
  expect(names(ofGroupVersion(document, '', 'v1').paths)).toEqual(['/api/v1/pods']);
  const { paths, components } = ofGroupVersion(document, 'b.com', 'v1');
  expect(paths).toEqual({});
  expect(components).toEqual({ securitySchemes: { token: { type: 'http', scheme: 'bearer' } } });
});
