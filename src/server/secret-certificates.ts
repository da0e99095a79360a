import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { SecretEvent, SecretPace } from '../cluster/index.ts';
import { checkPair } from './certificate.ts';
import type { CertificateEvent, CertificateSource } from './certificate-source.ts';

function eventOf(event: SecretEvent, place: string): CertificateEvent {
  if (event.kind === 'watching') {
    return { kind: 'source', problem: event.problem };
  }
  if (event.kind === 'absent') {
    return event;
  }
  const { cert, key, ca } = event.secret;
  const checked = checkPair(cert, key);
  return 'pair' in checked
    ? { kind: 'pair', pair: checked.pair, bundle: ca }
    : { kind: 'broken', reason: `tls.crt and tls.key in Secret ${place}: ${checked.problem}` };
}

/** How long the start waits for the first event, in ms: an unresponsive API server must not keep the ports closed. */
const defaultFirstNewsMs = 3_000;

/**
 * The pair in a kubernetes.io/tls Secret, watched at the API server: a change takes effect within a second, whereas a
 * mounted Secret waits for the kubelet. Needs `get` and `watch` on that Secret.
 */
export function secretCertificates(
  config: KubeConfig,
  namespace: string,
  name: string,
  { firstNewsMs = defaultFirstNewsMs, ...pace }: Partial<SecretPace> & { firstNewsMs?: number } = {},
): CertificateSource {
  let stop: (() => void) | undefined;
  return {
    async start(onEvent) {
      let isStopped = false;
      stop = () => {
        isStopped = true;
      };
      // Loaded on demand, since most servers read files.
      const { watchServingSecret } = await import('../cluster/index.ts');
      if (isStopped) {
        return;
      }
      const { promise: first, resolve } = Promise.withResolvers<void>();
      const pass = (event: SecretEvent) => {
        onEvent(eventOf(event, `${namespace}/${name}`));
        resolve();
      };
      stop = watchServingSecret(config, namespace, name, pass, pace);
      const timer = new AbortController();
      await Promise.race([first, sleep(firstNewsMs, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    },
    stop() {
      stop?.();
    },
  };
}
