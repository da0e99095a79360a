import { hubVersion } from '../../src/extensionconfig/index.ts';
import { apiReports } from '../build/build-packages.ts';
import { withDeclarations } from '../build/declarations.ts';
import { hookMessages, messageTypes } from './message-types.ts';
import { modelSchemasFile, modelSchemasText } from './model-schemas.ts';
import { generatedPages } from './pages.ts';
import { programReport, programReportFile } from './program-report.ts';
import type { Generated } from './stages.ts';
import { hubTypes } from './types.ts';

const hooksLayer = new URL('../../src/runtimehooks/', import.meta.url);
const reports = new URL('../../docs/api/', import.meta.url);

/** Everything that is generated from the schemas and the code of the program. */
export async function generated(): Promise<Generated[]> {
  return [
    {
      file: new URL(`../../src/extensionconfig/api/${hubVersion}.generated.ts`, import.meta.url),
      text: await hubTypes(),
    },
    { file: new URL('message-types/message-types.generated.ts', hooksLayer), text: await messageTypes() },
    { file: new URL('catalog/hook-messages.generated.ts', hooksLayer), text: hookMessages() },
    { file: modelSchemasFile, text: modelSchemasText() },
    ...(await generatedPages()),
    { file: new URL(programReportFile, reports), text: await programReport() },
  ];
}

/** What the packages export, by means of the compiler. */
export async function declarationReports(): Promise<Generated[]> {
  return [...(await withDeclarations(apiReports))].map(([file, text]) => ({ file: new URL(file, reports), text }));
}
