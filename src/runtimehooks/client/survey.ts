import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { isCallError } from './call-error.ts';
import type { Client } from './client-types.ts';
import type { DiscoveredHandler, DiscoverResult, KnownHooks } from './discovery.ts';
import type { Resolve } from './exchange/connections.ts';
import { probeTls, type TlsFacts } from './exchange/tls.ts';
import { addressOf } from './exchange/url.ts';
import {
  areSameHandlers,
  certificateDateFinding,
  certificateNameFinding,
  discoveryFindings,
  type ExtensionFinding,
  handlerFindings,
} from './findings.ts';
import { extensionOf } from './registry.ts';

interface AskOptions {
  client: Client;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
}

/** What an extension server says about itself. */
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
  /** Longest handler timeout that is not warned about, in seconds. */
  maxHandlerTimeoutSeconds: number;
}

/** How often Discovery is called, to measure latency and to see whether the answer is always the same. */
const rounds = 3;
/** Latency of discovery above which there is a warning, in ms: patches should be answered within 200 ms. */
const slowMs = 1000;

/** What will hurt about answers to discovery that Cluster API accepts. */
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
  const { name, clientConfig } = extensionOf(config);
  const answer = await askExtension(config, options, rounds);
  const { discovered, latenciesMs, tls } = answer;
  const target = addressOf(clientConfig);
  const notAfter = tls?.validity?.notAfter.toISOString();
  return {
    extensionConfig: name,
    status: discovered.ok ? 'Discovered' : 'NotDiscovered',
    message: discovered.ok ? '' : `Error in discovery: ${discovered.error.message}`,
    handlers: discovered.ok ? discovered.handlers : [],
    findings: [
      ...discoveryFindings(discovered),
      ...(tls === undefined || isCallError(target)
        ? []
        : [certificateNameFinding(tls, target.serverName), certificateDateFinding(tls, new Date())]),
      ...caFindings(config),
      ...handlerFindings(discovered.handlers, options.known, options.maxHandlerTimeoutSeconds),
      ...(discovered.ok ? answerFindings(answer) : []),
    ].filter((finding) => finding !== undefined),
    ...(tls && { tls: { protocol: tls.protocol, ...(notAfter !== undefined && { notAfter }), names: tls.names } }),
    latenciesMs,
  };
}
