import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { decodeSecret, secretPath, startInformer, type WatchPace } from '../../kubernetes/client/index.ts';
import { textValues } from '../../kubernetes/index.ts';
import { type CertificateEvent, type CertificateSource, pairEvent } from '../../server/index.ts';

/** A watch of 20 s notices a dead connection; without a watch, a list every 2 to 4 s notices a rotation in time. */
const defaultPace: Partial<WatchPace> = { watchMs: 20_000, maxRetryMs: 2_000, readDeadlineMs: 10_000 };

/** How long the start waits for the first event, in ms: an unresponsive API server must not keep the ports closed. */
const defaultWaitMs = 3_000;

/** The pair in a Secret, watched: a mounted one waits for the kubelet. Needs `list` and `watch`; unwatchable, it is listed. */
export function secretCertificates(
  config: KubeConfig,
  namespace: string,
  name: string,
  { waitMs = defaultWaitMs, pace = {} }: { waitMs?: number; pace?: Partial<WatchPace> } = {},
): CertificateSource {
  const place = `${namespace}/${name}`;
  return async (onEvent) => {
    const { promise: first, resolve } = Promise.withResolvers<void>();
    let last = '';
    /** Each state once: what else changes in the Secret does not matter. */
    function emit(event: CertificateEvent): void {
      const text = JSON.stringify(event);
      if (text !== last || event.kind === 'source') {
        last = event.kind === 'source' ? last : text;
        onEvent(event);
      }
      resolve();
    }
    const informer = startInformer(config, {
      path: secretPath(namespace),
      resource: 'secrets',
      query: { fieldSelector: `metadata.name=${name}` },
      name: place,
      remedy: `; allow list and watch on it, in a Role of namespace ${namespace} for the account of this server`,
      keep: (object) => ({ metadata: object.metadata ?? {}, data: decodeSecret(object, namespace, name) }),
      onChange({ type, object }) {
        const { 'tls.crt': cert = '', 'tls.key': key = '', 'ca.crt': bundle = '' } = textValues(object.data);
        emit(
          type === 'deleted'
            ? { kind: 'absent', reason: `Secret ${place} was deleted` }
            : pairEvent(cert, key, bundle, `tls.crt and tls.key in Secret ${place}`),
        );
      },
      onProblem: (problem) => emit({ kind: 'source', problem }),
      pace: { ...defaultPace, ...pace },
    });
    void informer.synced.then(() => {
      if (informer.list().length === 0) {
        emit({ kind: 'absent', reason: `Secret ${place} does not exist` });
      }
    });
    // A timer that does not keep the process: after the first event there is nothing to wait for.
    await Promise.race([first, sleep(waitMs, undefined, { ref: false })]);
    return () => informer.stop();
  };
}
