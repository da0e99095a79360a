import { expect, test } from 'vitest';
import { handler } from '../../../../src/extension/index.ts';
import { applyPatches, callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';
import { setField, type TemplatePatcher, walkTemplates } from '../../../../src/extension/sdk/topology/index.ts';
import type { GeneratePatchesResponse } from '../../../../src/runtimehooks/index.ts';

const request = requestFor('GeneratePatches');

const patched = async (mutate: TemplatePatcher['mutate']) => {
  const patcher = handler('GeneratePatches', {
    name: 'patch',
    handle: (asked, { answer }) => answer.done({ items: walkTemplates(asked, [{ mutate }]) }),
  });
  const { response } = await callHandler(patcher, request);
  return applyPatches(request, response);
};

test('templates are as after the patches', async () => {
  const [template] = await patched((one) => setField(one, 'spec.template.spec.region', 'us'));
  expect(template).toEqual({ ...request.items[0]!.object, spec: { template: { spec: { region: 'us' } } } });
  expect(await patched(() => {})).toEqual(request.items.map(({ object }) => object));
});

const encoded = (patch: unknown) => Buffer.from(JSON.stringify(patch)).toString('base64');
const response = (uid: string, patch: unknown) =>
  ({ items: [{ uid, patchType: 'JSONPatch', patch: encoded(patch) }] }) as unknown as GeneratePatchesResponse;

test('without patches, and with an empty one, templates are as in the request', () => {
  const objects = request.items.map(({ object }) => object);
  expect(applyPatches(request, { status: 'Success' })).toEqual(objects);
  const { uid } = request.items[0]!;
  expect(applyPatches(request, response(uid, []))).toEqual(objects);
  const none = { items: [{ uid, patchType: 'JSONMergePatch', patch: '' }] } as unknown as GeneratePatchesResponse;
  expect(applyPatches(request, none)).toEqual(objects);
});

test('what Cluster API ignores is left out', () => {
  const { uid, object } = request.items[0]!;
  const renamed = response(uid, [{ op: 'replace', path: '/metadata/name', value: 'other' }]);
  expect(applyPatches(request, renamed)[0]).toEqual(object);
});

test('a Failure is an error: unchanged templates would look as if the patches did nothing', async () => {
  await expect(patched(() => Promise.reject(new Error('x')))).rejects.toThrow(
    'the response is a Failure, of which Cluster API applies nothing: handler patch failed: see the log of the extension',
  );
});

test('a patch that cannot be applied is an error', () => {
  const { uid } = request.items[0]!;
  expect(() => applyPatches(request, response(uid, [{ op: 'remove', path: '/spec/none' }]))).toThrow(
    'failed to apply patch: error applying json patch (RFC6902)',
  );
  expect(() => applyPatches(request, response('other', []))).toThrow(
    'the response has a patch for "other", which the request does not have',
  );
});
