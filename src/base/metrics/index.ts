import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type LabelValues,
  type Registry,
} from 'prom-client';

/** Maximum number of durations that wait: a histogram takes a tenth of a millisecond for them. */
const maxWaitingTimes = 256;

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
    /**
     * A counter of what happens often, added up at each scrape: to look up labels by name takes prom-client as long as a
     * review takes. Returns a function that counts one, for labels of which there is none yet.
     */
    tally<T extends string>(name: string, help: string, labelNames: readonly T[]) {
      const tallies: { labels: Record<T, string>; count: number }[] = [];
      new Counter({
        ...described(name, help, labelNames),
        collect() {
          for (const tally of tallies) {
            this.inc(tally.labels as LabelValues<T>, tally.count);
            tally.count = 0;
          }
        },
      });
      return (labels: Record<T, string>) => {
        const tally = { labels, count: 0 };
        tallies.push(tally);
        return () => {
          tally.count++;
        };
      };
    },
    /**
     * A histogram of seconds, which wait until it is read or they are many: in bulk, each costs a fraction. Returns a
     * function that adds one, for labels of which there is none yet.
     */
    times<T extends string>(name: string, help: string, labelNames: readonly T[], buckets: number[]) {
      const drains: (() => void)[] = [];
      const histogram = new Histogram<T>({
        ...described(name, help, labelNames),
        buckets,
        collect() {
          for (const drain of drains) {
            drain();
          }
        },
      });
      return (labels: Record<T, string>) => {
        const child = histogram.labels(labels as LabelValues<T>);
        const waiting: number[] = [];
        const drain = () => {
          for (const seconds of waiting.splice(0)) {
            child.observe(seconds);
          }
        };
        drains.push(drain);
        return (seconds: number) => {
          if (waiting.push(seconds) === maxWaitingTimes) {
            drain();
          }
        };
      };
    },
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
