import { writeFileSync } from 'node:fs';
import { count, printable, shortList, systemProblem } from '../../../base/index.ts';
import { readableYaml } from '../../../base/yaml/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';
import { MergeError, type MergeReport, mergeDocuments } from '../../../sandbox/openapi-documents/index.ts';
import { jsonText } from '../../framework/layout.ts';
import { exitCode, FailureError, type Io } from '../../framework/program.ts';
import { startProgress } from '../../framework/progress.ts';
import { cacheDirectory, openCache } from './cache.ts';
import type { MergeFlagValues } from './merge-flags.ts';
import { type Collection, gather } from './sources.ts';

type Report = MergeReport & Pick<Collection, 'cached' | 'missing' | 'converted'>;

const maxNamed = 3;
const maxLines = 20;

function lines(items: readonly string[]): string[] {
  const shown = items.slice(0, maxLines).map(printable);
  return items.length > maxLines
    ? [...shown, `  … and ${items.length - maxLines} more; --report FILE writes all of them`]
    : shown;
}

function summary(report: Report): string {
  const { documents, cached, paths, componentsBefore, componentsAfter } = report;
  const from = cached === 0 ? '' : ` (${cached} from the cache)`;
  const text = [
    `${count(documents, 'document')}${from}, ${count(paths, 'path')}, ${count(componentsBefore, 'component')} became ${componentsAfter}`,
    ...lines(
      report.renamed.map(
        ({ section, name, newName, documents: of }) =>
          `  renamed: ${section} ${name} of ${shortList(of, maxNamed)} is ${newName}`,
      ),
    ),
    ...lines(report.converted.map((document) => `  converted: ${document} is OpenAPI v2`)),
    ...lines(
      report.corrected.map(
        ({ document, reference }) => `  corrected: ${document} refers to ${reference}, as OpenAPI v2 does`,
      ),
    ),
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
    ...lines(report.missing.map(({ document, reason }) => `  missing: ${document}: ${reason}`)),
  ];
  return `${text.join('\n')}\n`;
}

function writeReport(file: string, report: Report): void {
  try {
    writeFileSync(file, jsonText(report));
  } catch (error) {
    throw new FailureError(`--report: ${file} cannot be written: ${systemProblem(error)}`);
  }
}

/** The document as text. @throws {FailureError} when it exceeds the maximum length of a string. */
function textOf(document: JsonObject, output: MergeFlagValues['output']): string {
  try {
    return output === 'json' ? jsonText(document) : readableYaml(document, 0);
  } catch (error) {
    // V8: "Invalid string length". Everything else was checked when the documents were read.
    if (error instanceof RangeError) {
      throw new FailureError('openapi merge: the merged document is too long to be written; merge fewer documents');
    }
    throw error;
  }
}

/** Merges the documents that the arguments name, and writes the result; returns the exit code. */
export async function mergeSources(args: readonly string[], flags: MergeFlagValues, io: Io): Promise<number> {
  const timeout = AbortSignal.timeout(flags.timeout);
  const signal = AbortSignal.any([io.signal, timeout]);
  const warn = (message: string) => io.stderr.write(`openapi merge: ${printable(message)}\n`);
  const cache = flags['skip-cache'] ? undefined : await openCache(flags['cache-dir'] ?? cacheDirectory(io.env), warn);
  let state = 'reading';
  using progress = startProgress(io.stderr, () => state);
  try {
    const gathered = await gather(args, flags, {
      io,
      cache,
      signal,
      onProgress: (done, total) => {
        state = `${done} of ${total} documents read`;
      },
    });
    const { document, report: merged } = await mergeDocuments(gathered.documents, {
      signal,
      onProgress: (done, total) => {
        state = `merging, ${Math.floor((done / total) * 100)} %`;
        progress.show(() => state);
      },
    });
    const { cached, missing, converted } = gathered;
    const report: Report = { ...merged, cached, missing, converted };
    const text = textOf(document, flags.output);
    if (flags.report !== undefined) {
      writeReport(flags.report, report);
    }
    progress.clear();
    io.stdout.write(text);
    io.stderr.write(`openapi merge: ${summary(report)}`);
    const isWhole = missing.length + merged.conflicts.length + merged.dangling.length === 0;
    return isWhole ? exitCode.ok : exitCode.findings;
  } catch (error) {
    io.signal.throwIfAborted();
    if (timeout.aborted) {
      throw new FailureError(`openapi merge: not finished after ${flags.timeout / 1000} s; --timeout allows more`);
    }
    throw error instanceof MergeError ? new FailureError(`openapi merge: ${printable(error.message)}`) : error;
  } finally {
    await cache?.cleanUp();
  }
}
