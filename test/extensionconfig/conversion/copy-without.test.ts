import { expect, test } from 'vitest';
import { copyWithout } from '../../../src/extensionconfig/conversion/copy-without.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

test('copies the own properties of an object, except the one to leave out', () => {
  const object = JSON.parse('{"b":{"c":1},"__proto__":{"d":2},"a":null,"7":0}') as JsonObject;
  const copy = copyWithout(object);
  expect(copy).not.toBe(object);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(object));
  expect(copy.b).toBe(object.b);
  expect(JSON.stringify(copyWithout(object, 'b'))).toBe('{"7":0,"__proto__":{"d":2},"a":null}');
  expect(JSON.stringify(copyWithout(object, '__proto__'))).toBe('{"7":0,"b":{"c":1},"a":null}');
});
