import { writeFileSync } from 'node:fs';
import { versions } from '../../src/api/index.ts';
import { generatedReadme, readmeFile } from './readme.ts';
import { typesOf } from './types.ts';

for (const version of versions) {
  writeFileSync(new URL(`../../src/api/${version}.ts`, import.meta.url), await typesOf(version));
}
writeFileSync(readmeFile, generatedReadme());
