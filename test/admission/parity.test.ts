import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonObject, JsonPatchOperation, Operation } from '../../src/kubernetes/index.ts';
import { admission, requestFor } from './policy.ts';

interface Case {
  id: number;
  operation: Operation;
  object: JsonObject;
  oldObject: JsonObject | null;
  mutate: { allowed: boolean; patch: JsonPatchOperation[] };
  validated: JsonObject;
  validate: { allowed: boolean; code: number; causes: { reason: string; field: string }[] };
}

const cases = JSON.parse(
  readFileSync(new URL('../fixtures/parity/extensionconfigs.json', import.meta.url), 'utf8'),
) as Case[];

const upstream = admission({ profile: 'upstream' });

const pairs = (causes: readonly { reason?: string; field?: string }[]) =>
  causes.map(({ reason, field }) => `${field} ${reason}`).sort();

test.each(cases)('case $id: the upstream profile decides as Cluster API does', (recorded) => {
  const { response } = upstream.validate(
    requestFor(recorded.validated, {
      operation: recorded.operation,
      oldObject: recorded.oldObject ?? undefined,
    }),
  );
  expect(response.allowed).toBe(recorded.validate.allowed);
  expect(response.status?.code ?? 200).toBe(recorded.validate.code);
  expect(pairs(response.status?.details?.causes ?? [])).toEqual(pairs(recorded.validate.causes));
});

test.each(cases)('case $id: the defaults are those of Cluster API', (recorded) => {
  const { response } = upstream.mutate(
    requestFor(recorded.object, { operation: recorded.operation, oldObject: recorded.oldObject ?? undefined }),
  );
  expect(response.allowed).toBe(true);
  const patch: unknown[] = response.patch ? JSON.parse(Buffer.from(response.patch, 'base64').toString()) : [];
  // Its removal of an empty clientConfig is an artefact of Go's encoding.
  const expected = recorded.mutate.patch.filter(({ op }) => op !== 'remove');
  const byPath = (a: unknown, b: unknown) => ((a as { path: string }).path < (b as { path: string }).path ? -1 : 1);
  expect(patch.sort(byPath)).toEqual(expected.sort(byPath));
});
