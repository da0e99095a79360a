import { readFileSync } from 'node:fs';
import { addLint } from './lint.ts';
import { type AddCommand, type Io, runProgram } from './program.ts';
import { addRules } from './rules.ts';

const commands: readonly AddCommand[] = [addLint, addRules];

/** The version in package.json. */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export type { Io } from './program.ts';

/** Runs `extensionconfig-webhook ARGS…`; returns the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram('extensionconfig-webhook', version, commands, args, io);
}
