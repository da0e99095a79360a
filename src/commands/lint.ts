import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { count, formats, type LintResult, type LintSummary, lint, printable, showPlace } from '../lint/index.ts';
import { createRuleSet, rules } from '../rules/index.ts';
import { addFlags, choiceFlag, type Flags, integerFlag, readFlags } from './flags.ts';
import { policyFlags, ruleSetOptionsOf } from './policy-flags.ts';
import { type DefineCommand, exitCode, type Io, UsageError } from './program.ts';
import { createProgress } from './progress.ts';
import { version } from './version.ts';

/** Characters of output that are gathered before they are written. */
const outputChunk = 16 * 1024;

const help = `
PATH is a file, a folder (all *.yaml, *.yml and *.json below it, without hidden
ones and node_modules), or - for standard input.

Exit code: 0 nothing to deny, 1 denials (or more warnings than --max-warnings),
2 wrong usage, a file that cannot be read, or a YAML error.`;

function tally(summary: LintSummary, result: LintResult): void {
  if ('error' in result) {
    summary.errors++;
    return;
  }
  summary.objects++;
  for (const { severity } of result.object.findings) {
    summary[severity === 'deny' ? 'denials' : 'warnings']++;
  }
}

/** Writes text in larger pieces, and waits when the reader is slow. */
function createOutput({ stdout, signal }: Io) {
  let pending = '';
  async function flush(): Promise<void> {
    const text = pending;
    pending = '';
    if (text !== '' && !stdout.write(text)) {
      await once(stdout, 'drain', { signal }).catch(() => undefined);
    }
  }
  return {
    flush,
    async write(text: string): Promise<void> {
      pending += text;
      if (pending.length >= outputChunk) {
        await flush();
      }
    },
  };
}

const formatNames = Object.keys(formats) as (keyof typeof formats)[];

const lintFlags = {
  format: choiceFlag('FORMAT', formatNames, { summary: 'form of the report', default: 'text' }),
  'max-warnings': integerFlag('COUNT', 0, 1_000_000_000, {
    summary: 'fail when there are more warnings than this',
    default: Number.POSITIVE_INFINITY,
    defaultText: 'any number is fine',
  }),
  ...policyFlags,
} satisfies Flags;

/** `lint [PATH…]`: the rules over manifests in files. */
export const defineLint: DefineCommand = (command, io, end) => {
  command
    .description(
      'Checks the ExtensionConfigs in YAML and JSON files with the rules of the webhook. Other kinds are skipped.',
    )
    .argument('[paths...]', 'files, folders, or - for standard input');
  addFlags(command, lintFlags);
  command.addHelpText('after', help);

  command.action(async (paths: string[]) => {
    if (paths.length === 0) {
      throw new UsageError('lint: name files or folders to check, "." for this folder, or "-" for standard input');
    }
    const flags = readFlags(lintFlags, command, io.env);
    const options = ruleSetOptionsOf(flags);
    const useColor = io.stdout.isTTY === true && !io.env.NO_COLOR;
    const format = formats[flags.format]({ version, rules: rules, useColor });
    const maxWarnings = flags['max-warnings'];

    const summary: LintSummary = { files: 0, objects: 0, denials: 0, warnings: 0, errors: 0 };
    const output = createOutput(io);
    const progress = createProgress(io.stderr);
    const now = new Date();
    const run = {
      paths,
      stdin: io.stdin as Readable,
      policy: { rules: createRuleSet(options), options, now: () => now },
      signal: io.signal,
      onFile: () => summary.files++,
    };
    await output.write(format.begin());
    for await (const result of lint(run)) {
      tally(summary, result);
      if ('error' in result) {
        progress.clear();
        io.stderr.write(`${showPlace(result.error)}: ${printable(result.error.message)}\n`);
        await output.write(format.error(result.error));
      } else {
        await output.write(format.object(result.object));
        progress.show(() => `${count(summary.objects, 'ExtensionConfig')} in ${count(summary.files, 'file')}`);
      }
    }
    progress.clear();
    if (io.signal.aborted) {
      await output.flush();
      io.stderr.write('lint: stopped before the end\n');
      end(exitCode.interrupted);
      return;
    }
    await output.write(format.end(summary));
    await output.flush();
    const tooManyWarnings = summary.warnings > maxWarnings;
    if (tooManyWarnings) {
      io.stderr.write(`lint: ${count(summary.warnings, 'warning')}, more than --max-warnings ${maxWarnings}\n`);
    }
    end(summary.errors > 0 ? exitCode.usage : summary.denials > 0 || tooManyWarnings ? exitCode.findings : exitCode.ok);
  });
};
