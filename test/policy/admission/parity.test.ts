import { expect } from 'vitest';
import { decodeAdmissionReview } from '../../../src/kubernetes/index.ts';
import { capturedCalls } from '../../server/running.ts';
import { testRows } from '../../support/rows.ts';
import { admission, requestFor } from './policy.ts';
import { causesAsText, recordedCases } from './recorded.ts';

const upstream = admission({ profile: 'upstream' });

const rows = recordedCases.map((recorded) => [`case ${recorded.id}`, recorded] as const);

testRows('the upstream profile decides as Cluster API does', rows, (recorded) => {
  const { response } = upstream.validate(
    requestFor(recorded.validated, { operation: recorded.operation, oldObject: recorded.oldObject ?? undefined }),
  );
  expect(response.allowed).toBe(recorded.validate.allowed);
  expect(response.status?.code ?? 200).toBe(recorded.validate.code);
  expect(causesAsText(response.status?.details?.causes ?? [])).toEqual(causesAsText(recorded.validate.causes));
});

testRows('the defaults are those of Cluster API', rows, (recorded) => {
  const { response } = upstream.mutate(
    requestFor(recorded.object, { operation: recorded.operation, oldObject: recorded.oldObject ?? undefined }),
  );
  expect(response.allowed).toBe(true);
  const patch: unknown[] = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
  // Its removal of an empty clientConfig is an artifact of Go's encoding.
  const expected = recorded.mutate.patch.filter(({ op }) => op !== 'remove');
  const byPath = (a: unknown, b: unknown) => ((a as { path: string }).path < (b as { path: string }).path ? -1 : 1);
  expect(patch.sort(byPath)).toEqual(expected.sort(byPath));
});

const reviews = capturedCalls
  .filter(({ body }) => body.kind === 'AdmissionReview')
  .map((call) => [call.name, call] as const);

testRows('a captured call of an API server is allowed', reviews, ({ name, body }) => {
  const decoded = decodeAdmissionReview(body);
  const { request } = decoded as Extract<typeof decoded, { request: unknown }>;
  const { response } = admission()[name.includes('mutate') ? 'mutate' : 'validate'](request);
  const isDeprecated = name.includes('v1alpha1') && name.includes('validate');
  expect(response).toEqual({
    uid: body.request.uid,
    allowed: true,
    ...(isDeprecated && { warnings: [expect.stringContaining('is deprecated')] }),
  });
});
