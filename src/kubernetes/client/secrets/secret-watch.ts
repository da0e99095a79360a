import type { KubeConfig } from '@kubernetes/client-node';
import { startInformer } from '../watches/informer.ts';
import type { WatchPace } from '../watches/retries.ts';
import { decodeSecret, secretPath } from './secrets.ts';

/** The contents of a serving Secret. `ca` is the trust bundle. */
interface ServingSecret {
  cert: string;
  key: string;
  ca: string;
}

/** A change of a watched Secret, or of the watch itself. */
export type SecretEvent =
  | { kind: 'secret'; secret: ServingSecret }
  | { kind: 'absent'; reason: string }
  /** Why changes may arrive late or not at all, and what to do about it; undefined when they arrive at once again. */
  | { kind: 'watching'; problem: string | undefined };

/**
 * A request every 20 s is cheap for an API server, and a connection that has died silently is noticed by then. A
 * rotation with a short overlap must be noticed without a watch as well: hence a list every 2 to 4 s.
 */
const defaultPace: Partial<WatchPace> = { watchMs: 20_000, maxRetryMs: 2_000, readDeadlineMs: 10_000 };

/**
 * Follows a kubernetes.io/tls Secret: its current state, then every change, even if connections are lost or the Secret
 * is absent for a while. Needs `list` and `watch` on it. While it cannot be watched it is listed, and a `watching` event
 * says why. Contents are passed on without validation.
 *
 * @returns a function that starts to follow it, and returns one that stops.
 */
export function watchServingSecret(
  config: KubeConfig,
  namespace: string,
  name: string,
  changes: Partial<WatchPace> = {},
): (onEvent: (event: SecretEvent) => void) => () => void {
  const key = `${namespace}/${name}`;
  return (onEvent) => {
    let last = '';
    /** Each state once: what else changes in the Secret does not matter. */
    function emit(state: SecretEvent): void {
      const text = JSON.stringify(state);
      if (text !== last) {
        last = text;
        onEvent(state);
      }
    }
    const informer = startInformer(config, {
      path: secretPath(namespace),
      resource: 'secrets',
      query: { fieldSelector: `metadata.name=${name}` },
      name: key,
      remedy: `; allow list and watch on it, in a Role of namespace ${namespace} for the account of this server`,
      keep(object) {
        const data = decodeSecret(object, namespace, name);
        const secret = { cert: data['tls.crt'] ?? '', key: data['tls.key'] ?? '', ca: data['ca.crt'] ?? '' };
        return { metadata: object.metadata ?? {}, secret };
      },
      onChange: ({ type, object }) =>
        emit(
          type === 'deleted'
            ? { kind: 'absent', reason: `Secret ${key} was deleted` }
            : { kind: 'secret', secret: object.secret as unknown as ServingSecret },
        ),
      onProblem: (problem) => onEvent({ kind: 'watching', problem }),
      pace: { ...defaultPace, ...changes },
    });
    void informer.synced.then(() => {
      if (informer.list().length === 0) {
        emit({ kind: 'absent', reason: `Secret ${key} does not exist` });
      }
    });
    return () => informer.stop();
  };
}
