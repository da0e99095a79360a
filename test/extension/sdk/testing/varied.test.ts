import { describe, expect, test } from 'vitest';
import { varied } from '../../../../src/extension/sdk/testing/varied.ts';
import type { Json } from '../../../../src/kubernetes/index.ts';

const [a, b] = [
  { name: 'a', value: 1 },
  { name: 'b', value: 2 },
];

describe('a request that means the same', () => {
  test.each<[string, Json, Json]>([
    ['variables are in another order', [a, b], [b, a]],
    ['unless a name decides which one counts', [a, b, a], [a, b, a]],
    ['unless one has no name', [a, { value: 1 }], [a, { value: 1 }]],
    ['unless one is no object', [a, 'b'], [a, 'b']],
    ['unless they are no list', 'a', 'a'],
  ])('%s', (_name, variables, expected) => {
    expect(varied({ kind: 'A', variables }, 1).request).toEqual({ kind: 'A', variables: expected });
    const items = [{ uid: 'x', variables }];
    expect(varied({ items }, 1).request.items).toEqual([
      { uid: '00000000-0000-4000-8000-000001000000', variables: expected },
    ]);
  });

  test('items are in another order, with other uids in each turn, and answers for them are about the first ones', () => {
    const items = [{ uid: 'x', more: 1 }, { uid: 'y' }];
    const { request, original } = varied({ items }, 2);
    const uids = ['00000000-0000-4000-8000-000002000000', '00000000-0000-4000-8000-000002000001'] as const;
    expect(request).toStrictEqual({ items: [{ uid: uids[1] }, { uid: uids[0], more: 1 }] });
    const answer = [{ uid: uids[1], patch: 'p' }, { uid: 'other' }, 'no item'];
    expect(original({ status: 'Success', items: answer })).toEqual({
      status: 'Success',
      items: [{ uid: 'y', patch: 'p' }, { uid: 'other' }, 'no item'],
    });
    expect(original({ status: 'Success' })).toEqual({ status: 'Success' });
  });

  test('without variables and items, and with items that are none, it is the same', () => {
    expect(varied({ kind: 'A' }, 1).request).toStrictEqual({ kind: 'A' });
    expect(varied({ items: [{ uid: 'x' }, 'y'] }, 1).request).toEqual({ items: [{ uid: 'x' }, 'y'] });
  });
});
