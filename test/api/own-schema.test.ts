import { expect, test } from 'vitest';
import { maxAnnotationBytes, openApiSchemaOf, versions } from '../../src/api/index.ts';
import { ownSchemaOf, totalBytes } from '../../src/api/own-schema.ts';

test.each(versions)('the schema of %s is that of the CustomResourceDefinition, with the metadata', (version) => {
  const { properties = {}, ...rest } = ownSchemaOf(version);
  const { properties: given = {}, ...givenRest } = openApiSchemaOf(version);
  const { metadata, ...others } = properties;
  const { metadata: _metadata, ...givenOthers } = given;
  expect(rest).toEqual(givenRest);
  expect(others).toEqual(givenOthers);
  expect(metadata).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 253 },
      generateName: { type: 'string', maxLength: 253 },
      annotations: { type: 'object', additionalProperties: { type: 'string' }, maxTotalBytes: maxAnnotationBytes },
      labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
      deletionTimestamp: { type: 'string' },
    },
  });
});

test.each([
  [{}, 100, 0],
  [{ a: 'bc' }, 100, 3],
  [{ a: 'é', é: '' }, 100, 5],
  [{ a: 7, b: null }, 100, 2],
  [{ a: 'bc', d: 'ef' }, 3, 6],
  // Counted until there are more than enough.
  [{ a: 'bc', d: 'ef' }, 2, 3],
])('%j has the bytes of its keys and values, up to %d: %d', (map, enough, bytes) => {
  expect(totalBytes(map, enough)).toBe(bytes);
});
