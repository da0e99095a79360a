import { isDeepStrictEqual } from 'node:util';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { hookCatalog } from '../catalog/catalog.ts';
import { advisedTimeoutSeconds, defaultTimeoutSeconds } from '../catalog/limits.ts';
import { type CallStep, isCallError } from './call-error.ts';
import type { Client } from './client-types.ts';
import { type DiscoveredHandler, type DiscoverResult, type KnownHooks, phaseOf } from './discovery.ts';
import type { Resolve } from './exchange/connections.ts';
import { probeTls, type TlsFacts } from './exchange/tls.ts';
import { addressOf } from './exchange/url.ts';
import { extensionOf, parseApiVersion } from './registry.ts';

/** Something about an extension that its owner should know. */
export interface ExtensionFinding {
  /**
   * `error`: Cluster API refuses the extension, or cannot call it. `warning`: it works, but will hurt. `unknown`: it could
   * not be determined.
   */
  severity: 'error' | 'unknown' | 'warning' | 'note';
  /** Name of the handler without that of the ExtensionConfig, if the finding is about one handler. */
  handler?: string;
  /** One line; text from servers is truncated and contains no control characters. */
  message: string;
  /** What to do; absent if nothing has to be done. */
  remedy?: string;
}

/**
 * How long before its expiry a certificate is warned about, in ms: if it had 90 days and were renewed in the last
 * third, it would have been replaced by then.
 */
const expiryNoticeMs = 14 * 24 * 3600 * 1000;

const remedies: Partial<Record<CallStep, string>> = {
  url: 'set spec.clientConfig to a service, or to an https URL',
  'tls-config': 'set spec.clientConfig.caBundle to PEM certificates, as base64',
  connect:
    'check that the server is running and listens on this port, and the endpoints if it is called through a Service',
  tls: 'serve a certificate for the name in the address, signed by the CA in spec.clientConfig.caBundle',
  timeout: 'answer discovery at once; it should need no work',
  http: 'answer 200 at this path, even without a Content-Type, and below the path of the clientConfig',
  size: 'send a smaller answer: 512 handlers take 128 KiB',
  decode: 'answer one JSON object with status and handlers',
  status: 'answer discovery with status Success',
};

/** Why Cluster API would not discover an extension. */
export function discoveryFindings(result: DiscoverResult): ExtensionFinding[] {
  if (result.ok) {
    return [];
  }
  const { error, problems } = result;
  return problems.length > 0
    ? problems.map(({ handler, message, remedy }) => ({
        severity: 'error',
        ...(handler === '' ? {} : { handler }),
        message,
        remedy,
      }))
    : [{ severity: 'error', message: error.message, remedy: remedies[error.step] ?? 'see the message' }];
}

const day = (date: Date) => date.toISOString().slice(0, 10);

/** Why a certificate is not accepted for the name of a server; undefined if it is. */
export function certificateNameFinding({ serverName, names, isForName }: TlsFacts): ExtensionFinding | undefined {
  return isForName
    ? undefined
    : {
        severity: 'error',
        message: `the certificate is not for ${serverName}; it is for ${names.slice(0, 10).join(', ') || 'no name'}`,
        remedy: `serve one with ${serverName} among its subject alternative names`,
      };
}

/** The problem with the dates of a certificate; undefined if it is valid for another two weeks. */
export function certificateDateFinding({ validity }: TlsFacts, now: Date): ExtensionFinding | undefined {
  if (validity === undefined) {
    return {
      severity: 'error',
      message: 'the dates of the certificate cannot be read',
      remedy: 'issue it again, with dates that are UTCTime or GeneralizedTime (RFC 5280, 4.1.2.5)',
    };
  }
  const { notBefore, notAfter } = validity;
  if (now < notBefore || now > notAfter) {
    return {
      severity: 'error',
      message: `the certificate is valid from ${day(notBefore)} to ${day(notAfter)}, not now`,
      remedy: 'renew it, and have the server reload it',
    };
  }
  return notAfter.getTime() - now.getTime() < expiryNoticeMs
    ? {
        severity: 'warning',
        message: `the certificate expires on ${day(notAfter)}`,
        remedy: 'renew it, and check that renewal is automatic',
      }
    : undefined;
}

/** Problems that handlers will cause although Cluster API accepts them. */
export function handlerFindings(handlers: readonly DiscoveredHandler[], known: KnownHooks): ExtensionFinding[] {
  return handlers.flatMap(({ name, requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy }) => {
    const handler = name.slice(0, name.lastIndexOf('.'));
    const findings: ExtensionFinding[] = [];
    const warn = (message: string, remedy: string) => findings.push({ severity: 'warning', handler, message, remedy });
    if (timeoutSeconds > advisedTimeoutSeconds) {
      warn(
        `may take ${timeoutSeconds}s, more than ${advisedTimeoutSeconds}s`,
        'ask for less, and do long work in the background with retryAfterSeconds',
      );
    }
    if (phaseOf(requestHook, known) === 'deprecated') {
      warn(
        `serves ${requestHook.hook} of ${requestHook.apiVersion}, which is deprecated`,
        'serve the version that replaces it',
      );
    }
    const { group, version } = parseApiVersion(requestHook.apiVersion) ?? { group: '', version: '' };
    if (
      failurePolicy === 'Ignore' &&
      (known.catalog ?? hookCatalog).find(group, version, requestHook.hook)?.blockingSince !== undefined
    ) {
      warn(
        'ignores failures of a hook that can block: while the server is down, nothing is blocked',
        'use Fail unless this is intended',
      );
    }
    return findings;
  });
}

const inOrder = (handlers: readonly DiscoveredHandler[]) => handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Whether two discoveries offer the same handlers. Cluster API's own server has another order after each start. */
export const areSameHandlers = (a: readonly DiscoveredHandler[], b: readonly DiscoveredHandler[]): boolean =>
  isDeepStrictEqual(inOrder(a), inOrder(b));

interface AskOptions {
  client: Client;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
}

/** An extension server's answer about itself. */
export interface ExtensionAnswer {
  /** The last of `discoveries`. */
  discovered: DiscoverResult;
  /** One result for each call, up to the first that failed. */
  discoveries: readonly DiscoverResult[];
  /** How long each discovery took, in milliseconds. */
  latenciesMs: readonly number[];
  /** Undefined if there was no TLS connection. */
  tls: TlsFacts | undefined;
}

const handshakeTimeoutMs = 10_000;

/**
 * Asks an extension server for its handlers and inspects its certificate.
 *
 * @param times how often Discovery is called. Default: once.
 * @throws the reason of the signal when it is aborted. Never because of a server.
 */
export async function askExtension(
  config: ExtensionConfig,
  { client, resolve, signal }: AskOptions,
  times = 1,
): Promise<ExtensionAnswer> {
  const discoveries: DiscoverResult[] = [];
  const latenciesMs: number[] = [];
  let discovered: DiscoverResult;
  do {
    const started = performance.now();
    discovered = await client.discover(config, { signal });
    latenciesMs.push(Math.round(performance.now() - started));
    discoveries.push(discovered);
    signal.throwIfAborted();
  } while (discovered.ok && discoveries.length < times);
  const target = addressOf(extensionOf(config).clientConfig);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(handshakeTimeoutMs)]);
  const tls = isCallError(target) ? undefined : await probeTls(target, limit, resolve);
  return { discovered, discoveries, latenciesMs, tls };
}

/** The handlers of an extension, and the findings about it. */
export interface Survey {
  extensionConfig: string;
  status: 'Discovered' | 'NotDiscovered';
  /** The message of the condition `Discovered`; empty if the extension is discovered. */
  message: string;
  handlers: DiscoveredHandler[];
  findings: ExtensionFinding[];
  /** `notAfter` is absent if it cannot be read. */
  tls?: { protocol: string; notAfter?: string; names: readonly string[] };
  /** How long each discovery took, in milliseconds. */
  latenciesMs: readonly number[];
}

interface SurveyOptions extends AskOptions {
  known: KnownHooks;
}

/** How often Discovery is called, to measure latency and to see whether the answer is always the same. */
const rounds = 3;
/** Latency of discovery above which there is a warning, in ms: patches should be answered within 200 ms. */
const slowMs = 1000;

/** Problems that answers to discovery will cause although Cluster API accepts them. */
function answerFindings({ discovered, discoveries, latenciesMs }: ExtensionAnswer): ExtensionFinding[] {
  const findings: ExtensionFinding[] = [];
  const warn = (message: string, remedy: string) => findings.push({ severity: 'warning', message, remedy });
  if (!discoveries.every(({ handlers }) => areSameHandlers(handlers, discovered.handlers))) {
    warn('does not give the same answer each time', 'offer the same handlers in all replicas and at all times');
  }
  if (discovered.handlers.length === 0) {
    warn('offers no handlers', 'register handlers in the server');
  }
  const fastest = Math.min(...latenciesMs);
  if (fastest > slowMs) {
    warn(
      `takes ${fastest} ms to answer discovery`,
      'answer within milliseconds: the patches of every Cluster wait for it',
    );
  }
  return findings;
}

function caFindings({ metadata, spec }: ExtensionConfig): ExtensionFinding[] {
  if (spec?.clientConfig?.caBundle) {
    return [];
  }
  const isInjected = metadata.annotations?.[injectCaFromSecretAnnotation] !== undefined;
  return [
    {
      severity: 'warning',
      message: isInjected
        ? "has no caBundle: it is injected in the cluster, and this system's root CAs were used here"
        : "has no caBundle: the certificate is verified with the system's root CAs",
      remedy:
        'set spec.clientConfig.caBundle: without it, the controller of kubeadm control planes never calls the extension',
    },
  ];
}

/**
 * Calls Discovery on an extension server three times and inspects its certificate. Reports everything that Cluster API
 * would reject, and what it would accept but will cause problems later.
 *
 * @throws the reason of the signal when it is aborted.
 */
export async function surveyExtension(config: ExtensionConfig, options: SurveyOptions): Promise<Survey> {
  const answer = await askExtension(config, options, rounds);
  const { discovered, latenciesMs, tls } = answer;
  const notAfter = tls?.validity?.notAfter.toISOString();
  return {
    extensionConfig: extensionOf(config).name,
    status: discovered.ok ? 'Discovered' : 'NotDiscovered',
    message: discovered.ok ? '' : `Error in discovery: ${discovered.error.message}`,
    handlers: discovered.ok ? discovered.handlers : [],
    findings: [
      ...discoveryFindings(discovered),
      ...(tls === undefined ? [] : [certificateNameFinding(tls), certificateDateFinding(tls, new Date())]),
      ...caFindings(config),
      ...handlerFindings(discovered.handlers, options.known),
      ...(discovered.ok ? answerFindings(answer) : []),
    ].filter((finding) => finding !== undefined),
    ...(tls && { tls: { protocol: tls.protocol, ...(notAfter !== undefined && { notAfter }), names: tls.names } }),
    latenciesMs,
  };
}
