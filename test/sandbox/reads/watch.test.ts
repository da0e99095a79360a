import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { watch } from '../../../src/sandbox/reads/watches.ts';
import { Store } from '../../../src/sandbox/storage/store.ts';
import { VersionConverter } from '../../../src/sandbox/webhooks/conversion.ts';

type Watched = Parameters<typeof watch>[1];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const things = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
  storage: 'things',
  storageVersion: 'v1',
  isCustom: true,
  schema: {},
  columns: [{ name: 'Size', type: 'integer', value: '.size', priority: 0 }],
  strategy: {},
} as unknown as Watched['resource'];
const converted = { ...things, version: 'v2', conversion: {} } as Watched['resource'];

/** A store with watches, whose webhook converts objects to the requested version, or fails. */
function reading(history?: number) {
  const store = new Store(history);
  const collection = store.collection('things');
  const asked: number[] = [];
  const webhook = { isBroken: false };
  const converter = new VersionConverter({
    async call(_client: unknown, _seconds: number, review: { request: { uid: string; objects: JsonObject[] } }) {
      if (webhook.isBroken) {
        throw new Error('out of order');
      }
      const { uid, objects } = review.request;
      asked.push(objects.length);
      const convertedObjects = objects.map((object) => ({ ...object, apiVersion: 'example.com/v2' }));
      return { response: { uid, result: { status: 'Success' }, convertedObjects } };
    },
  } as never);
  function begin(query = '', { resource = things, view = { as: 'object' } as Watched['view'] } = {}) {
    const lines: JsonObject[] = [];
    const seen = { isOver: false, isDropped: false };
    /** Whether the client has stopped reading: then everything sent to it waits for `read`. */
    let isFull = false;
    let waiting = Promise.withResolvers<boolean>();
    const stop = watch(
      { store, converter, now: () => '2030-01-01T00:00:00Z' },
      { resource, namespace: 'a', name: '', query: new URLSearchParams(query), view },
      {
        write(line) {
          lines.push(JSON.parse(String(line)));
          return !isFull;
        },
        drained: () => waiting.promise,
        end: () => {
          seen.isOver = true;
        },
        drop: () => {
          seen.isDropped = true;
        },
      },
    );
    return {
      lines,
      seen,
      stop,
      /** What was sent: event types with names, and versions of bookmarks. */
      sent: () =>
        lines.map(({ type, object }) => {
          const { metadata, rows } = object as { metadata: JsonObject; rows?: JsonObject[] };
          return `${type} ${metadata.name ?? (rows === undefined ? metadata.resourceVersion : 'row')}`;
        }),
      fill() {
        isFull = true;
      },
      /** Reads what was sent, and continues to read; with false the client has disconnected. */
      async read(goesOn = true) {
        isFull = false;
        waiting.resolve(goesOn);
        waiting = Promise.withResolvers();
        await vi.advanceTimersByTimeAsync(0);
      },
    };
  }
  const write = (name: string, more: JsonObject = {}) => {
    const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name, namespace: 'a', ...more } };
    const stored = collection.get(name);
    return stored === undefined ? collection.create(name, object) : collection.replace(name, stored, object);
  };
  return { store, collection, write, begin, asked, webhook };
}

/** Lets watches send what they have. */
const sending = () => vi.advanceTimersByTimeAsync(0);

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${1000 + i}`);

describe('a slow watcher', () => {
  test('misses nothing while the history has what it has not read', async () => {
    const { write, begin } = reading();
    const { fill, read, sent, seen } = begin();
    const expected: string[] = [];
    for (const round of ['a', 'b', 'c']) {
      fill();
      for (const name of names(round, 900)) {
        write(name);
        expected.push(`ADDED ${name}`);
      }
      await read();
    }
    expect(sent()).toEqual(expected);
    expect(seen).toEqual({ isOver: false, isDropped: false });
  });

  test('is told to begin again when the history no longer has what comes next', async () => {
    const { write, begin } = reading(10);
    const { fill, read, sent, lines, seen } = begin();
    fill();
    for (const name of names('d', 30)) {
      write(name);
      await sending();
    }
    await read();
    expect(sent()[0]).toBe('ADDED d1000');
    expect(lines.slice(1)).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    expect([seen.isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });

  test('that disconnects is dropped, and gets nothing more', async () => {
    const { write, begin } = reading();
    const { fill, read, sent, seen } = begin();
    fill();
    write('x');
    await sending();
    write('y');
    await read(false);
    write('z');
    expect([sent(), seen]).toEqual([['ADDED x'], { isOver: false, isDropped: true }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of a large collection gets all of it in order, and then what was written in the meantime', async () => {
    const { write, begin } = reading();
    const existing = names('e', 3_000);
    for (const name of existing) {
      write(name);
    }
    const { fill, read, sent } = begin('sendInitialEvents=true&allowWatchBookmarks=true');
    await sending();
    expect(sent().slice(0, 3_000)).toEqual(existing.map((name) => `ADDED ${name}`));
    expect(sent()[3_000]).toBe('BOOKMARK 3001');
    fill();
    const later = names('f', 500);
    for (const name of later) {
      write(name);
    }
    await read();
    expect(sent().slice(3_001)).toEqual(later.map((name) => `ADDED ${name}`));
  });
});

describe('the end of a watch', () => {
  test('at its timeout comes with a bookmark if the client allows that', async () => {
    const { write, begin } = reading();
    write('a');
    const asking = begin('timeoutSeconds=90&allowWatchBookmarks=true');
    const other = begin('timeoutSeconds=90');
    write('b');
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asking.sent().slice(2), other.sent().slice(2)]).toEqual([['BOOKMARK 3'], []]);
    write('c');
    expect([asking.seen.isOver, other.seen.isOver]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(30_000);
    write('d');
    expect(asking.sent().slice(3)).toEqual(['ADDED c', 'BOOKMARK 4']);
    expect(other.sent().slice(2)).toEqual(['ADDED c']);
    expect([asking.seen.isOver, other.seen.isOver]).toEqual([true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of a slow watch names the version that was sent, not later ones', async () => {
    const { write, begin } = reading();
    const { fill, read, sent, seen } = begin('timeoutSeconds=90&allowWatchBookmarks=true');
    fill();
    write('a');
    await sending();
    write('b');
    await vi.advanceTimersByTimeAsync(90_000);
    write('c');
    await read();
    expect([sent(), seen.isOver]).toEqual([['ADDED a', 'BOOKMARK 2'], true]);
  });

  test('by the client is silent, and nothing is left behind', () => {
    const { collection, write, begin } = reading();
    const ended = vi.fn();
    const subscribe = collection.subscribe.bind(collection);
    vi.spyOn(collection, 'subscribe').mockImplementation((listener) => {
      const unsubscribe = subscribe(listener);
      return () => {
        unsubscribe();
        ended();
      };
    });
    const { stop, sent, seen } = begin();
    stop();
    write('a');
    expect([sent(), seen.isOver, ended.mock.calls.length, vi.getTimerCount()]).toEqual([[], false, 1, 0]);
  });

  test('because of a version that is too old is reported in the stream', () => {
    const { store, write, begin } = reading();
    write('a');
    store.drop('things');
    const { lines, seen } = begin('resourceVersion=1');
    expect(lines).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    expect([seen.isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });
});

test('a table contains its columns once', async () => {
  const { write, begin } = reading();
  write('a');
  write('b');
  const { lines } = begin('', { view: { as: 'table', include: 'None' } });
  await sending();
  const columns = lines.map(({ object }) => (object as { columnDefinitions: unknown[] }).columnDefinitions.length);
  expect(columns).toEqual([2, 0]);
});

describe('objects of another version', () => {
  test('are converted up to a hundred at a time', async () => {
    const { write, begin, asked } = reading();
    for (const name of names('e', 250)) {
      write(name);
    }
    const { lines } = begin('', { resource: converted });
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual([100, 100, 50]);
    expect(lines.map(({ object }) => (object as JsonObject).apiVersion)).toEqual(Array(250).fill('example.com/v2'));
  });

  test('that cannot be converted end the watch with the reason', async () => {
    const { write, begin, webhook } = reading();
    webhook.isBroken = true;
    const { lines, seen } = begin('', { resource: converted });
    write('a');
    await vi.advanceTimersByTimeAsync(0);
    const message = expect.stringContaining('out of order');
    expect(lines).toEqual([{ type: 'ERROR', object: expect.objectContaining({ code: 500, message }) }]);
    expect([seen.isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });

  test.each([
    ['that are converted', false],
    ['that cannot be converted', true],
  ])('%s after the end are ignored', async (_, isBroken) => {
    const { write, begin, webhook } = reading();
    webhook.isBroken = isBroken;
    const { lines, stop, seen } = begin('', { resource: converted });
    write('a');
    stop();
    await vi.advanceTimersByTimeAsync(0);
    expect([lines, seen.isOver]).toEqual([[], false]);
  });
});
