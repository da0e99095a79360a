import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { count, shortList, withoutControls } from '../../../base/index.ts';
import {
  type Format,
  formats,
  type LintError,
  type LintResult,
  type LintSummary,
  lint,
} from '../../../checks/lint/index.ts';
import { readManifests, showPlace } from '../../../kubernetes/manifests/index.ts';
import { createManifestFacts, type Facts, rules } from '../../../policy/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { integerFlag, listFlag, outputFlag, switchFlag } from '../../framework/flags.ts';
import { exitCode, type Io, paintFor, UsageError } from '../../framework/program.ts';
import { version } from '../../framework/version.ts';
import { policyFlags } from '../policy-flags.ts';
import { createRulesOf, lintConfigName } from './config.ts';

const help = `
PATH is a file, a folder (all *.yaml, *.yml and *.json below it, except hidden
files and node_modules), or - for standard input. Settings without a flag come
from the nearest ${lintConfigName} in the folder of a manifest or above
it, up to the root of the git repository.

With --facts, rules about related objects run too: those of serve
--cluster-facts, except for deletions. Objects that these manifests lack are
unknown, except that they are taken to have all Services of a namespace if they
have one.

A comment turns off a rule for its line, for the next line, or, above the first
line of an object, for all of it:
  # extensionconfig-lint: off RULE reason

Exit code: 0 no errors, 1 errors (or more warnings than --max-warnings),
2 usage error, a file that cannot be read, a YAML error, an object without a
kind, or nothing to check.`;

/** The facts about the cluster in manifests; undefined without any. @throws {UsageError} */
async function factsIn(paths: readonly string[], io: Io): Promise<Facts | undefined> {
  if (paths.length === 0) {
    return undefined;
  }
  if (paths.includes('-')) {
    throw new UsageError('--facts: standard input is already being checked: name a file or a folder');
  }
  const { facts, add } = createManifestFacts();
  const unread: string[] = [];
  let [files, objects] = [0, 0];
  const textOf = (place: LintError) => `${showPlace(place)}: ${withoutControls(place.message)}`;
  for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal, () => files++)) {
    if ('message' in manifest) {
      if (paths.includes(manifest.file)) {
        throw new UsageError(`--facts: ${textOf(manifest)}`);
      }
      unread.push(textOf(manifest));
      continue;
    }
    for await (const read of manifest.documents()) {
      const problems = 'errors' in read ? read.errors : read.document.refusals;
      unread.push(...problems.slice(0, 1).map((problem) => textOf({ file: manifest.file, ...problem })));
      for (const { object } of 'errors' in read ? [] : read.document.objects) {
        objects += add(object) ? 1 : 0;
      }
    }
  }
  if (unread.length > 0) {
    const what = `${count(unread.length, 'document')} could not be read and are left out`;
    io.stderr.write(`lint: --facts: ${what}; the first is ${unread[0]}\n`);
  }
  if (objects === 0) {
    const kinds = 'ExtensionConfig, ClusterClass, Cluster, Namespace, Service, Secret';
    throw new UsageError(`--facts: no object in ${count(files, 'file')} that rules know about: ${kinds}`);
  }
  return facts;
}

/** Writes text, and waits for a slow reader. */
async function print({ stdout, signal }: Io, text: string): Promise<void> {
  if (text !== '' && !stdout.write(text)) {
    await once(stdout, 'drain', { signal }).catch(() => undefined);
  }
}

const formatNames = Object.keys(formats) as (keyof typeof formats)[];

export const command = defineCommand({
  description:
    'Checks the ExtensionConfigs in YAML and JSON files against the rules of the webhook. Other kinds are skipped.',
  args: [['[paths...]', 'files, folders, or - for standard input']],
  flags: {
    filename: listFlag('PATH', 'file or folder, same as PATH; may be repeated', { short: 'f' }),
    output: outputFlag(formatNames, 'report format'),
    quiet: switchFlag('print only errors: no warnings, no summary', { short: 'q' }),
    'allow-empty': switchFlag('do not fail if there is no ExtensionConfig'),
    'max-warnings': integerFlag('COUNT', 0, 1_000_000_000, 'fail if there are more warnings than this', {
      default: Number.POSITIVE_INFINITY,
      defaultText: 'no limit',
    }),
    facts: listFlag('PATH', 'other manifests with the objects that ExtensionConfigs depend on; may be repeated'),
    fix: switchFlag('change the files: the version, metadata.namespace, a port in quotes, and defaults'),
    ...policyFlags,
  },
  help,
  async run(call, named: string[]) {
    const { flags, io } = call;
    const paths = [...named, ...flags.filename];
    if (paths.length === 0) {
      throw new UsageError('lint: name files or folders to check, "." for this folder, or "-" for standard input');
    }
    if (flags.fix && paths.includes('-')) {
      throw new UsageError('lint: --fix changes files in place, and standard input is not a file: leave one out');
    }
    const rulesOf = createRulesOf(call);
    const surroundings = { now: new Date(), facts: await factsIn(flags.facts, io) };
    const format: Format = formats[flags.output];
    const context = { version, rules, paint: paintFor(io) };
    const summary: LintSummary = { files: 0, objects: 0, denials: 0, warnings: 0, errors: 0, skipped: 0 };
    const skipped: string[] = [];
    const unusedComments: string[] = [];
    const patches: string[] = [];
    const run = {
      paths,
      fix: flags.fix,
      stdin: io.stdin as Readable,
      policyOf(file: string) {
        const rulesOfFile = rulesOf(file);
        return rulesOfFile && { ...surroundings, rules: rulesOfFile };
      },
      signal: io.signal,
      onFile: () => summary.files++,
    };
    const results: LintResult[] = [];
    for await (const result of lint(run)) {
      let shown = result;
      if ('patch' in result) {
        patches.push(showPlace({ file: result.patch }));
      } else if ('skipped' in result) {
        summary.skipped += result.skipped.documents;
        skipped.push(showPlace(result.skipped));
      } else if ('unused' in result) {
        unusedComments.push(`${result.unused.ruleId} in ${showPlace(result.unused)}`);
      } else if ('fixed' in result) {
        io.stderr.write(`${showPlace(result.fixed)}: ${count(result.fixed.objects, 'ExtensionConfig')} fixed\n`);
      } else if ('error' in result) {
        summary.errors++;
        io.stderr.write(`${showPlace(result.error)}: ${withoutControls(result.error.message)}\n`);
      } else {
        const denials = result.object.findings.filter(({ severity }) => severity === 'deny');
        summary.objects++;
        summary.denials += denials.length;
        summary.warnings += result.object.findings.length - denials.length;
        shown = flags.quiet ? { object: { ...result.object, findings: denials } } : result;
      }
      results.push(shown);
      await print(io, format.each?.(shown, context) ?? '');
    }
    const note = (places: readonly string[], text: string) => {
      if (places.length > 0 && !flags.quiet) {
        io.stderr.write(`lint: ${text} ${shortList(places, 3)}\n`);
      }
    };
    note(unusedComments, 'comments turn off rules that report nothing there:');
    note(patches, `skipped ${count(patches.length, 'file')} with patches of a kustomization:`);
    note(
      skipped.slice(0, 1),
      `skipped ${count(summary.skipped, 'document')} without a kind, which kubectl would refuse; the first is`,
    );
    const hasEnd = !io.signal.aborted && (!flags.quiet || flags.output !== 'text');
    await print(io, hasEnd ? format.end(results, summary, context) : '');
    io.signal.throwIfAborted();
    const tooManyWarnings = summary.warnings > flags['max-warnings'];
    if (tooManyWarnings) {
      const most = `--max-warnings ${flags['max-warnings']}`;
      io.stderr.write(`lint: ${count(summary.warnings, 'warning')}, more than ${most}\n`);
    }
    const isEmpty = summary.objects === 0 && summary.errors === 0 && !flags['allow-empty'];
    if (isEmpty) {
      const where =
        summary.files === 0 ? 'no *.yaml, *.yml or *.json' : `no ExtensionConfig in ${count(summary.files, 'file')}`;
      io.stderr.write(`lint: ${where}; name other files, or use --allow-empty\n`);
    }
    if (summary.errors > 0 || isEmpty) {
      return exitCode.usage;
    }
    return summary.denials > 0 || tooManyWarnings ? exitCode.findings : exitCode.ok;
  },
});
