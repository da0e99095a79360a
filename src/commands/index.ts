import { readFileSync } from 'node:fs';
import { addCertsCommand } from './certs.ts';
import { type AddCommand, type Io, runProgram } from './program.ts';

const commands: readonly AddCommand[] = [addCertsCommand];

/** The version in package.json. */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export type { Io } from './program.ts';

/** Runs `extensionconfig-webhook ARGS…`; returns the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram('extensionconfig-webhook', version, commands, args, io);
}
