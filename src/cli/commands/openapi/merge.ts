import type { Readable } from 'node:stream';
import { count, eachOf, printable, shortList } from '../../../base/index.ts';
import { readableYaml } from '../../../base/yaml/index.ts';
import { connect, explain, isStatus, loadKubeConfig, shortRetries } from '../../../kubernetes/client/index.ts';
import { JsonError, type JsonObject } from '../../../kubernetes/index.ts';
import { readManifests } from '../../../kubernetes/manifests/index.ts';
import {
  documentList,
  InvalidOpenApi,
  type MergeReport,
  mergeDocuments,
  openApiOf,
  readOpenApi,
} from '../../../kubernetes/openapi/index.ts';
import { inFormat, jsonText } from '../../framework/layout.ts';
import { exitCode, FailureError, type Io, UsageError } from '../../framework/program.ts';

interface MergeFlags {
  kubeconfig: string | undefined;
  context: string | undefined;
  output: 'yaml' | 'json';
}

const mebibyte = 1024 * 1024;
const maxTotalBytes = 512 * mebibyte;
const maxNamed = 3;
const maxLines = 20;

/** A document, or the reason why a server lists one that it does not serve. */
type Source = { name: string } & ({ document: JsonObject; isConverted: boolean } | { reason: string });

/** Takes the sizes of documents in bytes. @throws {FailureError} when they are too large together. */
function createLimit() {
  let total = 0;
  return (bytes: number) => {
    total += bytes;
    if (total > maxTotalBytes) {
      throw new FailureError(
        `all documents together have more than ${maxTotalBytes / mebibyte} MiB; merge some of them`,
      );
    }
  };
}

/** All documents that the API server lists. Those that it does not serve are reported as missing. */
async function fromCluster(flags: MergeFlags, io: Io, limit: (bytes: number) => void): Promise<Source[]> {
  const config = await loadKubeConfig(flags, io.env).catch((error: Error) => {
    throw new UsageError(`openapi merge: no API server: ${error.message}; or name files`);
  });
  const cluster = connect(config, io.signal, shortRetries);
  const list = await cluster.request('GET', '/openapi/v3').catch((error: unknown) => {
    throw isStatus(error, 404)
      ? new FailureError(
          `the API server does not publish OpenAPI v3, which Kubernetes has had since 1.24: ${error.message}`,
        )
      : explain(error, 'get', 'the URL', '/openapi/v3');
  });
  const places = documentList(list);
  if (places === undefined) {
    throw new FailureError(
      `${printable(config.getCurrentCluster()?.server ?? '')}/openapi/v3 is not a list of documents`,
    );
  }
  const read = async (path: string): Promise<JsonObject | Error> => {
    try {
      return await cluster.request('GET', path);
    } catch (error) {
      io.signal.throwIfAborted();
      // The document has changed since it was listed: the server redirects to the new hash.
      return isStatus(error, 301) && path.includes('?') ? await read(path.split('?')[0] as string) : (error as Error);
    }
  };
  return eachOf(places, 10, async ({ name, path }): Promise<Source> => {
    const value = await read(path);
    if (value instanceof Error) {
      return { name, reason: value.message };
    }
    // Beyond a limit it ends: merging only a part would be misleading.
    limit(JSON.stringify(value).length);
    try {
      return { name, ...openApiOf(value) };
    } catch (error) {
      return { name, reason: (error as Error).message };
    }
  });
}

async function* fromFiles(path: string, { stdin, signal }: Io, limit: (bytes: number) => void): AsyncGenerator<Source> {
  let count = 0;
  for await (const source of readManifests([path], stdin as Readable, signal)) {
    const problem = (message: string) => new UsageError(`openapi merge: ${printable(source.file)} ${message}`);
    if ('message' in source) {
      throw problem(source.message);
    }
    count++;
    const bytes = Buffer.from(source.text.replace(/^\ufeff/, ''));
    limit(bytes.length);
    try {
      yield { name: source.file, ...readOpenApi(bytes) };
    } catch (error) {
      throw error instanceof InvalidOpenApi || error instanceof JsonError ? problem(error.message) : error;
    }
  }
  signal.throwIfAborted();
  if (count === 0) {
    throw new UsageError(`openapi merge: ${printable(path)} has no *.yaml, *.yml or *.json in it`);
  }
}

function lines(items: readonly string[]): string[] {
  const shown = items.slice(0, maxLines).map(printable);
  return items.length > maxLines ? [...shown, `  … and ${items.length - maxLines} more`] : shown;
}

function summary(report: MergeReport, converted: readonly Source[], missing: readonly (Source & { reason: string })[]) {
  const { documents, paths, componentsBefore, componentsAfter, renamed, dangling, conflicts } = report;
  const notes = [
    renamed.map(
      ({ section, name, newName, documents: of }) =>
        `  renamed: ${section} ${name} of ${shortList(of, maxNamed)} is ${newName}`,
    ),
    converted.map(({ name }) => `  converted: ${name} is OpenAPI v2`),
    dangling.map(({ document, reference }) => `  dangling: ${document} refers to ${reference}, which is missing`),
    conflicts.map(
      ({ place, kept, leftOut }) =>
        `  conflict: ${place} is taken from ${kept}, not from ${shortList(leftOut, maxNamed)}`,
    ),
    missing.map(({ name, reason }) => `  missing: ${name}: ${reason}`),
  ];
  const counts = `${count(documents, 'document')}, ${count(paths, 'path')}, ${count(componentsBefore, 'component')} became ${componentsAfter}`;
  return `${[counts, ...notes.flatMap(lines)].join('\n')}\n`;
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

/** Merges files, and the API server's documents without any or if a flag selects it. Returns the exit code. */
export async function mergeSources(paths: readonly string[], flags: MergeFlags, io: Io): Promise<number> {
  const limit = createLimit();
  const sources: Source[] = [];
  if (paths.length === 0 || flags.kubeconfig !== undefined || flags.context !== undefined) {
    sources.push(...(await fromCluster(flags, io, limit)));
  }
  for (const path of paths) {
    for await (const source of fromFiles(path, io, limit)) {
      sources.push(source);
    }
  }
  const present = sources.filter((source) => 'document' in source);
  const missing = sources.filter((source) => 'reason' in source);
  const { document, report } = await mergeDocuments(present, io.signal);
  io.stdout.write(textOf(document, flags.output));
  const converted = present.filter(({ isConverted }) => isConverted);
  io.stderr.write(`openapi merge: ${summary(report, converted, missing)}`);
  const isWhole = missing.length + report.conflicts.length + report.dangling.length === 0;
  return isWhole ? exitCode.ok : exitCode.findings;
}
