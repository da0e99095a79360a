import { isDeepStrictEqual } from 'node:util';
import { hookCatalog } from '../catalog/catalog.ts';
import { defaultTimeoutSeconds } from '../catalog/limits.ts';
import type { CallStep } from './call-error.ts';
import { type DiscoveredHandler, type DiscoverResult, type KnownHooks, phaseOf } from './discovery.ts';
import type { TlsFacts } from './exchange/tls.ts';
import { parseApiVersion } from './registry.ts';

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
export function certificateNameFinding(
  { names, isForName }: TlsFacts,
  serverName: string,
): ExtensionFinding | undefined {
  return isForName
    ? undefined
    : {
        severity: 'error',
        message: `the certificate is not for ${serverName}; it is for ${names.slice(0, 10).join(', ') || 'no name'}`,
        remedy: `serve one with ${serverName} among its subject alternative names`,
      };
}

/** What is wrong with the dates of a certificate; undefined if it is valid for another two weeks. */
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

/**
 * What will hurt about handlers that Cluster API accepts.
 *
 * @param longest timeout that is not warned about, in seconds.
 */
export function handlerFindings(
  handlers: readonly DiscoveredHandler[],
  known: KnownHooks,
  longest: number,
): ExtensionFinding[] {
  return handlers.flatMap(({ name, requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy }) => {
    const handler = name.slice(0, name.lastIndexOf('.'));
    const findings: ExtensionFinding[] = [];
    const warn = (message: string, remedy: string) => findings.push({ severity: 'warning', handler, message, remedy });
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
