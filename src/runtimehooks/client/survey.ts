import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { hookCatalog } from '../catalog/catalog.ts';
import { advisedTimeoutSeconds, defaultTimeoutSeconds } from '../catalog/definition.ts';
import { type CallStep, isCallError, quotable } from './call-error.ts';
import type { Client } from './client-types.ts';
import { type DiscoveredHandler, type DiscoverResult, type KnownHooks, phaseOf } from './discovery.ts';
import type { Resolve } from './exchange/connections.ts';
import { addressOf, type Target } from './exchange/url.ts';
import { extensionOf, parseApiVersion } from './registry.ts';

/** Something about an extension that its owner should know. */
export interface ExtensionFinding {
  /** `error`: Cluster API refuses the extension, or cannot call it. `warning`: it works, but will hurt. */
  severity: 'error' | 'warning';
  /** Without the name of the ExtensionConfig, if the finding is about one handler. */
  handler?: string;
  /** One line; text from servers is truncated and contains no control characters. */
  message: string;
  /** What to do; absent if nothing has to be done. */
  remedy?: string;
}

/** How long before its expiry a certificate is warned about, in ms: one of 90 days, renewed in their last third, was replaced by then. */
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

/** Why Cluster API would not discover an extension, with what to do; none if it would. */
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

/** The facts from a TLS handshake with a server, whether or not its certificate would be accepted. */
export interface TlsFacts {
  protocol: string;
  /** The name that the certificate should be valid for. */
  serverName: string;
  names: readonly string[];
  notBefore: Date;
  notAfter: Date;
  isForName: boolean;
}

const maxNames = 100;
const handshakeTimeoutMs = 10_000;

/** Inspects the certificate of a server, even one that would not be accepted; undefined if the handshake fails: a call tells why. */
async function probeTls(target: Target, signal: AbortSignal, resolve?: Resolve): Promise<TlsFacts | undefined> {
  const { serverName, host, origin } = target;
  const { hostname, port } = new URL(origin);
  const elsewhere = resolve?.(host);
  const isAddress = isIP(serverName) !== 0;
  const socket = connect({
    host: elsewhere?.host ?? hostname.replace(/^\[(.*)\]$/, '$1'),
    port: elsewhere?.port ?? (port === '' ? 443 : Number(port)),
    ...(!isAddress && { servername: serverName }),
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
  });
  // Errors after the handshake do not matter: the connection is closed.
  socket.on('error', () => {});
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(handshakeTimeoutMs)]) });
    const x509 = new X509Certificate(socket.getPeerCertificate().raw);
    const names = (x509.subjectAltName ?? '').split(', ').filter((name) => name !== '');
    const match = isAddress ? x509.checkIP(serverName) : x509.checkHost(serverName, { subject: 'never' });
    return {
      protocol: socket.getProtocol() ?? '',
      serverName,
      names: names.slice(0, maxNames).map((name) => quotable(name.replace(/^(DNS|IP Address):/, ''))),
      notBefore: new Date(x509.validFrom),
      notAfter: new Date(x509.validTo),
      isForName: match !== undefined,
    };
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

const isDate = (date: Date) => !Number.isNaN(date.getTime());
const day = (date: Date) => date.toISOString().slice(0, 10);

/** Why a certificate is not accepted for the name of a server, or soon will not be. */
export function certificateFindings(facts: TlsFacts, now: Date): ExtensionFinding[] {
  const { serverName, names, isForName, notBefore, notAfter } = facts;
  const findings: ExtensionFinding[] = [];
  if (!isForName) {
    findings.push({
      severity: 'error',
      message: `the certificate is not for ${serverName}; it is for ${names.slice(0, 10).join(', ') || 'no name'}`,
      remedy: `serve one with ${serverName} among its subject alternative names`,
    });
  }
  if (!isDate(notBefore) || !isDate(notAfter)) {
    findings.push({
      severity: 'error',
      message: 'the dates of the certificate cannot be read',
      remedy: 'issue it again, with dates that are UTCTime or GeneralizedTime (RFC 5280, 4.1.2.5)',
    });
  } else if (now < notBefore || now > notAfter) {
    findings.push({
      severity: 'error',
      message: `the certificate is valid from ${day(notBefore)} to ${day(notAfter)}, not now`,
      remedy: 'renew it, and have the server reload it',
    });
  } else if (notAfter.getTime() - now.getTime() < expiryNoticeMs) {
    findings.push({
      severity: 'warning',
      message: `the certificate expires on ${day(notAfter)}`,
      remedy: 'renew it, and check that renewal is automatic',
    });
  }
  return findings;
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

/** The handlers of an extension, and the findings about it. */
export interface Survey {
  extensionConfig: string;
  status: 'Discovered' | 'NotDiscovered';
  /** The message of the condition `Discovered`; empty if the extension is discovered. */
  message: string;
  handlers: DiscoveredHandler[];
  findings: ExtensionFinding[];
  tls?: { protocol: string; notAfter?: string; names: readonly string[] };
  /** How long each discovery took, in milliseconds. */
  latenciesMs: readonly number[];
}

/** How often Discovery is called, to measure latency and to see whether the answer is always the same. */
const rounds = 3;
/** Latency of discovery above which there is a warning, in ms: patches should be answered within 200 ms. */
const slowMs = 1000;

/** Cluster API's own server has another order after each start. */
const inOrder = ({ handlers }: DiscoverResult) => handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Problems that answers to discovery will cause although Cluster API accepts them. */
function answerFindings(discoveries: readonly DiscoverResult[], latenciesMs: readonly number[]): ExtensionFinding[] {
  const findings: ExtensionFinding[] = [];
  const warn = (message: string, remedy: string) => findings.push({ severity: 'warning', message, remedy });
  const [first, ...others] = discoveries.map(inOrder);
  if (!others.every((other) => isDeepStrictEqual(first, other))) {
    warn('does not give the same answer each time', 'offer the same handlers in all replicas and at all times');
  }
  if (discoveries.at(-1)?.handlers.length === 0) {
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
 * Calls Discovery three times and inspects the server's certificate: what Cluster API would reject, and what it would accept
 * but will cause problems later. @throws the reason of the signal when it is aborted.
 */
export async function surveyExtension(
  config: ExtensionConfig,
  options: { client: Client; known: KnownHooks; resolve?: Resolve | undefined; signal: AbortSignal },
): Promise<Survey> {
  const { client, known, resolve, signal } = options;
  const discoveries: DiscoverResult[] = [];
  const latenciesMs: number[] = [];
  let discovered: DiscoverResult;
  do {
    const started = performance.now();
    discovered = await client.discover(config, { signal });
    latenciesMs.push(Math.round(performance.now() - started));
    discoveries.push(discovered);
    signal.throwIfAborted();
  } while (discovered.ok && discoveries.length < rounds);
  const { name, clientConfig } = extensionOf(config);
  const target = addressOf(clientConfig);
  const tls = isCallError(target) ? undefined : await probeTls(target, signal, resolve);
  return {
    extensionConfig: name,
    status: discovered.ok ? 'Discovered' : 'NotDiscovered',
    message: discovered.ok ? '' : `Error in discovery: ${discovered.error.message}`,
    handlers: discovered.ok ? discovered.handlers : [],
    findings: [
      ...discoveryFindings(discovered),
      ...(tls === undefined ? [] : certificateFindings(tls, new Date())),
      ...caFindings(config),
      ...handlerFindings(discovered.handlers, known),
      ...(discovered.ok ? answerFindings(discoveries, latenciesMs) : []),
    ],
    ...(tls && {
      tls: {
        protocol: tls.protocol,
        ...(isDate(tls.notAfter) && { notAfter: tls.notAfter.toISOString() }),
        names: tls.names,
      },
    }),
    latenciesMs,
  };
}
