import { isDeepStrictEqual } from 'node:util';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { type CallStep, isCallError } from './call-error.ts';
import type { Client } from './client-types.ts';
import { type DiscoveredHandler, type DiscoverResult, type KnownHooks, phaseOf } from './discovery/discovery.ts';
import type { Resolve } from './exchange/connections.ts';
import { probeTls, type TlsFacts } from './exchange/probe.ts';
import { targetOf } from './exchange/url.ts';
import { defaultTimeoutSeconds, extensionOf } from './registry/registration.ts';

/** A finding about an extension that its owner should know. */
export interface SurveyFinding {
  /** `error`: Cluster API would reject the extension. */
  severity: 'error' | 'warning';
  /** Name of the handler without that of the ExtensionConfig, if the finding is about one handler. */
  handler?: string;
  message: string;
  remedy: string;
}

/** The handlers of an extension, and the findings about it. */
export interface Survey {
  extensionConfig: string;
  status: 'Discovered' | 'NotDiscovered';
  /** The message of the condition `Discovered`; empty if the extension is discovered. */
  message: string;
  handlers: DiscoveredHandler[];
  findings: SurveyFinding[];
  tls?: { protocol: string; notAfter: string; names: readonly string[] };
  /** How long each discovery took, in milliseconds. */
  latenciesMs: number[];
}

/** The dependencies of a survey. */
export interface SurveyOptions {
  client: Client;
  known: KnownHooks;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
  /** Longest handler timeout that is not warned about, in seconds. */
  maxHandlerTimeoutSeconds: number;
}

/** How often Discovery is called, to measure latency and to see whether the answer is always the same. */
const rounds = 3;
/**
 * How long before its expiry a certificate is warned about, in ms: if it had 90 days and were renewed in the last
 * third, it would have been replaced by then.
 */
const expiryWarningMs = 14 * 24 * 3600 * 1000;
/** Latency of discovery above which there is a warning, in ms: patches should be answered within 200 ms. */
const slowMs = 1000;
const probeTimeoutMs = 10_000;

const remedies: Partial<Record<CallStep, string>> = {
  url: 'set spec.clientConfig to a service, or to an https URL',
  'tls-config': 'set spec.clientConfig.caBundle to PEM certificates, as base64',
  connect:
    'check that the server is running, listens on this port and is the target of the Service; from outside the cluster use a port-forward and --resolve',
  tls: 'serve a certificate for the name in the address, signed by the CA in spec.clientConfig.caBundle',
  timeout: 'answer discovery within 10 seconds; it should need no work',
  http: 'answer 200 at this path, even without a Content-Type, and below the path of the clientConfig',
  size: 'send a smaller answer: 512 handlers take 128 KiB',
  decode: 'answer one JSON object with status and handlers',
  status: 'answer discovery with status Success',
};

const day = (date: Date) => date.toISOString().slice(0, 10);

function tlsFindings(
  { names, notBefore, notAfter, isForName }: TlsFacts,
  serverName: string,
  now: Date,
): SurveyFinding[] {
  const found: SurveyFinding[] = [];
  if (!isForName) {
    found.push({
      severity: 'error',
      message: `the certificate is not for ${serverName}; it is for ${names.length === 0 ? 'no name' : names.join(', ')}`,
      remedy: `serve one with ${serverName} among its subject alternative names`,
    });
  }
  if (now < notBefore || now > notAfter) {
    found.push({
      severity: 'error',
      message: `the certificate is valid from ${day(notBefore)} to ${day(notAfter)}, not now`,
      remedy: 'renew it, and have the server reload it',
    });
  } else if (notAfter.getTime() - now.getTime() < expiryWarningMs) {
    found.push({
      severity: 'warning',
      message: `the certificate expires on ${day(notAfter)}`,
      remedy: 'renew it, and check that renewal is automatic',
    });
  }
  return found;
}

function handlerFindings(handlers: readonly DiscoveredHandler[], known: KnownHooks, longest: number): SurveyFinding[] {
  return handlers.flatMap(({ name, requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy }) => {
    const handler = name.slice(0, name.lastIndexOf('.'));
    const found: SurveyFinding[] = [];
    const warn = (message: string, remedy: string) => found.push({ severity: 'warning', handler, message, remedy });
    if (timeoutSeconds > longest) {
      warn(
        `may take ${timeoutSeconds}s, more than ${longest}s`,
        'ask for less, and do long work in the background with retryAfterSeconds',
      );
    }
    if (phaseOf(requestHook, known) === 'deprecated') {
      warn(
        `serves ${requestHook.hook} of ${requestHook.apiVersion}, which is deprecated`,
        'serve the version that replaces it',
      );
    }
    const [group, version] = requestHook.apiVersion.split('/') as [string, string];
    if (
      failurePolicy === 'Ignore' &&
      known.catalog.find(group, version, requestHook.hook)?.blockingSince !== undefined
    ) {
      warn(
        'ignores failures of a hook that can block: while the server is down, nothing is blocked',
        'use Fail unless this is intended',
      );
    }
    return found;
  });
}

function errorFindings(result: DiscoverResult & { ok: false }): SurveyFinding[] {
  return result.problems.length > 0
    ? result.problems.map(({ handler, message, remedy }) => ({
        severity: 'error' as const,
        ...(handler === '' ? {} : { handler }),
        message,
        remedy,
      }))
    : [{ severity: 'error', message: result.error.message, remedy: remedies[result.error.step] ?? 'see the message' }];
}

/** Handlers in a fixed order: Cluster API's own server has a random one after each start. */
const inOrder = (handlers: readonly DiscoveredHandler[]) => handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/**
 * Calls Discovery on an extension server three times and inspects its certificate. Reports everything that Cluster API
 * would reject, and what it would accept but will cause problems later.
 */
export async function surveyExtension(config: ExtensionConfig, options: SurveyOptions): Promise<Survey> {
  const { client, known, resolve, signal, maxHandlerTimeoutSeconds } = options;
  const extension = extensionOf(config);
  const findings: SurveyFinding[] = [];
  const latenciesMs: number[] = [];
  const results: DiscoverResult[] = [];
  for (let round = 0; round < rounds && !signal.aborted; round++) {
    const started = performance.now();
    const result = await client.discover(config, { signal });
    latenciesMs.push(Math.round(performance.now() - started));
    results.push(result);
    if (!result.ok) {
      break;
    }
  }
  signal.throwIfAborted();
  const last = results.at(-1) as DiscoverResult;
  if (!last.ok) {
    findings.push(...errorFindings(last));
  }
  const target = targetOf(extension.clientConfig, { group: '', version: '', hook: '', timeoutSeconds: 10 });
  const tls = isCallError(target)
    ? undefined
    : await probeTls(target, AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]), resolve);
  if (tls !== undefined && !isCallError(target)) {
    findings.push(...tlsFindings(tls, target.serverName, new Date()));
  }
  const caBundle = extension.clientConfig.caBundle ?? '';
  if (caBundle === '') {
    const isInjected = config.metadata.annotations?.[injectCaFromSecretAnnotation] !== undefined;
    findings.push({
      severity: 'warning',
      message: isInjected
        ? "has no caBundle: it is injected in the cluster, and this system's root CAs were used here"
        : "has no caBundle: the certificate is verified with the system's root CAs",
      remedy: 'set spec.clientConfig.caBundle: managers that only read ExtensionConfigs refuse one without it',
    });
  }
  findings.push(...handlerFindings(last.handlers, known, maxHandlerTimeoutSeconds));
  const [first, ...others] = results;
  if (first !== undefined && last.ok) {
    if (others.some(({ handlers }) => !isDeepStrictEqual(inOrder(handlers), inOrder(first.handlers)))) {
      findings.push({
        severity: 'warning',
        message: 'does not give the same answer each time',
        remedy: 'offer the same handlers in all replicas and at all times',
      });
    }
    if (last.handlers.length === 0) {
      findings.push({ severity: 'warning', message: 'offers no handlers', remedy: 'register handlers in the server' });
    }
    if (Math.min(...latenciesMs) > slowMs) {
      findings.push({
        severity: 'warning',
        message: `takes ${Math.min(...latenciesMs)} ms to answer discovery`,
        remedy: 'answer within milliseconds: the patches of every Cluster wait for it',
      });
    }
  }
  return {
    extensionConfig: extension.name,
    status: last.ok ? 'Discovered' : 'NotDiscovered',
    message: last.ok ? '' : `Error in discovery: ${last.error.message}`,
    handlers: last.ok ? last.handlers : [],
    findings,
    ...(tls && { tls: { protocol: tls.protocol, notAfter: tls.notAfter.toISOString(), names: tls.names } }),
    latenciesMs,
  };
}
