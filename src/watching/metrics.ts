import { Gauge, type Registry } from 'prom-client';
import { factKinds } from '../facts/index.ts';
import type { Watching } from './watching.ts';

/** Adds metrics of what is known about the cluster, read at each scrape. `prefix` is what their names begin with. */
export function addWatchingMetrics(registry: Registry, prefix: string, watching: Pick<Watching, 'status'>): void {
  const registers = [registry];
  const labelNames = ['kind'] as const;
  new Gauge({
    name: `${prefix}facts_known`,
    help: 'Whether facts about a kind are known (1) or not (0): rules about it then say nothing.',
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
    help: 'How long ago the API server last said how the objects of a kind are; up to 35 s without any change.',
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
    help: 'Objects of a kind that facts are kept of.',
    labelNames,
    registers,
    collect() {
      for (const kind of factKinds) {
        this.set({ kind }, watching.status(kind).objects);
      }
    },
  });
}
