// Measures the conversion of lists, without HTTP: `npm run bench:conversion [-- --seconds 1]`.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { reviewConversion } from '../../src/extensionconfig/conversion/index.ts';
import { type JsonObject, parseJson } from '../../src/kubernetes/index.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '1' } } });
const milliseconds = Number(values.seconds) * 1000;

/** An object with both kinds of conditions, two handlers, and (every tenth) a value to keep as conversion data. */
function objectsIn(version: string, count: number): JsonObject[] {
  const object = parse(
    readFileSync(new URL(`../../test/extensionconfig/conversion/golden/${version}.yaml`, import.meta.url), 'utf8'),
  );
  return Array.from({ length: count }, (_, index) => {
    const copy = structuredClone(object);
    copy.metadata.name = `extension-${index}`;
    if (index % 10 > 0) {
      for (const handler of copy.status.handlers) {
        handler.timeoutSeconds = 10;
      }
      delete copy.metadata.annotations['runtime.cluster.x-k8s.io/conversion-data'];
    }
    return copy;
  });
}

/** Nanoseconds of one call, the median of as many as fit into the time (at least 3). */
function measure(work: () => void): number {
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  while (times.length < 3 || performance.now() < end) {
    const start = process.hrtime.bigint();
    work();
    times.push(Number(process.hrtime.bigint() - start));
  }
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
}

const sizes = [10, 100, 1_000, 10_000];
const print = (...cells: (string | number)[]) =>
  process.stdout.write(`${cells.map((cell, column) => String(cell).padStart(column === 0 ? 22 : 12)).join('')}\n`);
print('conversion', 'objects', 'ns/object', 'growth', 'with JSON', 'review ms');
for (const [from, to] of [
  ['v1alpha1', 'v1beta2'],
  ['v1beta2', 'v1alpha1'],
] as const) {
  let first: number | undefined;
  for (const size of sizes) {
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'u', desiredAPIVersion: `runtime.cluster.x-k8s.io/${to}`, objects: objectsIn(from, size) },
    };
    const bytes = Buffer.from(JSON.stringify(body));
    reviewConversion(body);
    const each = measure(() => void reviewConversion(body)) / size;
    const whole = measure(() => void JSON.stringify(reviewConversion(parseJson(bytes))));
    first ??= each;
    // Growth 1.00 is linear: an object costs the same in a long list as in a short one.
    const row = [size, each.toFixed(0), (each / first).toFixed(2), (whole / size).toFixed(0), (whole / 1e6).toFixed(2)];
    print(`${from} → ${to}`, ...row);
  }
}
