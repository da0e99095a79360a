import { Counter, Gauge, type GaugeConfiguration, Histogram, type Registry } from 'prom-client';

/** Functions that create metrics in a registry; the names of all of them begin with a prefix. */
export function metricsIn(registry: Registry, prefix: string) {
  const described = <T extends string>(name: string, help: string, labelNames: readonly T[]) => ({
    name: `${prefix}${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: <T extends string = never>(name: string, help: string, labelNames: readonly T[] = []) =>
      new Counter<T>(described(name, help, labelNames)),
    /** A counter by one label, whose series are there before the first event: alerts see the increase to one. */
    counterOf<T extends string>(
      name: string,
      help: string,
      label: T,
      values: readonly (string | number)[],
    ): Counter<T> {
      const made = new Counter<T>(described(name, help, [label]));
      for (const value of values) {
        made.inc({ [label]: value } as Record<T, string | number>, 0);
      }
      return made;
    },
    gauge: <T extends string = never>(
      name: string,
      help: string,
      labelNames: readonly T[] = [],
      own: Pick<GaugeConfiguration<T>, 'collect'> = {},
    ) => new Gauge<T>({ ...described(name, help, labelNames), ...own }),
    histogram: <T extends string = never>(name: string, help: string, labelNames: readonly T[], buckets: number[]) =>
      new Histogram<T>({ ...described(name, help, labelNames), buckets }),
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
