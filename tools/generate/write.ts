import { mkdirSync, writeFileSync } from 'node:fs';
import { hubVersion, versions } from '../../src/extensionconfig/index.ts';
import { apiReports } from '../build/build-packages.ts';
import { withDeclarations } from '../build/declarations.ts';
import { definitionFile, definitionText } from './definition.ts';
import { hookMessages, messageTypes } from './message-types.ts';
import { generatedPages } from './pages.ts';
import { programReport, programReportFile } from './program-report.ts';
import { typeTablesFile, typeTablesText } from './type-tables.ts';
import { hubTypes } from './types.ts';
import { validatorFile, validatorOf } from './validators.ts';

writeFileSync(definitionFile, definitionText);
writeFileSync(new URL(`../../src/extensionconfig/api/${hubVersion}.ts`, import.meta.url), await hubTypes());
for (const version of versions) {
  writeFileSync(validatorFile(version), validatorOf(version));
}
const hooksWing = new URL('../../src/runtimehooks/', import.meta.url);
writeFileSync(new URL('message-types/index.ts', hooksWing), await messageTypes());
writeFileSync(new URL('catalog/definitions/hook-messages.ts', hooksWing), hookMessages());
writeFileSync(typeTablesFile, typeTablesText());
for (const { file, text } of await generatedPages()) {
  writeFileSync(file, text);
}
const reports = new URL('../../docs/api/', import.meta.url);
mkdirSync(reports, { recursive: true });
for (const [file, text] of await withDeclarations(apiReports)) {
  writeFileSync(new URL(file, reports), text);
}
writeFileSync(new URL(programReportFile, reports), await programReport());
