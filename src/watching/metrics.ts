import type { Registry } from 'prom-client';
import { factKinds } from '../facts/index.ts';
import { Gauge } from '../prometheus/index.ts';
import type { Watching } from './watching.ts';

/**
 * Adds metrics of the facts about the cluster, which are read at each scrape. `prefix` is the prefix of their names.
 */
export function addWatchingMetrics(registry: Registry, prefix: string, watching: Pick<Watching, 'status'>): void {
  const registers = [registry];
  const labelNames = ['kind'] as const;
  new Gauge({
    name: `${prefix}facts_known`,
    help: 'Whether facts about a kind are known (1) or not (0); without facts, rules about the kind report nothing.',
    labelNames,
    registers,
    collect() {
      for (const kind of factKinds) {
        this.set({ kind }, watching.status(kind).isKnown ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: `${prefix}facts_age_seconds`,
    help: 'Time since the API server last confirmed the facts about a kind; up to 35 s if nothing changes.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const kind of factKinds) {
        const { ageMs } = watching.status(kind);
        if (ageMs !== undefined) {
          this.set({ kind }, ageMs / 1000);
        }
      }
    },
  });
  new Gauge({
    name: `${prefix}facts_objects`,
    help: 'Objects of a kind whose facts are kept.',
    labelNames,
    registers,
    collect() {
      for (const kind of factKinds) {
        this.set({ kind }, watching.status(kind).objects);
      }
    },
  });
}
