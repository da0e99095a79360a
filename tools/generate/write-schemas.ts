// Before everything else that is generated, since all of that imports it.
import { writeFileSync } from 'node:fs';
import { coreSchemasFile, coreSchemasText } from './core-schemas.ts';

writeFileSync(coreSchemasFile, coreSchemasText());
