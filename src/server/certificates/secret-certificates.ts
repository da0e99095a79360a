import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretEvent, watchServingSecret } from '../../kubernetes/client/index.ts';
import { type CertificateEvent, type CertificateSource, pairEvent } from './certificate.ts';

function eventOf(event: SecretEvent, place: string): CertificateEvent {
  if (event.kind === 'watching') {
    return { kind: 'source', problem: event.problem };
  }
  if (event.kind === 'absent') {
    return event;
  }
  const { cert, key, ca } = event.secret;
  return pairEvent(cert, key, ca, `tls.crt and tls.key in Secret ${place}`);
}

/** How long the start waits for the first event, in ms: an unresponsive API server must not keep the ports closed. */
const defaultWaitMs = 3_000;

/**
 * The pair in a kubernetes.io/tls Secret, watched at the API server: a change takes effect within a second, whereas a
 * mounted Secret waits for the kubelet. Needs `list` and `watch` on that Secret.
 *
 * @param place NAMESPACE/NAME, for messages.
 * @param watch starts to watch the Secret, and returns the function that stops it: `watchServingSecret`.
 */
export function secretCertificates(
  place: string,
  watch: ReturnType<typeof watchServingSecret>,
  { waitMs = defaultWaitMs }: { waitMs?: number } = {},
): CertificateSource {
  let stop: (() => void) | undefined;
  return {
    async start(onEvent) {
      const { promise: first, resolve } = Promise.withResolvers<void>();
      stop = watch((event) => {
        onEvent(eventOf(event, place));
        resolve();
      });
      // A timer that does not keep the process: after the first event there is nothing to wait for.
      await Promise.race([first, sleep(waitMs, undefined, { ref: false })]);
    },
    stop() {
      stop?.();
    },
  };
}
