export { exitCode } from './framework/program.ts';

import { completionLines } from './framework/complete.ts';
import {
  type CommandEntry,
  calledCommand,
  createProgram,
  type Io,
  type Program,
  runProgram,
} from './framework/program.ts';

const group = {
  cluster: 'Run in a cluster:',
  manifests: 'Manifests:',
  extensions: 'Extensions:',
  trial: 'Try:',
} as const;

const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'run the admission webhooks over HTTPS',
    group: group.cluster,
    load: async () => (await import('./commands/serve/serve.ts')).defineServe,
  },
  {
    name: 'controller',
    summary: "discover extensions, or advise and observe alongside Cluster API's own controller",
    group: group.cluster,
    load: async () => (await import('./commands/controller.ts')).defineController,
  },
  {
    name: 'certs',
    summary: 'create, rotate, inject and inspect the CA, serving certificate and caBundles',
    group: group.cluster,
    load: async () => (await import('./commands/certs/certs.ts')).defineCerts,
  },
  {
    name: 'lint',
    summary: 'check ExtensionConfigs in files against the rules of the webhook',
    group: group.manifests,
    load: async () => (await import('./commands/lint/lint.ts')).defineLint,
  },
  {
    name: 'rules',
    summary: 'list the rules, or explain one',
    group: group.manifests,
    load: async () => (await import('./commands/rules.ts')).defineRules,
  },
  {
    name: 'convert',
    summary: 'convert ExtensionConfigs in files to another API version',
    group: group.manifests,
    load: async () => (await import('./commands/convert.ts')).defineConvert,
  },
  {
    name: 'preflight',
    summary: 'check before an upgrade of Cluster API which extensions are in the way',
    group: group.manifests,
    load: async () => (await import('./commands/preflight.ts')).definePreflight,
  },
  {
    name: 'discover',
    summary: 'ask extension servers for their handlers, and check the answers',
    group: group.extensions,
    load: async () => (await import('./commands/discover.ts')).defineDiscover,
  },
  {
    name: 'call',
    summary: 'call a handler, or all handlers of a hook, and show what Cluster API would make of the answers',
    group: group.extensions,
    load: async () => (await import('./commands/call.ts')).defineCall,
  },
  {
    name: 'rehearse',
    summary: "simulate a Cluster's lifecycle against extensions: which hook is called when, and what blocks",
    group: group.extensions,
    load: async () => (await import('./commands/rehearse.ts')).defineRehearse,
  },
  {
    name: 'conformance',
    summary: 'test how extension servers behave: calls, answers, patches, plans, load',
    group: group.extensions,
    load: async () => (await import('./commands/conformance/conformance.ts')).defineConformance,
  },
  {
    name: 'hooks',
    summary: 'list the Runtime Hooks, explain one, or compare two OpenAPI documents of hooks',
    group: group.extensions,
    load: async () => (await import('./commands/hooks.ts')).defineHooks,
  },
  {
    name: 'openapi',
    summary: 'print the OpenAPI document of the Runtime Hooks, or merge those of an API server',
    group: group.extensions,
    load: async () => (await import('./commands/openapi/openapi.ts')).defineOpenApi,
  },
  {
    name: 'new-extension',
    summary: 'create a project for an extension in TypeScript',
    group: group.extensions,
    load: async () => (await import('./commands/new-extension.ts')).defineNewExtension,
  },
  {
    name: 'add-handler',
    summary: 'add handlers to a project for an extension',
    group: group.extensions,
    load: async () => (await import('./commands/add-handler.ts')).defineAddHandler,
  },
  {
    name: 'template-types',
    summary: 'write TypeScript types of the kinds in CustomResourceDefinitions, for patches',
    group: group.extensions,
    load: async () => (await import('./commands/template-types.ts')).defineTemplateTypes,
  },
  {
    name: 'sample-extension',
    summary: 'run an extension with a handler for each hook, which can block or fail on demand',
    group: group.extensions,
    load: async () => (await import('./commands/sample-extension.ts')).defineSampleExtension,
  },
  {
    name: 'sandbox',
    summary: 'start an API server on this machine to try everything with kubectl',
    group: group.trial,
    load: async () => (await import('./commands/sandbox/sandbox.ts')).defineSandbox,
  },
  {
    name: 'version',
    summary: 'print version details for a bug report',
    load: async () => (await import('./commands/version.ts')).defineVersion,
  },
  {
    name: 'completion',
    summary: 'print a script for shell completion',
    load: async () => (await import('./commands/completion/completion.ts')).defineCompletion,
  },
];

/** The name of the program, unless it is called as a kubectl plugin. */
const ownName = 'extensionconfig-webhook';

function programCalled(name: string): Program {
  return { name, version: async () => (await import('./commands/version.ts')).versionLine(), commands };
}

/**
 * Runs `NAME ARGS…`, where NAME is the name under which the user called the program.
 *
 * @returns the exit code.
 */
export async function run(args: readonly string[], io: Io, name: string = ownName): Promise<number> {
  // A call from a script of `completion`: `__complete -- WORD…`.
  if (args[0] === '__complete') {
    const words = args.slice(2);
    const called = calledCommand(words);
    const program = await createProgram(
      programCalled(name),
      (command) => command === called,
      io,
      () => {},
    );
    const { createLookUp } = await import('./commands/completion/look-up.ts');
    io.stdout.write(await completionLines(program, words, createLookUp(io.env)));
    return 0;
  }
  return runProgram(programCalled(name), args, io);
}

/** The whole program with all of its commands, for documentation. */
export function wholeProgram(io: Io) {
  return createProgram(
    programCalled(ownName),
    () => true,
    io,
    () => {},
  );
}
