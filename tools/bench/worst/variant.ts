import { type Shape, shapes } from './shapes.ts';

/** Random integers below a bound, the same ones for the same seed (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = ReturnType<typeof createRandom>;
type Node = Record<string, unknown>;

const pieces = [
  'a',
  'a-',
  '.',
  ':',
  '/',
  '%41',
  '-----BEGIN A-----\n',
  '\n',
  '=',
  'ä',
  '\u0001',
  '"',
  '\\',
  'A',
  '@',
  '[',
];
const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/**
 * A random place below a value: the object or array, and the key in it. Chosen level by level, so that long lists are
 * not preferred.
 */
function placeIn(random: Random, root: Node): { parent: Node; key: string } | undefined {
  let parent = root;
  for (;;) {
    const keys = Object.keys(parent);
    if (keys.length === 0) {
      return undefined;
    }
    const key = pick(random, keys);
    const value = parent[key];
    if (!isNode(value) || Object.keys(value).length === 0 || random(6) === 0) {
      return { parent, key };
    }
    parent = value;
  }
}

/** Merges two values: members of both objects, items of both arrays; otherwise the second. */
function combined(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.concat(b);
  }
  if (isNode(a) && isNode(b) && !Array.isArray(a) && !Array.isArray(b)) {
    const result: Node = { ...a };
    for (const [key, value] of Object.entries(b)) {
      result[key] = key in a ? combined(a[key], value) : value;
    }
    return result;
  }
  return b;
}

/** Small mutations of a review. Sizes are of what is inserted, in bytes. */
const mutations: readonly ((random: Random, review: Node, size: number) => void)[] = [
  // One long string.
  (random, review, size) => {
    const place = placeIn(random, review);
    if (place !== undefined) {
      const piece = pick(random, pieces);
      place.parent[place.key] = piece.repeat(Math.ceil(size / piece.length)) + pick(random, ['', '!', '/%zz', '=']);
    }
  },
  // The same value many times, in a list.
  (random, review, size) => {
    const place = placeIn(random, review);
    if (place !== undefined) {
      const value = place.parent[place.key];
      const length = (JSON.stringify(value) ?? '').length + 1;
      place.parent[place.key] = Array.from({ length: Math.min(200_000, Math.ceil(size / length)) }, () => value);
    }
  },
  // A map of many keys with the same value.
  (random, review, size) => {
    const place = placeIn(random, review);
    if (place !== undefined) {
      const value = place.parent[place.key];
      const length = (JSON.stringify(value) ?? '').length + 10;
      place.parent[place.key] = Object.fromEntries(
        Array.from({ length: Math.min(100_000, Math.ceil(size / length)) }, (_, index) => [`k${index}`, value]),
      );
    }
  },
  // A value of another type.
  (random, review) => {
    const place = placeIn(random, review);
    if (place !== undefined) {
      place.parent[place.key] = pick(random, [null, 0, -1, 1e300, '', {}, [], true, '0', [[]], [{}], 'In']);
    }
  },
  // A value from another place in the review.
  (random, review) => {
    const from = placeIn(random, review);
    const to = placeIn(random, review);
    if (from !== undefined && to !== undefined) {
      const value = structuredClone(from.parent[from.key]);
      to.parent[to.key] = value;
    }
  },
  // A missing member.
  (random, review) => {
    const place = placeIn(random, review);
    if (place !== undefined && !Array.isArray(place.parent)) {
      delete place.parent[place.key];
    }
  },
  // The other half of an update, and another object under review.
  (random, review) => {
    const request = review.request;
    if (isNode(request)) {
      request.operation = pick(random, ['CREATE', 'UPDATE']);
      request.subResource = pick(random, ['', 'status']);
      request.oldObject = pick(random, [null, request.object, { ...(request.object as object), spec: {} }]);
    }
  },
];

/** Whether a value is nested deeper than JSON.stringify can follow; such bodies are refused before they are read. */
function isDeep(value: unknown, levels = 300): boolean {
  return isNode(value) && (levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1)));
}

function reviewOf(shape: Shape, size: number): Node | undefined {
  try {
    const review: unknown = JSON.parse(shape.body(size).toString());
    return isNode(review) && !isDeep(review) ? review : undefined;
  } catch {
    return undefined;
  }
}

/** A body made by mixing and mutating others, always the same one for the same seed and size. */
export function variantOf(seed: number, size: number): { name: string; webhook: Shape['webhook']; body: Buffer } {
  const random = createRandom(seed);
  const webhook = pick(random, ['mutate', 'validate', 'validate', 'validate', 'convert'] as const);
  // Admission reviews go to both admission webhooks.
  const candidates = shapes.filter((shape) => (shape.webhook === 'convert') === (webhook === 'convert'));
  const parts = Array.from({ length: 1 + random(3) }, () => pick(random, candidates));
  const share = Math.floor(size / parts.length);
  let review: Node = {};
  for (const part of parts) {
    const next = reviewOf(part, share);
    review = (next === undefined ? review : combined(review, next)) as Node;
  }
  for (let i = random(5); i > 0; i--) {
    pick(random, mutations)(random, review, Math.floor(share / (1 + random(4))));
  }
  let body = Buffer.from(JSON.stringify(review));
  if (body.length > 2 * size) {
    // A body that grew beyond the limit would only be refused for its size.
    body = body.subarray(0, 2 * size);
  }
  return { name: `${webhook}: ${parts.map(({ name }) => name).join(' + ')}`, webhook, body };
}
