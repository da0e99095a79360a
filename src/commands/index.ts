import { addCerts } from './certs.ts';
import { addConvert } from './convert.ts';
import { addLint } from './lint.ts';
import { type AddCommand, type Io, runProgram } from './program.ts';
import { addRules } from './rules.ts';
import { addSandbox } from './sandbox.ts';
import { addServe } from './serve.ts';
import { version } from './version.ts';

const commands: readonly AddCommand[] = [addServe, addSandbox, addLint, addConvert, addRules, addCerts];

export type { Io } from './program.ts';

/** Runs `extensionconfig-webhook ARGS…`; returns the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram('extensionconfig-webhook', version, commands, args, io);
}
