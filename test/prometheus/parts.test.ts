import * as whole from 'prom-client';
import { expect, test } from 'vitest';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '../../src/prometheus/index.ts';

test('the parts are those of the complete prom-client: its registries take their metrics', async () => {
  expect([Counter, Gauge, Histogram, Registry]).toEqual([whole.Counter, whole.Gauge, whole.Histogram, whole.Registry]);
  const registry = new whole.Registry();
  new Counter({ name: 'runs_total', help: 'Runs.', registers: [registry] }).inc();
  expect(await registry.metrics()).toContain('\nruns_total 1\n');
});

test('the metrics of the process are added to one registry', async () => {
  const [registry, other] = [new Registry(), new Registry()];
  collectDefaultMetrics(registry);
  const text = await registry.metrics();
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^nodejs_heap_size_total_bytes \d/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  expect([await other.metrics(), await whole.register.metrics()]).toEqual(['\n', '\n']);
});
