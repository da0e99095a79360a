import type { Readable } from 'node:stream';
import { count, printableLines, systemProblem, withoutControls } from '../../base/index.ts';
import { type RewriteProblem, rewriteManifests } from '../../checks/lint/index.ts';
import { apiVersionOf, convert, hubVersion, kind, versions } from '../../extensionconfig/index.ts';
import { readManifests, replaceFile, showPlace } from '../../kubernetes/manifests/index.ts';
import { defineCommand } from '../framework/command.ts';
import { choiceFlag, listFlag, switchFlag } from '../framework/flags.ts';
import { exitCode, UsageError } from '../framework/program.ts';

const help = `
PATH is a file, a folder (all *.yaml, *.yml and *.json below it, except hidden
files and node_modules), or - for standard input. Without --write the result
goes to standard output. Comments, the order of keys and other kinds are
preserved.

Exit code: 0 everything is in the requested version, 1 something cannot be
converted (or, with --check, would be converted), 2 usage error, a file that
cannot be read or written, or a YAML error. A file with any of these stays as it
is.`;

async function diffOf(file: string, before: string, after: string): Promise<string> {
  const { formatPatch, structuredPatch } = await import('diff');
  const header = `--- a/${file}\n+++ b/${file}\n`;
  // Finding the smallest diff of many changes may take very long.
  const patch = structuredPatch(file, file, before, after, '', '', { context: 3, timeout: 5000 });
  return patch === undefined
    ? `${header}(too many differences to show)\n`
    : header + formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: false });
}

export const command = defineCommand({
  description: 'Converts the ExtensionConfigs in YAML and JSON files to another API version.',
  args: [['[paths...]', 'files, folders, or - for standard input']],
  flags: {
    to: choiceFlag('VERSION', versions.toReversed(), 'API version to convert to', { default: hubVersion }),
    filename: listFlag('PATH', 'file or folder, same as PATH; may be repeated', { short: 'f' }),
    write: switchFlag('change the files in place'),
    check: switchFlag('print a diff of what would change; exit code 1 if anything would'),
    quiet: switchFlag('with --write: do not say which files were changed', { short: 'q' }),
  },
  help,
  async run({ flags: { to, write, check, quiet, filename }, io }, named: string[]) {
    const paths = [...named, ...filename];
    if (write && check) {
      throw new UsageError('convert: --check changes nothing and --write does: leave one out');
    }
    if (paths.length === 0) {
      throw new UsageError('convert: name files or folders to convert, "." for this folder, or "-" for standard input');
    }
    if (write && paths.includes('-')) {
      throw new UsageError('convert: --write changes files in place, and standard input is not a file: leave one out');
    }
    let code: number = exitCode.ok;
    const report = (file: string, { isContent, ...problem }: RewriteProblem) => {
      io.stderr.write(`${showPlace({ file, ...problem })}: ${withoutControls(problem.message)}\n`);
      code = Math.max(code, isContent ? exitCode.findings : exitCode.usage);
    };
    let printed = '';
    for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal)) {
      if ('message' in manifest) {
        report(manifest.file, { ...manifest, isContent: false });
        continue;
      }
      const { file, text: before } = manifest;
      const { text, objects, problems } = rewriteManifests(before, (one) => convert(one, apiVersionOf(to)), to);
      for (const problem of problems) {
        report(file, problem);
      }
      if (problems.length > 0) {
        continue;
      }
      if (check) {
        if (text !== before) {
          io.stdout.write(printableLines(await diffOf(withoutControls(file), before, text)));
          code = Math.max(code, exitCode.findings);
        }
      } else if (!write) {
        const isJoined = printed === '' || text.startsWith('---');
        const separator = isJoined ? '' : `${printed.endsWith('\n') ? '' : '\n'}---\n`;
        // A file or another program gets the text as it is.
        io.stdout.write(separator + (io.stdout.isTTY === true ? printableLines(text) : text));
        printed = text === '' ? printed : text.slice(-1);
      } else if (text !== before) {
        try {
          await replaceFile(manifest, text);
          if (!quiet) {
            io.stderr.write(`${showPlace(manifest)}: ${count(objects, kind)} converted to ${to}\n`);
          }
        } catch (error) {
          report(file, { message: `cannot be written: ${systemProblem(error)}`, isContent: false });
        }
      }
    }
    io.signal.throwIfAborted();
    return code;
  },
});
