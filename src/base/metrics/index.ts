import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type Registry,
} from 'prom-client';

type Own<C> = Omit<C, 'name' | 'help' | 'labelNames' | 'registers'>;

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
      own: Own<CounterConfiguration<T>> = {},
    ) => new Counter<T>({ ...described(name, help, labelNames), ...own }),
    gauge: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[] = [],
      own: Own<GaugeConfiguration<T>> = {},
    ) => new Gauge<T>({ ...described(name, help, labelNames), ...own }),
    histogram: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[],
      own: Own<HistogramConfiguration<T>>,
    ) => new Histogram<T>({ ...described(name, help, labelNames), ...own }),
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
