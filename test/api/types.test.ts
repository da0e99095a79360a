import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { versions } from '../../src/api/index.ts';
import { typesOf } from '../generate/types.ts';

test.each(
  versions,
)('the types of %s are those of the CustomResourceDefinition (else: npm run generate)', async (version) => {
  const checkedIn = readFileSync(new URL(`../../src/api/${version}.ts`, import.meta.url), 'utf8');
  expect(checkedIn).toBe(await typesOf(version));
});
