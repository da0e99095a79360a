import type { Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import { collectedKinds } from '../facts/store.ts';
import type { Watching } from './watching.ts';

/** Adds metrics of the facts about the cluster, which are read at each scrape. */
export function addWatchingMetrics(registry: Registry, prefix: string, watching: Pick<Watching, 'status'>): void {
  const { gauge } = metricsIn(registry, prefix);
  const perKind = (name: string, help: string, read: (status: ReturnType<Watching['status']>) => number | undefined) =>
    gauge(name, help, ['kind'], {
      collect() {
        this.reset();
        for (const kind of [...collectedKinds, 'Secret'] as const) {
          const value = read(watching.status(kind));
          if (value !== undefined) {
            this.set({ kind }, value);
          }
        }
      },
    });
  perKind(
    'facts_known',
    'Whether facts about a kind are known (1) or not (0); without facts, rules about the kind report nothing.',
    ({ isKnown }) => (isKnown ? 1 : 0),
  );
  perKind(
    'facts_age_seconds',
    'Time since the API server last confirmed the facts about a kind; up to 35 s if nothing changes.',
    ({ ageMs }) => ageMs && ageMs / 1000,
  );
  perKind('facts_objects', 'Objects of a kind whose facts are kept.', ({ objects }) => objects);
}
