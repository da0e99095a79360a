import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { apiVersionOf, hubVersion, kind, type Version, versionOf, versions } from '../api/index.ts';
import { ConversionError, extensionConfigConverter } from '../conversion/index.ts';
import { formatFieldPath, isJsonObject, type Json } from '../kubernetes/index.ts';
import {
  count,
  isExtensionConfig,
  maxDocumentLength,
  printable,
  readDocument,
  type Source,
  SplitError,
  showPlace,
  sourcesOf,
  splitDocuments,
  systemProblem,
} from '../lint/index.ts';
import { addFlags, choiceFlag, type Flags, readFlags, switchFlag } from './flags.ts';
import { type Edit, EditError, editDocument, editsBetween } from './manifest-edit.ts';
import { type DefineCommand, exitCode, UsageError } from './program.ts';
import { replaceFile } from './replace-file.ts';

const help = `
PATH is a file, a folder (all *.yaml, *.yml and *.json below it, without hidden
ones and node_modules), or - for standard input. Without --write the result goes
to standard output. Comments, the order of keys and other kinds stay.

Exit code: 0 all is in the wanted version, 1 something cannot be converted,
2 wrong usage, a file that cannot be read or written, or a YAML error. A file
with any of these stays as it is.`;

const convertFlags = {
  to: choiceFlag('VERSION', versions.toReversed(), {
    summary: 'version of the API to convert to',
    default: hubVersion,
  }),
  write: switchFlag('change the files in place'),
} satisfies Flags;

/** One thing that is wrong with a stream. */
interface Problem {
  line?: number;
  column?: number;
  message: string;
  /** Whether the stream could be read, and only its content not be converted. */
  isContent: boolean;
}

interface Converted {
  text: string;
  /** Number of ExtensionConfigs that were in another version. */
  objects: number;
  problems: Problem[];
}

/** Largest stream, in bytes: it is held in memory as a whole, so that nothing of it is written before all is well. */
const maxStreamBytes = 4 * maxDocumentLength;

async function readAll(source: Source, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source.open(signal)) {
    size += chunk.length;
    if (size > maxStreamBytes) {
      throw new SplitError(`is larger than ${maxStreamBytes} bytes; split it into several files`, 1);
    }
    // The chunks of a file share one buffer.
    chunks.push(Buffer.from(chunk));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new SplitError('is not valid UTF-8', 1);
  }
}

function convertDocument(text: string, firstLine: number, to: Version): Converted {
  const read = readDocument({ text, firstLine });
  if ('errors' in read) {
    return { text, objects: 0, problems: read.errors.map((error) => ({ ...error, isContent: false })) };
  }
  const edits: Edit[] = [];
  const problems: Problem[] = [];
  let objects = 0;
  const root = read.document.toJS({ maxAliasCount: 100 }) as Json;
  if (isJsonObject(root) && root.kind === `${kind}List` && versionOf(root.apiVersion) !== undefined) {
    edits.push(...editsBetween(root.apiVersion as Json, apiVersionOf(to), ['apiVersion']));
  }
  for (const { object, path, placeOf } of read.objects.filter((placed) => isExtensionConfig(placed.object))) {
    try {
      const converted = extensionConfigConverter.convert(object, apiVersionOf(to));
      objects += converted === object ? 0 : 1;
      const written = path.reduce<Json | undefined>((at, step) => (at as Record<string, Json>)[step], root);
      // Items of a typed list may leave the version to the list.
      const inherits = isJsonObject(written) && !Object.hasOwn(written, 'apiVersion');
      edits.push(
        ...editsBetween(object, converted, [...path]).filter(
          (edit) => !(inherits && edit.path.length === path.length + 1 && edit.path.at(-1) === 'apiVersion'),
        ),
      );
    } catch (error) {
      if (!(error instanceof ConversionError)) {
        throw error;
      }
      const message = `${formatFieldPath(error.path)}: ${error.message}`;
      problems.push({ ...placeOf(error.path), message, isContent: true });
    }
  }
  try {
    return { text: problems.length === 0 ? editDocument(text, read.document, edits) : text, objects, problems };
  } catch (error) {
    if (!(error instanceof EditError)) {
      throw error;
    }
    return { text, objects, problems: [{ line: firstLine, column: 1, message: error.message, isContent: true }] };
  }
}

async function convertStream(text: string, to: Version): Promise<Converted> {
  const result: Converted = { text: '', objects: 0, problems: [] };
  let done = 0;
  for await (const part of splitDocuments(
    (async function* () {
      yield text;
    })(),
  )) {
    // What stands between two documents (comments behind a "...", say) belongs to none.
    const at = text.indexOf(part.text, done);
    const converted = convertDocument(part.text, part.firstLine, to);
    result.text += text.slice(done, at) + converted.text;
    result.objects += converted.objects;
    result.problems.push(...converted.problems);
    done = at + part.text.length;
  }
  result.text += text.slice(done);
  return result;
}

async function readAndConvert(source: Source, to: Version, signal: AbortSignal) {
  let before = '';
  try {
    before = await readAll(source, signal);
    return { before, ...(await convertStream(before, to)) };
  } catch (error) {
    let problem: Problem;
    if (error instanceof SplitError) {
      problem = { line: error.line, column: 1, message: error.message, isContent: false };
    } else if ((error as NodeJS.ErrnoException).code !== undefined) {
      problem = { message: `cannot be read: ${systemProblem(error)}`, isContent: false };
    } else {
      throw error;
    }
    return { before, text: before, objects: 0, problems: [problem] };
  }
}

/** `convert [PATH…]`: manifests in another version of the API. */
export const defineConvert: DefineCommand = (command, io, end) => {
  command
    .description('Rewrites the ExtensionConfigs in YAML and JSON files in another version of the API.')
    .argument('[paths...]', 'files, folders, or - for standard input');
  addFlags(command, convertFlags);
  command.addHelpText('after', help);

  command.action(async (paths: string[]) => {
    const { to, write } = readFlags(convertFlags, command, io.env);
    if (paths.length === 0) {
      throw new UsageError('convert: name files or folders to convert, "." for this folder, or "-" for standard input');
    }
    if (write && paths.includes('-')) {
      throw new UsageError('convert: --write changes files in place, and standard input is none: leave one out');
    }
    let code: number = exitCode.ok;
    const report = (file: string, { isContent, ...problem }: Problem) => {
      io.stderr.write(`${showPlace({ file, ...problem })}: ${printable(problem.message)}\n`);
      code = Math.max(code, isContent ? exitCode.findings : exitCode.usage);
    };
    let printed = '';
    for await (const source of sourcesOf(paths, io.stdin as Readable)) {
      if (io.signal.aborted) {
        io.stderr.write('convert: stopped before the end\n');
        end(exitCode.interrupted);
        return;
      }
      if (!('open' in source)) {
        report(source.file, { message: source.message, isContent: false });
        continue;
      }
      const { file } = source;
      const { before, text, objects, problems } = await readAndConvert(source, to, io.signal);
      for (const problem of problems) {
        report(file, problem);
      }
      if (problems.length > 0) {
        continue;
      }
      if (!write) {
        const isJoined = printed === '' || text.startsWith('---');
        const separator = isJoined ? '' : `${printed.endsWith('\n') ? '' : '\n'}---\n`;
        io.stdout.write(separator + text);
        printed = text === '' ? printed : text.slice(-1);
      } else if (text !== before) {
        try {
          if (!(await stat(file)).isFile()) {
            throw new Error('is no regular file');
          }
          await replaceFile(file, text);
          io.stderr.write(`${printable(file)}: ${count(objects, kind)} converted to ${to}\n`);
        } catch (error) {
          report(file, { message: `cannot be written: ${systemProblem(error)}`, isContent: false });
        }
      }
    }
    end(code);
  });
};
