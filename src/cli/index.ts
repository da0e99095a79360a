export { exitCode } from './framework/program.ts';
export { bugText } from './framework/run-program.ts';

import { completionLines } from './framework/complete.ts';
import type { Io } from './framework/program.ts';
import { type Commands, calledCommand, createProgram, runProgram } from './framework/run-program.ts';

const commands: Commands = {
  'Before a change:': {
    plan: ['say which Machines a change will replace, and why', () => import('./commands/plan/plan.ts')],
    lint: ['check ExtensionConfigs in files against the rules of the webhook', () => import('./commands/lint/lint.ts')],
    rules: ['list the rules, or explain one', () => import('./commands/rules.ts')],
    convert: ['convert ExtensionConfigs in files to another API version', () => import('./commands/convert.ts')],
  },
  'Guard a cluster:': {
    serve: ['run the admission webhooks over HTTPS', () => import('./commands/serve.ts')],
    certs: ['create, rotate, inject and inspect certificates', () => import('./commands/certs/certs.ts')],
    controller: ["discover extensions, in place of Cluster API's controller", () => import('./commands/controller.ts')],
    doctor: ['diagnose an installation, or an upgrade of Cluster API', () => import('./commands/doctor.ts')],
  },
  'Write extensions:': {
    'new-extension': ['create a project for an extension in TypeScript', () => import('./commands/new-extension.ts')],
    'add-handler': ['add handlers to a project for an extension', () => import('./commands/add-handler.ts')],
    'template-types': ['generate types of templates from CRDs', () => import('./commands/template-types.ts')],
    hooks: ['list the Runtime Hooks, or explain one', () => import('./commands/hooks.ts')],
    openapi: ["print the hooks' OpenAPI document, or merge others", () => import('./commands/openapi/openapi.ts')],
    discover: ['ask extensions for their handlers, and check the answers', () => import('./commands/discover.ts')],
    call: ['call handlers, and show what Cluster API makes of it', () => import('./commands/call.ts')],
    conformance: ['test an extension in any language: calls, answers, load', () => import('./commands/conformance.ts')],
    rehearse: ["simulate a Cluster's life: which hook is called when", () => import('./commands/rehearse.ts')],
  },
  'Try:': {
    sandbox: ['start an API server to try everything with kubectl', () => import('./commands/sandbox/sandbox.ts')],
    'sample-extension': ['run an extension that blocks or fails', () => import('./commands/sample-extension.ts')],
  },
  '': {
    version: ['print version details for a bug report', () => import('./commands/version.ts')],
    completion: ['print a script for shell completion', () => import('./commands/completion/completion.ts')],
  },
};

/** The name of the program, unless it is called as a kubectl plugin. */
const ownName = 'extensionconfig-webhook';

/** Runs `NAME ARGS…`, where NAME is the name under which the user called the program; returns the exit code. */
export async function run(args: readonly string[], io: Io, name: string = ownName): Promise<number> {
  // A call from a script of `completion`: `__complete -- WORD…`.
  if (args[0] === '__complete') {
    const words = args.slice(2);
    const called = calledCommand(words);
    const program = await createProgram(name, commands, (command) => command === called, io);
    io.stdout.write(completionLines(program, words));
    return 0;
  }
  const isVersion = args[0] === '--version' || args[0] === '-V';
  return runProgram(name, commands, isVersion ? ['version'] : args, io);
}

/** The whole program with all of its commands, for documentation. */
export function wholeProgram(io: Io) {
  return createProgram(ownName, commands, () => true, io);
}
