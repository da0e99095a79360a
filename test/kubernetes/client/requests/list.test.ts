import { expect, test } from 'vitest';
import {
  type KubernetesClient,
  listPages,
  ResponseError,
  ResponseTooLong,
  StatusError,
} from '../../../../src/kubernetes/client/index.ts';
import type { Json, JsonObject } from '../../../../src/kubernetes/index.ts';

const path = '/apis/group/v1/things';
const thing = (name: string) => ({ metadata: { name } });
const things = (count: number) => Array.from({ length: count }, (_, index) => thing(`t${index}`));

/** The result of a list that is answered as told, and the parameters of the requests. */
async function listOf(
  answer: (parameters: URLSearchParams, count: number) => JsonObject,
  { maxObjects = 1000, query }: { maxObjects?: number; query?: Record<string, string> } = {},
) {
  const asked: string[] = [];
  const cluster: KubernetesClient = {
    async request(method, target) {
      const { pathname, searchParams } = new URL(target, 'http://server');
      expect([method, pathname]).toEqual(['GET', path]);
      asked.push(searchParams.toString());
      return answer(searchParams, asked.length);
    },
    watch: () => Promise.reject(new Error('not here')),
  };
  const names: unknown[] = [];
  const versions: string[] = [];
  let error: unknown;
  try {
    for await (const page of listPages(cluster, { path, resource: 'things.group', query, maxObjects })) {
      names.push(...page.items.map(({ metadata }) => (metadata as JsonObject).name));
      versions.push(page.resourceVersion);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { names, versions, asked, error };
}
const page = (items: Json, more: JsonObject = {}) => ({ metadata: { resourceVersion: '7', ...more }, items });

test('reads pages of a hundred, with selectors, until there is no continue token', async () => {
  const found = await listOf(
    (_parameters, count) => page([thing(`of-${count}`)], count < 3 ? { continue: `token ${count}` } : { continue: '' }),
    { query: { labelSelector: 'a=b', fieldSelector: 'metadata.name=x' } },
  );
  const selectors = 'labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=100';
  expect(found).toEqual({
    names: ['of-1', 'of-2', 'of-3'],
    versions: ['7', '7', '7'],
    asked: [selectors, `${selectors}&continue=token+1`, `${selectors}&continue=token+2`],
    error: undefined,
  });
});

test('an empty list may be null and have no version', async () => {
  expect(await listOf(() => ({ metadata: {}, items: null }))).toEqual({
    names: [],
    versions: [''],
    asked: ['limit=100'],
    error: undefined,
  });
});

test('a page that is too long is requested again with a tenth of the objects, down to one', async () => {
  const found = await listOf((parameters, count) => {
    if (Number(parameters.get('limit')) > (count < 3 ? 10 : 1)) {
      throw new ResponseTooLong('too long');
    }
    return page([thing(`of-${count}`)], count === 2 ? { continue: 'next' } : {});
  });
  expect(found.asked).toEqual(['limit=100', 'limit=10', 'limit=10&continue=next', 'limit=1&continue=next']);
  expect(found.names).toEqual(['of-2', 'of-4']);
  const never = await listOf(() => {
    throw new ResponseTooLong('too long');
  });
  expect(never.asked).toEqual(['limit=100', 'limit=10', 'limit=1']);
  expect(never.error).toEqual(new ResponseTooLong('too long'));
});

test.each<[string, () => JsonObject, string]>([
  ['no metadata', () => ({ items: [] }), "the API server's answer is not a list of things.group"],
  ['no items', () => ({ metadata: {} }), "the API server's answer is not a list of things.group"],
  ['items that are not a list', () => page({}), "the API server's answer is not a list of"],
  ['an item that is not an object', () => page([1]), 'the API server listed an object that is not one of things.group'],
  ['an item without metadata', () => page([{}]), 'the API server listed an object that is not one of things.group'],
  ['an item without a name', () => page([{ metadata: {} }]), 'the API server listed an object that is not one of'],
  [
    'more items than allowed',
    () => page(things(6)),
    'there are more than 5 things.group: name them, or select by label',
  ],
  [
    'endless empty pages',
    () => page([], { continue: 'x' }),
    'there are more than 5 things.group: name them, or select by label',
  ],
])('a response with %s is an error', async (_what, answer, message) => {
  const { error, names } = await listOf(answer, { maxObjects: 5 });
  expect(error).toBeInstanceOf(ResponseError);
  expect((error as Error).message).toContain(message);
  expect(names).toEqual([]);
});

test('accepts the maximum number of objects, in that many pages and one more', async () => {
  expect((await listOf(() => page(things(5)), { maxObjects: 5 })).names).toHaveLength(5);
  const slow = (last: number) =>
    listOf((_parameters, count) => page(count < last ? [] : things(1), count < last ? { continue: 'x' } : {}), {
      maxObjects: 5,
    });
  expect((await slow(6)).names).toEqual(['t0']);
  expect((await slow(7)).error).toBeInstanceOf(ResponseError);
});

const refuses = 'the API server refuses to list things.group (all): ';
test.each<[number, string, string]>([
  [403, 'no', 'forbidden: the permission to list things.group (all) is missing (no)'],
  [403, 'admission webhook "x" denied the request: no', `${refuses}admission webhook "x" denied the request: no`],
  [403, '"y" denied request: no', `${refuses}"y" denied request: no`],
  [403, 'a is forbidden: exceeded quota: b', `${refuses}a is forbidden: exceeded quota: b`],
  [403, 'a is forbidden: failed quota: b: must', `${refuses}a is forbidden: failed quota: b: must`],
  [403, 'namespace x because it is being terminated', `${refuses}namespace x because it is being terminated`],
  [401, 'no', 'the API server does not accept the credentials: renew those of the kubeconfig (no)'],
  [500, 'exceeded quota', 'exceeded quota'],
])('a refusal with %i (%s) names what is missing', async (code, reason, message) => {
  const { error } = await listOf(() => {
    throw new StatusError(code, reason);
  });
  expect((error as Error).message).toBe(message);
});
