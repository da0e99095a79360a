import { expect, test } from 'vitest';
import { reviewConversion } from '../../../src/extensionconfig/index.ts';
import { decodeAdmissionReview, JsonError, parseJson } from '../../../src/kubernetes/index.ts';
import { testRows } from '../../support/rows.ts';
import { limitWork, sized } from '../../support/work.ts';
import { admission } from './policy.ts';
import { type Shape, shapes } from './shapes.ts';

const strict = admission();
const upstream = admission({ profile: 'upstream' });
const mebibyte = 1024 * 1024;

/** A body as JSON; the message of the error if it is rejected as invalid JSON. */
function read(body: Buffer): { value: ReturnType<typeof parseJson> } | string {
  try {
    return { value: parseJson(body) };
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return (error as JsonError).message;
  }
}

/** The text of the response to a body. */
function answerTo({ webhook }: Shape, body: ReturnType<typeof read>, decisions = strict): string {
  if (typeof body === 'string') {
    return body;
  }
  if (webhook === 'convert') {
    return JSON.stringify(reviewConversion(body.value));
  }
  const decoded = decodeAdmissionReview(body.value);
  return 'request' in decoded ? JSON.stringify(decisions[webhook](decoded.request)) : decoded.problem;
}

/** Each of these once took between some seconds and minutes, or got a response of hundreds of megabytes. */
const table: Record<string, string> = {
  'a namespaceSelector with an In of many values and many Exists':
    'validate: selector: In with many values, many Exists, In [zzz]',
  'a namespaceSelector with In and NotIn': 'validate: selector: In and NotIn of the same many values',
  'a caBundle of newlines': 'validate: caBundle: newlines and one !',
  'a caBundle of blocks that begin and never end': 'validate: caBundle: base64 of "-----BEGIN A-----\\n"',
  'a url of colons': 'validate: url: https:// and ":", then /%zz',
  'many handlers of the singleton hook': 'validate: status: many handlers of the singleton hook, the first name huge',
  'many handlers with the same name and conversion data':
    'convert: many handlers with the same name, conversion data for that name',
  'handlers {}': 'mutate: status: handlers {}',
};

// Quadratic work takes ten seconds and more at this size. The limit is some twenty times the time needed.
test.each(Object.entries(table))('%s: 1 MiB is decided quickly', (_name, shapeName) => {
  const shape = shapes.find(({ name }) => name === shapeName)!;
  const body = shape.body(sized(mebibyte));
  using _work = limitWork(2_000);
  const text = answerTo(shape, read(body));
  expect(text.length).toBeLessThan(mebibyte / 2 + (shape.webhook === 'convert' ? body.length : 0));
});

const rows = shapes.map((shape) => [shape.name, shape] as const);

testRows('all shapes: the response is quick and short', rows, (shape) => {
  const bytes = shape.body(sized(mebibyte / 4));
  using _work = limitWork(2_000);
  const body = read(bytes);
  const texts = [answerTo(shape, body), ...(shape.webhook === 'convert' ? [] : [answerTo(shape, body, upstream)])];
  const most = mebibyte / 4 + (shape.webhook === 'convert' ? bytes.length : 0);
  expect(texts.map((text) => Buffer.byteLength(text)).filter((length) => length > most)).toEqual([]);
});
