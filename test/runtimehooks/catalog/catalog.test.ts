import { expect, test } from 'vitest';
import { createHookCatalog, hookCatalog, hooks } from '../../../src/runtimehooks/index.ts';

const known = hooks.BeforeClusterUpgrade;
const own = { group: 'Hooks.example.com', version: 'v1', name: 'BeforeLunch', introduced: { major: 1, minor: 5 } };

test('a catalog has the hooks of Cluster API, and more', () => {
  const catalog = createHookCatalog([own]);
  expect(catalog.find(known.group, known.version, known.name)).toEqual(known);
  expect(catalog.find('Hooks.example.com', 'v1', 'BeforeLunch')).toBe(own);
  expect(hookCatalog.find('Hooks.example.com', 'v1', 'BeforeLunch')).toBeUndefined();
});

test('a lifecycle replaces the known one with its key', () => {
  const replaced = { ...known, introduced: { major: 1, minor: 1 } };
  expect(createHookCatalog([replaced]).find(known.group, known.version, known.name)).toBe(replaced);
});

test.each(['BeforeLunch', 'beforelunch', 'BEFORELUNCH'])('%s is found, whatever its case', (name) => {
  const catalog = createHookCatalog([own]);
  expect(catalog.findIgnoringCase('hooks.example.com', 'v1', name)).toBe(own);
  expect(catalog.findIgnoringCase('hooks.example.com', 'v2', name)).toBeUndefined();
});
