import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { readDocument, SourceError, sourcesOf, splitDocuments } from '../../kubernetes/manifests/index.ts';
import { createManifestFacts, type Facts } from '../../policy/index.ts';
import type { LintError } from './result.ts';

/** Number of documents between two turns of the event loop, so that signals are handled. */
const documentsPerTurn = 50;

/** The facts that manifests provide about their cluster. */
export interface ManifestFacts {
  facts: Facts;
  /** The number of objects with facts. */
  objects: number;
  /** Files that could not be read, which count as absent: a folder may contain templates. */
  errors: LintError[];
}

/**
 * Reads all manifests in files and folders as facts for rules.
 *
 * @param onFile called before each file is read.
 */
export async function readManifestFacts(
  paths: readonly string[],
  stdin: Readable,
  signal: AbortSignal,
  onFile: (file: string) => void = () => {},
): Promise<ManifestFacts> {
  const { facts, add } = createManifestFacts();
  const errors: LintError[] = [];
  let objects = 0;
  let documents = 0;
  for (const source of sourcesOf(paths, stdin)) {
    if (signal.aborted) {
      break;
    }
    const { file } = source;
    if (!('read' in source)) {
      errors.push(source);
      continue;
    }
    onFile(file);
    let text: string;
    try {
      text = await source.read(signal);
    } catch (error) {
      if (!signal.aborted && !(error instanceof SourceError)) {
        throw error;
      }
      errors.push({ file, message: (error as Error).message });
      continue;
    }
    for (const part of splitDocuments(text)) {
      if (++documents % documentsPerTurn === 0) {
        await setImmediate();
      }
      if ('error' in part) {
        errors.push({ file, line: part.line, column: 1, message: part.error });
        continue;
      }
      const document = readDocument(part);
      if ('errors' in document) {
        errors.push(...document.errors.slice(0, 1).map((error) => ({ file, ...error })));
        continue;
      }
      errors.push(...document.refusals.slice(0, 1).map((refusal) => ({ file, ...refusal })));
      for (const { object } of document.objects) {
        objects += add(object) ? 1 : 0;
      }
    }
  }
  return { facts, objects, errors };
}
