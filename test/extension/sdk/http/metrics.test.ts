import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCallMetrics } from '../../../../src/extension/sdk/http/metrics.ts';

test('every call is counted once, however many come between two scrapes', async () => {
  const registry = new Registry();
  const counterOf = createCallMetrics(registry);
  const count = counterOf('BeforeClusterUpgrade', 'upgrade');
  for (let call = 0; call < 150; call++) {
    count(call % 3 === 0 ? 'blocking' : 'success', 0.002);
  }
  counterOf('Discovery', '')('success', 4);
  const first = await registry.metrics();
  count('blocking', 0.3);
  const second = await registry.metrics();
  const lines = [
    'runtime_extension_calls_total{hook="BeforeClusterUpgrade",handler="upgrade",result="blocking"} 50',
    'runtime_extension_calls_total{hook="BeforeClusterUpgrade",handler="upgrade",result="success"} 100',
    'runtime_extension_calls_total{hook="Discovery",handler="",result="success"} 1',
    'runtime_extension_call_duration_seconds_bucket{le="0.001",hook="BeforeClusterUpgrade",handler="upgrade"} 0',
    'runtime_extension_call_duration_seconds_bucket{le="0.0025",hook="BeforeClusterUpgrade",handler="upgrade"} 150',
    'runtime_extension_call_duration_seconds_count{hook="BeforeClusterUpgrade",handler="upgrade"} 150',
    'runtime_extension_call_duration_seconds_bucket{le="5",hook="Discovery",handler=""} 1',
  ];
  expect(first.split('\n')).toEqual(expect.arrayContaining(lines));
  expect(second.split('\n')).toEqual(
    expect.arrayContaining([
      ...lines.slice(1, 5),
      'runtime_extension_calls_total{hook="BeforeClusterUpgrade",handler="upgrade",result="blocking"} 51',
      'runtime_extension_call_duration_seconds_count{hook="BeforeClusterUpgrade",handler="upgrade"} 151',
    ]),
  );
});
