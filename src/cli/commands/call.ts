import { didYouMean, shortList, withoutControls } from '../../base/index.ts';
import { dns1123LabelProblems, type JsonObject } from '../../kubernetes/index.ts';
import {
  type CallAllResult,
  type CalledObject,
  type CallResult,
  type Client,
  createClusterApiClient,
  isCallError,
} from '../../runtimehooks/client/index.ts';
import { clusterApiHooks, type HookDefinition } from '../../runtimehooks/index.ts';
import { objectOf, sampleRequest } from '../../runtimehooks/messages/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, type FlagValues, outputFlag, textFlag } from '../framework/flags.ts';
import { indentedYaml, writeReport } from '../framework/layout.ts';
import { readLimitedFile } from '../framework/limited-file.ts';
import { exitCode, FailureError, type Io, UsageError } from '../framework/program.ts';
import { type Extensions, extensionFlags, readExtensions, unreachableHint, untilEnd } from './extensions.ts';
import { hookNamed } from './hooks.ts';
import { objectsOf } from './manifest-objects.ts';

const callFlags = {
  ...extensionFlags,
  hook: textFlag('HOOK', 'call all handlers of this hook with a matching namespaceSelector, as Cluster API does'),
  request: textFlag('FILE', 'YAML or JSON file with the request; apiVersion and kind may be left out', {
    defaultText: 'a sample, which "hooks NAME" shows',
  }),
  namespace: textFlag('NAMESPACE', 'namespace of the object that the hook is called for', {
    defaultText: 'that of the object in the request, or default',
    problemsOf: dns1123LabelProblems,
    short: 'n',
  }),
  output: outputFlag(['text', 'json']),
} satisfies Flags;

type CallFlags = FlagValues<typeof callFlags>;

/** What Cluster API would do with an answer. */
interface Verdict {
  verdict: 'accepted' | 'blocked' | 'swallowed' | 'failed';
  /** How long Cluster API would wait, in seconds, if blocked. */
  retryAfterSeconds?: number;
  message?: string;
  /** The text of the condition. */
  error?: string;
}

function verdictOf(hook: HookDefinition, result: CallResult<JsonObject> | CallAllResult<JsonObject>): Verdict {
  if (!result.ok) {
    return { verdict: 'failed', error: result.error.message };
  }
  if ('swallowed' in result && result.swallowed !== undefined) {
    return { verdict: 'swallowed', error: result.swallowed.message };
  }
  const { message, retryAfterSeconds } = result.response as Record<string, unknown>;
  const text = typeof message === 'string' && message !== '' ? { message } : {};
  return hook.isBlocking && typeof retryAfterSeconds === 'number' && retryAfterSeconds !== 0
    ? { verdict: 'blocked', retryAfterSeconds, ...text }
    : { verdict: 'accepted', ...text };
}

interface Caller {
  client: Client;
  flags: CallFlags;
  io: Io;
  extensions: Extensions;
}

function withHint(error: string, extensions: Extensions): string {
  const hint = unreachableHint(error, extensions);
  return withoutControls(hint === undefined ? error : `${error}; ${hint}`);
}

function verdictText(name: string, verdict: Verdict, extensions: Extensions): string {
  const { retryAfterSeconds, message, error } = verdict;
  const ends = {
    accepted: 'accepted',
    blocked: `blocked for ${retryAfterSeconds}s`,
    swallowed: 'swallowed by failurePolicy Ignore',
    failed: 'failed',
  };
  const reason = error === undefined ? message : withHint(error, extensions);
  return `${withoutControls([name, ends[verdict.verdict], ...(reason === undefined ? [] : [reason])].join(': '))}\n`;
}

function readRequest(file: string, hook: HookDefinition): JsonObject {
  const text = readLimitedFile('--request', file, 8);
  const where = `--request: ${withoutControls(file)}`;
  const [first, second] = objectsOf(text, where);
  if (first === undefined) {
    throw new UsageError(
      `${where}: is not an object: write the request as YAML or JSON; "hooks ${hook.name}" shows one`,
    );
  }
  if (second !== undefined) {
    throw new UsageError(`${second.where()}: is a second request: pass one file for each call`);
  }
  const { apiVersion, kind, ...request } = first.object;
  const expected = { apiVersion: `${hook.group}/${hook.version}`, kind: hook.request.kind };
  for (const [field, value] of Object.entries({ apiVersion, kind })) {
    if (value !== undefined && value !== expected[field as 'kind']) {
      throw new UsageError(`${where}: ${field} ${JSON.stringify(value)} is not ${expected[field as 'kind']}`);
    }
  }
  return request;
}

/** The object that a hook is called for: its namespace is looked up in the cluster. */
function calledObject(hook: HookDefinition, request: JsonObject, given: string | undefined): CalledObject {
  const object = objectOf(hook, request);
  const namespace = given ?? (object?.namespace || 'default');
  const [problem] = dns1123LabelProblems(namespace);
  if (problem !== undefined) {
    throw new UsageError(
      `--request: the namespace ${JSON.stringify(namespace.slice(0, 100))} of the ${hook.about === 'topology' ? 'Cluster' : hook.about} ${problem}`,
    );
  }
  return { namespace, name: object?.name ?? '' };
}

/** Registers extensions, discovered if need be; returns how many could not be, each of which is reported on standard error. */
async function register({ client, io, extensions }: Caller): Promise<number> {
  let failures = 0;
  for (const config of extensions.configs) {
    const isKnown = (config.status?.handlers ?? []).length > 0;
    const asked = isKnown ? undefined : await client.discover(config, { signal: io.signal });
    io.signal.throwIfAborted();
    const current = asked && { ...config, status: { ...config.status, handlers: asked.handlers } };
    const error = asked?.ok === false ? asked.error : client.registry.add(current ?? config);
    if (error !== undefined) {
      io.stderr.write(`${withHint(error.message, extensions)}\n`);
      failures++;
    }
  }
  return failures;
}

/** The hook of a registered handler. @throws {FailureError} for one that is not, with the most similar ones. */
function hookOf(name: string, { client }: Caller): HookDefinition {
  const handler = client.registry.get(name);
  if (isCallError(handler)) {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    const registered = clusterApiHooks.flatMap((hook) => client.registry.list(hook.group, hook.name));
    const known = registered.map((one) => one.name);
    const hint = didYouMean(name, known, `"discover ${extension}" shows its handlers`);
    throw new FailureError(withoutControls(`${handler.message}; ${hint}`));
  }
  const { group, version, hook: hookName } = handler;
  const hook = clusterApiHooks.find((one) => one.group === group && one.version === version && one.name === hookName);
  if (hook === undefined) {
    const served = `${group}/${version}, Hook=${hookName}`;
    throw new FailureError(withoutControls(`${name} serves ${served}, which this program does not know`));
  }
  return hook;
}

function unmatchedHint({ client, extensions }: Caller, hook: HookDefinition, namespace: string): string {
  const handlers = client.registry.list(hook.group, hook.name);
  if (handlers.length === 0) {
    return `no extension has a handler of ${hook.name}; "discover" lists the handlers that there are`;
  }
  const names = [...new Set(handlers.map(({ extension }) => extension.name))];
  const remedy = extensions.cluster
    ? `"kubectl get namespace ${namespace} --show-labels" shows its labels; name another one with --namespace`
    : 'of a namespace in files only the label kubernetes.io/metadata.name is known; leave out -f to ask the cluster, or name another one with --namespace';
  return `the namespaceSelector of ${shortList(names, 5)} does not match namespace ${namespace}: ${remedy}`;
}

async function callHandlers(hook: HookDefinition, handler: string | undefined, caller: Caller): Promise<Verdict> {
  const { client, flags, io, extensions } = caller;
  const { apiVersion: _a, kind: _k, settings: _s, ...sample } = sampleRequest(hook);
  const request = flags.request === undefined ? sample : readRequest(flags.request, hook);
  const object = calledObject(hook, request, flags.namespace);
  const about = { object, request, signal: io.signal };
  const result = (
    handler === undefined
      ? await client.callAllExtensions(hook, about)
      : await client.callExtension(hook, { ...about, handler })
  ) as CallAllResult<JsonObject> | CallResult<JsonObject>;
  io.signal.throwIfAborted();
  const verdict = verdictOf(hook, result);
  const made = 'calls' in result ? result.calls : [{ handler: handler ?? '', result }];
  const isUnmatched = made.length === 0 && result.ok;
  if (isUnmatched) {
    io.stderr.write(`${withoutControls(unmatchedHint(caller, hook, object.namespace))}\n`);
  }
  const calls = made.map(({ handler: name, result: one }) => ({
    handler: name,
    ...verdictOf(hook, one),
    ...(one.ok ? { response: one.response } : {}),
  }));
  const ofHook = () =>
    isUnmatched ? `${hook.name}: no handler matches: accepted\n` : verdictText(hook.name, verdict, extensions);
  writeReport(io, flags.output, { hook: hook.name, ...verdict, calls }, () =>
    [
      ...calls.map(
        ({ handler: name, response, ...one }) =>
          verdictText(name, one, extensions) + (response === undefined ? '' : indentedYaml(response)),
      ),
      ...(handler === undefined ? [ofHook()] : []),
    ].join(''),
  );
  return verdict;
}

export const command = defineCommand({
  description:
    'Calls a handler, or with --hook all handlers of a hook, and shows what Cluster API makes of the answers. The calls are real: the extension does its work.',
  args: [['[handler]', 'handler as HANDLER.EXTENSIONCONFIG']],
  flags: callFlags,
  help: `
The handlers are read from the status of the ExtensionConfigs. If there are
none, the extension is asked for them first.

Exit code: 0 accepted, blocked, or swallowed by failurePolicy Ignore, 1 failed
(or an extension could not be asked for its handlers), 2 usage error or a file
that cannot be read.`,
  async run({ flags, io }, name: string | undefined) {
    if ((name === undefined) === (flags.hook === undefined)) {
      throw new UsageError('call: name a handler as HANDLER.EXTENSIONCONFIG, or pass --hook HOOK');
    }
    const dot = name?.lastIndexOf('.') ?? -1;
    if (name !== undefined && (dot <= 0 || dot === name.length - 1)) {
      const given = name.slice(0, 100);
      // Handlers have names like before-cluster-upgrade, hooks like BeforeClusterUpgrade.
      throw new UsageError(
        /^[A-Z]/.test(name)
          ? `call: the handlers of a hook are called with --hook ${hookNamed(name, 'call').name}`
          : `call: ${JSON.stringify(given)} lacks the name of its ExtensionConfig: write HANDLER.EXTENSIONCONFIG; discover lists both`,
      );
    }
    const hook = flags.hook === undefined ? undefined : hookNamed(flags.hook, '--hook');
    if (hook?.singleton) {
      throw new UsageError(`--hook: ${hook.name} has no handlers; use "discover" to call it`);
    }
    using extensions = await readExtensions(flags, name === undefined ? [] : [name.slice(dot + 1)], io);
    await using client = untilEnd(
      createClusterApiClient({
        resolve: extensions.resolve,
        // Of a namespace that is not in a cluster, only the label that each has is known.
        namespaceLabels:
          extensions.namespaceLabels ?? (async (namespace) => ({ 'kubernetes.io/metadata.name': namespace })),
      }),
    );
    const caller = { client, flags, io, extensions };
    const unregistered = await register(caller);
    const { verdict } = await callHandlers(hook ?? hookOf(name ?? '', caller), name, caller);
    // Handlers of extensions that could not be discovered were not called.
    return verdict === 'failed' || unregistered > 0 ? exitCode.findings : exitCode.ok;
  },
});
