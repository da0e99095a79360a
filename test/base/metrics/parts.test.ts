import * as whole from 'prom-client';
import { expect, test } from 'vitest';
import { Counter, collectProcessMetrics, Gauge, Histogram, Registry } from '../../../src/base/metrics/index.ts';

test('the parts are those of the complete prom-client: its registries take their metrics', async () => {
  expect([Counter, Gauge, Histogram, Registry]).toEqual([whole.Counter, whole.Gauge, whole.Histogram, whole.Registry]);
  const registry = new whole.Registry();
  new Counter({ name: 'runs_total', help: 'Runs.', registers: [registry] }).inc();
  expect(await registry.metrics()).toContain('\nruns_total 1\n');
});

test('the metrics of the process are added to one registry', async () => {
  const [registry, other] = [new Registry(), new Registry()];
  collectProcessMetrics(registry);
  const text = await registry.metrics();
  expect(text).toMatch(/^nodejs_heap_size_total_bytes \d/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  expect([await other.metrics(), await whole.register.metrics()]).toEqual(['\n', '\n']);
});

test('they are those of the complete prom-client', async () => {
  const [registry, complete] = [new Registry(), new whole.Registry()];
  collectProcessMetrics(registry);
  whole.collectDefaultMetrics({ register: complete });
  const described = ({ name, type, help }: whole.MetricObject) => ({ name, type, help });
  const expected = complete.getMetricsAsArray().map(described);
  expect(registry.getMetricsAsArray().map(described)).toEqual(expected);
});

test('CPU time counts from the beginning of the process, at every scrape', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const microsecondsOf = async (name: string) =>
    Math.round(((await registry.getSingleMetric(name)?.get())?.values[0]?.value ?? 0) * 1e6);
  for (let scrape = 0; scrape < 2; scrape++) {
    const before = process.cpuUsage();
    const user = await microsecondsOf('process_cpu_user_seconds_total');
    const system = await microsecondsOf('process_cpu_system_seconds_total');
    const all = await microsecondsOf('process_cpu_seconds_total');
    const after = process.cpuUsage();
    for (const [value, least, most] of [
      [user, before.user, after.user],
      [system, before.system, after.system],
      [all, before.user + before.system, after.user + after.system],
    ] as const) {
      expect(value).toBeGreaterThanOrEqual(least);
      expect(value).toBeLessThanOrEqual(most);
    }
  }
});
