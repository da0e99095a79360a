import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hubVersion, versions } from '../../../src/extensionconfig/index.ts';
import { definitionFile, definitionText } from '../../../tools/generate/definition.ts';
import { hubTypes } from '../../../tools/generate/types.ts';
import { validatorFile, validatorOf } from '../../../tools/generate/validators.ts';

test('the types of the hub version are those of the CustomResourceDefinition (else: npm run generate)', async () => {
  const checkedIn = readFileSync(new URL(`../../../src/extensionconfig/api/${hubVersion}.ts`, import.meta.url), 'utf8');
  expect(checkedIn).toBe(await hubTypes());
});

test('the definition in JSON is that of the manifest (else: npm run generate)', () => {
  expect(readFileSync(definitionFile, 'utf8')).toBe(definitionText);
});

test.each(
  versions,
)('the compiled schema of %s is that of the CustomResourceDefinition (else: npm run generate)', (version) => {
  expect(readFileSync(validatorFile(version), 'utf8')).toBe(validatorOf(version));
});
