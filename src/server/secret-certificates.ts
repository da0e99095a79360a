import type { KubeConfig } from '@kubernetes/client-node';
import { type SecretEvent, watchServingSecret } from '../certs/index.ts';
import { checkPair } from './certificate.ts';
import type { CertificateEvent, CertificateSource } from './certificate-source.ts';

function eventOf(event: SecretEvent, place: string): CertificateEvent {
  if (event.kind !== 'secret') {
    return { kind: event.kind === 'absent' ? 'absent' : 'broken', reason: event.reason };
  }
  const { cert, key, ca } = event.secret;
  const checked = checkPair(cert, key);
  return 'pair' in checked
    ? { kind: 'pair', pair: checked.pair, bundle: ca }
    : { kind: 'broken', reason: `tls.crt and tls.key in Secret ${place}: ${checked.problem}` };
}

/**
 * The pair in a kubernetes.io/tls Secret, followed at the API server: a change arrives within a second, where a mounted
 * Secret waits for the kubelet. Needs `get` and `watch` on that Secret.
 */
export function secretCertificates(config: KubeConfig, namespace: string, name: string): CertificateSource {
  let stop: (() => void) | undefined;
  return {
    start(onEvent) {
      const { promise: first, resolve } = Promise.withResolvers<void>();
      stop = watchServingSecret(config, namespace, name, (event) => {
        onEvent(eventOf(event, `${namespace}/${name}`));
        resolve();
      });
      return first;
    },
    stop() {
      stop?.();
    },
  };
}
