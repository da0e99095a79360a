import { dirname, resolve } from 'node:path';
import { count, systemProblem } from '../../../base/index.ts';
import { BaselineError, createBaseline, type LintedObject } from '../../../checks/lint/index.ts';
import { createReplacer, ReplaceError } from '../../../kubernetes/manifests/index.ts';
import { readLimitedFile } from '../../framework/limited-file.ts';
import { FailureError, UsageError } from '../../framework/program.ts';

/** Largest baseline, in MiB: 100,000 findings. */
const maxMebibytes = 32;

interface Baselines {
  /** An object without known findings; none if they are written down. */
  without(object: LintedObject): LintedObject;
  /** Writes the file, if one is to be written; what to tell the user, if anything. @throws {FailureError} */
  finish(): Promise<string | undefined>;
}

/** @throws {UsageError} for a file that is no baseline. */
export function openBaselines(flags: {
  baseline: string | undefined;
  'write-baseline': string | undefined;
}): Baselines {
  const { baseline: file, 'write-baseline': target } = flags;
  if (target !== undefined) {
    if (file !== undefined) {
      throw new UsageError(
        'lint: --write-baseline writes all findings, --baseline leaves out known ones: leave one out',
      );
    }
    const written = createBaseline(dirname(resolve(target)));
    return {
      without(object) {
        for (const finding of object.findings) {
          written.add(object, finding);
        }
        return { ...object, findings: [] };
      },
      async finish() {
        try {
          await createReplacer()(target, written.format());
        } catch (error) {
          const problem = error instanceof ReplaceError ? error.message : systemProblem(error);
          throw new FailureError(`--write-baseline: ${target}: ${problem}`);
        }
        return `${count(written.size, 'finding')} written to ${target}; they are not reported with --baseline ${target}`;
      },
    };
  }
  if (file === undefined) {
    return { without: (object) => object, finish: async () => undefined };
  }
  const text = readLimitedFile('--baseline', file, maxMebibytes);
  let known: ReturnType<typeof createBaseline>;
  try {
    known = createBaseline(dirname(resolve(file)), text);
  } catch (error) {
    throw error instanceof BaselineError ? new UsageError(`--baseline: ${file}: ${error.message}`) : error;
  }
  const before = known.size;
  return {
    without: (object) => ({ ...object, findings: object.findings.filter((finding) => !known.remove(object, finding)) }),
    async finish() {
      const left = before - known.size;
      const gone =
        known.size === 0 ? '' : `; ${known.size} more in it did not occur: write it again when they are fixed`;
      return left === 0 && gone === '' ? undefined : `${count(left, 'known finding')} in ${file} left out${gone}`;
    },
  };
}
