import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderProblem, makeFolder, printable, readRegularFileSync } from '../../../base/index.ts';
import { type Recording, readAnswers, readObjects } from '../../../checks/plan/index.ts';
import { type Json, parseJson } from '../../../kubernetes/index.ts';
import { FailureError, UsageError } from '../../framework/program.ts';

/** Largest file of a record, in bytes. */
const maxBytes = 256 * 1024 * 1024;

/** Writes a recording to a new or empty folder, for its owner only. */
export function writeRecording(folder: string, { objects, answers }: Recording) {
  try {
    makeFolder(folder, 0o700);
    const [present] = readdirSync(folder);
    if (present !== undefined) {
      throw new FailureError(`--record: ${folder} is not empty (${present}): name a folder that is not there yet`);
    }
    if ((statSync(folder).mode & 0o077) !== 0) {
      throw new FailureError(`--record: others can read ${folder}: name a folder that is not there yet`);
    }
    mkdirSync(folder, { recursive: true });
    const write = (file: string, value: object) =>
      writeFileSync(join(folder, file), `${JSON.stringify(value, null, 1)}\n`, { mode: 0o600 });
    write('objects.json', { apiVersion: 'v1', kind: 'List', items: objects });
    write('answers.json', answers);
  } catch (error) {
    throw error instanceof FailureError
      ? error
      : new FailureError(`--record: ${folderProblem(folder, 'written', error)}`);
  }
}

/** What `--record` wrote to a folder. */
export function readRecording(folder: string): Recording {
  const read = <T>(name: string, use: (value: Json) => T): T => {
    const file = join(folder, name);
    try {
      return use(parseJson(readRegularFileSync(file, maxBytes)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`--recorded: ${printable(file)}: ${reason}: name a folder that --record wrote`);
    }
  };
  return {
    objects: read('objects.json', readObjects),
    answers: read('answers.json', readAnswers),
  };
}
