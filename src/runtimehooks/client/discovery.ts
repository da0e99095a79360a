import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { type HookCatalog, hookCatalog } from '../catalog/catalog.ts';
import { defaultTimeoutSeconds, maxHandlers, maxTimeoutSeconds } from '../catalog/definition.ts';
import { hooks } from '../catalog/definitions.ts';
import { type Phase, phaseIn, type Release } from '../catalog/lifecycle.ts';
import { aggregate, type CallError, isCallError, prefixed, quotable } from './call-error.ts';
import { complete, type ExchangeContext, exchange, statusError } from './exchange/exchange.ts';
import { extensionOf, parseApiVersion } from './registry.ts';

/** A handler as discovery stores it in an ExtensionConfig. */
export interface DiscoveredHandler {
  /** `HANDLER.EXTENSIONCONFIG`. */
  name: string;
  requestHook: { apiVersion: string; hook: string };
  timeoutSeconds?: number;
  failurePolicy: string;
}

/** A handler in the response: any field may be missing. */
type OfferedHandler = Partial<Omit<DiscoveredHandler, 'requestHook'>> & {
  requestHook?: Partial<DiscoveredHandler['requestHook']>;
};

/** Why Cluster API would reject a handler, in its own words, and what to do about it. */
export interface DiscoveryProblem {
  handler: string;
  message: string;
  remedy: string;
}

/** The handlers of an extension, or why it was not discovered. */
export type DiscoverResult =
  | { ok: true; handlers: DiscoveredHandler[] }
  | { ok: false; error: CallError; problems: DiscoveryProblem[]; handlers: DiscoveredHandler[] };

/** The release for which to check hooks, and the known ones (default: those of Cluster API). */
export interface KnownHooks {
  release: Release;
  catalog?: HookCatalog | undefined;
}

/** The phase of a hook in the release, or undefined if the catalog does not have it. */
export function phaseOf(
  { apiVersion, hook }: { apiVersion: string; hook: string },
  { catalog = hookCatalog, release }: KnownHooks,
): Phase | undefined {
  const parsed = parseApiVersion(apiVersion);
  const lifecycle = parsed && catalog.find(parsed.group, parsed.version, hook);
  return lifecycle && phaseIn(lifecycle, release);
}

const isLabel = (text: string) => /^[a-z0-9-]+$/.test(text) && !text.startsWith('-') && !text.endsWith('-');

/** The problems of a name, in the words of Kubernetes (`IsDNS1123Label` of apimachinery). */
function nameProblems(name: string): string[] {
  const problems = Buffer.byteLength(name) > 63 ? ['must be no more than 63 characters'] : [];
  if (!isLabel(name)) {
    problems.push(
      name.split('.').every(isLabel)
        ? 'must not contain dots'
        : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return problems;
}

/** The problems with one handler; `seen` contains the names of the handlers before it. */
function problemsOf(offered: OfferedHandler, seen: Set<string>, known: KnownHooks): DiscoveryProblem[] {
  const { name: fullName = '', timeoutSeconds = defaultTimeoutSeconds, failurePolicy = 'Fail' } = offered;
  const name = quotable(fullName);
  const problems: DiscoveryProblem[] = [];
  const add = (message: string, remedy: string) => problems.push({ handler: name, message, remedy });
  if (seen.has(fullName)) {
    add(`duplicate name for handler ${name} found`, 'give each handler of the server a unique name, even across hooks');
  }
  seen.add(fullName);
  const ofName = nameProblems(fullName).join(' ');
  if (ofName !== '') {
    add(`handler name ${name} is not valid: [${ofName}]`, 'use lower case letters, digits and hyphens, at most 63');
  }
  if (timeoutSeconds < 0 || timeoutSeconds > maxTimeoutSeconds) {
    add(
      `handler ${name} timeoutSeconds ${timeoutSeconds} must be between 0 and ${maxTimeoutSeconds}`,
      'ask for at most 10 seconds, and do long work in the background',
    );
  }
  if (failurePolicy !== 'Fail' && failurePolicy !== 'Ignore') {
    add(
      `handler ${name} failurePolicy ${quotable(failurePolicy)} must equal "Ignore" or "Fail"`,
      'write Fail or Ignore in exactly this case, or omit it',
    );
  }
  const { apiVersion = '', hook = '' } = offered.requestHook ?? {};
  const groupVersion = parseApiVersion(apiVersion);
  if (groupVersion === undefined) {
    add(
      `handler ${name} requestHook APIVersion ${quotable(apiVersion)} is not valid: unexpected GroupVersion string: ${quotable(apiVersion)}`,
      'write hooks.runtime.cluster.x-k8s.io/v1alpha1',
    );
  } else {
    const phase = phaseOf({ apiVersion, hook }, known);
    if (phase === undefined || phase === 'future' || phase === 'removed') {
      const other = (known.catalog ?? hookCatalog).findIgnoringCase(groupVersion.group, groupVersion.version, hook);
      const remedies = {
        future: 'upgrade Cluster API first, then the extension',
        removed: 'serve the version that replaced it',
        unknown: other === undefined ? '"hooks" lists the known hooks' : `write ${other.name}`,
      };
      add(
        `handler ${name} requestHook ${quotable(apiVersion)}/${quotable(hook)} is not in the Runtime SDK catalog`,
        `${remedies[phase ?? 'unknown']}: one such handler makes Cluster API refuse the whole extension`,
      );
    }
  }
  return problems;
}

/** Validates a response to discovery by all of Cluster API's rules, and applies defaults. @param extension its name. */
export function readDiscovery(
  response: JsonObject,
  extension: string,
  known: KnownHooks,
): { handlers: DiscoveredHandler[]; problems: DiscoveryProblem[] } {
  const offered = (response.handlers ?? []) as OfferedHandler[];
  const seen = new Set<string>();
  /** By message: Cluster API reports equal ones once. */
  const problems = new Map<string, DiscoveryProblem>();
  const handlers: DiscoveredHandler[] = [];
  if (offered.length > maxHandlers) {
    const message = `${offered.length} handlers do not fit into status.handlers`;
    const remedy = `offer at most ${maxHandlers}, or split the extension in two`;
    problems.set(message, { handler: '', message, remedy });
  }
  for (const handler of offered.slice(0, maxHandlers)) {
    for (const problem of problemsOf(handler, seen, known)) {
      problems.set(problem.message, problem);
    }
    const { name = '', requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy } = handler;
    const { apiVersion = '', hook = '' } = requestHook ?? {};
    handlers.push({
      name: `${quotable(name)}.${extension}`,
      requestHook: { apiVersion: quotable(apiVersion), hook: quotable(hook) },
      // The API server omits 0, and 0 means the default.
      ...(timeoutSeconds === 0 ? {} : { timeoutSeconds }),
      failurePolicy: quotable(failurePolicy || 'Fail'),
    });
  }
  return { handlers, problems: [...problems.values()] };
}

/** Longest response to discovery, in bytes: 512 handlers take some 128 KiB. Many extensions are called concurrently. */
const maxDiscoveryBytes = 2 * 1024 * 1024;

/**
 * Calls Discovery as Cluster API does (Discover in internal/runtime/client/client.go, v1.14): even in backoff, and without
 * a Content-Type, since a server that rejects that must not appear to be discovered.
 */
export async function discover(
  config: ExtensionConfig,
  { release, signal }: { release: Release; signal: AbortSignal | undefined },
  context: ExchangeContext,
): Promise<DiscoverResult> {
  const extension = extensionOf(config);
  const prefix = `failed to discover extension ${JSON.stringify(extension.name)}`;
  const failed = (error: CallError, problems: DiscoveryProblem[] = [], handlers: DiscoveredHandler[] = []) => ({
    ok: false as const,
    error: prefixed(prefix, error),
    problems,
    handlers,
  });
  const called = { extension, hook: hooks.Discovery, name: undefined, timeoutSeconds: defaultTimeoutSeconds, signal };
  const limits = { maxAnswerBytes: maxDiscoveryBytes, mimicsClusterApi: true };
  const answer = await exchange({ ...called, ...limits, request: complete(hooks.Discovery, {}, {}) }, context);
  if (isCallError(answer)) {
    return failed(answer);
  }
  const response = answer.content;
  const error = statusError(response);
  if (error !== undefined) {
    return failed(error);
  }
  const { handlers, problems } = readDiscovery(response, extension.name, { release });
  const message = `failed to validate discovery response: ${aggregate(problems.map((one) => one.message))}`;
  return problems.length === 0 ? { ok: true, handlers } : failed({ step: 'validation', message }, problems, handlers);
}
