import { expect, test } from 'vitest';
import { reviewConversion } from '../../src/conversion/index.ts';
import { decodeAdmissionReview, JsonError, parseJson } from '../../src/kubernetes/index.ts';
import { type Shape, shapes } from '../bench/worst/shapes.ts';
import { cpuTimeMs } from '../tools/cpu-time.ts';
import { admission } from './policy.ts';

const strict = admission();
const upstream = admission({ profile: 'upstream' });
const mebibyte = 1024 * 1024;

/** The text of the answer to a body, from its bytes on. */
function answerTo({ webhook }: Shape, body: Buffer, decisions = strict): string {
  let value: ReturnType<typeof parseJson>;
  try {
    value = parseJson(body);
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return (error as JsonError).message;
  }
  if (webhook === 'convert') {
    return JSON.stringify(reviewConversion(value));
  }
  const decoded = decodeAdmissionReview(value);
  return 'request' in decoded ? JSON.stringify(decisions[webhook](decoded.request)) : decoded.problem;
}

/** Each of these once took between some seconds and minutes, or answered with hundreds of megabytes. */
const table: Record<string, string> = {
  'a namespaceSelector with an In of many values and many Exists':
    'validate: selector: In with many values, many Exists, In [zzz]',
  'a namespaceSelector with In and NotIn': 'validate: selector: In and NotIn of the same many values',
  'a caBundle of newlines': 'validate: caBundle: newlines and one !',
  'a caBundle of blocks that begin and never end': 'validate: caBundle: base64 of "-----BEGIN A-----\\n"',
  'a url of colons': 'validate: url: https:// and ":", then /%zz',
  'many handlers of the singleton hook': 'validate: status: many handlers of the singleton hook, the first name huge',
  'many handlers of one name, with kept values': 'convert: many handlers of one name, kept values for that name',
  'handlers {}': 'mutate: status: handlers {}',
};

// What was quadratic takes minutes at this size. The limit leaves a busy machine some fifty times what is needed.
test.each(Object.entries(table))('%s: 3 MiB are decided on within seconds', (_name, shapeName) => {
  const shape = shapes.find(({ name }) => name === shapeName)!;
  const body = shape.body(3 * mebibyte);
  const startedAt = cpuTimeMs();
  const text = answerTo(shape, body);
  expect(cpuTimeMs() - startedAt).toBeLessThan(5_000);
  expect(text.length).toBeLessThan(mebibyte + (shape.webhook === 'convert' ? body.length : 0));
});

test.each(shapes)('$name: answered soon and in short', (shape) => {
  const body = shape.body(256 * 1024);
  for (const decisions of [strict, upstream]) {
    const startedAt = cpuTimeMs();
    const text = answerTo(shape, body, decisions);
    expect(cpuTimeMs() - startedAt).toBeLessThan(2_000);
    expect(Buffer.byteLength(text)).toBeLessThan(mebibyte + (shape.webhook === 'convert' ? body.length : 0));
  }
});
