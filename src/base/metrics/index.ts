import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type Registry,
} from 'prom-client';

/** Maximum number of events that wait to be counted. */
export const mostWaiting = 256;

/**
 * A list of events to be counted in bulk: whenever metrics are read, and when `mostWaiting` of them wait. One at a time,
 * prom-client takes a tenth of a review for them.
 */
export function countedInBulk<E>(count: (event: E) => void) {
  const waiting: E[] = [];
  return {
    waiting,
    countAll(): void {
      for (const event of waiting.splice(0)) {
        count(event);
      }
    },
  };
}

/** Functions that create metrics in a registry; the names of all of them begin with a prefix. */
export function metricsIn(registry: Registry, prefix: string) {
  const described = <T extends string>(name: string, help: string, labelNames: readonly T[]) => ({
    name: `${prefix}${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[] = [],
      own: Pick<CounterConfiguration<T>, 'collect'> = {},
    ) => new Counter<T>({ ...described(name, help, labelNames), ...own }),
    gauge: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[] = [],
      own: Pick<GaugeConfiguration<T>, 'collect'> = {},
    ) => new Gauge<T>({ ...described(name, help, labelNames), ...own }),
    /** A histogram of seconds. */
    histogram: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[],
      buckets: number[],
      own: Pick<HistogramConfiguration<T>, 'collect'> = {},
    ) => new Histogram<T>({ ...described(name, help, labelNames), buckets, ...own }),
    /** A counter whose value is read at each scrape. */
    counted(name: string, help: string, read: () => number): void {
      new Counter({
        ...described(name, help, []),
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    /** A gauge whose value is read at each scrape; it is absent while that is undefined. */
    measured(name: string, help: string, read: () => number | undefined): void {
      new Gauge({
        ...described(name, help, []),
        collect() {
          const value = read();
          if (value === undefined) {
            this.remove();
          } else {
            this.set(value);
          }
        },
      });
    },
  };
}
