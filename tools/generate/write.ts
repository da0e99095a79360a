// Writes what is generated; with --check, writes nothing and names the files that differ.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { coreSchemasFile, coreSchemasText } from './core-schemas.ts';
import type { Generated } from './generated.ts';

const isCheck = process.argv.includes('--check');
const schemas: Generated = { file: coreSchemasFile, text: coreSchemasText() };
if (!isCheck) {
  // Before everything else that is generated, since all of that imports it.
  writeFileSync(schemas.file, schemas.text);
}
const { generated, declarationReports } = await import('./generated.ts');
if (isCheck) {
  const files = [schemas, ...(await generated())];
  const stale = files.filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  for (const { file } of stale) {
    process.stderr.write(`${fileURLToPath(file)} is not what would be generated: npm run generate\n`);
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const { file, text } of [...(await generated()), ...(await declarationReports())]) {
    writeFileSync(file, text);
  }
}
