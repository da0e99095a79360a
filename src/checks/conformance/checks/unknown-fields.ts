import { isJsonObject, type JsonObject } from '../../../kubernetes/index.ts';
import type { Check } from '../check.ts';
import { compareVariation } from '../compare.ts';

/** A request with fields that are in no release, both at the top level and in its objects. */
function withUnknownFields(request: JsonObject): JsonObject {
  const fields = { conformanceUnknownField: { a: [1, 'two', null] } };
  const known = Object.entries(request).map(([name, value]) =>
    isJsonObject(value) && isJsonObject(value.spec)
      ? [name, { ...value, ...fields, spec: { ...value.spec, ...fields } }]
      : [name, value],
  );
  return { ...Object.fromEntries(known), ...fields };
}

export const check: Check = {
  id: 'unknown-fields',
  group: 'Calls',
  level: 'must',
  asks: 'A request with unknown fields gets the same answer.',
  why: 'Releases of Cluster API add fields to requests and objects without a new version of the hook.',
  remedy: 'ignore unknown fields when decoding requests (no DisallowUnknownFields, no additionalProperties: false)',
  run: (trial, report) =>
    compareVariation(trial, report, 'with unknown fields', ({ request }) => withUnknownFields(request)),
};
