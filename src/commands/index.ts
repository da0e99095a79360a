import { type CommandEntry, type Io, runProgram } from './program.ts';
import { version } from './version.ts';

const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'run the admission webhooks over HTTPS',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'sandbox',
    summary: 'start an API server on this machine, to try everything with kubectl',
    load: async () => (await import('./sandbox.ts')).defineSandbox,
  },
  {
    name: 'lint',
    summary: 'check ExtensionConfigs in files with the rules of the webhook',
    load: async () => (await import('./lint.ts')).defineLint,
  },
  {
    name: 'convert',
    summary: 'rewrite ExtensionConfigs in files in another version of the API',
    load: async () => (await import('./convert.ts')).defineConvert,
  },
  {
    name: 'rules',
    summary: 'list the rules, or explain one',
    load: async () => (await import('./rules.ts')).defineRules,
  },
  {
    name: 'certs',
    summary: 'authority, serving certificate and caBundles: make, rotate, inject, look',
    load: async () => (await import('./certs.ts')).defineCerts,
  },
];

export type { Io } from './program.ts';

/** Runs `extensionconfig-webhook ARGS…`; returns the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram('extensionconfig-webhook', version, commands, args, io);
}
