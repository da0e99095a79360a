import { setTimeout as sleep } from 'node:timers/promises';
import { type CertificateEvent, type CertificateSource, pairEvent } from './certificate.ts';

/**
 * A change of a watched Secret, or of the watch itself: the events of `watchServingSecret`. The type is written here, too,
 * since the declarations of the SDK contain it, and have nothing of the Kubernetes client.
 */
type SecretChange =
  | { kind: 'secret'; secret: { cert: string; key: string; ca: string } }
  | { kind: 'absent'; reason: string }
  | { kind: 'watching'; problem: string | undefined };

function eventOf(event: SecretChange, place: string): CertificateEvent {
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
  watch: (onEvent: (event: SecretChange) => void) => () => void,
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
