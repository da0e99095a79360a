import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedReadme, readmeFile } from '../generate/readme.ts';

test('the generated parts of the README are fresh (else: npm run generate)', () => {
  expect(readFileSync(readmeFile, 'utf8')).toBe(generatedReadme());
});
