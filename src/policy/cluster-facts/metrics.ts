import type { Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import { factKinds } from '../facts/facts.ts';
import type { Watching } from './watching.ts';

/** Adds metrics of the facts about the cluster, which are read at each scrape. */
export function addWatchingMetrics(registry: Registry, prefix: string, watching: Pick<Watching, 'status'>): void {
  const { gauge } = metricsIn(registry, prefix);
  const labelNames = ['kind'] as const;
  gauge(
    'facts_known',
    'Whether facts about a kind are known (1) or not (0); without facts, rules about the kind report nothing.',
    labelNames,
    {
      collect() {
        for (const kind of factKinds) {
          this.set({ kind }, watching.status(kind).isKnown ? 1 : 0);
        }
      },
    },
  );
  gauge(
    'facts_age_seconds',
    'Time since the API server last confirmed the facts about a kind; up to 35 s if nothing changes.',
    labelNames,
    {
      collect() {
        this.reset();
        for (const kind of factKinds) {
          const { ageMs } = watching.status(kind);
          if (ageMs !== undefined) {
            this.set({ kind }, ageMs / 1000);
          }
        }
      },
    },
  );
  gauge('facts_objects', 'Objects of a kind whose facts are kept.', labelNames, {
    collect() {
      for (const kind of factKinds) {
        this.set({ kind }, watching.status(kind).objects);
      }
    },
  });
}
