import { count, printable, shortList } from '../../../base/index.ts';
import { readableYaml } from '../../../base/yaml/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';
import { type MergeReport, mergeDocuments } from '../../../kubernetes/openapi/index.ts';
import { inFormat, jsonText } from '../../framework/layout.ts';
import { exitCode, FailureError, type Io } from '../../framework/program.ts';
import { type Collection, gather } from './sources.ts';

interface MergeFlags {
  kubeconfig: string | undefined;
  context: string | undefined;
  output: 'yaml' | 'json';
}

const maxNamed = 3;
const maxLines = 20;

function lines(items: readonly string[]): string[] {
  const shown = items.slice(0, maxLines).map(printable);
  return items.length > maxLines ? [...shown, `  … and ${items.length - maxLines} more`] : shown;
}

function summary(report: MergeReport, { converted, missing }: Collection): string {
  const { documents, paths, componentsBefore, componentsAfter } = report;
  const text = [
    `${count(documents, 'document')}, ${count(paths, 'path')}, ${count(componentsBefore, 'component')} became ${componentsAfter}`,
    ...lines(
      report.renamed.map(
        ({ section, name, newName, documents: of }) =>
          `  renamed: ${section} ${name} of ${shortList(of, maxNamed)} is ${newName}`,
      ),
    ),
    ...lines(converted.map((document) => `  converted: ${document} is OpenAPI v2`)),
    ...lines(
      report.dangling.map(
        ({ document, reference }) => `  dangling: ${document} refers to ${reference}, which is missing`,
      ),
    ),
    ...lines(
      report.conflicts.map(
        ({ place, kept, leftOut }) =>
          `  conflict: ${place} is taken from ${kept}, not from ${shortList(leftOut, maxNamed)}`,
      ),
    ),
    ...lines(missing.map(({ document, reason }) => `  missing: ${document}: ${reason}`)),
  ];
  return `${text.join('\n')}\n`;
}

/** The document as text. @throws {FailureError} when it exceeds the maximum length of a string. */
function textOf(document: JsonObject, output: MergeFlags['output']): string {
  try {
    return inFormat(output, { yaml: () => readableYaml(document, 0), json: () => jsonText(document) });
  } catch (error) {
    // V8: "Invalid string length". Everything else was checked when the documents were read.
    if (error instanceof RangeError) {
      throw new FailureError('openapi merge: the merged document is too long to be written; merge fewer documents');
    }
    throw error;
  }
}

/** Merges the documents that the arguments name, and writes the result; returns the exit code. */
export async function mergeSources(paths: readonly string[], flags: MergeFlags, io: Io): Promise<number> {
  const gathered = await gather(paths, flags, io);
  const { document, report } = await mergeDocuments(gathered.documents, io.signal);
  io.stdout.write(textOf(document, flags.output));
  io.stderr.write(`openapi merge: ${summary(report, gathered)}`);
  const isWhole = gathered.missing.length + report.conflicts.length + report.dangling.length === 0;
  return isWhole ? exitCode.ok : exitCode.findings;
}
